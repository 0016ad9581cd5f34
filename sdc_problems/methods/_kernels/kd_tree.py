"""Compiled k-d tree whose boxes shrink as records leave: farthest record from a point, and k nearest records.

Distances are computed by the operations of the scan in ``mdav.py`` in the same order, and bounds by the same
operations on the box. Rounding is monotone, so a bound is never on the wrong side of a record in its box, and the
answers are exactly those of a scan. Ties go to the smallest record number; each node stores the smallest of its
remaining records.

Other files call these kernels: clear their caches if something changes here (see ``kernel``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, kernel

NOBODY = np.iinfo(np.int32).max
LEAF = 32  # largest number of records
_STEP = 8  # work of visiting two boxes, in records visited


@kernel()
def _select(order: Any, keys: Any, low: int, high: int, middle: int) -> None:
    """Partition order[low:high] so that the entry at ``middle`` is where sorting by (key, number) would put it."""
    high -= 1
    while high > low:
        centre = (low + high) // 2
        # Median of three, so that sorted columns are not the worst case.
        for a, b in ((low, centre), (centre, high), (low, centre)):
            if keys[b] < keys[a] or (keys[b] == keys[a] and order[b] < order[a]):
                keys[a], keys[b] = keys[b], keys[a]
                order[a], order[b] = order[b], order[a]
        key, number = keys[centre], order[centre]
        i, j = low, high
        while i <= j:
            while keys[i] < key or (keys[i] == key and order[i] < number):
                i += 1
            while key < keys[j] or (key == keys[j] and number < order[j]):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


def _plain_split(Z: Any, order: Any, keys: Any, bounds: Any, node: int, budget: int) -> int:
    n_inner = len(bounds) // 2
    while node < n_inner:  # one level of the tree after the other
        level = np.arange(node, 2 * node + 1)
        low, high = bounds[level].T
        rows = Z[order]
        widest = (np.maximum.reduceat(rows, low) - np.minimum.reduceat(rows, low)).argmax(axis=1)
        who = np.repeat(np.arange(len(level)), high - low)
        order[:] = order[np.lexsort((order, rows[np.arange(len(rows)), widest[who]], who))]
        middle = (low + high) // 2
        bounds[2 * level + 1] = np.stack([low, middle], axis=1)
        bounds[2 * level + 2] = np.stack([middle, high], axis=1)
        node = 2 * node + 1
    return node


def _plain_seconds(Z: Any, order: Any, keys: Any, bounds: Any, node: int, budget: int) -> float:
    return float(1e-4 + order.size * (len(bounds).bit_length() - 1) * 4e-7)


@kernel(cost=_plain_seconds, plain=_plain_split)
def split_nodes(Z: Any, order: Any, keys: Any, bounds: Any, node: int, budget: int) -> int:
    """Halve the nodes from ``node`` on along their widest attribute until the budget is spent; returns the next node.

    The records of a node are order[bounds[node, 0] : bounds[node, 1]]. The plain form puts the same records into each
    node, in another order.
    """
    d = Z.shape[1]
    n_inner = len(bounds) // 2
    while node < n_inner and budget > 0:
        low, high = bounds[node]
        widest, width = 0, -1.0
        for j in range(d):
            smallest = largest = Z[order[low], j]
            for e in range(low + 1, high):
                value = Z[order[e], j]
                smallest = min(smallest, value)
                largest = max(largest, value)
            if largest - smallest > width:
                widest, width = j, largest - smallest
        for e in range(low, high):
            keys[e] = Z[order[e], widest]
        middle = (low + high) // 2
        _select(order, keys, low, high, middle)
        bounds[2 * node + 1, 0] = low
        bounds[2 * node + 1, 1] = middle
        bounds[2 * node + 2, 0] = middle
        bounds[2 * node + 2, 1] = high
        budget -= (high - low) * (d + 8)
        node += 1
    return node


@kernel()
def _close_leaf(tree: Any, leaf: int, node: int) -> bool:
    """Update box and smallest number of a leaf from its records; returns whether anything changed."""
    L, ids, count, box, lowest = tree
    m = count[leaf]
    number = NOBODY
    for i in range(m):
        number = min(number, ids[leaf, i])
    changed = number != lowest[node]
    lowest[node] = number
    for j in range(L.shape[1]):
        smallest, largest = np.inf, -np.inf
        row = L[leaf, j]
        for i in range(m):
            smallest = min(smallest, row[i])
            largest = max(largest, row[i])
        changed = changed or smallest != box[node, 0, j] or largest != box[node, 1, j]
        box[node, 0, j] = smallest
        box[node, 1, j] = largest
    return bool(changed)


@kernel()
def _close_inner(box: Any, lowest: Any, node: int) -> bool:
    """Update box and smallest number of a node from its children; returns whether anything changed."""
    a, b = 2 * node + 1, 2 * node + 2
    number = min(lowest[a], lowest[b])
    changed = number != lowest[node]
    lowest[node] = number
    for j in range(box.shape[2]):
        smallest = min(box[a, 0, j], box[b, 0, j])
        largest = max(box[a, 1, j], box[b, 1, j])
        changed = changed or smallest != box[node, 0, j] or largest != box[node, 1, j]
        box[node, 0, j] = smallest
        box[node, 1, j] = largest
    return bool(changed)


@kernel()
def squared(row: Any, center: Any) -> float:
    t = row[0] - center[0]
    total = t * t
    for j in range(1, len(center)):
        t = row[j] - center[j]
        total += t * t
    return float(total)


@kernel()
def leaf_distances(block: Any, m: Any, center: Any, D: Any) -> None:
    """Squared distances of the first m records of a leaf."""
    row, c = block[0], center[0]
    for i in range(m):
        t = row[i] - c
        D[i] = t * t
    for j in range(1, len(center)):
        row, c = block[j], center[j]
        for i in range(m):
            t = row[i] - c
            D[i] += t * t


@kernel()
def _least(box: Any, node: int, center: Any) -> float:
    """Lower bound on the squared distance of the records of a box."""
    total = 0.0
    for j in range(len(center)):
        t = max(box[node, 0, j] - center[j], center[j] - box[node, 1, j])
        t = max(t, 0.0)
        total += t * t
    return total


@kernel()
def _most(box: Any, node: int, center: Any) -> float:
    """Upper bound on the squared distance of the records of a box."""
    total = 0.0
    for j in range(len(center)):
        t = max(center[j] - box[node, 0, j], box[node, 1, j] - center[j])
        total += t * t
    return total


@kernel()
def farthest(tree: Any, center: Any, spent: Any, stack: Any, limits: Any, D: Any) -> int:
    """Number of the record farthest from a point; ties go to the smallest number."""
    L, ids, count, box, lowest = tree
    n_inner = len(lowest) // 2
    best, who = -1.0, NOBODY
    stack[0], limits[0] = 0, np.inf
    top, work = 1, 0
    while top > 0:
        top -= 1
        node, limit = stack[top], limits[top]
        if limit < best or (limit == best and lowest[node] > who):
            continue
        if node >= n_inner:
            leaf = node - n_inner
            m: Any = np.int64(count[leaf])
            leaf_distances(L[leaf], m, center, D)
            for i in range(m):
                if D[i] >= best and (D[i] > best or ids[leaf, i] < who):
                    best, who = D[i], ids[leaf, i]
            work += m
            continue
        a, b = 2 * node + 1, 2 * node + 2
        work += _STEP
        far_a = _most(box, a, center) if lowest[a] != NOBODY else -2.0
        far_b = _most(box, b, center) if lowest[b] != NOBODY else -2.0
        if far_a > far_b or (far_a == far_b and lowest[a] < lowest[b]):
            a, b, far_a, far_b = b, a, far_b, far_a
        stack[top], limits[top] = a, far_a
        stack[top + 1], limits[top + 1] = b, far_b
        top += 2
    spent[0] += work
    return who


@kernel()
def _worse(near: Any, who: Any, a: int, b: int) -> bool:
    return bool(near[a] > near[b] or (near[a] == near[b] and who[a] > who[b]))


@kernel()
def _sink(near: Any, who: Any, at: int, size: int) -> None:
    """Restore the heap, whose first entry is the largest (distance, number)."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _worse(near, who, child + 1, child):
            child += 1
        if not _worse(near, who, child, at):
            return
        near[at], near[child] = near[child], near[at]
        who[at], who[child] = who[child], who[at]
        at = child


