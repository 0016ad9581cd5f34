"""Anonymity of a table with stars, where a star (a suppressed or missing cell) can stand for any value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._slices import slices
from sdc_problems._validation import BoolArray, IntArray, cell_mask, code_table
from sdc_problems.evaluators._codes import column_labels, first_records, row_labels

_PAIR_COST = 60_000  # elementary comparisons that cost as much as joining two patterns of stars


def k_wildcard(quasi_identifiers: object, stars: object) -> int:
    """Anonymity k with stars as wildcards: smallest number of records compatible with a record, including itself.

    Two records are compatible if each quasi-identifier is equal in both, or starred in at least one. ``k_anonymity``,
    for which a star is a value of its own, is never larger.

    Parameters
    ----------
    quasi_identifiers
        Category codes ≥ 0, records × attributes; the codes of starred cells do not matter.
    stars
        True for each starred cell, in the same shape.

    Returns
    -------
    int
        In [1, n]; higher is safer.

    Notes
    -----
    Compatibility is not transitive, so there are no classes; see :func:`wildcard_class_sizes` for the cost.

    Examples
    --------
    >>> k_wildcard([[30, 1], [30, 0], [40, 0]], [[False, False], [False, True], [False, False]])
    1
    >>> k_wildcard([[30, 1], [30, 0], [40, 1]], [[False, False], [False, True], [True, False]])
    3
    """
    return int(wildcard_class_sizes(quasi_identifiers, stars).min())


def wildcard_class_sizes(quasi_identifiers: object, stars: object) -> IntArray:
    """Number of records with which each record is compatible, where a star is compatible with every value.

    Parameters
    ----------
    quasi_identifiers, stars
        As for :func:`k_wildcard`.

    Returns
    -------
    ndarray of int64
        In [1, n]; without stars, the sizes of the equivalence classes.

    Notes
    -----
    O(r·q) for r distinct records with q different patterns of stars, or O(r·s) for s distinct records with a star,
    whichever is less.

    Examples
    --------
    >>> wildcard_class_sizes([[30], [30], [40], [0]], [[False], [False], [False], [True]])
    array([3, 3, 2, 4])
    """
    codes = code_table(quasi_identifiers, "quasi_identifiers")
    open_cells = cell_mask(stars, codes.shape, "stars")
    return column_wildcard_sizes(list(codes.T), list(open_cells.T))


def column_wildcard_sizes(columns: Sequence[NDArray[np.integer[Any]]], stars: Sequence[NDArray[np.bool_]]) -> IntArray:
    """`wildcard_class_sizes` of columns of codes and of stars; only the distinct records are held as a table."""
    who, m = column_labels(
        np.where(starred, 0, column.astype(np.int64) + 1) for column, starred in zip(columns, stars, strict=True)
    )
    first, p = first_records(who, m), len(columns)
    wild = np.stack([starred[first] for starred in stars], axis=1)
    cells = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
    cells[wild] = 0
    records = np.bincount(who, minlength=m)
    pattern, n_patterns = row_labels(wild.astype(np.int64))
    starred = wild.any(axis=1)
    if n_patterns * n_patterns * _PAIR_COST <= 2 * int(starred.sum()) * m + _PAIR_COST:
        counts = _by_patterns(cells, wild, records, pattern, n_patterns)
    else:
        counts = records.copy()
        some = np.flatnonzero(starred)
        place: IntArray = np.cumsum(starred) - starred
        for low, high in slices(len(some), steps=len(cells) * p, what="records with a star"):
            _add_compatible(cells, wild, records, some, place, counts, low, high)
    return counts[who]


def _by_patterns(cells: IntArray, wild: BoolArray, records: IntArray, pattern: IntArray, n_patterns: int) -> IntArray:
    """Join the rows of each pair of patterns on the attributes that are starred in neither."""
    counts = np.zeros(len(cells), dtype=np.int64)
    members = [np.flatnonzero(pattern == label) for label in range(n_patterns)]
    for a, first in enumerate(members):
        for second in members[a:]:
            both = np.concatenate([first, second])
            shown = ~(wild[first[0]] | wild[second[0]])
            keys = row_labels(cells[both][:, shown])[0] if shown.any() else np.zeros(len(both), dtype=np.int64)
            of_first, of_second = keys[: len(first)], keys[len(first) :]
            size = int(keys.max()) + 1
            counts[first] += np.bincount(of_second, weights=records[second], minlength=size)[of_first].astype(np.int64)
            if second is not first:
                met = np.bincount(of_first, weights=records[first], minlength=size)[of_second]
                counts[second] += met.astype(np.int64)
    return counts


@kernel()
def _add_compatible(
    cells: Any, wild: Any, records: Any, some: Any, place: Any, counts: Any, begin: int, end: int
) -> None:
    """Compare rows with a star (``some``, in order) with all other rows; ``place`` counts those before each row."""
    n, p = cells.shape
    for position in range(begin, end):
        i = some[position]
        for j in range(n):
            if j == i:
                continue
            starred = place[j] < len(some) and some[place[j]] == j
            if starred and j < i:
                continue
            fits = True
            for c in range(p):
                if cells[i, c] != cells[j, c] and not wild[i, c] and not wild[j, c]:
                    fits = False
                    break
            if fits:
                counts[i] += records[j]
                counts[j] += records[i]
