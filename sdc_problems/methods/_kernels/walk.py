"""Compiled searches on the shrinking k-d tree: nearest-point paths, and the groups of V-MDAV."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, Progress, kernel
from sdc_problems.methods._kernels.kd_tree import LEAF, farthest, nearest, squared, take, tree_of


@kernel(cost=lambda P, tree, place, path, here, at, until, budget: (until - at) * 1e-4)
def _walk(P: Any, tree: Any, place: Any, path: Any, here: Any, at: int, until: int, budget: int) -> int:
    """Visit the nearest point not yet visited, repeatedly; the first is the farthest. Returns how many are visited."""
    stack, limits = np.empty(128, dtype=np.int64), np.empty(128)
    D = np.empty(tree[0].shape[2])
    near, who, spent = np.empty(1), np.empty(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    while at < until and spent[0] < budget:
        if at == 0:
            number = np.int64(farthest(tree, here, spent, stack, limits, D))
        else:
            nearest(tree, here, near, who, spent, stack, limits, D)
            number = np.int64(who[0])
        path[at] = number
        for j in range(len(here)):
            here[j] = P[number, j]
        take(tree, place, number)
        at += 1
    return at


def nearest_next(
    P: NDArray[np.float64], center: NDArray[np.float64], progress: Progress | None = None
) -> NDArray[np.int64]:
    """Path from the point farthest from a center, always to the nearest point not yet visited; ties to the first."""
    n, d = P.shape
    path, here = np.empty(n, dtype=np.int64), center.copy()
    place, left = np.empty(n, dtype=np.int32), np.ones(n, dtype=np.bool_)
    at = 0
    while at < n:
        alive = np.flatnonzero(left).astype(np.int32)
        tree = tree_of(P, alive, place)
        until = n - len(alive) // 2 if len(alive) > 4 * LEAF else n  # then build a new tree without empty leaves
        while at < until:
            done = _walk(P, tree, place, path, here, at, until, max(1, SLICE // (2 * d)))
            left[path[at:done]] = False
            at = done
            if progress is not None:
                progress(at, n)
    return path


@kernel(cost=lambda P, rest, *_: len(rest) * 2e-5)
def _members(
    P: Any, rest: Any, start: Any, turns: Any, centroid: Any, center: Any, path: Any, at: int, turn: int, budget: int
) -> int:
    """Order the records of the groups from ``turn`` on: next, the nearest of the group; returns the next turn.

    ``rest`` holds the records group by group from ``start`` on; the path starts with the one farthest from the center.
    """
    d = P.shape[1]
    here = np.empty(d)
    while turn < len(turns) and budget > 0:
        g = turns[turn]
        for j in range(d):
            here[j] = centroid[turns[turn - 1], j] if turn > 0 else center[j]
        left = start[g + 1] - start[g]
        budget -= left * left * d
        while left > 0:
            where, best = -1, np.inf
            for a in range(start[g], start[g] + left):
                away = squared(P[rest[a]], here)
                if at == 0:
                    away = -away
                if away < best or (away == best and rest[a] < rest[where]):
                    where, best = a, away
            record = rest[where]
            left -= 1
            rest[where] = rest[start[g] + left]
            path[at] = record
            at += 1
            for j in range(d):
                here[j] = P[record, j]
        turn += 1
    return turn


def path_of_groups(
    P: NDArray[np.float64], groups: NDArray[np.int32], progress: Progress | None = None
) -> NDArray[np.int64]:
    """Path through groups that starts far out: next the group with the nearest centroid, in it the nearest record."""
    n_groups = int(groups.max()) + 1
    size = np.bincount(groups)
    sums = np.column_stack([np.bincount(groups, weights=column) for column in P.T])
    centroid, center = np.ascontiguousarray(sums / size[:, None]), sums.sum(axis=0) / len(P)
    turns = nearest_next(centroid, center)
    rest = np.argsort(groups, kind="stable")
    start = np.concatenate([[0], np.cumsum(size)])
    done = np.concatenate([[0], np.cumsum(size[turns])])
    path = np.empty(len(P), dtype=np.int64)
    turn = 0
    while turn < n_groups:
        turn = _members(P, rest, start, turns, centroid, center, path, done[turn], turn, SLICE)
        if progress is not None:
            progress(int(done[turn]), len(P))
    return path


@kernel(cost=lambda P, *_: len(P) * 1.5e-4)
def _grow_groups(
    P: Any, k: int, reach: float, outwards: Any, tree: Any, place: Any, labels: Any, state: Any, until: int, budget: int
) -> None:
    """Form groups of V-MDAV until at most ``until`` records remain.

    ``state`` holds the position reached in ``outwards``, the number of remaining records, and the number of groups.
    """
    stack, limits = np.empty(128, dtype=np.int64), np.empty(128)
    D = np.empty(tree[0].shape[2])
    core, numbers = np.empty(k - 1), np.empty(k - 1, dtype=np.int32)
    near, who = np.empty(1), np.empty(1, dtype=np.int32)
    two, pair = np.empty(2), np.empty(2, dtype=np.int32)
    members = np.empty(2 * k, dtype=np.int64)
    spent = np.zeros(1, dtype=np.int64)
    at, left, group = state
    while left >= k and left > until and spent[0] < budget:
        while labels[outwards[at]] >= 0:
            at += 1
        members[0], size = outwards[at], 1
        take(tree, place, members[0])
        nearest(tree, P[members[0]], core, numbers, spent, stack, limits, D)
        for a in range(k - 1):
            members[size] = numbers[a]
            size += 1
            take(tree, place, np.int64(numbers[a]))
        while left - size > k and size < 2 * k - 1:  # the remaining records must fill a group
            joins, inside = np.int64(-1), np.inf  # nearest to any member
            for a in range(size):
                nearest(tree, P[members[a]], near, who, spent, stack, limits, D)
                if near[0] < inside or (near[0] == inside and who[0] < joins):
                    inside, joins = near[0], np.int64(who[0])
            nearest(tree, P[joins], two, pair, spent, stack, limits, D)
            outside = two[1] if pair[0] == joins else two[0]
            if not inside < reach * outside:
                break
            members[size] = joins
            size += 1
            take(tree, place, joins)
        for a in range(size):
            labels[members[a]] = group
        left -= size
        group += 1
    state[0], state[1], state[2] = at, left, group


def v_mdav_groups(
    P: NDArray[np.float64], k: int, reach: float, labels: NDArray[np.int32], progress: Progress | None = None
) -> int:
    """Write groups of V-MDAV to ``labels`` (-1: none yet) while k records remain; returns their number.

    ``reach`` is gamma squared, because all distances here are squared.
    """
    n, d = P.shape
    center = np.zeros(d)
    for column, values in enumerate(P.T):
        total = np.cumsum(values)[-1]  # in this order whatever the memory layout, and exact where sums are
        center[column] = total / n if np.isfinite(total) else np.cumsum(values / n)[-1]
    away = np.zeros(n)
    for column in range(d):
        away += (P[:, column] - center[column]) ** 2
    outwards = np.argsort(-away, kind="stable")
    place = np.empty(n, dtype=np.int32)
    state = np.array([0, n, 0], dtype=np.int64)
    while state[1] >= k:
        alive = np.flatnonzero(labels < 0).astype(np.int32)
        tree = tree_of(P, alive, place)
        until = len(alive) // 2 if len(alive) > max(4 * LEAF, 4 * k) else 0
        while state[1] >= k and state[1] > until:
            _grow_groups(P, k, reach, outwards, tree, place, labels, state, until, max(1, SLICE // (2 * d)))
            if progress is not None:
                progress(n - int(state[1]), n)
    return int(state[2])