@kernel()
def nearest(tree: Any, center: Any, near: Any, who: Any, spent: Any, stack: Any, limits: Any, D: Any) -> None:
    """The len(near) records nearest to a point, in ascending order of (distance, number)."""
    L, ids, count, box, lowest = tree
    n_inner = len(lowest) // 2
    k = len(near)
    for a in range(k):
        near[a], who[a] = np.inf, NOBODY
    stack[0], limits[0] = 0, 0.0
    top, work = 1, 0
    while top > 0:
        top -= 1
        node, limit = stack[top], limits[top]
        if limit > near[0] or (limit == near[0] and lowest[node] > who[0]):
            continue
        if node >= n_inner:
            leaf = node - n_inner
            m: Any = np.int64(count[leaf])
            leaf_distances(L[leaf], m, center, D)
            for i in range(m):
                if D[i] <= near[0] and (D[i] < near[0] or ids[leaf, i] < who[0]):
                    near[0], who[0] = D[i], ids[leaf, i]
                    _sink(near, who, 0, k)
            work += m
            continue
        a, b = 2 * node + 1, 2 * node + 2
        work += _STEP
        near_a = _least(box, a, center) if lowest[a] != NOBODY else np.inf
        near_b = _least(box, b, center) if lowest[b] != NOBODY else np.inf
        if near_a < near_b or (near_a == near_b and lowest[a] < lowest[b]):
            a, b, near_a, near_b = b, a, near_b, near_a
        stack[top], limits[top] = a, near_a
        stack[top + 1], limits[top + 1] = b, near_b
        top += 2
    for size in range(k - 1, 0, -1):
        near[0], near[size] = near[size], near[0]
        who[0], who[size] = who[size], who[0]
        _sink(near, who, 0, size)
    spent[0] += work


