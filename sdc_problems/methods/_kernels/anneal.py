"""Compiled annealing of a whole k-partition, one temperature of a cooling schedule at a time.

A move changes one or two groups, and its effect on the sum of squares follows from their sizes and vector sums:
O(p) for a swap or a relocation, for files of any size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.methods._kernels.random import below, bits, uniform

_GROUP_MOVE = 0.01  # share of proposals that dissolve or create a whole group


@kernel()
def _cost(i: Any, a: Any, b: Any, Z: NDArray[np.float64], size: NDArray[np.int64], total: NDArray[np.float64]) -> float:
    """Change of the sum of squares if record i moves from group a to group b (which may be empty)."""
    leave, enter = 0.0, 0.0
    per_a = 1.0 / size[a]
    per_b = 1.0 / size[b] if size[b] else 0.0
    for j in range(Z.shape[1]):
        z = Z[i, j]
        away = z - total[a, j] * per_a
        leave += away * away
        near = z - total[b, j] * per_b
        enter += near * near
    change = 0.0
    if size[b]:
        change += enter * size[b] / (size[b] + 1)
    if size[a] > 1:
        change -= leave * size[a] / (size[a] - 1)
    return change


@kernel()
def _move(
    i: Any,
    b: Any,
    Z: NDArray[np.float64],
    labels: NDArray[np.int32],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    size: NDArray[np.int64],
    total: NDArray[np.float64],
) -> None:
    """Move record i to group b and update all arrays."""
    a = labels[i]
    size[a] -= 1
    last = members[a, size[a]]
    members[a, place[i]] = last
    place[last] = place[i]
    members[b, size[b]] = i
    place[i] = size[b]
    size[b] += 1
    labels[i] = b
    for j in range(Z.shape[1]):
        total[a, j] -= Z[i, j]
        total[b, j] += Z[i, j]


def anneal(
    Z: NDArray[np.float64],
    labels: NDArray[np.int32],
    k: int,
    near: NDArray[np.int32],
    temperature: float,
    moves: int,
    seed: np.uint64,
) -> None:
    """Propose moves at one temperature; labels (below n // k) change in place.

    A proposal relocates a record to the group of one of its neighbors, or swaps it with a member of that group. Some
    proposals dissolve a group among the groups of its members' neighbors, or create a group of k neighbors whose groups
    can spare them. Every group keeps k to 2k − 1 records. A proposal that increases the sum of squares by c is accepted
    with probability exp(−c / temperature).
    """
    n, limit, n_groups = len(labels), 2 * k - 1, len(labels) // k
    size = np.bincount(labels, minlength=n_groups)
    order = np.argsort(labels, kind="stable")
    rank = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    place = np.empty(n, dtype=np.int32)
    place[order] = rank
    members = np.zeros((n_groups, limit), dtype=np.int32)
    members[labels[order], rank] = order
    total = np.zeros((n_groups, Z.shape[1]))
    np.add.at(total, labels, Z)
    empty = np.flatnonzero(size == 0)[::-1]
    free = np.zeros(n_groups, dtype=np.int32)
    free[: len(empty)] = empty
    moved = np.zeros((2, limit), dtype=np.int32)
    state = np.array([seed | np.uint64(1)], dtype=np.uint64)
    _propose(Z, labels, k, near, temperature, moves, state, members, place, size, total, free, len(empty), *moved)


@kernel()
def _propose(
    Z: NDArray[np.float64],
    labels: NDArray[np.int32],
    k: int,
    near: NDArray[np.int32],
    temperature: float,
    moves: int,
    state: NDArray[np.uint64],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    size: NDArray[np.int64],
    total: NDArray[np.float64],
    free: NDArray[np.int32],
    n_free: int,
    moved: NDArray[np.int32],
    origin: NDArray[np.int32],
) -> None:
    """:func:`anneal` with arrays allocated by the caller, because allocating them here would make compilation slow."""
    n, n_near = near.shape
    limit = 2 * k - 1
    for _ in range(moves):
        # The same type of number everywhere, so that the helpers are compiled once.
        i = below(state, n)
        a = np.int64(labels[i])
        coin = bits(state)
        if uniform(state) < _GROUP_MOVE:
            allowed = -temperature * np.log(uniform(state))
            count, change, done = 0, 0.0, False
            if coin & np.uint64(1):
                done = True
                for t in range(size[a]):
                    moved[t] = members[a, t]
                for t in range(size[a]):
                    x, best, where = np.int64(moved[t]), np.inf, np.int64(-1)
                    for q in range(n_near):
                        b = np.int64(labels[near[x, q]])
                        if b != a and b != where and size[b] < limit:
                            cost = _cost(x, a, b, Z, size, total)
                            if cost < best:
                                best, where = cost, b
                    if where < 0:
                        done = False
                        break
                    _move(x, where, Z, labels, members, place, size, total)
                    origin[count] = a
                    count += 1
                    change += best
                if done and change <= allowed:
                    free[n_free] = a
                    n_free += 1
                    continue
            elif n_free and size[a] > k:
                g = np.int64(free[n_free - 1])
                for q in range(-1, n_near):
                    x = np.int64(i if q < 0 else near[i, q])
                    b = np.int64(labels[x])
                    if b == g or size[b] <= k:
                        continue
                    change += _cost(x, b, g, Z, size, total)
                    _move(x, g, Z, labels, members, place, size, total)
                    moved[count], origin[count] = x, b
                    count += 1
                    if count == k:
                        break
                if count == k and change <= allowed:
                    n_free -= 1
                    continue
            for t in range(count - 1, -1, -1):
                _move(np.int64(moved[t]), np.int64(origin[t]), Z, labels, members, place, size, total)
            continue
        b = np.int64(labels[near[i, np.int64(((coin >> np.uint64(32)) * np.uint64(n_near)) >> np.uint64(32))]])
        if a == b:
            continue
        allowed = -temperature * np.log(uniform(state))
        if size[a] > k and size[b] < limit and coin & np.uint64(1):
            if _cost(i, a, b, Z, size, total) <= allowed:
                _move(i, b, Z, labels, members, place, size, total)
            continue
        spot = np.int64((((coin >> np.uint64(1)) & np.uint64(0xFFFF)) * np.uint64(size[b])) >> np.uint64(16))
        x = members[b, spot]
        in_a, in_b, apart = 0.0, 0.0, 0.0
        for j in range(Z.shape[1]):
            t = Z[x, j] - Z[i, j]
            in_a += total[a, j] * t
            in_b += total[b, j] * t
            apart += t * t
        if (2.0 * in_b - apart) / size[b] - (2.0 * in_a + apart) / size[a] <= allowed:
            members[a, place[i]], members[b, spot] = x, i
            place[x], place[i] = place[i], spot
            labels[i], labels[x] = b, a
            for j in range(Z.shape[1]):
                t = Z[x, j] - Z[i, j]
                total[a, j] += t
                total[b, j] -= t
