"""Kernels of the transition engine: draw protected files from fixed uniform numbers, and count changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import put


@kernel()
def draw_and_count(codes: Any, uniforms: Any, thresholds: Any, starts: Any, sizes: Any, joint: Any) -> Any:
    """Protected codes of every replicate, and counts of changes between categories.

    ``thresholds`` holds the cumulative rows of all matrices one after the other (attribute a from ``starts[a]`` on).
    The protected category is the first whose threshold exceeds the uniform number. ``joint`` has the same layout, with
    one row per replicate, and receives the counts.
    """
    n_replicates, p, n = uniforms.shape
    protected = np.empty((n_replicates, n, p), dtype=np.int32)
    for r in range(n_replicates):
        for a in range(p):
            size = sizes[a]
            for i in range(n):
                row = starts[a] + codes[i, a] * size
                u = uniforms[r, a, i]
                low = 0
                if size <= 16:
                    while thresholds[row + low] <= u:
                        low += 1
                else:
                    high = size - 1
                    while low < high:
                        middle = (low + high) // 2
                        if thresholds[row + middle] <= u:
                            low = middle + 1
                        else:
                            high = middle
                protected[r, i, a] = low
                joint[r, row + low] += 1
    return protected


@kernel()
def table_differences(protected: Any, first: Any, second: Any, width: Any, offset: Any, original: Any) -> Any:
    """Sum of absolute differences from the original counts over tables and cells, per replicate.

    Table t crosses the attributes ``first[t]`` and ``second[t]``, the latter with ``width[t]`` categories; its original
    counts start at ``offset[t]``. Only cells with protected records are visited:
    Σ|o - m| = n + Σ over those cells of (|o - m| - o).
    """
    n_replicates, n, _ = protected.shape
    counts = np.zeros(len(original), dtype=np.int64)
    total = np.zeros(n_replicates, dtype=np.int64)
    for r in range(n_replicates):
        for t in range(len(first)):
            for i in range(n):
                counts[offset[t] + protected[r, i, first[t]] * width[t] + protected[r, i, second[t]]] += 1
            total[r] += n
            for i in range(n):
                cell = offset[t] + protected[r, i, first[t]] * width[t] + protected[r, i, second[t]]
                if counts[cell] > 0:
                    total[r] += abs(original[cell] - counts[cell]) - original[cell]
                    counts[cell] = 0
    return total


@kernel()
def crossed_counts(protected: Any, attribute: int, other: Any, n_other: int, size: int) -> Any:
    """Counts of an attribute's protected categories crossed with an attribute that is not protected, per replicate."""
    n_replicates, n, _ = protected.shape
    counts = np.zeros((n_replicates, size, n_other), dtype=np.int64)
    for r in range(n_replicates):
        for i in range(n):
            counts[r, protected[r, i, attribute], other[i]] += 1
    return counts


@kernel()
def category_gap(a: int, b: int, weight: int, is_ordinal: bool) -> int:
    """Distance between two categories in whole units: weight of the attribute times steps (ordinal), or the weight."""
    if a == b:
        return 0
    return weight * (abs(a - b) + 1) if is_ordinal else weight


@kernel()
def nearest_of(
    keys: Any, sizes: Any, rows: Any, records: Any, weights: Any, ordinal: Any, nearest: Any, ties: Any
) -> None:
    """Fill in the distance to the nearest originals, and their number, for each key of a new combination.

    ``nearest`` is -1 for new combinations; ``rows`` are the distinct originals, and ``records`` the number of records
    of each.
    """
    u, p = rows.shape
    combination = np.empty(p, dtype=np.int64)
    for key in keys:
        if nearest[key] >= 0:
            continue
        rest = key
        for a in range(p - 1, -1, -1):
            combination[a] = rest % sizes[a]
            rest //= sizes[a]
        best = -1
        count = 0
        for x in range(u):
            d = 0
            for a in range(p):
                d += category_gap(rows[x, a], combination[a], weights[a], ordinal[a])
            if best < 0 or d < best:
                best, count = d, 0
            if d == best:
                count += records[x]
        ties[key] = count  # before nearest, which marks both as known
        nearest[key] = best


@kernel()
def linked_ties(codes: Any, protected: Any, sizes: Any, weights: Any, ordinal: Any, nearest: Any, ties: Any) -> Any:
    """Number of originals as near to each protected record as its own; 0 if another is nearer."""
    n, p = protected.shape
    found = np.zeros(n, dtype=np.int64)
    for i in range(n):
        key = 0
        own = 0
        for a in range(p):
            key = key * sizes[a] + protected[i, a]
            own += category_gap(codes[i, a], protected[i, a], weights[a], ordinal[a])
        if own == nearest[key]:
            found[i] = ties[key]
    return found


@kernel()
def nearest_pairs(rows: Any, sizes: Any, units: Any, ordinal: Any, nearest: Any, low: int, high: int) -> Any:
    """Pairs of a distinct original and a combination in low … high − 1 of which it is a nearest original."""
    u, p = rows.shape
    capacity = 4 * (high - low)
    pair_row = np.empty(capacity, dtype=np.int64)
    pair_key = np.empty(capacity, dtype=np.int64)
    found = 0
    combination = np.empty(p, dtype=np.int64)
    for key in range(low, high):
        rest = key
        for a in range(p - 1, -1, -1):
            combination[a] = rest % sizes[a]
            rest //= sizes[a]
        for x in range(u):
            d = 0
            for a in range(p):
                d += category_gap(rows[x, a], combination[a], units[a], ordinal[a])
            if d == nearest[key]:
                if found == capacity:
                    capacity *= 2
                    longer_row = np.empty(capacity, dtype=np.int64)
                    longer_key = np.empty(capacity, dtype=np.int64)
                    put(longer_row, pair_row)
                    put(longer_key, pair_key)
                    pair_row, pair_key = longer_row, longer_key
                pair_row[found] = x
                pair_key[found] = key
                found += 1
    return pair_row[:found].copy(), pair_key[:found].copy()
