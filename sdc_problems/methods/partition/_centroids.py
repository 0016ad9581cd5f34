"""Aggregation step of microaggregation: every record gets the centroid of its group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import labels as check_labels
from sdc_problems.methods._amounts import DECIMALS
from sdc_problems.methods._kernels.mdav import NOMINAL, ORDINAL
from sdc_problems.methods.partition._attributes import attributes


def microaggregate(X: object, labels: object, *, kinds: Sequence[str] | None = None) -> NDArray[np.float64]:
    """Replace each record by the centroid of its group: mean, lower median or mode, by the kind of the attribute.

    Parameters
    ----------
    X
        Records × attributes; ordinal and nominal attributes hold codes 0, 1, …
    labels
        Group of each record, whole numbers ≥ 0 (gaps are allowed).
    kinds
        "numeric", "ordinal" or "nominal" for each attribute; by default, all are numeric.

    Returns
    -------
    protected
        Protected values, in the shape of X.

    Notes
    -----
    Domingo-Ferrer and Torra (2005). Of equally frequent values, the smallest code is used. Means of numbers with few
    decimals are exact up to one rounding: 30.2, not 30.200000000000003. Other means are computed from differences. So a
    group of equal values keeps them exactly, however large they are. O(np log n) time.

    Examples
    --------
    >>> microaggregate([[1.0, 2], [3.0, 0], [5.0, 2]], [0, 0, 0], kinds=["numeric", "nominal"])
    array([[3., 2.],
           [3., 2.],
           [3., 2.]])
    """
    values, codes, _ = attributes(X, kinds=kinds, standardize=False)
    given = check_labels(labels, len(values))
    groups = np.unique(given, return_inverse=True)[1]
    out = np.empty_like(values)
    for j, kind in enumerate(codes):
        if kind == ORDINAL:
            centroids = _lower_medians(values[:, j], groups)
        elif kind == NOMINAL:
            centroids = _modes(values[:, j], groups)
        else:
            centroids = _means(values[:, j], groups)
        out[:, j] = centroids[groups]
    return out


def _means(column: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    size = np.bincount(groups)
    unit = _unit(column)
    if unit:
        return np.asarray(np.bincount(groups, weights=np.rint(column * unit)) / (size * unit))
    first = column[np.unique(groups, return_index=True)[1]]
    # Halves stay finite where a difference of very large floats would overflow.
    away = column / 2 - first[groups] / 2
    means: NDArray[np.float64] = first + 2 * np.bincount(groups, weights=away / size[groups])
    return means


def _unit(column: NDArray[np.float64]) -> float:
    """10 to the power of the number of decimals, if they are few enough for exact sums; else 0."""
    total = float(np.abs(column / 2**53).sum())
    for unit in 10.0 ** np.arange(DECIMALS + 1):
        if total * unit >= 0.5:  # sums of whole numbers below 2⁵³ are exact; half of that leaves a margin
            return 0.0
        if (np.rint(column * unit) / unit == column).all():
            return float(unit)
    return 0.0


def _lower_medians(column: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    size = np.bincount(groups)
    start = np.cumsum(size) - size
    medians: NDArray[np.float64] = column[np.lexsort((column, groups))][start + (size - 1) // 2]
    return medians


def _modes(column: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    pairs, count = np.unique(np.column_stack([groups, column]), axis=0, return_counts=True)
    ranked = pairs[np.lexsort((pairs[:, 1], -count, pairs[:, 0]))]
    modes: NDArray[np.float64] = ranked[np.unique(ranked[:, 0], return_index=True)[1], 1]
    return modes


def span(sizes: Iterable[int]) -> str:
    """Sizes of groups in words.

    Examples
    --------
    >>> span([3, 5, 4]), span([3, 3])
    ('3 to 5', '3')
    """
    known = [int(size) for size in sizes]
    low, high = min(known), max(known)
    return str(low) if low == high else f"{low} to {high}"
