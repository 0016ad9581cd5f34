"""Kernels of candidate counting: how many boxes of labels hold a point of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import SLICE, kernel
from sdc_problems._validation import IntArray


@kernel()
def _grow(low: Any, high: Any, order: Any, begin: Any, end: Any, bottom: Any, top: Any, node: int, budget: int) -> int:
    """Bound and split nodes until the budget of steps is spent; returns the next node."""
    p = low.shape[1]
    n_leaves = (len(begin) + 1) // 2
    while node < len(begin) and budget > 0:
        budget -= (end[node] - begin[node]) * (p + 20)
        widest, width = 0, np.int64(-1)
        for c in range(p):
            first = order[begin[node]]
            least, most = low[first, c], high[first, c]
            smallest = largest = low[first, c] + high[first, c]
            for e in range(begin[node] + 1, end[node]):
                box = order[e]
                least = min(least, low[box, c])
                most = max(most, high[box, c])
                middle = low[box, c] + high[box, c]
                smallest = min(smallest, middle)
                largest = max(largest, middle)
            bottom[node, c] = least
            top[node, c] = most
            if largest - smallest > width:
                widest, width = c, largest - smallest
        if node < n_leaves - 1:
            members = order[begin[node] : end[node]].copy()
            keys = np.empty(len(members), dtype=np.int64)
            for e in range(len(members)):
                keys[e] = low[members[e], widest] + high[members[e], widest]
            rank = np.argsort(keys, kind="mergesort")
            for e in range(len(members)):
                order[begin[node] + e] = members[rank[e]]
            half = (begin[node] + end[node]) // 2
            begin[2 * node + 1] = begin[node]
            end[2 * node + 1] = half
            begin[2 * node + 2] = half
            end[2 * node + 2] = end[node]
        node += 1
    return node


def box_tree(low: IntArray, high: IntArray, leaf: int) -> tuple[IntArray, tuple[IntArray, ...]]:
    """A balanced tree of boxes in level order, split at the middles of the widest attribute.

    The children of node i are 2i + 1 and 2i + 2; the bounds of a node hold its boxes entirely.
    """
    n, p = low.shape
    n_leaves = 1
    while n > n_leaves * leaf:
        n_leaves *= 2
    n_nodes = 2 * n_leaves - 1
    order = np.arange(n)
    begin, end = np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    bottom, top = np.empty((n_nodes, p), dtype=np.int64), np.empty((n_nodes, p), dtype=np.int64)
    end[0] = n
    node = 0
    while node < n_nodes:
        node = _grow(low, high, order, begin, end, bottom, top, node, SLICE)
    return order, (begin, end, bottom, top)


@kernel()
def boxes_around(points: Any, low: Any, high: Any, count: Any, tree: Any) -> Any:
    """Weighted number of boxes (in the tree's order) that hold each point."""
    begin, end, bottom, top = tree
    m, p = points.shape
    n_nodes = len(begin)
    first_leaf = n_nodes // 2
    found = np.zeros(m, dtype=np.int64)
    stack = np.empty(128, dtype=np.int64)
    for i in range(m):
        stack[0] = 0
        size = 1
        while size > 0:
            size -= 1
            node = stack[size]
            inside = True
            for c in range(p):
                if points[i, c] < bottom[node, c] or points[i, c] > top[node, c]:
                    inside = False
                    break
            if not inside:
                continue
            if node < first_leaf:
                stack[size] = 2 * node + 1
                stack[size + 1] = 2 * node + 2
                size += 2
                continue
            for box in range(begin[node], end[node]):
                holds = True
                for c in range(p):
                    if points[i, c] < low[box, c] or points[i, c] > high[box, c]:
                        holds = False
                        break
                if holds:
                    found[i] += count[box]
    return found
