"""Compiled ruin and recreate: a window of neighboring groups is annealed, and the result is kept if it is better.

Within a window, the distances of all pairs fit in the cache, and so do the sums of the distances from each record to
each group. From these, the effect of any move follows in O(1) for any number of attributes: the sum of squares of a
group is the sum of the squared distances of its pairs divided by its size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.methods._kernels.random import below, bits, uniform

_GROUP_MOVE = 0.03  # share of proposals that dissolve or create a whole group
_ANYWHERE = 0.06  # share of proposals that look beyond the nearest neighbors
_STEP = 64  # moves at one temperature
_LARGEST = 480  # records in a window
_COLD = 0.003  # last temperature, in mean squared errors per record of the window
_ALIKE = 0.1  # half of the windows leave out groups with an error below this share of that of the first


@kernel()
def _transfer(
    i: int,
    b: int,
    D: NDArray[np.float64],
    labels: NDArray[np.int32],
    members: NDArray[np.int32],
    place: NDArray[np.int32],
    size: NDArray[np.int64],
    pairs: NDArray[np.float64],
    reach: NDArray[np.float64],
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
    pairs[a] -= reach[a, i]
    pairs[b] += reach[b, i]
    for j in range(len(D)):
        reach[a, j] -= D[i, j]
        reach[b, j] += D[i, j]


@kernel()
def _anneal(
    D: NDArray[np.float64],
    labels: NDArray[np.int32],
    k: int,
    n_groups: int,
    near: NDArray[np.int32],
    hot: float,
    cold: float,
    moves: int,
    state: NDArray[np.uint64],
) -> float:
    """Anneal a window given its squared distances; labels change in place. Returns the change of the sum of squares."""
    m, n_near = near.shape
    limit = 2 * k - 1
    members = np.empty((n_groups, limit), dtype=np.int32)
    place = np.empty(m, dtype=np.int32)
    size = np.zeros(n_groups, dtype=np.int64)
    pairs = np.zeros(n_groups)  # sum of squared distances of the pairs of a group
    reach = np.zeros((n_groups, m))  # sum of squared distances from the members of a group to a record
    per = np.zeros(limit + 2)
    for s in range(1, limit + 2):
        per[s] = 1.0 / s
    for i in range(m):
        g = labels[i]
        members[g, size[g]] = i
        place[i] = size[g]
        size[g] += 1
        pairs[g] += reach[g, i]
        for j in range(m):
            reach[g, j] += D[i, j]
    before = 0.0
    free = np.empty(n_groups, dtype=np.int32)
    n_free = 0
    for g in range(n_groups - 1, -1, -1):
        before += pairs[g] * per[size[g]]
        if size[g] == 0:
            free[n_free] = g
            n_free += 1
    moved = np.empty(limit, dtype=np.int32)
    origin = np.empty(limit, dtype=np.int32)
    temperature = hot
    cooling = (cold / hot) ** (_STEP / moves)
    for step in range(moves):
        if step % _STEP == 0:
            temperature *= cooling
        i = below(state, m)
        a = labels[i]
        coin = bits(state)
        kind = uniform(state)
        if kind < _GROUP_MOVE:
            allowed = -temperature * np.log(uniform(state))
            count, change = 0, 0.0
            if coin & np.uint64(1):
                # Dissolve group a. The cost of its members elsewhere only grows: stop once the move must fail.
                done = True
                change = -pairs[a] * per[size[a]]
                for t in range(size[a]):
                    moved[t] = members[a, t]
                for t in range(size[a]):
                    x, best, where = moved[t], np.inf, -1
                    for q in range(n_near):
                        b = labels[near[x, q]]
                        if b != a and b != where and size[b] < limit:
                            cost = (pairs[b] + reach[b, x]) * per[size[b] + 1] - pairs[b] * per[size[b]]
                            if cost < best:
                                best, where = cost, b
                    change += best
                    if where < 0 or change > allowed:
                        done = False
                        break
                    _transfer(x, where, D, labels, members, place, size, pairs, reach)
                    origin[count] = a
                    count += 1
                if done:
                    free[n_free] = a
                    n_free += 1
                    pairs[a] = 0.0
                    reach[a] = 0.0
                    continue
            elif n_free and size[a] > k:
                # Create a group of i and its neighbors whose groups can spare them.
                g = free[n_free - 1]
                for q in range(-1, n_near):
                    x = i if q < 0 else near[i, q]
                    b = labels[x]
                    if b == g or size[b] <= k:
                        continue
                    change += (pairs[b] - reach[b, x]) * per[size[b] - 1] - pairs[b] * per[size[b]]
                    change += (pairs[g] + reach[g, x]) * per[size[g] + 1] - pairs[g] * per[size[g]]
                    _transfer(x, g, D, labels, members, place, size, pairs, reach)
                    moved[count], origin[count] = x, b
                    count += 1
                    if count == k:
                        break
                if count == k and change <= allowed:
                    n_free -= 1
                    continue
            for t in range(count - 1, -1, -1):
                _transfer(moved[t], origin[t], D, labels, members, place, size, pairs, reach)
            if n_free:  # rounding errors of a group that was created and given up
                pairs[free[n_free - 1]] = 0.0
                reach[free[n_free - 1]] = 0.0
            continue
        if kind > 1.0 - _ANYWHERE:
            b = labels[np.int64(((coin >> np.uint64(32)) * np.uint64(m)) >> np.uint64(32))]
        else:
            b = labels[near[i, np.int64(((coin >> np.uint64(32)) * np.uint64(n_near)) >> np.uint64(32))]]
        if a == b:
            continue
        if size[a] > k and size[b] < limit and coin & np.uint64(1):
            change = (pairs[a] - reach[a, i]) * per[size[a] - 1] - pairs[a] * per[size[a]]
            change += (pairs[b] + reach[b, i]) * per[size[b] + 1] - pairs[b] * per[size[b]]
            if change <= 0.0 or change <= -temperature * np.log(uniform(state)):
                _transfer(i, b, D, labels, members, place, size, pairs, reach)
            continue
        spot = np.int64((((coin >> np.uint64(1)) & np.uint64(0xFFFF)) * np.uint64(size[b])) >> np.uint64(16))
        x = members[b, spot]
        in_a = reach[a, x] - reach[a, i] - D[i, x]
        in_b = reach[b, i] - reach[b, x] - D[i, x]
        change = in_a * per[size[a]] + in_b * per[size[b]]
        if change <= 0.0 or change <= -temperature * np.log(uniform(state)):
            members[a, place[i]], members[b, spot] = x, i
            place[x], place[i] = place[i], spot
            labels[i], labels[x] = b, a
            pairs[a] += in_a
            pairs[b] += in_b
            for j in range(m):
                t = D[x, j] - D[i, j]
                reach[a, j] += t
                reach[b, j] -= t
    # Sums that were updated millions of times have drifted, so the gain is recomputed.
    after = 0.0
    for g in range(n_groups):
        pair = 0.0
        for s in range(size[g]):
            for t in range(s):
                pair += D[members[g, s], members[g, t]]
        after += pair * per[size[g]]
    return after - before


@kernel()
def _distances(
    Z: NDArray[np.float64], inside: NDArray[np.int32], D: NDArray[np.float64], near: NDArray[np.int32]
) -> None:
    """Squared distances of all pairs of a window, and nearest others of each record, nearest first."""
    m, n_near = near.shape
    for a in range(m):
        D[a, a] = 0.0
        for b in range(a):
            away = 0.0
            for j in range(Z.shape[1]):
                t = Z[inside[a], j] - Z[inside[b], j]
                away += t * t
            D[a, b] = away
            D[b, a] = away
    for a in range(m):
        count = 0
        for b in range(m):
            if b == a or (count == n_near and D[a, b] >= D[a, near[a, n_near - 1]]):
                continue
            at = min(count, n_near - 1)
            while at > 0 and D[a, b] < D[a, near[a, at - 1]]:
                near[a, at] = near[a, at - 1]
                at -= 1
            near[a, at] = b
            count = min(count + 1, n_near)


@kernel()
def _errors(Z: NDArray[np.float64], members: NDArray[np.int32], size: int, mean: NDArray[np.float64]) -> float:
    """Sum of squares of one group; its mean is written to ``mean``."""
    mean[:] = 0.0
    for t in range(size):
        for j in range(len(mean)):
            mean[j] += Z[members[t], j]
    total = 0.0
    for j in range(len(mean)):
        mean[j] /= max(size, 1)
        for t in range(size):
            away = Z[members[t], j] - mean[j]
            total += away * away
    return total


@kernel()
def windows_kernel(
    Z: NDArray[np.float64],
    labels: NDArray[np.int32],
    k: int,
    order: NDArray[np.int32],
    start: int,
    moves: int,
    seed: np.uint64,
) -> tuple[int, int, int]:
    """Anneal windows until ``moves`` proposals are spent; labels (below n // k) change in place.

    Half of the windows start from the group of the next record of ``order``, the others from a group drawn in
    proportion to its error. A window consists of the groups with the nearest means; half of the windows skip groups
    with much smaller errors, so that a few records far out can be rearranged among themselves. Size, first temperature
    and number of moves of a window are drawn over two orders of magnitude; the result is kept only if it is better.

    Returns
    -------
    spent, improved, next
        Number of proposals, number of windows improved, and next position in ``order``.
    """
    n, p = Z.shape
    limit, n_groups = 2 * k - 1, n // k
    members = np.empty((n_groups, limit), dtype=np.int32)
    size = np.zeros(n_groups, dtype=np.int64)
    for i in range(n):
        members[labels[i], size[labels[i]]] = i
        size[labels[i]] += 1
    mean = np.zeros((n_groups, p))
    error = np.zeros(n_groups)
    free = np.empty(n_groups, dtype=np.int32)
    n_free = 0
    for g in range(n_groups - 1, -1, -1):
        error[g] = _errors(Z, members[g], size[g], mean[g])
        if size[g] == 0:
            free[n_free] = g
            n_free += 1
    nearest = max(2, min(_LARGEST, n) // k)
    away = np.empty(nearest)
    chosen = np.empty(nearest, dtype=np.int64)
    state = np.array([seed | np.uint64(1)], dtype=np.uint64)
    spent, improved, idle = 0, 0, 0
    largest = min(_LARGEST, n)
    while spent < moves and idle < n:
        if uniform(state) < 0.5:
            left = uniform(state) * error.sum()
            first = -1
            for g in range(n_groups):
                if size[g]:
                    first = g
                    left -= error[g]
                    if left < 0.0:
                        break
        else:
            first = labels[order[start]]
            start = (start + 1) % n
        least = _ALIKE * error[first] if uniform(state) < 0.5 else -1.0
        # Window sizes are drawn uniformly on a logarithmic scale.
        smallest = min(8 * k, largest)
        wanted = max(2, int(smallest * (largest / smallest) ** uniform(state)) // k)
        count = 0
        for g in range(n_groups):
            if size[g] == 0 or error[g] < least:
                continue
            apart = 0.0
            for j in range(p):
                t = mean[g, j] - mean[first, j]
                apart += t * t
            if count == wanted and apart >= away[count - 1]:
                continue
            at = min(count, wanted - 1)
            while at > 0 and apart < away[at - 1]:
                away[at], chosen[at] = away[at - 1], chosen[at - 1]
                at -= 1
            away[at], chosen[at] = apart, g
            count = min(count + 1, wanted)
        taken, m, total = 0, 0, 0.0
        for h in range(count):
            g = chosen[h]
            if m + size[g] > _LARGEST + limit:
                break
            taken += 1
            m += size[g]
            total += error[g]
        per_record = int(300.0 * 10.0 ** uniform(state))
        melt = 0.01 * 1000.0 ** uniform(state)
        if taken < 2 or total <= 0.0:
            idle += 1  # nothing to gain here, and perhaps nowhere
            continue
        idle = 0
        inside = np.empty(m, dtype=np.int32)
        local = np.empty(m, dtype=np.int32)
        at = 0
        for h in range(taken):
            for t in range(size[chosen[h]]):
                inside[at], local[at] = members[chosen[h], t], h
                at += 1
        room = min(m // k, taken + n_free)
        names = np.empty(room, dtype=np.int32)  # group numbers of the window in the whole file
        for h in range(room):
            names[h] = chosen[h] if h < taken else free[n_free - 1 - (h - taken)]
        D = np.empty((m, m))
        near = np.empty((m, min(6 * k, m - 1)), dtype=np.int32)
        _distances(Z, inside, D, near)
        scale = total / m
        hot = melt * scale
        tries = m * per_record
        spent += tries
        if _anneal(D, local, k, room, near, hot, min(_COLD * scale, 0.1 * hot), tries, state) > -1e-12 * total:
            continue
        improved += 1
        n_free -= room - taken
        for h in range(room):
            size[names[h]] = 0
        for at in range(m):
            g = names[local[at]]
            labels[inside[at]] = g
            members[g, size[g]] = inside[at]
            size[g] += 1
        for h in range(room):
            g = names[h]
            error[g] = _errors(Z, members[g], size[g], mean[g])
            if size[g] == 0:
                free[n_free] = g
                n_free += 1
    return spent, improved, start
