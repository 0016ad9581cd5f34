"""Anonymity of a table: equivalence classes, k, the ℓ-diversity family, t-closeness, spread, and suppression.

The quasi-identifiers are grouped once (:func:`equivalence_classes`); every measure takes the class of each record
and, where it needs them, the codes of one sensitive attribute.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdc_problems._validation import (
    BoolArray,
    FloatArray,
    IntArray,
    choice,
    code_table,
    labels,
    number,
    vector,
    whole,
)
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import PairCounts, dense, pair_counts, row_labels, starts
from sdc_problems.evaluators._emd import equal_emd, ordered_emd

_EXACT = 2**62


def equivalence_classes(quasi_identifiers: Any) -> IntArray:
    """Equivalence class of each record: equal numbers exactly where all quasi-identifiers are equal.

    Parameters
    ----------
    quasi_identifiers
        Category codes ≥ 0, records × attributes; or a data frame, whose columns are coded by their own ``factorize``.
        Missing values are an error: decide first what they mean.

    Returns
    -------
    ndarray of int64
        Classes 0, 1, …, in the lexicographic order of the codes.

    Notes
    -----
    O(n·p + n log n), for any size of domain.

    Examples
    --------
    >>> equivalence_classes([[30, 1], [30, 0], [30, 1]])
    array([1, 0, 1])
    """
    return row_labels(_coded(quasi_identifiers, "quasi_identifiers"))[0]


def _coded(values: Any, name: str) -> IntArray:
    """Codes of an array or of a data frame, whose columns factorize themselves, so that pandas is not imported."""
    if not hasattr(values, "columns"):
        return code_table(values, name)
    columns = []
    for j, label in enumerate(values.columns):
        codes, _ = values.iloc[:, j].factorize()
        if (codes < 0).any():
            raise SDCError(f"{name} has {int((codes < 0).sum())} missing value(s) in column {label!r}")
        columns.append(codes)
    return code_table(np.stack(columns, axis=1) if columns else np.empty((0, 0)), name)


def _sensitive(values: Any, n: int) -> IntArray:
    if hasattr(values, "factorize") and not isinstance(values, np.ndarray):
        codes, _ = values.factorize(sort=True)
        if (codes < 0).any():
            raise SDCError(f"sensitive has {int((codes < 0).sum())} missing value(s)")
        values = codes
    return labels(values, n, "sensitive")


def class_sizes(classes: object) -> IntArray:
    """Size of each record's equivalence class: the property vector of k (Dewri et al. 2010, §4).

    Parameters
    ----------
    classes
        Class of each record.

    Returns
    -------
    ndarray of int64
        One size per record.

    Examples
    --------
    >>> class_sizes([5, 5, 2])
    array([2, 2, 1])
    """
    groups, m = dense(labels(classes, None, "classes"))
    return np.bincount(groups, minlength=m)[groups]


def k_anonymity(classes: object) -> int:
    """Size of the smallest equivalence class (Samarati 2001; Dewri et al. 2010, §3).

    Parameters
    ----------
    classes
        Class of each record.

    Returns
    -------
    int
        In [1, n]; higher is safer.

    Examples
    --------
    >>> k_anonymity([0, 0, 1, 1, 1])
    2
    """
    groups, m = dense(labels(classes, None, "classes"))
    return int(np.bincount(groups, minlength=m).min())


def _pairs(classes: object, sensitive: Any) -> PairCounts:
    groups, _ = dense(labels(classes, None, "classes"))
    return pair_counts(groups, dense(_sensitive(sensitive, len(groups)))[0])


def sensitive_counts(classes: object, sensitive: Any) -> IntArray:
    """Count of each record's sensitive value in its class: the property vector of ``spread_l``.

    Dewri et al. (2010), §7, property 2.

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    ndarray of int64
        One count per record.

    Examples
    --------
    >>> sensitive_counts([0, 0, 0, 1], [7, 7, 8, 7])
    array([2, 2, 1, 1])
    """
    groups, _ = dense(labels(classes, None, "classes"))
    values, m = dense(_sensitive(sensitive, len(groups)))
    cell, _ = dense(groups * m + values)
    return np.bincount(cell)[cell]


def distinct_l(classes: object, sensitive: Any) -> int:
    """Distinct ℓ-diversity: the smallest number of different sensitive values in a class (Machanavajjhala et al. 2006).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    int
        In [1, number of sensitive values]; higher is safer.

    Examples
    --------
    >>> distinct_l([0, 0, 1, 1], [0, 1, 0, 0])
    1
    """
    return int(np.bincount(_pairs(classes, sensitive).first).min())


def entropy_l(classes: object, sensitive: Any) -> float:
    """Entropy ℓ-diversity: ``exp`` of the smallest entropy of the sensitive values in a class.

    The table is entropy ℓ-diverse for every ℓ up to this value (Machanavajjhala et al. 2006, Def. 4.1).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    float
        In [1, distinct ℓ]; higher is safer.

    Examples
    --------
    >>> round(entropy_l([0, 0, 1, 1, 1], [0, 1, 0, 1, 1]), 6)
    1.889882
    """
    pairs = _pairs(classes, sensitive)
    size = np.bincount(pairs.first, weights=pairs.n)
    share = pairs.n / size[pairs.first]
    entropy = np.bincount(pairs.first, weights=-share * np.log(share))
    # Rounding must not make a class with two values more than 2-diverse, nor one with a single value less than 1.
    return float(np.clip(np.exp(entropy), 1.0, np.bincount(pairs.first)).min())


def _descending_tails(pairs: PairCounts) -> tuple[IntArray, IntArray, IntArray]:
    """Start of each class among the sorted counts, the counts of each class from the largest, and their tail sums."""
    order = np.lexsort((-pairs.n, pairs.first))
    counts, group = pairs.n[order], pairs.first[order]
    begin = starts(group)
    total = np.cumsum(counts)
    end = np.r_[begin[1:], len(counts)]
    tails = total[end - 1][group] - total + counts
    return begin, counts, tails


def recursive_c(classes: object, sensitive: Any, *, l: int) -> float:
    """Recursive (c, ℓ)-diversity: the bound on c for a given ℓ.

    A class with counts ``r_1 ≥ r_2 ≥ …`` is (c, ℓ)-diverse if ``r_1 < c (r_ℓ + r_ℓ+1 + …)`` (Machanavajjhala et al.
    2006, Def. 4.2). The bound is the largest ``r_1 / (r_ℓ + …)`` of any class: the table is (c, ℓ)-diverse for every c
    *above* it, and for no other.

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.
    l
        ℓ ≥ 1.

    Returns
    -------
    float
        ≥ 1 / (number of values); ``inf`` if a class has fewer than ℓ values. Lower is safer.

    Examples
    --------
    >>> recursive_c([0, 0, 0, 0], [0, 0, 1, 2], l=2)
    1.0
    """
    rank = whole(l, "l", least=1)
    pairs = _pairs(classes, sensitive)
    begin, counts, tails = _descending_tails(pairs)
    n_values = np.diff(np.r_[begin, len(counts)])
    if (n_values < rank).any():
        return math.inf
    return float((counts[begin] / tails[begin + rank - 1]).max())


def recursive_l(classes: object, sensitive: Any, *, c: float) -> int:
    """The largest ℓ for which the table is recursively (c, ℓ)-diverse; see :func:`recursive_c`.

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.
    c
        c > 0.

    Returns
    -------
    int
        ≥ 0, where 0 means not even ℓ = 1 (possible if c is small); higher is safer.

    Examples
    --------
    >>> recursive_l([0, 0, 0, 0], [0, 0, 1, 2], c=1.5)
    2
    """
    factor = number(c, "c", low=0.0, high=math.inf)
    pairs = _pairs(classes, sensitive)
    begin, counts, tails = _descending_tails(pairs)
    group = np.repeat(np.arange(len(begin)), np.diff(np.r_[begin, len(counts)]))
    # Tail sums decrease with the rank, so the ranks that satisfy the condition are a prefix of each class.
    passes = counts[begin][group] < factor * tails
    return int(np.bincount(group, weights=passes).min())


def class_closeness(
    classes: object, sensitive: Any, *, distance: str = "equal", n_values: int | None = None
) -> FloatArray:
    """Earth mover's distance between the sensitive values of each class and of the table; see :func:`t_closeness`.

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.
    distance, n_values
        As for :func:`t_closeness`.

    Returns
    -------
    ndarray
        In [0, 1] for each class, in ascending order of the classes.

    Examples
    --------
    >>> class_closeness([0, 0, 1, 1], [0, 0, 1, 1])
    array([0.5, 0.5])
    """
    groups, m_classes = dense(labels(classes, None, "classes"))
    values = _sensitive(sensitive, len(groups))
    ordered = choice(distance, "distance", ("equal", "ordered")) == "ordered"
    if n_values is None:
        values, m = dense(values)
    else:
        m = whole(n_values, "n_values", least=int(values.max()) + 1)
    n = len(groups)
    pairs = pair_counts(groups, values)
    size, overall = np.bincount(groups, minlength=m_classes), np.bincount(values, minlength=m)
    # Whole numbers are exact (a class distributed as the table has distance 0); doubles are used beyond 64 bits.
    exact = (m if ordered else 1) * n * int(size.max()) < _EXACT
    emd = np.zeros(m_classes, dtype=np.int64 if exact else np.float64)
    if ordered:
        below = np.cumsum(overall).astype(emd.dtype)
        sums = np.r_[np.zeros(1, dtype=emd.dtype), np.cumsum(below)]
        begin = np.r_[starts(pairs.first), len(pairs.first)]
        scale = emd.dtype.type
        ordered_emd(begin, pairs.n.astype(emd.dtype), pairs.second, size.astype(emd.dtype), below, sums, scale(n), emd)
        return (emd / (float(n) * size * max(m - 1, 1))).astype(np.float64)
    counts = pairs.n.astype(emd.dtype)
    equal_emd(
        pairs.first, counts, pairs.second, size.astype(emd.dtype), overall.astype(emd.dtype), emd.dtype.type(n), emd
    )
    return (emd / (float(n) * size)).astype(np.float64)


def t_closeness(classes: object, sensitive: Any, *, distance: str = "equal", n_values: int | None = None) -> float:
    """t-closeness: the largest earth mover's distance between sensitive values of a class and of the table.

    Equal distance: ``½ Σ |p_i - q_i|``, for nominal values. Ordered distance:
    ``Σ_i |Σ_{j ≤ i} (p_j - q_j)| / (m - 1)``, for ordinal and numeric values, with codes in their order (Li et al.
    2007).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.
    distance
        ``"equal"`` or ``"ordered"``.
    n_values
        Size m of the sensitive domain; by default, the number of values that occur.

    Returns
    -------
    float
        In [0, 1]; lower is safer.

    Notes
    -----
    O(n log n) for any number of classes and values. Sums are whole numbers as long as they fit 64 bits.

    Examples
    --------
    >>> t_closeness([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    >>> t_closeness([0, 0, 1, 1], [0, 1, 2, 3], distance="ordered")
    0.3333333333333333
    """
    return float(class_closeness(classes, sensitive, distance=distance, n_values=n_values).max())


def spread_k(classes: object) -> int:
    """Sum over the records of the size of their class (S_k of Dewri et al. 2010, §7); higher is safer.

    Parameters
    ----------
    classes
        Class of each record.

    Examples
    --------
    >>> spread_k([0, 0, 1])
    5
    """
    return int(class_sizes(classes).sum())


def spread_l(classes: object, sensitive: Any) -> int:
    """Sum over the records of the count of their sensitive value in their class (S_ℓ of Dewri et al. 2010, §7).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Examples
    --------
    >>> spread_l([0, 0, 0, 1], [7, 7, 8, 7])
    6
    """
    return int(sensitive_counts(classes, sensitive).sum())


def spread_index(p: object, q: object) -> float:
    """Binary spread index of two property vectors: sum of the differences where the first is larger.

    ``Σ max(p_i - q_i, 0)`` (Dewri et al. 2010, §4.1). By this index, a table is better than another exactly when the
    sum of its property vector is larger.

    Parameters
    ----------
    p, q
        Property vectors, one value per record.

    Examples
    --------
    >>> spread_index([3, 1], [1, 2]), spread_index([1, 2], [3, 1])
    (2.0, 1.0)
    """
    first = vector(p, "p")
    return float(np.maximum(first - vector(q, "q", length=len(first)), 0.0).sum())


class Suppression(NamedTuple):
    """Suppression of records, and the k of the records that remain."""

    mask: BoolArray
    k: int
    largest: int


def suppress_small_classes(classes: object, *, limit: int, threshold: int | None = None) -> Suppression:
    """Suppress the smallest classes within a budget of records (Dewri et al. 2010, §6).

    Classes of size 1, then 2, … are suppressed, up to the largest size j for which at most ``limit`` records are
    suppressed in total; k is the size of the smallest class that remains.

    Parameters
    ----------
    classes
        Class of each record.
    limit
        Largest number of suppressed records (η), less than the number of records.
    threshold
        Classes of at least this size are never suppressed; by default, only the budget limits suppression.

    Returns
    -------
    Suppression
        ``mask`` (True: suppress), ``k`` of the rest, and ``largest``, the largest class size suppressed (0: none).

    Examples
    --------
    >>> suppress_small_classes([0, 1, 1, 2, 2, 2], limit=2)
    Suppression(mask=array([ True, False, False, False, False, False]), k=2, largest=1)
    >>> suppress_small_classes([0, 1, 1, 2, 2, 2], limit=3, threshold=2).k
    2
    """
    size = class_sizes(classes)
    budget = whole(limit, "limit")
    if budget >= len(size):
        raise SDCError(f"limit must be less than the number of records ({len(size)}): else nothing would be left")
    records_up_to = np.cumsum(np.bincount(size))
    largest = int(np.searchsorted(records_up_to, budget, side="right")) - 1
    if threshold is not None:
        largest = min(largest, whole(threshold, "threshold", least=1) - 1)
    mask: BoolArray = size <= largest
    k = int(size[~mask].min())
    return Suppression(mask, k, int(size[mask].max()) if mask.any() else 0)
