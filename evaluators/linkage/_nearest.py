"""Kernels of distance linkage: ties with the own counterpart, unless another record is nearer.

All engines compare distances that come out of the same operations in the same order, so they agree to the last bit
and ties are ties in every engine. SciPy's k-d tree is not used: it sums in another order, cannot weigh
categories, and cannot stop at the first counterpart that is nearer than the own one, which is most of the speed.

Columns are ordered: numeric, ordinal, nominal. ``a`` is the number of numeric ones, ``b`` that of numeric and
ordinal ones. ``unit`` turns whole-number category distances into fractions when both kinds meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel


@kernel()
def _distances(
    A: Any, i: int, BT: Any, begin: int, end: int, w: Any, a: int, b: int, unit: float, d: Any, s: Any
) -> None:
    """Distances of row i of A to the columns ``begin`` … ``end`` of BT, into ``d`` (``s`` is scratch).

    Squared Euclidean (numeric only), sum of category distances (categorical only), or root plus sum (mixed). One
    attribute after the other for many targets: the processor's vector units do several targets at once, and each sum
    is still taken in the order of the attributes.
    """
    p = A.shape[1]
    n = end - begin
    for k in range(n):
        d[k] = 0.0
    for c in range(a):
        x, scale = A[i, c], w[c]
        column = BT[c, begin:end]
        for k in range(n):
            t = (x - column[k]) * scale
            d[k] += t * t
    if a == p:
        return
    for k in range(n):
        s[k] = 0.0
    for c in range(a, b):
        x, scale = A[i, c], w[c]
        column = BT[c, begin:end]
        for k in range(n):
            gap = abs(x - column[k])
            s[k] += (gap + 1.0) * scale if gap > 0.0 else 0.0
    for c in range(b, p):
        x, scale = A[i, c], w[c]
        column = BT[c, begin:end]
        for k in range(n):
            s[k] += scale if x != column[k] else 0.0
    if a == 0:
        for k in range(n):
            d[k] = s[k]
    else:
        for k in range(n):
            d[k] = np.sqrt(d[k]) + s[k] / unit


@kernel()
def _box_distance(A: Any, i: int, low: Any, high: Any, node: int, w: Any, a: int, b: int, unit: float) -> float:
    """Distance to the nearest corner of a box, never above that of a point in it.

    The operations are those of ``_distance`` in the same order, and each is monotone also after rounding: a box
    may be skipped when its bound is larger, without any tolerance.
    """
    p = A.shape[1]
    square = 0.0
    for c in range(a):
        x = A[i, c]
        t = 0.0
        if x < low[node, c]:
            t = (low[node, c] - x) * w[c]
        elif x > high[node, c]:
            t = (x - high[node, c]) * w[c]
        square += t * t
    if a == p:
        return square
    total = 0.0
    for c in range(a, b):
        x = A[i, c]
        if x < low[node, c]:
            total += (low[node, c] - x + 1.0) * w[c]
        elif x > high[node, c]:
            total += (x - high[node, c] + 1.0) * w[c]
    for c in range(b, p):
        if A[i, c] < low[node, c] or A[i, c] > high[node, c]:
            total += w[c]
    if a == 0:
        return total
    return float(np.sqrt(square) + total / unit)


@kernel()
def _tied(d: Any, count: Any, begin: int, end: int, radius: float, found: int) -> int:
    """Add the records at the radius to those found; -1 when one is nearer."""
    for k in range(end - begin):
        if d[k] < radius:
            return -1
        if d[k] == radius:
            found += count[begin + k]
    return found


@kernel()
def own_distances(A: Any, BT: Any, w: Any, a: int, b: int, unit: float) -> Any:
    """Distance of each row of A to the column of BT in its place."""
    own = np.empty(len(A))
    scratch = np.empty(1)
    for i in range(len(A)):
        _distances(A, i, BT, i, i + 1, w, a, b, unit, own[i : i + 1], scratch)
    return own


@kernel()
def brute_ties(A: Any, radius: Any, BT: Any, count: Any, w: Any, a: int, b: int, unit: float, block: int) -> Any:
    """Number of records of B at exactly the radius, -1 when one is nearer; B is walked block by block."""
    n, m = len(A), BT.shape[1]
    ties = np.zeros(n, dtype=np.int64)
    d, scratch = np.empty(block), np.empty(block)
    for i in range(n):
        found = 0
        for begin in range(0, m, block):
            end = min(begin + block, m)
            _distances(A, i, BT, begin, end, w, a, b, unit, d, scratch)
            found = _tied(d, count, begin, end, radius[i], found)
            if found < 0:
                break
        ties[i] = found
    return ties


@kernel()
def build_tree(B: Any, w: Any, a: int, b: int, unit: float, leaf: int) -> Any:
    """A balanced tree of tight boxes in level order: the children of node i are 2i + 1 and 2i + 2."""
    n, p = B.shape
    n_leaves = 1
    while n > n_leaves * leaf:
        n_leaves *= 2
    n_nodes = 2 * n_leaves - 1
    order = np.arange(n)
    begin = np.zeros(n_nodes, dtype=np.int64)
    end = np.zeros(n_nodes, dtype=np.int64)
    low = np.empty((n_nodes, p))
    high = np.empty((n_nodes, p))
    end[0] = n
    for node in range(n_nodes):
        widest, width = 0, -1.0
        for c in range(p):
            first = B[order[begin[node]], c]
            smallest = largest = first
            for e in range(begin[node] + 1, end[node]):
                value = B[order[e], c]
                smallest = min(smallest, value)
                largest = max(largest, value)
            low[node, c] = smallest
            high[node, c] = largest
            if c < a:
                extent = (largest - smallest) * w[c]
            elif c < b:
                extent = (largest - smallest) * w[c] / unit
            else:
                extent = w[c] / unit if largest > smallest else 0.0
            if extent > width:
                widest, width = c, extent
        if node < n_leaves - 1:
            members = order[begin[node] : end[node]].copy()
            keys = np.empty(len(members))
            for e in range(len(members)):
                keys[e] = B[members[e], widest]
            rank = np.argsort(keys, kind="mergesort")
            for e in range(len(members)):
                order[begin[node] + e] = members[rank[e]]
            middle = (begin[node] + end[node]) // 2
            begin[2 * node + 1] = begin[node]
            end[2 * node + 1] = middle
            begin[2 * node + 2] = middle
            end[2 * node + 2] = end[node]
    return order, (begin, end, low, high)


@kernel()
def tree_ties(A: Any, radius: Any, BT: Any, count: Any, tree: Any, w: Any, a: int, b: int, unit: float) -> Any:
    """As ``brute_ties``, on the tree of B (columns in the tree's order), starting from the own distance as radius."""
    begin, end, low, high = tree
    n = len(A)
    n_nodes = len(begin)
    first_leaf = n_nodes // 2
    ties = np.zeros(n, dtype=np.int64)
    stack = np.empty(128, dtype=np.int64)
    widest = 0
    for node in range(first_leaf, n_nodes):
        widest = max(widest, end[node] - begin[node])
    d, scratch = np.empty(widest), np.empty(widest)
    for i in range(n):
        found = 0
        stack[0] = 0
        top = 1
        while top > 0 and found >= 0:
            top -= 1
            node = stack[top]
            if node >= first_leaf:
                _distances(A, i, BT, begin[node], end[node], w, a, b, unit, d, scratch)
                found = _tied(d, count, begin[node], end[node], radius[i], found)
                continue
            left = _box_distance(A, i, low, high, 2 * node + 1, w, a, b, unit)
            right = _box_distance(A, i, low, high, 2 * node + 2, w, a, b, unit)
            # The nearer child is pushed last and so visited first: a nearer record ends the search.
            near, far = (2 * node + 1, 2 * node + 2) if left <= right else (2 * node + 2, 2 * node + 1)
            if max(left, right) <= radius[i]:
                stack[top] = far
                top += 1
            if min(left, right) <= radius[i]:
                stack[top] = near
                top += 1
        ties[i] = found
    return ties
