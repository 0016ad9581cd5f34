"""Compiled steps of c-median: distances to centroids, starts far apart, medians of clusters.

Rows are distinct and have a number of records. Distances of categories are sums of whole numbers if these fit, so that
ties are exact.
"""

from __future__ import annotations

from typing import Any

from sdc_problems._kernel import kernel

NUMERIC, ORDINAL, NOMINAL = 0, 1, 2


@kernel()
def _distance(rows: Any, i: int, center: Any, kinds: Any, unit: Any) -> float:
    """Sum over attributes, in units: |a − b| of numbers, |a − b| + 1 of unequal ordinal codes, 1 of unequal others."""
    total = 0.0
    for j in range(rows.shape[1]):
        gap = abs(rows[i, j] - center[j])
        if gap > 0.0:
            if kinds[j] == ORDINAL:
                gap += 1.0
            elif kinds[j] == NOMINAL:
                gap = 1.0
            total += gap * unit[j]
    return total


@kernel()
def assign(rows: Any, records: Any, centroids: Any, kinds: Any, unit: Any, labels: Any) -> float:
    """Write the nearest centroid of each row to ``labels`` (ties: the first); returns the cost of all records."""
    cost = 0.0
    for i in range(len(rows)):
        best, where = _distance(rows, i, centroids[0], kinds, unit), 0
        for c in range(1, len(centroids)):
            found = _distance(rows, i, centroids[c], kinds, unit)
            if found < best:
                best, where = found, c
        labels[i] = where
        cost += best * records[i]
    return cost


@kernel()
def far_apart(rows: Any, kinds: Any, unit: Any, first: int, chosen: Any) -> int:
    """Write to ``chosen`` rows each of which is farthest from its nearest predecessor; returns their number."""
    n = len(rows)
    nearest = [_distance(rows, i, rows[first], kinds, unit) for i in range(n)]
    chosen[0] = first
    for c in range(1, len(chosen)):
        where = 0
        for i in range(1, n):
            if nearest[i] > nearest[where]:
                where = i
        if nearest[where] == 0.0:
            return c
        chosen[c] = where
        for i in range(n):
            if nearest[i] > 0.0:
                nearest[i] = min(nearest[i], _distance(rows, i, rows[where], kinds, unit))
    return len(chosen)


@kernel()
def move_centroids(rows: Any, records: Any, order: Any, kinds: Any, widest: int, labels: Any, centroids: Any) -> bool:
    """Move centroids to the lower median or the most frequent category of their clusters; returns whether one changed.

    ``order`` sorts the rows by each attribute; ``widest`` is the largest number of categories. A centroid without
    records does not move.
    """
    n, p = rows.shape
    c = len(centroids)
    size = [0] * c
    for i in range(n):
        size[labels[i]] += records[i]
    changed = False
    for j in range(p):
        if kinds[j] == NOMINAL:
            count = [0] * (c * widest)
            for i in range(n):
                count[labels[i] * widest + int(rows[i, j])] += records[i]
            for cluster in range(c):
                if size[cluster] == 0:
                    continue
                begin, most = cluster * widest, 0
                for code in range(1, widest):
                    if count[begin + code] > count[begin + most]:
                        most = code
                changed |= centroids[cluster, j] != most
                centroids[cluster, j] = most
            continue
        passed = [0] * c
        for e in range(n):
            i = order[j, e]
            cluster = labels[i]
            if 2 * passed[cluster] < size[cluster]:
                passed[cluster] += records[i]
                if 2 * passed[cluster] >= size[cluster]:
                    changed |= centroids[cluster, j] != rows[i, j]
                    centroids[cluster, j] = rows[i, j]
    return changed
