"""Integer helpers of the measures: row keys, dense labels and counts of pairs. Exact for domains of any size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sdc_problems._validation import FloatArray, IntArray

_KEY_LIMIT = 2**62
_DENSE, _MANY = 8, 1 << 22
"""Most cells per record of a dense table, and the number of records above which it may have one cell per record."""


def dense(codes: IntArray) -> tuple[IntArray, int]:
    """Relabel codes as 0, 1, … in their order; returns the labels and their number.

    Examples
    --------
    >>> dense(np.array([7, 7, 10**12, 0]))
    (array([1, 1, 2, 0]), 3)
    """
    top = int(codes.max()) + 1
    if top <= 4 * len(codes) + 1024:
        present = np.zeros(top, dtype=np.bool_)
        present[codes] = True
        rank = np.cumsum(present, dtype=np.int64)
        rank -= 1
        return rank[codes], int(rank[-1]) + 1
    values, inverse = np.unique(codes, return_inverse=True)
    return inverse, len(values)


def ranks(values: FloatArray) -> FloatArray:
    """Ranks 1, 2, … in ascending order; equal values share their mean rank.

    Examples
    --------
    >>> ranks(np.array([0.5, 2.0, 0.5, -1.0]))
    array([2.5, 4. , 2.5, 1. ])
    """
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    shared: FloatArray = np.cumsum(counts) - 0.5 * (counts - 1)
    return shared[inverse]


def row_keys(codes: IntArray) -> tuple[IntArray, int]:
    """Key of each record and an exclusive upper bound on the keys.

    Keys are equal exactly where records are equal, and in the lexicographic order of the records. They are mixed-radix
    numbers; when the product of the domains would exceed 64 bits, the key so far is relabeled first, so that it never
    exceeds records × one domain.
    """
    return column_keys(codes.T)


def column_keys(columns: Iterable[npt.NDArray[np.integer[Any]]]) -> tuple[IntArray, int]:
    """`row_keys` of columns that are read one by one, so that a large table need not be in memory as a whole."""
    key = np.zeros(0, dtype=np.int64)
    size = 0
    for given in columns:
        column = given.astype(np.int64, copy=False)
        if not size:
            key, size = column, int(column.max()) + 1
            continue
        width = int(column.max()) + 1
        if size * width > _KEY_LIMIT:
            key, size = dense(key)
            if size * width > _KEY_LIMIT:
                column, width = dense(column)
        key = key * width + column
        size *= width
    return key, size


def column_labels(columns: Iterable[npt.NDArray[np.integer[Any]]]) -> tuple[IntArray, int]:
    """`row_labels` of columns that are read one by one."""
    return dense(column_keys(columns)[0])


def first_records(groups: IntArray, n_groups: int) -> IntArray:
    """First record of each group.

    Examples
    --------
    >>> first_records(np.array([1, 0, 1, 0]), 2)
    array([1, 0])
    """
    first = np.empty(n_groups, dtype=np.int64)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    return first


def row_labels(codes: IntArray) -> tuple[IntArray, int]:
    """Dense label of each record, equal exactly where records are equal, in the lexicographic order of the records.

    Examples
    --------
    >>> row_labels(np.array([[1, 0], [0, 5], [1, 0]]))
    (array([1, 0, 1]), 2)
    """
    return dense(row_keys(codes)[0])


class PairCounts(NamedTuple):
    """Distinct pairs (a, b) that occur, sorted by a and then b, and the count of each."""

    first: IntArray
    second: IntArray
    n: IntArray


def pair_counts(a: npt.NDArray[np.integer[Any]], b: npt.NDArray[np.integer[Any]]) -> PairCounts:
    """Count the pairs (a_i, b_i) of two dense label vectors; O(n) when a dense table is small, else O(n log n)."""
    a, b = a.astype(np.int64, copy=False), b.astype(np.int64, copy=False)
    width = int(b.max()) + 1
    size = (int(a.max()) + 1) * width
    if size <= (_DENSE if len(a) < _MANY else 1) * len(a) + 1024:
        cells = np.bincount(a * width + b, minlength=size)
        found = np.flatnonzero(cells)
        return PairCounts(found // width, found % width, cells[found])
    found, count = np.unique(a * width + b, return_counts=True)
    return PairCounts(found // width, found % width, count)


def starts(sorted_labels: IntArray) -> IntArray:
    """Start of each run of equal labels."""
    return np.flatnonzero(np.r_[True, sorted_labels[1:] != sorted_labels[:-1]])


def unique_rows(X: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Distinct rows in lexicographic order, the index of each record's row, and the number of records of each row.

    Sorts by one column at a time: several times faster than ``np.unique(axis=0)``, which compares rows as byte strings
    and distinguishes 0.0 from -0.0.
    """
    order = np.lexsort(X.T[::-1])
    ordered = X[order]
    new = np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)]
    group = np.cumsum(new) - 1
    inverse = np.empty(len(X), dtype=np.int64)
    inverse[order] = group
    return ordered[new], inverse, np.bincount(group)
