"""MDAV on a k-d tree, with exactly the partition of the scan.

Both searches of MDAV, for the record farthest from a point and for the k nearest records, visit only the boxes that can
contain an answer. The record farthest from the centroid is hard to find: the remaining records form a ball, and all
records on its surface are about equally far. But the centroid hardly moves. Therefore, the outermost records (the
shell) are sorted by their distance to a former centroid, and they are examined from the outside until that distance
plus the distance that the centroid has moved is below the best distance found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, Progress, kernel
from sdc_problems._slices import Pace
from sdc_problems.methods._kernels.kd_tree import LEAF, farthest, nearest, squared, take, tree_of

WORTH = 1.0 + 1e-9  # tolerance of the triangle inequality in floating point
NOBODY = np.iinfo(np.int32).max
NONE = -1  # instead of the size of the shell: it has to be computed
SCAN_WORK = 1.5  # records that a scan visits for one group, per remaining record

# Entries of the state that is kept from slice to slice, a vector of whole numbers.
WORK, LEFT, GROUP, SHELL, HEAD, WALKED, TREE_TURNS, WHOLE = range(8)  # WORK first: the tree adds to it


def _lay_shell(
    tree: Any, center: NDArray[np.float64], state: Any, shell: Any, radius: Any, former: Any
) -> None:  # fmt: skip
    """Compute the shell: sort the outermost records by their distance from the current centroid.

    This is rare, so it uses numpy, which need not be compiled.
    """
    L, ids, count, _, _ = tree
    left = int(state[LEFT])
    filled = np.arange(L.shape[2]) < count[:, None]
    squares = np.zeros((len(L), L.shape[2]))
    with np.errstate(all="ignore"):  # entries after the records of a leaf are uninitialized
        for j, c in enumerate(center):
            t = L[:, j] - c
            t *= t
            squares += t
    distances, numbers = squares[filled], ids[filled]
    wanted = max(1024, left // 32)
    if wanted < left // 2:
        chosen = np.flatnonzero(distances >= np.partition(distances, left - wanted)[left - wanted])
        distances, numbers = distances[chosen], numbers[chosen]
    found = len(distances)
    outwards = np.argsort(distances)[::-1]
    radius[:found] = np.sqrt(distances[outwards])
    shell[:found] = numbers[outwards]
    former[:] = center
    state[SHELL], state[HEAD], state[WALKED] = found, 0, 0
    state[WHOLE] = 1 if found == left else 0
    state[WORK] += left + 8 * found


@kernel()
def _outermost(
    Z: Any, tree: Any, center: Any, labels: Any, state: Any, shell: Any, radius: Any, former: Any,
    stack: Any, limits: Any, D: Any,
) -> int:  # fmt: skip
    """Number of the record farthest from the centroid, found by the shell, or by the tree if the shell does not help.

    -1 if the shell has to be computed first.
    """
    if state[TREE_TURNS] == 0:
        if state[SHELL] == NONE or state[WALKED] > state[LEFT]:
            state[SHELL] = NONE
            return -1
        fresh = state[WALKED] == 0
        drift = np.sqrt(squared(center, former))
        head, size = state[HEAD], state[SHELL]
        while head < size and labels[shell[head]] >= 0:
            head += 1
        state[HEAD] = head
        best, who, at, closed = -1.0, NOBODY, head, state[WHOLE] == 1
        while at < size:
            reach = (radius[at] + drift) * WORTH
            if reach * reach < best:
                closed = True
                break
            number = shell[at]
            if labels[number] < 0:
                away = squared(Z[number], center)
                if away >= best and (away > best or number < who):
                    best, who = away, number
            at += 1
        state[WORK] += 2 * (at - head)
        state[WALKED] += 1 + at - head
        if fresh and at - head > 4096 and 64 * (at - head) > state[LEFT]:
            state[TREE_TURNS] = 64  # too many are equally far: use the tree, which stores record numbers
            state[WALKED] = state[LEFT] + 1
        if closed:
            return who
        if not fresh:
            state[SHELL] = NONE
            return -1
        state[TREE_TURNS] = 64
        state[WALKED] = state[LEFT] + 1
    state[TREE_TURNS] -= 1
    return farthest(tree, center, state, stack, limits, D)


@kernel()
def take_groups(
    Z: Any, tree: Any, labels: Any, total: Any, state: Any, place: Any, shell: Any, radius: Any, former: Any,
    near: Any, who: Any, until: int, budget: int,
) -> None:  # fmt: skip
    """Form groups until at most ``until`` records remain, a shell is needed or the budget of visits is spent."""
    d = Z.shape[1]
    k = len(near) + 1
    center = np.empty(d)
    stack, limits = np.empty(128, dtype=np.int64), np.empty(128)
    D = np.empty(tree[0].shape[2])
    began = state[WORK]
    while state[LEFT] >= 2 * k and state[LEFT] > until and state[WORK] - began < budget:
        rounds = 2 if state[LEFT] >= 3 * k else 1
        for j in range(d):
            center[j] = total[j] / state[LEFT]
        seed = _outermost(Z, tree, center, labels, state, shell, radius, former, stack, limits, D)
        if seed < 0:
            return
        for turn in range(rounds):
            if turn == 1:
                seed = farthest(tree, center, state, stack, limits, D)
            for j in range(d):
                center[j] = Z[seed, j]
                total[j] -= center[j]
            labels[seed] = state[GROUP]
            take(tree, place, seed)
            nearest(tree, center, near, who, state, stack, limits, D)
            for a in range(k - 1):
                labels[who[a]] = state[GROUP]
                for j in range(d):
                    total[j] -= Z[who[a], j]
                take(tree, place, np.int64(who[a]))  # one type, so that it is compiled once
            state[LEFT] -= k
            state[GROUP] += 1


def tree_groups(
    Z: NDArray[np.float64],
    k: int,
    labels: NDArray[np.int32],
    total: NDArray[np.float64],
    count: NDArray[np.int64],
    progress: Progress | None = None,
) -> None:
    """Form the groups of MDAV as long as the tree visits fewer records than a scan.

    Parameters
    ----------
    Z, k
        Records × attributes, and size of a group (at least 2).
    labels, total, count
        Group of each record (-1: none yet), sum of each attribute over the remaining records, and numbers of remaining
        records and of groups; all three are changed.
    progress
        Called as ``progress(records in groups, records)``.
    """
    n, d = Z.shape
    state = np.zeros(8, dtype=np.int64)
    state[LEFT], state[GROUP] = count
    place, shell, radius = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32), np.empty(n)
    former, near, who = np.zeros(d), np.empty(k - 1), np.empty(k - 1, dtype=np.int32)
    worth, pace = True, Pace(SLICE // (2 * d))
    while state[LEFT] >= 2 * k and worth:
        alive = np.flatnonzero(labels < 0).astype(np.int32)
        tree = tree_of(Z, alive, place)
        state[SHELL] = NONE
        until = len(alive) // 2 if len(alive) > 4 * LEAF else 0  # then build a new tree without empty leaves
        budget = 16 * len(alive)  # the first slice after a rebuild shows whether the tree is worth it
        while state[LEFT] >= 2 * k and state[LEFT] > until and worth:
            work, group = int(state[WORK]), int(state[GROUP])
            while state[GROUP] == group or (state[SHELL] == NONE and state[WORK] - work < budget):
                if state[SHELL] == NONE:
                    _lay_shell(tree, total / state[LEFT], state, shell, radius, former)
                take_groups(Z, tree, labels, total, state, place, shell, radius, former, near, who, until, budget)
            worth = state[WORK] - work < SCAN_WORK * (state[GROUP] - group) * len(alive) or len(alive) < 4 * LEAF
            budget = pace.next(int(state[WORK]) - work)
            if progress is not None:
                progress(n - int(state[LEFT]), n)
    count[:] = state[LEFT], state[GROUP]
