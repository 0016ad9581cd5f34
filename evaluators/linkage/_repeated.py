"""Kernel that finds records which nearly repeat an original, on the tree of distance linkage."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems.evaluators.linkage._nearest import _BOXES, FAN, _box_squares, _squares


@kernel(compiling=1.0)
def tree_copies(
    A: Any, turn: Any, tree: Any, w: Any, apart: Any, factor: float, found: Any, at: int, budget: int
) -> int:  # fmt: skip
    """Find whether a nearest record of the tree is within ``factor · apart`` of the rows ``turn[at]``, …

    All attributes are numeric. ``factor`` is a square, and so is ``apart``, given for each record of the tree. The
    counts of the tree are the numbers of its records. The search is that of ``tree_second``, and begins in the leaf of
    the record with the same number. Boxes as near as the nearest record so far are visited, too, because of several
    equally near records one within its limit is enough. Returns the next row.
    """
    blocks, numbers, sizes, leaf_of, boxes, before = tree
    depth, size = len(before) - 1, blocks.shape[2]
    d = np.empty(max(size, _BOXES))
    nodes, levels = np.empty((depth + FAN) * _BOXES, dtype=np.int64), np.empty((depth + FAN) * _BOXES, dtype=np.int64)
    limits = np.empty((depth + FAN) * _BOXES)
    while at < len(turn) and budget > 0:
        i = turn[at]
        row, top = A[i], 1
        best, copied = np.inf, False
        nodes[0], levels[0], limits[0] = leaf_of[i], depth, 0.0
        came, climbed = leaf_of[i], depth
        while best > 0.0:  # a record in the same place is a copy
            skipped = -1
            if top > 0:
                top -= 1
                node, level = nodes[top], levels[top]
                if limits[top] > best or (limits[top] == best and copied):
                    continue
                if level == depth:
                    m = sizes[node]
                    _squares(row, blocks[node], m, w, len(w), d)
                    for k in range(m):
                        if d[k] < best:
                            best = d[k]
                            copied = best <= factor * apart[numbers[node, k]]
                        elif d[k] == best:
                            copied = copied or best <= factor * apart[numbers[node, k]]
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
                if d[e] <= best and e != skipped:
                    nodes[top], levels[top], limits[top] = (node << fan) + e, level + fan, d[e]
                    if d[e] < nearest:
                        nearest, where = d[e], top
                    top += 1
            if where >= 0:
                nodes[where], nodes[top - 1] = nodes[top - 1], nodes[where]
                limits[where], limits[top - 1] = limits[top - 1], limits[where]
        found[i] = copied
        at += 1
    return at
