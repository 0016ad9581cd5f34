"""Kernels of distance linkage: number of records as near as a record's own counterpart, unless one is nearer.

All engines compute distances by the same operations in the same order, so they agree to the last bit, and ties are the
same in every engine. SciPy's k-d tree is not used: it sums in another order, does not support category distances, and
cannot stop at the first counterpart that is nearer than the record's own, which gives most of the speed.

Columns are ordered: numeric, ordinal, nominal. ``a`` is the number of numeric columns, ``b`` the number of numeric and
ordinal columns. ``unit`` turns whole-number category distances into fractions for tables with both kinds. A distance is
squared Euclidean (numeric only), a sum of category distances (categorical only), or the root plus the sum (mixed).

Many targets are measured at once, one attribute after the other, so that vector instructions process several targets
together while each sum is still taken in the order of the attributes. Targets are stored in blocks in which the values
of one attribute are contiguous. The tree is binary and balanced, in level order (children of node i: 2i + 1 and
2i + 2), but is traversed ``FAN`` levels at a time: the boxes of those descendants are stored in a block, too.

The helpers are small and avoid division on purpose: a helper that may raise counts references of its arrays, which
takes longer than the distances.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._validation import FloatArray, IntArray

FAN = 4
"""Levels of the tree between a node and the boxes that are examined together."""

_BOXES = 1 << FAN
_PLAIN_CELLS = 2**16  # distances that the plain form holds at once, few enough to stay in the cache


@kernel()
def _squares(row: Any, block: Any, m: int, w: Any, a: int, d: Any) -> None:
    """Squared distances over the numeric attributes to the first m records of a block."""
    for k in range(m):
        d[k] = 0.0
    for c in range(a):
        x, scale = row[c], w[c]
        column = block[c]
        for k in range(m):
            t = (x - column[k]) * scale
            d[k] += t * t


@kernel()
def _categories(row: Any, block: Any, m: int, w: Any, a: int, b: int, s: Any) -> None:
    """Sums of category distances to the first m records of a block."""
    for k in range(m):
        s[k] = 0.0
    for c in range(a, b):
        x, scale = row[c], w[c]
        column = block[c]
        for k in range(m):
            gap = abs(x - column[k])
            s[k] += (gap + 1.0) * scale if gap > 0.0 else 0.0
    for c in range(b, len(row)):
        x, scale = row[c], w[c]
        column = block[c]
        for k in range(m):
            s[k] += scale if x != column[k] else 0.0


@kernel()
def _box_squares(row: Any, boxes: Any, m: int, w: Any, a: int, d: Any) -> None:
    """Squared distances to the nearest points of the first m boxes: lower bounds for all records in them.

    The operations are those of ``_squares`` in the same order, and each is monotone even with rounding. So a box can be
    skipped without any tolerance if its bound is larger.
    """
    for k in range(m):
        d[k] = 0.0
    for c in range(a):
        x, scale = row[c], w[c]
        bounds = boxes[c]
        for k in range(m):
            t = max(max(bounds[k] - x, x - bounds[_BOXES + k]), 0.0) * scale
            d[k] += t * t


@kernel()
def _box_categories(row: Any, boxes: Any, m: int, w: Any, a: int, b: int, s: Any) -> None:
    """Like ``_categories``, to the nearest points of the first m boxes."""
    for k in range(m):
        s[k] = 0.0
    for c in range(a, b):
        x, scale = row[c], w[c]
        bounds = boxes[c]
        for k in range(m):
            gap = max(bounds[k] - x, x - bounds[_BOXES + k])
            s[k] += (gap + 1.0) * scale if gap > 0.0 else 0.0
    for c in range(b, len(row)):
        x, scale = row[c], w[c]
        bounds = boxes[c]
        for k in range(m):
            s[k] += scale if max(bounds[k] - x, x - bounds[_BOXES + k]) > 0.0 else 0.0


@kernel()
def _join(d: Any, s: Any, m: int, a: int, unit: float) -> None:
    """Combine the numeric and the categorical part of distances."""
    if a == 0:
        for k in range(m):
            d[k] = s[k]
    else:
        for k in range(m):
            d[k] = np.sqrt(d[k]) + s[k] / unit


@kernel()
def _tied(d: Any, count: Any, m: int, radius: float, found: int) -> int:
    """Add the number of records at the radius to that found so far; -1 if one is nearer."""
    least = np.inf
    for k in range(m):
        least = min(least, d[k])
    if least < radius:
        return -1
    if least == radius:
        for k in range(m):
            if d[k] == radius:
                found += count[k]
    return found


def _plain_distances(X: Any, Y: Any, w: Any, a: int, b: int, unit: float) -> Any:
    """Distances by the operations above, in the same order, between columns X[c] and Y[c], which are broadcast."""
    d: Any = 0.0
    for c in range(a):
        t = (X[c] - Y[c]) * w[c]
        d = d + t * t
    if a == len(X):
        return d
    s: Any = 0.0
    for c in range(a, b):
        gap = np.abs(X[c] - Y[c])
        s = s + np.where(gap > 0.0, (gap + 1.0) * w[c], 0.0)
    for c in range(b, len(X)):
        s = s + np.where(X[c] != Y[c], w[c], 0.0)
    return s if a == 0 else np.sqrt(d) + s / unit


def _plain_own(A: Any, B: Any, w: Any, a: int, b: int, unit: float) -> Any:
    return _plain_distances(A.T, B.T, w, a, b, unit)


@kernel(cost=lambda A, *_: 1e-5 + A.size * 1e-8, plain=_plain_own)
def own_distances(A: Any, B: Any, w: Any, a: int, b: int, unit: float) -> Any:
    """Distance between each row of A and the same row of B, by the operations above."""
    n, p = A.shape
    found = np.empty(n)
    for i in range(n):
        d, s = 0.0, 0.0
        for c in range(a):
            t = (A[i, c] - B[i, c]) * w[c]
            d += t * t
        for c in range(a, b):
            gap = abs(A[i, c] - B[i, c])
            if gap > 0.0:
                s += (gap + 1.0) * w[c]
        for c in range(b, p):
            if A[i, c] != B[i, c]:
                s += w[c]
        if a == p:
            found[i] = d
        elif a == 0:
            found[i] = s
        else:
            found[i] = np.sqrt(d) + s / unit
    return found


def _plain_ties(
    A: Any, radius: Any, targets: Any, w: Any, a: int, b: int, unit: float, ties: Any, at: int, budget: int
) -> int:  # fmt: skip
    blocks, counts, sizes = targets
    n = sizes.sum()
    columns = blocks.transpose(1, 0, 2).reshape(A.shape[1], 1, -1)[:, :, :n]
    count = counts.ravel()[:n]
    step = max(1, _PLAIN_CELLS // n)
    for first in range(at, len(A), step):
        some = slice(first, first + step)
        d = _plain_distances(A[some].T[:, :, None], columns, w, a, b, unit)
        reach = radius[some, None]
        ties[some] = np.where((d < reach).any(axis=1), -1, (d == reach) @ count)
    return len(A)


def _plain_seconds(A: Any, radius: Any, targets: Any, *metric: Any) -> float:
    return float(1e-5 + len(A) * targets[0].size * 4e-9)


@kernel(cost=_plain_seconds, plain=_plain_ties)
def brute_ties(
    A: Any, radius: Any, targets: Any, w: Any, a: int, b: int, unit: float, ties: Any, at: int, budget: int
) -> int:  # fmt: skip
    """Number of records at exactly the radius, -1 if one is nearer; compares every row of A with all blocks.

    Starts at row ``at`` and stops when the budget of pairs is spent; returns the next row.
    """
    blocks, counts, sizes = targets
    size = blocks.shape[2]
    d, s = np.empty(size), np.empty(size)
    while at < len(A) and budget > 0:
        row, found = A[at], 0
        for e in range(len(blocks)):
            m = sizes[e]
            _squares(row, blocks[e], m, w, a, d)
            if a < len(w):
                _categories(row, blocks[e], m, w, a, b, s)
                _join(d, s, m, a, unit)
            found = _tied(d, counts[e], m, radius[at], found)
            budget -= size
            if found < 0:
                break
        ties[at] = found
        at += 1
    return at


@kernel()
def _select(order: Any, keys: Any, low: int, high: int, middle: int) -> None:
    """Partition order[low:high] so that no key before ``middle`` is larger than any key from there on."""
    high -= 1
    while high > low:
        center = (low + high) // 2
        # Median of three, so that sorted columns are not the worst case.
        for x, y in ((low, center), (center, high), (low, center)):
            if keys[y] < keys[x]:
                keys[x], keys[y] = keys[y], keys[x]
                order[x], order[y] = order[y], order[x]
        key = keys[center]
        i, j = low, high
        while i <= j:
            while keys[i] < key:
                i += 1
            while key < keys[j]:
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


@kernel()
def grow_tree(
    B: Any, w: Any, a: int, b: int, unit: float, order: Any, keys: Any, begin: Any, end: Any, low: Any, high: Any,
    node: int, budget: int,
) -> int:  # fmt: skip
    """Compute the boxes of the nodes from ``node`` on and halve them along their widest attribute.

    The records of a node are order[begin[node] : end[node]]. Returns the next node.
    """
    p = B.shape[1]
    first_leaf = len(begin) // 2
    smallest, largest = np.empty(p), np.empty(p)
    while node < len(begin) and budget > 0:
        first, last = begin[node], end[node]
        for c in range(p):
            smallest[c] = largest[c] = B[order[first], c]
        for e in range(first + 1, last):
            row = order[e]
            for c in range(p):
                smallest[c] = min(smallest[c], B[row, c])
                largest[c] = max(largest[c], B[row, c])
        widest, width = 0, -1.0
        for c in range(p):
            low[node, c], high[node, c] = smallest[c], largest[c]
            extent = largest[c] - smallest[c]
            if c < a:
                extent *= w[c]
            elif c < b:
                extent *= w[c] / unit
            else:
                extent = w[c] / unit if extent > 0.0 else 0.0
            if extent > width:
                widest, width = c, extent
        if node < first_leaf:
            for e in range(first, last):
                keys[e] = B[order[e], widest]
            middle = (first + last) // 2
            _select(order, keys, first, last, middle)
            begin[2 * node + 1] = first
            end[2 * node + 1] = middle
            begin[2 * node + 2] = middle
            end[2 * node + 2] = last
        budget -= (last - first) * (p + 8)
        node += 1
    return node


@kernel()
def fill_blocks(
    B: Any, count: Any, order: Any, begin: Any, end: Any, low: Any, high: Any, tree: Any
) -> None:  # fmt: skip
    """Copy records into blocks, one per leaf, and boxes into blocks, one per node above them."""
    blocks, counts, sizes, leaf_of, boxes, before = tree
    first_leaf, depth = len(begin) // 2, len(before) - 1
    for leaf in range(len(blocks)):
        first = begin[first_leaf + leaf]
        sizes[leaf] = end[first_leaf + leaf] - first
        for e in range(sizes[leaf]):
            row = order[first + e]
            leaf_of[row] = leaf
            counts[leaf, e] = count[row]
            for c in range(B.shape[1]):
                blocks[leaf, c, e] = B[row, c]
    level = depth
    while level > 0:
        fan = min(level, FAN)
        for e in range(1 << level):
            node, parent = (1 << level) - 1 + e, before[level - fan] + (e >> fan)
            for c in range(B.shape[1]):
                boxes[parent, c, e & ((1 << fan) - 1)] = low[node, c]
                boxes[parent, c, _BOXES + (e & ((1 << fan) - 1))] = high[node, c]
        level -= fan


class Blocks(NamedTuple):
    """Records in blocks, in which the values of one attribute are contiguous."""

    records: FloatArray
    counts: IntArray
    """Count of each record."""
    sizes: IntArray
    """Number of records in each block; the rest of a block is not used."""


class Tree(NamedTuple):
    """Balanced tree of tight boxes."""

    records: FloatArray
    """As in ``Blocks``: one block per leaf."""
    counts: IntArray
    sizes: IntArray
    leaf_of: IntArray
    """Leaf of each record."""
    boxes: FloatArray
    """Bounds of the boxes below each node that is visited: first the lower bounds, then the upper ones."""
    before: IntArray
    """Number of visited nodes on higher levels, for each level but that of the leaves."""


def in_blocks(B: FloatArray, count: IntArray, size: int) -> Blocks:
    """Blocks of the rows of B, which occur ``count`` times, in their order."""
    n, p = B.shape
    size = min(size, n)
    full = -(-n // size)
    records, counts = np.zeros((full * size, p)), np.zeros(full * size, dtype=np.int64)
    records[:n], counts[:n] = B, count
    sizes = np.minimum(size, n - size * np.arange(full))
    columns = np.ascontiguousarray(records.reshape(full, size, p).transpose(0, 2, 1))
    return Blocks(columns, counts.reshape(full, size), sizes)


def tree_of(
    B: FloatArray, count: IntArray, w: FloatArray, a: int, b: int, unit: float, leaf: int, budget: int
) -> Tree:  # fmt: skip
    """Tree over the rows of B, which occur ``count`` times, with at most ``leaf`` rows in a leaf."""
    n, p = B.shape
    depth = max(0, (-(-n // leaf) - 1).bit_length())
    n_leaves = 1 << depth
    order, keys = np.arange(n), np.empty(n)
    begin, end = np.zeros(2 * n_leaves - 1, dtype=np.int64), np.zeros(2 * n_leaves - 1, dtype=np.int64)
    low, high = np.empty((len(begin), p)), np.empty((len(begin), p))
    end[0] = n
    node = 0
    while node < len(begin):
        node = grow_tree(B, w, a, b, unit, order, keys, begin, end, low, high, node, budget)
    before, parents = np.zeros(depth + 1, dtype=np.int64), 0
    for level in range(depth):
        before[level] = parents
        if level == 0 or (depth - level) % FAN == 0:
            parents += 1 << level
    widest = -(-n // n_leaves)
    tree = Tree(
        np.empty((n_leaves, p, widest)),
        np.empty((n_leaves, widest), dtype=np.int64),
        np.empty(n_leaves, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty((max(parents, 1), p, 2 * _BOXES)),
        before,
    )
    fill_blocks(B, count, order, begin, end, low, high, tree)
    return tree


@kernel(compiling=2.0)
def tree_ties(
    A: Any, radius: Any, start: Any, turn: Any, tree: Any, w: Any, a: int, b: int, unit: float, ties: Any, at: int,
    budget: int,
) -> int:  # fmt: skip
    """Like ``brute_ties``, on a tree, for the rows ``turn[at]``, ``turn[at + 1]``, …

    The search of a row begins in its leaf ``start`` and climbs from there, because most rows find a nearer record at
    once, or have all records within their radius near them. If ``start`` is -1, it begins at the root.
    """
    blocks, counts, sizes, _, boxes, before = tree
    depth, size = len(before) - 1, blocks.shape[2]
    d, s = np.empty(max(size, _BOXES)), np.empty(max(size, _BOXES))
    # A node is given by its level and its position there.
    nodes, levels = np.empty((depth + FAN) * _BOXES, dtype=np.int64), np.empty((depth + FAN) * _BOXES, dtype=np.int64)
    while at < len(turn) and budget > 0:
        i = turn[at]
        row, reach, found, top = A[i], radius[i], 0, 1
        nodes[0], levels[0] = start[i], depth
        came, climbed = start[i], depth
        if start[i] < 0:
            nodes[0], levels[0], climbed = 0, 0, 0
        while found >= 0:
            skipped = -1
            if top > 0:
                top -= 1
                node, level = nodes[top], levels[top]
                if level == depth:
                    m = sizes[node]
                    _squares(row, blocks[node], m, w, a, d)
                    if a < len(w):
                        _categories(row, blocks[node], m, w, a, b, s)
                        _join(d, s, m, a, unit)
                    found = _tied(d, counts[node], m, reach, found)
                    budget -= size
                    continue
                # Steps of FAN levels end at the leaves, so only the step from the root may have fewer levels.
                fan = FAN if (depth - level) % FAN == 0 else depth % FAN
            elif climbed > 0:
                fan = min(climbed, FAN)
                level = climbed - fan
                skipped, node = came & ((1 << fan) - 1), came >> fan
                came, climbed = node, level
            else:
                break
            below, m = boxes[before[level] + node], 1 << fan
            _box_squares(row, below, m, w, a, d)
            if a < len(w):
                _box_categories(row, below, m, w, a, b, s)
                _join(d, s, m, a, unit)
            budget -= _BOXES
            nearest, where = np.inf, -1
            for e in range(m):
                if d[e] <= reach and e != skipped:
                    nodes[top], levels[top] = (node << fan) + e, level + fan
                    if d[e] < nearest:
                        nearest, where = d[e], top
                    top += 1
            if where >= 0:  # the nearest box comes first, because a nearer record ends the search
                nodes[where], nodes[top - 1] = nodes[top - 1], nodes[where]
        ties[i] = found
        at += 1
    return at


@kernel(compiling=1.0)
def tree_second(A: Any, turn: Any, tree: Any, w: Any, found: Any, at: int, budget: int) -> int:
    """Second smallest squared distance from rows ``turn[at]``, … to the records of a tree, which include the rows.

    Numeric attributes only. The search is that of ``tree_ties``, with the result so far as the radius.
    """
    blocks, _, sizes, leaf_of, boxes, before = tree
    depth, size = len(before) - 1, blocks.shape[2]
    d = np.empty(max(size, _BOXES))
    nodes, levels = np.empty((depth + FAN) * _BOXES, dtype=np.int64), np.empty((depth + FAN) * _BOXES, dtype=np.int64)
    limits = np.empty((depth + FAN) * _BOXES)
    while at < len(turn) and budget > 0:
        i = turn[at]
        row, top = A[i], 1
        first, second = np.inf, np.inf
        nodes[0], levels[0], limits[0] = leaf_of[i], depth, 0.0
        came, climbed = leaf_of[i], depth
        while second > 0.0:
            skipped = -1
            if top > 0:
                top -= 1
                node, level = nodes[top], levels[top]
                if limits[top] >= second:
                    continue
                if level == depth:
                    m = sizes[node]
                    _squares(row, blocks[node], m, w, len(w), d)
                    for k in range(m):
                        if d[k] < second:
                            first, second = min(first, d[k]), max(first, d[k])
                    budget -= size
                    continue
                fan = FAN if (depth - level) % FAN == 0 else depth % FAN
            elif climbed > 0:
                fan = min(climbed, FAN)
                level = climbed - fan
                skipped, node = came & ((1 << fan) - 1), came >> fan
                came, climbed = node, level
            else:
                break
            m = 1 << fan
            _box_squares(row, boxes[before[level] + node], m, w, len(w), d)
            budget -= _BOXES
            nearest, where = np.inf, -1
            for e in range(m):
                if d[e] < second and e != skipped:
                    nodes[top], levels[top], limits[top] = (node << fan) + e, level + fan, d[e]
                    if d[e] < nearest:
                        nearest, where = d[e], top
                    top += 1
            if where >= 0:
                nodes[where], nodes[top - 1] = nodes[top - 1], nodes[where]
                limits[where], limits[top - 1] = limits[top - 1], limits[where]
        found[i] = second
        at += 1
    return at