@kernel()
def take(tree: Any, place: Any, number: Any) -> None:
    """Remove a record from its leaf, and shrink the boxes above it if it was on their border."""
    L, ids, count, box, lowest = tree
    n_inner, capacity = len(lowest) // 2, L.shape[2]
    leaf, hole = place[number] // capacity, place[number] % capacity
    last = count[leaf] - 1
    count[leaf] = last
    for j in range(L.shape[1]):
        L[leaf, j, hole] = L[leaf, j, last]
    moved = ids[leaf, last]
    ids[leaf, hole] = moved
    place[moved] = leaf * capacity + hole
    node = leaf + n_inner
    changed = _close_leaf(tree, leaf, node)
    while changed and node > 0:
        node = (node - 1) // 2
        changed = _close_inner(box, lowest, node)


def tree_of(Z: NDArray[np.float64], alive: NDArray[np.int32], place: NDArray[np.int32]) -> tuple[Any, ...]:
    """Balanced tree over some of the records: leaves, their numbers and counts, boxes, smallest numbers."""
    n, d = len(alive), Z.shape[1]
    n_leaves = 1 << max(0, (-(-n // LEAF) - 1).bit_length())
    n_nodes = 2 * n_leaves - 1
    order, keys = alive.copy(), np.empty(n)
    bounds = np.zeros((n_nodes, 2), dtype=np.int64)
    bounds[0, 1] = n
    node = 0
    while node < n_leaves - 1:
        node = split_nodes(Z, order, keys, bounds, node, SLICE)
    first, last = bounds[n_leaves - 1 :].T
    count = last - first
    leaf = np.repeat(np.arange(n_leaves), count)
    order = order[np.lexsort((order, leaf))]
    at, rows = np.arange(n) - first[leaf], Z[order]
    place[order] = leaf * LEAF + at
    L, ids = np.empty((n_leaves, d, LEAF)), np.empty((n_leaves, LEAF), dtype=np.int32)
    L[leaf, :, at] = rows
    ids[leaf, at] = order
    box, lowest = np.empty((n_nodes, 2, d)), np.empty(n_nodes, dtype=np.int32)
    box[n_leaves - 1 :, 0] = np.minimum.reduceat(rows, first)
    box[n_leaves - 1 :, 1] = np.maximum.reduceat(rows, first)
    lowest[n_leaves - 1 :] = order[first]
    node = n_leaves - 1
    while node > 0:  # one level of the tree after the other, upward
        node //= 2
        level = np.arange(node, 2 * node + 1)
        a, b = 2 * level + 1, 2 * level + 2
        box[level, 0], box[level, 1] = np.minimum(box[a, 0], box[b, 0]), np.maximum(box[a, 1], box[b, 1])
        lowest[level] = np.minimum(lowest[a], lowest[b])
    return L, ids, count.astype(np.int32), box, lowest
