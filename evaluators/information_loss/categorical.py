"""Information loss of categorical tables: distances, contingency tables, conditional entropy (Marés 2013, §2.4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sdc_problems._validation import FloatArray, IntArray, domain_sizes, kinds, labels, whole
from sdc_problems.evaluators._codes import column_labels, dense, pair_counts
from sdc_problems.evaluators.information_loss._pairs import whole_pair

CATEGORICAL_KINDS = ("ordinal", "nominal")


def category_distance(a: object, b: object, *, kind: str, n_categories: int) -> FloatArray:
    """Distance between two categories of one attribute, elementwise.

    Nominal: 0 if equal, else 1 (Marés 2013, Eq. 2.7). Ordinal: 0 if equal, else ``(|b - a| + 1) / |D|``, the share
    of the domain from one to the other, including both (Eq. 2.6).

    Parameters
    ----------
    a, b
        Category codes, two vectors of the same length.
    kind
        ``"ordinal"`` or ``"nominal"``.
    n_categories
        Size |D| of the domain.

    Returns
    -------
    ndarray
        Distances in [0, 1].

    Examples
    --------
    >>> category_distance([0, 1, 2], [0, 2, 0], kind="ordinal", n_categories=4)
    array([0.  , 0.5 , 0.75])
    """
    first = labels(a, None, "a")
    second = labels(b, len(first), "b")
    size = int(domain_sizes(n_categories, first[:, None], second[:, None])[0])
    (word,) = kinds(kind, 1, CATEGORICAL_KINDS, "kind")
    gap = np.abs(first - second)
    steps: FloatArray = np.where(gap > 0, 1.0 if word == "nominal" else (gap + 1) / size, 0.0)
    return steps


def dbil(X: object, Y: object, *, kinds: object = "nominal", n_categories: object = None) -> float:
    """Distance-based information loss: mean distance between original and protected category.

    ``100 · Σ d(x_ij, y_ij) / (n·p)`` over all cells (Marés 2013, Eq. 2.8–2.9, normalized), with the distances of
    :func:`category_distance`.

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape and row order.
    kinds
        ``"ordinal"`` or ``"nominal"``, for all attributes or one word per attribute.
    n_categories
        Domain size per attribute; by default, the largest code that occurs plus one.

    Returns
    -------
    float
        Percent, in [0, 100].

    Notes
    -----
    O(n·p).

    Examples
    --------
    >>> dbil([[0], [1], [2], [3]], [[0], [1], [2], [2]], kinds="ordinal")
    12.5
    """
    original, protected = whole_pair(X, Y)
    words, sizes = _domain(kinds, n_categories, original, protected)
    total = sum(
        category_distance(x, y, kind=kind, n_categories=int(size)).mean()
        for x, y, kind, size in zip(original.T, protected.T, words, sizes, strict=True)
    )
    return 100.0 * float(total) / len(words)


def _domain(
    words: object, n_categories: object, original: IntArray, protected: IntArray
) -> tuple[tuple[str, ...], IntArray]:
    return kinds(words, original.shape[1], CATEGORICAL_KINDS), domain_sizes(n_categories, original, protected)


def ctbil(X: object, Y: object, *, K: int = 2, per_cell: bool = False, n_categories: object = None) -> float:
    """Contingency-table-based information loss: change in the counts of all tables of up to K attributes.

    Sum of the absolute differences between corresponding cells over all tables of 1 … K attributes (Marés 2013,
    Eq. 2.10), as a percentage of its maximum ``2 · n · #tables``. With ``per_cell``, the sum is divided by the number
    of cells of all tables instead (Eq. 2.11, the ACTBIL: records per cell, not a percentage).

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape; the row order does not matter.
    K
        Largest number of attributes crossed (larger than p means p).
    per_cell
        Return Eq. 2.11.
    n_categories
        Domain size per attribute, needed for ``per_cell`` only; by default, the largest code that occurs plus one.

    Returns
    -------
    float
        Percent, in [0, 100]; or mean absolute difference per cell, ≥ 0.

    Notes
    -----
    O(n) per table with few cells, else O(n log n). Empty cells are never stored, so domains may be huge.

    Examples
    --------
    >>> X = [[0, 0], [1, 1], [1, 0], [0, 1]]
    >>> Y = [[0, 0], [1, 1], [1, 1], [0, 0]]
    >>> ctbil(X, X), ctbil(X, Y, K=1), round(ctbil(X, Y), 6)
    (0.0, 0.0, 16.666667)
    >>> ctbil(X, Y, per_cell=True)
    0.5
    """
    original, protected = whole_pair(X, Y)
    n, p = original.shape
    deepest = min(whole(K, "K", least=1), p)
    sizes = [int(size) for size in domain_sizes(n_categories, original, protected)]
    difference = n_tables = n_cells = 0
    for size in range(1, deepest + 1):
        for attributes in combinations(range(p), size):
            difference += _moved([original[:, j] for j in attributes], [protected[:, j] for j in attributes])
            n_tables += 1
            n_cells += math.prod(sizes[j] for j in attributes)
    return difference / n_cells if per_cell else 100.0 * difference / (2 * n * n_tables)


def _moved(before: Sequence[IntArray], after: Sequence[IntArray]) -> int:
    """Sum of the absolute differences between the counts of two tables, given by their columns."""
    widths = [int(max(x.max(), y.max())) + 1 for x, y in zip(before, after, strict=True)]
    n, size = len(before[0]), math.prod(widths)
    if size <= n + 1024:  # one key at a time
        counts = np.zeros(size, dtype=np.int64)
        for columns, sign in ((before, 1), (after, -1)):
            key = columns[0].astype(np.int64)
            for column, width in zip(columns[1:], widths[1:], strict=True):
                key *= width
                key += column
            counts += sign * np.bincount(key, minlength=size)
    else:
        cell, m = column_labels(np.concatenate(pair) for pair in zip(before, after, strict=True))
        counts = np.bincount(cell[:n], minlength=m) - np.bincount(cell[n:], minlength=m)
    return int(np.abs(counts).sum())


def conditional_entropy(x: IntArray, given: IntArray) -> float:
    """Conditional entropy summed over the records: ``Σ_j n_j · H(x | given = j)``, in nats."""
    table = pair_counts(dense(given)[0], dense(x)[0])
    size = np.bincount(table.first, weights=table.n)
    return float((table.n * np.log(size[table.first] / table.n)).sum())


def ebil(X: object, Y: object, *, n_categories: object = None) -> float:
    """Entropy-based information loss: uncertainty about the original category when the protected one is known.

    For each attribute, the conditional entropies ``H(V | V' = j)``, weighted by the number of protected records with
    category j (Marés 2013, Eq. 2.12–2.13), as a percentage of the maximum ``n · log|D|``; then the mean over the
    attributes. The conditional probabilities are the frequencies in the two files.

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape and row order.
    n_categories
        Domain size per attribute; by default, the largest code that occurs plus one. A domain of size 1 has loss 0.

    Returns
    -------
    float
        Percent, in [0, 100].

    Notes
    -----
    O(n·p), or O(n·p·log n) with many categories.

    Examples
    --------
    >>> ebil([[0], [1], [0], [1]], [[0], [0], [0], [0]])
    100.0
    >>> ebil([[0], [1], [0], [1]], [[1], [0], [1], [0]])
    0.0
    """
    original, protected = whole_pair(X, Y)
    n, p = original.shape
    loss = 0.0
    for x, y, size in zip(original.T, protected.T, domain_sizes(n_categories, original, protected), strict=True):
        if size > 1:
            loss += conditional_entropy(x, y) / (n * math.log(int(size)))
    return float(100.0 * loss / p)


def il_categorical(
    X: object, Y: object, *, kinds: object = "nominal", n_categories: object = None, K: int = 2
) -> float:
    """Information loss of a categorical file: ``(CTBIL + DBIL + EBIL) / 3`` in percent (Marés 2013, Eq. 4.9).

    Parameters
    ----------
    X, Y
        Original and protected category codes, same shape and row order.
    kinds, n_categories, K
        As for :func:`dbil` and :func:`ctbil`.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> X = [[0, 0], [1, 1], [1, 0], [0, 1]]
    >>> il_categorical(X, X)
    0.0
    """
    return (
        ctbil(X, Y, K=K, n_categories=n_categories)
        + dbil(X, Y, kinds=kinds, n_categories=n_categories)
        + ebil(X, Y, n_categories=n_categories)
    ) / 3.0


def _crossed(x: object, y: object, z: object) -> tuple[IntArray, IntArray, IntArray]:
    first = labels(x, None, "x")
    return first, labels(y, len(first), "y"), labels(z, len(first), "z")


def bivariate_difference(x: object, y: object, z: object) -> float:
    """Change in the counts of an attribute crossed with an unprotected one.

    ``100 · Σ_ij |count(x_i, z_j) - count(y_i, z_j)| / (2n)`` (Marés 2013, Eq. 4.5, in percent): the share of records
    that would have to change cells to restore the table.

    Parameters
    ----------
    x, y
        The attribute's original and protected codes.
    z
        Codes of an attribute that is not protected.

    Returns
    -------
    float
        Percent, in [0, 100].

    Examples
    --------
    >>> bivariate_difference([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0])
    25.0
    """
    before, after, other = _crossed(x, y, z)
    return 100.0 * _moved([before, other], [after, other]) / (2 * len(before))


def chi2_statistic(x: object, z: object) -> float:
    """Pearson's χ² statistic of the independence of two attributes.

    ``n · (Σ n_ij² / (n_i· n_·j) - 1)``. Only occupied cells are visited, so domains may be huge.

    Examples
    --------
    >>> chi2_statistic([0, 0, 1, 1], [0, 0, 1, 1])
    4.0
    """
    first = labels(x, None, "x")
    second = labels(z, len(first), "z")
    table = pair_counts(dense(first)[0], dense(second)[0])
    rows = np.bincount(table.first, weights=table.n)
    columns = np.bincount(table.second, weights=table.n)
    ratio = (table.n * table.n / (rows[table.first] * columns[table.second])).sum() - 1.0
    # Under independence the sum is exactly 1, and any difference is rounding.
    return float(len(first) * ratio) if ratio > 1e-12 else 0.0


def chi2_difference(x: object, y: object, z: object) -> float:
    """Relative change in the association of an attribute with an unprotected one.

    ``100 · |χ²(y, z) - χ²(x, z)| / χ²(x, z)`` (Marés 2013, Eq. 4.8). If the original χ² is 0, the result is 0 if
    nothing changed, else 100.

    Parameters
    ----------
    x, y
        The attribute's original and protected codes.
    z
        Codes of an attribute that is not protected.

    Returns
    -------
    float
        Percent, ≥ 0, without upper bound: protection can create an association.

    Examples
    --------
    >>> chi2_difference([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1])
    100.0
    """
    before, after, other = _crossed(x, y, z)
    reference, statistic = chi2_statistic(before, other), chi2_statistic(after, other)
    if reference == 0.0:
        return 0.0 if statistic == 0.0 else 100.0
    return 100.0 * abs(statistic - reference) / reference
