"""Front of all ways to cut a set into groups where every objective is a sum over the groups.

The front of a set S is the best of cost(G) + front(S without G), over the groups G that hold the first member of S:
each way to cut S is counted once, and what is not on the front of a smaller set is on no front of a larger one. So
3^m pairs of a set and a group in it are tried instead of the partitions, of which there are many more.
"""

from __future__ import annotations

from collections.abc import Callable

import moocore
import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError

MOST = 24  # members of a set: a table has an entry for each of its 2^m subsets


def subset_front(
    m: int,
    groups: NDArray[np.int64],
    costs: NDArray[np.float64],
    *,
    limit: int,
    progress: Callable[[float], object] | None = None,
) -> NDArray[np.int64]:
    """Partitions of 0 … m − 1 on the front of summed costs, as rows of labels in order of first use.

    Parameters
    ----------
    m
        Number of members, at most 24.
    groups
        Bit masks of the groups that may be used.
    costs
        A row for each group; every column is minimized.
    limit
        Largest number of pairs of a set and a group to try.
    progress
        Called from time to time with the share that is done.

    Returns
    -------
    labels
        One row for each different sum on the front (up to rounding); none if no partition into such groups exists.

    Examples
    --------
    >>> groups = np.arange(1, 8)
    >>> sizes = np.array([bin(group).count("1") for group in groups])
    >>> subset_front(3, groups, np.column_stack([sizes**2.0, np.ones(7)]), limit=100).tolist()
    [[0, 1, 2], [0, 1, 1], [0, 0, 0]]
    """
    order = np.argsort(groups, kind="stable")
    by_first = [order[(groups[order] & -groups[order]) == 1 << first] for first in range(m)]
    needed, pairs = _needed(m, groups, by_first)
    if pairs > limit:
        raise SDCError(
            f"{m} members have {pairs:,} pairs of a set and a group, more than limit={limit:,}: raise the limit, or"
            " search"
        )
    fronts: dict[int, tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]] = {}
    store, used = np.empty((1024, costs.shape[1])), 0
    start, length = np.zeros(1 << m, dtype=np.int64), np.zeros(1 << m, dtype=np.int64)
    store[0], used, length[0] = 0.0, 1, 1
    for done, S in enumerate(needed):
        here = _inside(S, groups, by_first)
        rest = S ^ groups[here]
        many = length[rest]
        total = int(many.sum())
        if total:
            place = np.arange(total) - np.repeat(np.cumsum(many) - many, many)
            sums = store[np.repeat(start[rest], many) + place] + np.repeat(costs[here], many, axis=0)
            kept = np.flatnonzero(moocore.is_nondominated(sums, keep_weakly=False))
            fronts[S] = sums[kept], np.repeat(here, many)[kept], place[kept]
            while used + len(kept) > len(store):
                store = np.concatenate([store, np.empty_like(store)])
            store[used : used + len(kept)] = sums[kept]
            start[S], length[S] = used, len(kept)
            used += len(kept)
        if progress is not None and done % 64 == 0:
            progress(done / len(needed))
    return _read(m, groups, fronts)


def _inside(S: int, groups: NDArray[np.int64], by_first: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Groups that lie in a set and hold its first member."""
    mine = by_first[(S & -S).bit_length() - 1]
    found: NDArray[np.int64] = mine[(groups[mine] & ~S) == 0]
    return found


def _needed(m: int, groups: NDArray[np.int64], by_first: list[NDArray[np.int64]]) -> tuple[list[int], int]:
    """Sets that remain when groups are taken from the whole, smaller sets first, and the number of pairs in them."""
    wanted = np.zeros(1 << m, dtype=bool)
    wanted[-1] = True
    found, pairs = [], 0
    for S in range((1 << m) - 1, 0, -1):
        if wanted[S]:
            here = _inside(S, groups, by_first)
            wanted[S ^ groups[here]] = True
            found.append(S)
            pairs += len(here)
    return found[::-1], pairs


def _read(
    m: int,
    groups: NDArray[np.int64],
    fronts: dict[int, tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]],
) -> NDArray[np.int64]:
    """Follow each point of the whole set's front through the groups that made it."""
    whole = (1 << m) - 1
    if whole not in fronts:
        return np.zeros((0, m), dtype=np.int64)
    sums = fronts[whole][0]
    rows = np.empty((len(sums), m), dtype=np.int64)
    for row, point in zip(rows, np.lexsort(sums.T[::-1]), strict=True):
        S, label = whole, 0
        while S:
            _, group, place = fronts[S]
            mask, point = int(groups[group[point]]), place[point]
            row[[i for i in range(m) if mask >> i & 1]] = label
            S, label = S ^ mask, label + 1
    return rows
