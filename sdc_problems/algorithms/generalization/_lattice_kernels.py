"""Compiled loops over many unmeasured nodes and few measured nodes or archive members."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

FINER_MOST, FINER_LEAST, COARSER_MOST, COARSER_LEAST = range(4)
"""Rows of extremes: the largest and smallest value among the nodes that a node generalizes, and that generalize it."""


def no_extremes(n_nodes: int, n_obj: int) -> NDArray[np.float64]:
    """Extremes of nodes about which nothing is known: 4 × nodes × objectives."""
    extremes = np.full((4, n_nodes, n_obj), -np.inf)
    extremes[FINER_LEAST], extremes[COARSER_LEAST] = np.inf, np.inf
    return extremes


@kernel()
def learn_extremes(
    U: NDArray[np.int64], X: NDArray[np.int64], F: NDArray[np.float64], extremes: NDArray[np.float64]
) -> None:
    """Update the extremes of the nodes U by measured nodes X with values F, in place."""
    for i in range(len(U)):
        for m in range(len(X)):
            finer, coarser = True, True
            for v in range(U.shape[1]):
                if X[m, v] > U[i, v]:
                    finer = False
                elif X[m, v] < U[i, v]:
                    coarser = False
                if not (finer or coarser):
                    break
            for j in range(F.shape[1]):
                if finer:
                    extremes[0, i, j] = max(extremes[0, i, j], F[m, j])
                    extremes[1, i, j] = min(extremes[1, i, j], F[m, j])
                if coarser:
                    extremes[2, i, j] = max(extremes[2, i, j], F[m, j])
                    extremes[3, i, j] = min(extremes[3, i, j], F[m, j])


@kernel()
def nearest(U: NDArray[np.int64], X: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Steps from each of the nodes U to the nearest of X, and which one it is (the first if tied)."""
    steps, which = np.full(len(U), np.iinfo(np.int64).max), np.full(len(U), -1)
    for i in range(len(U)):
        for m in range(len(X)):
            way = 0
            for v in range(U.shape[1]):
                way += abs(U[i, v] - X[m, v])
                if way >= steps[i]:
                    break
            if way < steps[i]:
                steps[i], which[i] = way, m
    return steps, which


@kernel()
def reaches(low: NDArray[np.float64], F: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each row of low is below each row of F in at least one objective."""
    out = np.ones(len(low), dtype=np.bool_)
    for i in range(len(low)):
        if low[i].min() == -np.inf:
            continue
        for m in range(len(F)):
            below = False
            for j in range(low.shape[1]):
                below |= low[i, j] < F[m, j]
            if not below:
                out[i] = False
                break
    return out


@kernel()
def most_promising(
    means: NDArray[np.float64], deviations: NDArray[np.float64], needed: NDArray[np.float64], n: int, scale: float
) -> NDArray[np.int64]:
    """The n most promising nodes, the best first; ties in the order of the nodes.

    A node's score is how many standard deviations its prediction falls short of a better box in its best objective, for
    the member of the archive that is hardest to pass; a difference below 1 / scale does not count. A node is dropped as
    soon as n others are known to be better.
    """
    short, which = np.full(n, np.inf), np.full(n, -1)
    hardest = 0  # the member that was hardest for the previous node, so likely for this one
    for i in range(len(means)):
        most = -np.inf
        for step in range(len(needed)):
            m = (hardest + step) % len(needed)
            least = np.inf
            for j in range(means.shape[1]):
                least = min(least, (means[i, j] - needed[m, j]) / deviations[i, j])
                if least <= most:
                    break
            if least > most:
                most = least
                if np.round(most * scale) >= short[n - 1]:
                    hardest = m
                    break
        missed = np.round(most * scale)
        at = n
        while at > 0 and missed < short[at - 1]:
            at -= 1
        for place in range(n - 1, at, -1):
            short[place], which[place] = short[place - 1], which[place - 1]
        if at < n:
            short[at], which[at] = missed, i
    return which[which >= 0]
