"""Kernels of candidate counting: number of boxes of labels that contain a point of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._validation import IntArray

_POINTS = 256  # compared with all boxes at once in the version that is not compiled


def box_tree(low: IntArray, high: IntArray, leaf: int) -> tuple[IntArray, tuple[IntArray, ...]]:
    """Balanced tree of boxes in level order, split at the middle of the widest attribute.

    The children of node i are 2i + 1 and 2i + 2; the bounds of a node contain all its boxes.
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
    middles = low + high
    first = 0
    while first < n_nodes:  # level by level
        nodes, size = slice(first, 2 * first + 1), first + 1
        since = begin[nodes]
        least, most = np.empty((size, p), dtype=np.int64), np.empty((size, p), dtype=np.int64)
        for c in range(p):  # contiguous columns: many times faster than rows
            bottom[nodes, c] = np.minimum.reduceat(low[order, c], since)
            top[nodes, c] = np.maximum.reduceat(high[order, c], since)
            keys = middles[order, c]
            least[:, c], most[:, c] = np.minimum.reduceat(keys, since), np.maximum.reduceat(keys, since)
        first = 2 * first + 1
        if first < n_nodes:
            node = np.repeat(np.arange(size), end[nodes] - since)
            widest = np.argmax(most - least, axis=1)
            order = order[np.lexsort((middles[order, widest[node]], node))]
            half = (since + end[nodes]) // 2
            below = slice(first, first + 2 * size)
            begin[below] = np.column_stack([since, half]).ravel()
            end[below] = np.column_stack([half, end[nodes]]).ravel()
    return order, (begin, end, bottom, top)


def _plain_around(points: Any, low: Any, high: Any, count: Any, tree: Any) -> Any:
    found = np.zeros(len(points), dtype=np.int64)
    for begin in range(0, len(points), _POINTS):
        some = points[begin : begin + _POINTS]
        holds = np.ones((len(some), len(low)), dtype=np.bool_)
        for values, least, most in zip(some.T, low.T, high.T, strict=True):
            holds &= (values[:, None] >= least) & (values[:, None] <= most)
        found[begin : begin + _POINTS] = holds @ count
    return found


@kernel(cost=lambda points, low, *_: len(points) * low.size * 2e-9, plain=_plain_around)
def boxes_around(points: Any, low: Any, high: Any, count: Any, tree: Any) -> Any:
    """Weighted number of boxes (in the order of the tree) that contain each point."""
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
