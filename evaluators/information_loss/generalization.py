"""Information loss of generalized tables: coarser values and suppressed records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sdc_problems._validation import (
    BoolArray,
    IntArray,
    cell_mask,
    code_table,
    labels,
    mask,
    number,
)
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense, pair_counts
from sdc_problems.evaluators.information_loss import _pairs
from sdc_problems.evaluators.information_loss._pairs import whole_pair
from sdc_problems.evaluators.information_loss.categorical import conditional_entropy


def glm(leaves: object, n_categories: object, *, suppressed: object = None) -> float:
    """General loss metric: share of the other values that a generalized value may stand for, summed over all cells.

    ``Σ (leaves_ij - 1) / (|D_j| - 1)`` over records and attributes, where ``leaves_ij`` is the number of original
    categories under the generalized value (Iyengar 2002; Dewri et al. 2010, §7). A suppressed record counts 1 for each
    attribute; an attribute with one category has no loss unless it is suppressed.

    Parameters
    ----------
    leaves
        Records × attributes: number of categories under the value of each cell, 1 … |D_j|.
    n_categories
        |D_j| per attribute.
    suppressed
        One boolean per record.

    Returns
    -------
    float
        In [0, n·p]; for the percentage see :func:`glm_percent`.

    Notes
    -----
    O(n·p). The loss of a cell depends on its own value only, so a search can compute the sum from counts of values.

    Examples
    --------
    >>> glm([[1, 2], [3, 2]], [5, 2])
    2.5
    """
    return _glm(leaves, n_categories, suppressed)[0]


def glm_percent(leaves: object, n_categories: object, *, suppressed: object = None) -> float:
    """General loss metric in percent of its maximum: ``100 · glm / (n·p)``, the mean over the cells.

    Parameters
    ----------
    leaves, n_categories, suppressed
        As for :func:`glm`.

    Returns
    -------
    float
        In [0, 100].

    Examples
    --------
    >>> glm_percent([[1, 2], [3, 2]], [5, 2], suppressed=[False, True])
    75.0
    """
    total, cells = _glm(leaves, n_categories, suppressed)
    return 100 * (total / cells)


def _glm(leaves: object, n_categories: object, suppressed: object) -> tuple[float, int]:
    """Sum of the losses of the cells, and the number of cells."""
    n, p = np.shape(given := _table_or_array(leaves))
    sizes = labels(n_categories, p, "n_categories")
    out = mask(suppressed, n, "suppressed")
    total: float = math.fsum(column_glm(given[:, j], int(sizes[j]), out) for j in range(p))
    return total, n * p


def column_glm(leaves: IntArray | npt.NDArray[np.integer[Any]], n_categories: int, suppressed: BoolArray) -> float:
    """`glm` of one column; cells are counted by their number of leaves, so that the sum is of whole numbers."""
    counts = np.zeros(n_categories + 1, dtype=np.int64)
    for low in range(0, len(leaves), _pairs.RECORDS):
        under = code_table(leaves[low : low + _pairs.RECORDS], "leaves")[:, 0]
        if under.min() < 1 or under.max() > n_categories:
            raise SDCError("leaves must lie between 1 and the attribute's n_categories")
        counts += np.bincount(under[~suppressed[low : low + _pairs.RECORDS]], minlength=len(counts))
    lost = int((counts[1:] * np.arange(n_categories)).sum())
    return lost / max(n_categories - 1, 1) + int(suppressed.sum())


def _table_or_array(values: object) -> IntArray:
    """Two-dimensional whole numbers unchanged, to be checked in pieces later; anything else is checked now."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "iu" and values.size:
        return values
    return code_table(values, "leaves")


def _classes(classes: object, suppressed: object) -> tuple[IntArray, BoolArray]:
    """Dense classes of the records that remain, and the mask of the suppressed ones."""
    groups = labels(classes, None, "classes")
    out = mask(suppressed, len(groups), "suppressed")
    left = groups[~out]
    return (dense(left)[0] if len(left) else left), out


def cm(classes: object, class_labels: object, *, suppressed: object = None) -> int:
    """Classification metric: number of records that a majority vote within the equivalence classes gets wrong.

    Counts records that are suppressed, or whose class label is not the majority label of their equivalence class
    (Iyengar 2002; Dewri et al. 2010, §7). If majority labels tie, the count does not depend on which one is chosen.

    Parameters
    ----------
    classes
        Equivalence class of each record.
    class_labels
        Label to predict of each record.
    suppressed
        One boolean per record.

    Returns
    -------
    int
        In [0, n].

    Examples
    --------
    >>> cm([0, 0, 0, 1, 1], [1, 1, 0, 2, 2], suppressed=[False, False, False, False, True])
    2
    """
    groups, out = _classes(classes, suppressed)
    target = labels(class_labels, len(out), "class_labels")
    if len(groups) == 0:
        return len(out)
    table = pair_counts(groups, dense(target[~out])[0])
    majority = np.zeros(int(groups.max()) + 1, dtype=np.int64)
    np.maximum.at(majority, table.first, table.n)
    return len(out) - int(majority.sum())


