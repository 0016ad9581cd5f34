"""Tags of measured nodes, which rule out nodes of boxes without measuring them.

Flash and OLA tag the nodes that are coarser or finer than a node that they checked. Here a measured node has a number,
its *reach*: a node that is no coarser than it and loses more than the reach, by its levels alone, is worse than a known
solution. A node below several measured ones is ruled out by the smallest of their reaches. A box can be made smaller
from both ends without measuring its corners: at the coarse end by levels that lose too much, at the fine end by levels
at which the rest of the box lies below a tag.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Levels = NDArray[np.int16]

SLACK = 1e-9  # relative, of sums of losses over the attributes, so that exact ties are never ruled out


class Tags:
    """Measured nodes with their reach.

    Parameters
    ----------
    cost
        Loss of each level, per attribute.

    Examples
    --------
    Nodes up to (1, 1) are ruled out if they lose more than 1; in the box from (0, 0) to (1, 2) that is (1, 1) alone:

    >>> tags = Tags([np.array([0.0, 1.0]), np.array([0.0, 1.0, 2.0])])
    >>> tags.add(np.array([[1, 1]]), np.array([1.0]))
    >>> low, high = np.array([[1, 1], [1, 0]]), np.array([[1, 1], [1, 2]])
    >>> tags.tighten(low, high).tolist()
    [False, True]
    """

    def __init__(self, cost: Sequence[Floats]) -> None:
        n_levels = max(len(losses) for losses in cost)
        self.cost = np.zeros((len(cost), n_levels))
        for a, losses in enumerate(cost):
            self.cost[a, : len(losses)] = losses
        self.n = 0
        self._nodes: Levels = np.empty((64, len(cost)), dtype=np.int16)
        self._reach: Floats = np.full(64, np.inf)
        # Bit t of [a, l]: a box that ends at level l of attribute a exceeds tag t there.
        self._beyond: Ints = np.zeros((len(cost), n_levels, 1), dtype=np.int64)

    def add(self, nodes: Ints, reach: Floats) -> None:
        """Add nodes with their reach."""
        end = self.n + len(nodes)
        while end > len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.empty_like(self._nodes)])
            self._reach = np.concatenate([self._reach, np.full(len(self._reach), np.inf)])
            self._beyond = np.concatenate([self._beyond, np.zeros_like(self._beyond)], axis=2)
        self._nodes[self.n : end], self._reach[self.n : end] = nodes, reach
        mark(self._nodes, self.n, end, self._beyond)
        self.n = end

    def tell(self, reach: Floats) -> None:
        """Set the reach of all nodes, in the order in which they were added."""
        self._reach[: self.n] = reach

    def tighten(self, low: Ints, high: Ints) -> NDArray[np.bool_]:
        """Make boxes smaller, in place; False for boxes in which everything is ruled out."""
        words = (self.n + 63) // 64
        return tighten(low, high, self._nodes, self._reach, self._beyond, words, self.cost)


@kernel()
def mark(nodes: Levels, start: int, end: int, beyond: Ints) -> None:
    """Set the bits of some tags."""
    for t in range(start, end):
        for a in range(nodes.shape[1]):
            for level in range(nodes[t, a] + 1, beyond.shape[1]):
                beyond[a, level, t // 64] |= np.int64(1) << np.int64(t % 64)


@kernel()
def tighten(
    low: Ints, high: Ints, nodes: Levels, reach: Floats, beyond: Ints, words: int, cost: Floats
) -> NDArray[np.bool_]:
    """Make boxes smaller by tags, in place; False for boxes in which everything is ruled out.

    Sixty-four tags are handled together: those that a box exceeds in no attribute, and those it exceeds in only one.
    """
    n_attributes = low.shape[1]
    alive = np.ones(low.shape[0], np.bool_)
    for b in range(low.shape[0]):
        changed = True
        while changed and alive[b]:
            changed = False
            loss = 0.0
            for a in range(n_attributes):
                loss += cost[a, low[b, a]]
            slack = SLACK * (loss + 1.0)
            most = np.inf
            for word in range(words):
                once, twice = np.int64(0), np.int64(0)
                for a in range(n_attributes):
                    bits = beyond[a, high[b, a], word]
                    twice |= once & bits
                    once |= bits
                never, once = ~once, once & ~twice
                while never != 0:
                    most = min(most, reach[64 * word + math.frexp(float(never & -never))[1] - 1])
                    never &= never - 1
                while once != 0:
                    t = 64 * word + math.frexp(float(once & -once))[1] - 1
                    once &= once - 1
                    if reach[t] < loss - slack:
                        at = 0
                        while high[b, at] <= nodes[t, at]:
                            at += 1
                        if low[b, at] <= nodes[t, at]:
                            loss += cost[at, nodes[t, at] + 1] - cost[at, low[b, at]]
                            low[b, at] = nodes[t, at] + 1
                            changed = True
            if most < loss - slack:
                alive[b] = False
            else:
                for a in range(n_attributes):
                    while high[b, a] > low[b, a] and cost[a, high[b, a]] - cost[a, low[b, a]] > most - loss + slack:
                        high[b, a] -= 1
                        changed = True
    return alive
