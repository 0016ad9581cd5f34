"""Compiled local suppression in which a star matches every value: rarest records first, with the fewest cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, kernel
from sdc_problems._slices import slices, tell

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
EXACT = 12  # attributes up to which all sets of cells are tried; above, one cell after another


@kernel()
def _apart(rows: I32, a: int, b: int) -> int:
    """Attributes, as bits, in which two rows have different values and no star."""
    found = 0
    for j in range(rows.shape[1]):
        if rows[a, j] >= 0 and rows[b, j] >= 0 and rows[a, j] != rows[b, j]:
            found |= 1 << j
    return found


@kernel()
def _fewest(apart: I64, weights: I64, rare: NDArray[np.bool_], own: int, k: int, ranks: I64, p: int) -> int:
    """Fewest cells, as bits, without which k records match a row; ties: least important, then most useful to others."""
    matching, helped = np.zeros(1 << p, dtype=np.int64), np.zeros(1 << p, dtype=np.int64)
    for r in range(len(apart)):
        matching[apart[r]] += weights[r]
        helped[apart[r]] += rare[r]
    for j in range(p):
        for s in range(1 << p):
            if s >> j & 1:
                matching[s] += matching[s ^ (1 << j)]
                helped[s] += helped[s ^ (1 << j)]
    best, cells, rank = -1, p + 1, np.int64(0)
    for s in range(1 << p):
        if s & ~own or matching[s] < k:
            continue
        bits, total = 0, np.int64(0)
        for j in range(p):
            if s >> j & 1:
                bits += 1
                total += ranks[j]
        fewer = bits < cells or (bits == cells and total > rank)
        if fewer or (bits == cells and total == rank and helped[s] > helped[best]):
            best, cells, rank = s, bits, total
    return best


@kernel()
def _one_by_one(apart: I64, weights: I64, own: int, k: int, ranks: I64, p: int) -> int:
    """Cells, as bits, without which k records match a row, chosen one by one by how near they bring a match."""
    found = 0
    while True:
        matching = np.int64(0)
        for r in range(len(apart)):
            if apart[r] & ~found == 0:
                matching += weights[r]
        if matching >= k:
            return found
        best, most = -1, -1.0
        for j in range(p):
            if not own >> j & 1 or found >> j & 1:
                continue
            near = 0.0
            for r in range(len(apart)):
                left, bits = apart[r] & ~(found | 1 << j), 0
                while left:
                    left &= left - 1
                    bits += 1
                near += weights[r] * 0.25**bits
            if near > most or (near == most and ranks[j] > ranks[best]):
                best, most = j, near
        if best < 0:
            return -1
        found |= 1 << best


@kernel()
def _count(rows: I32, weights: I64, count: I64, begin: int, end: int) -> None:
    """Count the records that match each of some rows."""
    for i in range(begin, end):
        for r in range(len(rows)):
            if _apart(rows, i, r) == 0:
                count[i] += weights[r]


@kernel()
def _star(rows: I32, weights: I64, k: int, ranks: I64, free: I64, count: I64, budget: int) -> int:
    """Star cells of the rarest row in turn until every row matches k records.

    Returns 1 when done, -1 if a row has no cell left to star, and 0 if the budget of steps is spent before that.
    """
    n, p = rows.shape
    apart = np.zeros(n, dtype=np.int64)
    while budget > 0:
        i = int(np.argmin(count))
        if count[i] >= k:
            return 1
        for r in range(n):
            apart[r] = _apart(rows, i, r)
        own = 0
        for j in range(p):
            own |= (rows[i, j] >= 0 and free[j] > 0) << j
        if p <= EXACT:
            chosen = _fewest(apart, weights, count < k, own, k, ranks, p)
            budget -= n * (p + 4) + 2 * p * (1 << p)
        else:
            chosen = _one_by_one(apart, weights, own, k, ranks, p)
            budget -= n * p * p
        if chosen < 0:
            return -1
        for j in range(p):
            if chosen >> j & 1:
                rows[i, j] = -1
                free[j] -= 1
        for r in range(n):
            if apart[r] != 0 and apart[r] & ~chosen == 0:
                count[r] += weights[i]
                count[i] += weights[r]
    return 0


@kernel()
def _restore(rows: I32, values: I32, weights: I64, k: int, count: I64, begin: int, end: int) -> bool:
    """Remove stars of some rows that are not needed; returns whether there were any."""
    n, p = rows.shape
    apart = np.zeros(n, dtype=np.int64)
    again = False
    for i in range(begin, end):
        for j in range(p):
            if rows[i, j] >= 0:
                continue
            lost, needed = np.int64(0), False
            for r in range(n):
                apart[r] = 0
                if r != i and rows[r, j] >= 0 and rows[r, j] != values[i, j] and _apart(rows, i, r) == 0:
                    apart[r] = 1
                    lost += weights[r]
                    needed = needed or count[r] - weights[i] < k
            if needed or count[i] - lost < k:
                continue
            rows[i, j] = values[i, j]
            count[i] -= lost
            for r in range(n):
                count[r] -= weights[i] * apart[r]
            again = True
    return again


def wildcard_stars(values: I32, weights: I64, k: int, ranks: I64, most: I64) -> I32:
    """Rows with stars (-1) such that each matches k records, where a star on either side matches every value.

    Parameters
    ----------
    values
        Codes ≥ 0: rows with at least k records once, all others once per record.
    weights
        Number of records of each row.
    k
        Smallest number of records that a row matches, including itself.
    ranks
        Rank of each attribute; the attribute with the largest rank is starred first.
    most
        Largest number of stars of each attribute. If they do not suffice, the result has no rows.
    """
    n, p = values.shape
    rows, free, count = values.copy(), most.copy(), np.zeros(n, dtype=np.int64)
    for low, high in slices(n, steps=n * p, what="rows compared"):
        _count(rows, weights, count, low, high)
    few = int((count < k).sum())
    found = 0
    while not found:
        found = _star(rows, weights, k, ranks, free, count, SLICE)
        if not found:
            tell("rows that match enough others", few - int((count < k).sum()), few)
    if found < 0:
        return rows[:0]
    again = True
    while again:
        again = False
        for low, high in slices(n, steps=n * p * p, what="rows looked at again"):
            again |= _restore(rows, values, weights, k, count, low, high)
    return rows