def discernibility(classes: object, *, suppressed: object = None) -> int:
    """Discernibility metric: number of records that look the same as a record, summed over the records.

    ``Σ |E|²`` over the remaining equivalence classes, plus n for each suppressed record (Bayardo & Agrawal 2005).

    Parameters
    ----------
    classes
        Class of each record.
    suppressed
        One boolean per record.

    Returns
    -------
    int
        In [n, n²].

    Examples
    --------
    >>> discernibility([0, 0, 1, 1, 1], suppressed=[False, False, False, False, False])
    13
    """
    groups, out = _classes(classes, suppressed)
    size = np.bincount(groups)
    return int((size * size).sum()) + int(out.sum()) * len(out)


def average_class_size(classes: object, *, k: float | None = None, suppressed: object = None) -> float:
    """Average size of the remaining equivalence classes; divided by k if given (C_AVG of LeFevre et al. 2006, ideal 1).

    Parameters
    ----------
    classes
        Class of each record.
    k
        Required class size, by which the mean is divided.
    suppressed
        One boolean per record.

    Returns
    -------
    float
        ≥ 1 without k; 0 if every record is suppressed.

    Examples
    --------
    >>> average_class_size([0, 0, 1, 1, 1]), average_class_size([0, 0, 1, 1, 1], k=2)
    (2.5, 1.25)
    """
    groups, _ = _classes(classes, suppressed)
    divisor = 1.0 if k is None else number(k, "k", low=1, high=math.inf)
    return len(groups) / (int(groups.max()) + 1) / divisor if len(groups) else 0.0


def entropy_loss(X: object, Y: object, *, suppressed: object = None, stars: object = None) -> float:
    """Non-uniform entropy: information, in bits, needed to recover the original values from the generalized ones.

    ``-Σ log2 P(x_ij | y_ij)`` over all cells, where the probabilities are frequencies in the file (Gionis & Tassa
    2009). Unlike :func:`glm`, it accounts for frequencies: merging two rare values costs less than merging two frequent
    ones. A starred cell costs ``-log2 P(x_ij)``; a suppressed record costs that for each attribute.

    Parameters
    ----------
    X, Y
        Codes of the original and of the generalized values, same shape and row order; the codes of the two tables
        are unrelated.
    suppressed
        One boolean per record; Y must hold the generalized values of suppressed records, too.
    stars
        One boolean per cell: True where it is starred or missing, which discloses nothing about the value.

    Returns
    -------
    float
        Bits, ≥ 0; for the percentage see :func:`entropy_loss_percent`.

    Examples
    --------
    >>> entropy_loss([[0], [1], [2], [3]], [[0], [0], [1], [1]])
    4.0
    """
    return _entropy_loss(X, Y, suppressed, stars)[0]


def entropy_loss_percent(X: object, Y: object, *, suppressed: object = None, stars: object = None) -> float:
    """Non-uniform entropy in percent of the loss of a table that is suppressed entirely.

    Parameters
    ----------
    X, Y, suppressed, stars
        As for :func:`entropy_loss`.

    Returns
    -------
    float
        In [0, 100]; 0 if all columns are constant.

    Examples
    --------
    >>> entropy_loss_percent([[0], [1], [2], [3]], [[0], [0], [1], [1]])
    50.0
    """
    return share_lost(*_entropy_loss(X, Y, suppressed, stars))


def share_lost(lost: float, worst: float) -> float:
    """Bits lost as a percentage of the most that can be lost; 0 if nothing can be lost."""
    return 100 * min(lost / worst, 1.0) if worst > 0 else 0.0


def _entropy_loss(X: object, Y: object, suppressed: object, stars: object) -> tuple[float, float]:
    """Bits lost, and the bits of a table that is suppressed entirely."""
    original, generalised = whole_pair(X, Y)
    gone = mask(suppressed, len(original), "suppressed")
    open_cells = cell_mask(stars, original.shape, "stars")
    lost = worst = 0.0
    for x, y, out in zip(original.T, generalised.T, open_cells.T, strict=True):
        of_column = column_entropy(x, y, gone | out)
        lost, worst = lost + of_column[0], worst + of_column[1]
    return lost, worst


def column_entropy(
    x: npt.NDArray[np.integer[Any]], y: npt.NDArray[np.integer[Any]], out: BoolArray
) -> tuple[float, float]:
    """Bits that one column lost, and the most that it can lose; ``out`` marks starred or suppressed cells."""
    values, coarse = (dense(codes.astype(np.int64, copy=False))[0] for codes in (x, y))
    whole_domain = -np.log2(np.bincount(values) / len(values))
    worst = float(whole_domain[values].sum())
    if not out.any():
        return conditional_entropy(values, coarse) / math.log(2.0), worst
    cell, m = dense(coarse * (int(values.max()) + 1) + values)
    share = np.bincount(cell, minlength=m)[cell] / np.bincount(coarse)[coarse]
    return float(np.where(out, whole_domain[values], -np.log2(share)).sum()), worst
