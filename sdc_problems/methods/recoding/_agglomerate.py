"""Compiled agglomeration: similar rows are merged until each class meets its requirement, then single units move."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.methods.recoding._plain_agglomerate import is_nested, plain_merge, plain_move

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]

Units = tuple[I32, I64, I32, I32]
"""Row, weight and sensitive values of each unit, and the next unit of its class."""
Classes = tuple[F64, I64, I32, I32, NDArray[np.bool_]]
"""Loss, records, first and last unit of each class, and whether it meets the requirement."""
Need = tuple[int, F64, F64]
"""k, limits and shares, as in `enough`."""
Tree = tuple[I64, I64, I32, F64]
"""Starts, sizes, tables and costs of `agglomerate`."""


@kernel()
def enough(members: I32, m: int, weights: I64, values: I32, k: int, limits: F64, shares: F64, counts: I64) -> bool:
    """Whether units together have k records and meet the limits of each sensitive attribute.

    Parameters
    ----------
    members, m
        Units, of which the first m are used.
    weights, values
        Number of records of each unit, and its sensitive values.
    k
        Smallest number of records.
    limits
        Sensitive attributes × (smallest number of values, smallest entropy ℓ, largest t).
    shares, counts
        Sensitive attributes × values: share of each value in the table, and a work array of 0.
    """
    total = 0
    for i in range(m):
        total += weights[members[i]]
    if total < k:
        return False
    for s in range(len(limits)):
        for i in range(m):
            counts[s, values[members[i], s]] += weights[members[i]]
        different, entropy, apart, covered = 0, 0.0, 0.0, 0.0
        for i in range(m):
            v = values[members[i], s]
            if counts[s, v] > 0:
                share = counts[s, v] / total
                different += 1
                entropy -= share * np.log(share)
                apart += abs(share - shares[s, v])
                covered += shares[s, v]
                counts[s, v] = 0
        close = (apart + max(1.0 - covered, 0.0)) / 2
        if different < limits[s, 0] or np.exp(entropy) < limits[s, 1] - 1e-9 or close > limits[s, 2] + 1e-9:
            return False
    return True


@kernel()
def _union(
    codes: I32, levels: I32, a: int, b: int, starts: I64, sizes: I64, tables: I32, costs: F64, bound: float
) -> float:
    """Loss per record of the union of two classes; infinite if it exceeds the bound."""
    total = 0.0
    for j in range(codes.shape[1]):
        level = max(levels[a, j], levels[b, j])
        at = starts[j] + level * sizes[j]
        while tables[at + codes[a, j]] != tables[at + codes[b, j]]:
            at += sizes[j]
        total += costs[at + codes[a, j]]
        if total > bound:
            return np.inf
    return total


def _merge_seconds(
    rep: I32, levels: I32, units: Units, classes: Classes, need: Need, tree: Tree, alive: I32, place: I32, flag: I64
) -> float:
    """Estimated seconds of about three passes over all classes for each of them."""
    if len(need[1]) or not is_nested(*tree[:3], rep.shape[1]):
        return np.inf
    return float(len(rep) * 2 * (5e-5 + rep.size * 1e-8) + rep.size * len(rep) * 2e-8)


def _move_seconds(
    codes: I32, rep: I32, levels: I32, units: Units, classes: Classes, need: Need, tree: Tree, alive: I32, label: I32,
    passes: int, flag: I64,
) -> float:  # fmt: skip
    if len(need[1]) or not is_nested(*tree[:3], rep.shape[1]):
        return np.inf
    return float(len(label) * passes / 2 * (5e-5 + len(alive) * rep.shape[1] * 1e-8))


@kernel(cost=_merge_seconds, plain=plain_merge)
def _merge(
    rep: I32, levels: I32, units: Units, classes: Classes, need: Need, tree: Tree, alive: I32, place: I32, flag: I64
) -> tuple[int, int]:
    """Merge classes; returns the numbers of units and of classes."""
    row, weight, own, follow = units
    loss, size, head, tail, done = classes
    k, limits, shares = need
    starts, sizes, tables, costs = tree
    n, p = rep.shape
    n_units = len(row) - n
    n_alive = n
    counts = np.zeros(shares.shape, dtype=np.int64)
    takes = len(limits) == 0
    spare = np.zeros(n, dtype=np.int64)
    members = np.empty(len(row), dtype=np.int32)
    partner = np.full(n, np.int32(-1))
    seen = np.full(n, -1)
    changes = np.zeros(n, dtype=np.int64)
    for c in range(n):
        m, u = 0, head[c]
        while u >= 0:
            members[m] = u
            m += 1
            u = follow[u]
        done[c] = enough(members, m, weight, own, k, limits, shares, counts)
        if takes and m == 1:
            spare[c] = max(size[c] - k, 0)
    heap = [(0.0, 0, np.int32(0))]
    heap.pop()
    for c in range(n):
        if not done[c]:
            heap.append((0.0, 0, np.int32(c)))
    heapq.heapify(heap)
    flag[2] = n
    while len(heap) > 0 and n_alive > 1 and flag[0] == 0:
        flag[1] = n - n_alive
        _, _, a = heapq.heappop(heap)
        if place[a] < 0 or done[a]:
            continue
        b = partner[a]
        if b < 0 or place[b] < 0 or seen[a] != changes[b]:
            best, alike, b = np.inf, 0, np.int32(-1)
            lacks = k - size[a]
            for i in range(n_alive):
                c = alive[i]
                if c == a:
                    continue
                joins = lacks if takes and spare[c] >= lacks else size[c]
                before = size[a] * loss[a] + joins * loss[c]
                bound = (best + before) / (size[a] + joins) + 1e-12
                together = _union(rep, levels, int(a), int(c), starts, sizes, tables, costs, bound)
                if together == np.inf:
                    continue
                worth = (size[a] + joins) * together - before
                if worth < best:
                    alike = 1 if worth < best - 1e-9 else alike + 1
                    best, b = worth, c
                elif worth < best + 1e-9:
                    alike += 1
            partner[a], seen[a] = b, changes[b]
            heapq.heappush(heap, (best, alike, a))
            continue
        lacks = k - size[a]
        part = takes and spare[b] >= lacks
        for j in range(p):
            level = max(levels[a, j], levels[b, j])
            at = starts[j] + level * sizes[j]
            while tables[at + rep[a, j]] != tables[at + rep[b, j]]:
                at += sizes[j]
                level += 1
            levels[a, j] = level
        if part:
            u = n_units
            n_units += 1
            row[u], weight[u] = row[head[b]], lacks
            weight[head[b]] -= lacks
            follow[tail[a]] = u
            tail[a] = u
            size[a] += lacks
            size[b] -= lacks
            spare[b] -= lacks
            changes[b] += 1
        else:
            follow[tail[a]] = head[b]
            tail[a] = tail[b]
            size[a] += size[b]
            n_alive -= 1
            last = alive[n_alive]
            alive[place[b]] = last
            place[last] = place[b]
            place[b] = -1
        spare[a] = 0
        changes[a] += 1
        partner[a] = -1
        loss[a] = 0.0
        for j in range(p):
            loss[a] += costs[starts[j] + levels[a, j] * sizes[j] + rep[a, j]]
        m, u = 0, head[a]
        while u >= 0:
            members[m] = u
            m += 1
            u = follow[u]
        done[a] = enough(members, m, weight, own, k, limits, shares, counts)
        if not done[a]:
            heapq.heappush(heap, (0.0, 0, a))
    return n_units, n_alive


@kernel(cost=_move_seconds, plain=plain_move)
def _move(
    codes: I32, rep: I32, levels: I32, units: Units, classes: Classes, need: Need, tree: Tree, alive: I32, label: I32,
    passes: int, flag: I64,
) -> None:  # fmt: skip
    """Move single units to the classes in which their loss is smallest."""
    row, weight, own, follow = units
    loss, size, head, tail, _ = classes
    k, limits, shares = need
    starts, sizes, tables, costs = tree
    n_units, n_alive = len(label), len(alive)
    counts = np.zeros(shares.shape, dtype=np.int64)
    # Single units move: lists are doubly linked, by position, only while a class is examined.
    p = codes.shape[1]
    members = np.empty(len(row), dtype=np.int32)
    fresh = np.zeros(p, dtype=np.int32)
    for _ in range(passes):
        moved = 0
        for u in range(n_units):
            if flag[0] != 0:
                break
            flag[1], flag[2] = u, n_units
            a = label[u]
            if loss[a] == 0.0 or size[a] - weight[u] < k or weight[u] == 0:
                continue
            m, v = 0, head[a]
            while v >= 0:
                if v != u:
                    members[m] = v
                    m += 1
                v = follow[v]
            if m == 0 or not enough(members, m, weight, own, k, limits, shares, counts):
                continue
            left = 0.0
            for j in range(p):
                first = codes[row[members[0]], j]
                at, level = starts[j], 0
                for i in range(1, m):
                    c = codes[row[members[i]], j]
                    while tables[at + c] != tables[at + first]:
                        at += sizes[j]
                        level += 1
                fresh[j] = level
                left += costs[at + first]
            gain = size[a] * loss[a] - (size[a] - weight[u]) * left
            best, b = gain - 1e-9, -1
            for i in range(n_alive):
                c = alive[i]
                if c == a:
                    continue
                bound = (best + size[c] * loss[c]) / (size[c] + weight[u]) + 1e-12
                together = 0.0
                for j in range(p):
                    at = starts[j] + levels[c, j] * sizes[j]
                    while tables[at + rep[c, j]] != tables[at + codes[row[u], j]]:
                        at += sizes[j]
                    together += costs[at + rep[c, j]]
                    if together > bound:
                        break
                if together > bound:
                    continue
                worth = (size[c] + weight[u]) * together - size[c] * loss[c]
                if worth < best:
                    if len(limits) > 0:
                        m, v = 0, head[c]
                        while v >= 0:
                            members[m] = v
                            m += 1
                            v = follow[v]
                        members[m] = u
                        if not enough(members, m + 1, weight, own, k, limits, shares, counts):
                            continue
                    best, b = worth, c
            if b < 0:
                continue
            moved += 1
            v, before = head[a], np.int32(-1)
            while v != u:
                before, v = v, follow[v]
            if before < 0:
                head[a] = follow[u]
            else:
                follow[before] = follow[u]
            if tail[a] == u:
                tail[a] = before
            follow[u] = -1
            follow[tail[b]] = u
            tail[b] = u
            label[u] = b
            size[a] -= weight[u]
            size[b] += weight[u]
            loss[a], loss[b] = left, 0.0
            for j in range(p):
                rep[a, j] = codes[row[head[a]], j]
                levels[a, j] = fresh[j]
                at = starts[j] + levels[b, j] * sizes[j]
                while tables[at + rep[b, j]] != tables[at + codes[row[u], j]]:
                    at += sizes[j]
                    levels[b, j] += 1
                loss[b] += costs[at + rep[b, j]]
        if moved == 0:
            break


def agglomerate(
    codes: I32,
    clusters: I32,
    weights: I64,
    values: I32,
    k: int,
    limits: F64,
    shares: F64,
    starts: I64,
    sizes: I64,
    tables: I32,
    costs: F64,
    passes: int,
    flag: I64,
) -> tuple[I32, I64, I32, bool]:
    """Classes of units that all meet the requirement, with a small total loss.

    Of all pairs with a class that does not yet meet the requirement, the pair whose union adds least to the loss is
    merged first; such a class may also take the records that it lacks from a row that can spare them. Then single units
    move to the class in which their loss is smallest, as long as the class that they leave still meets the requirement.

    Parameters
    ----------
    codes
        Distinct rows, which are the initial classes.
    clusters, weights, values
        Row, number of records and sensitive values of each unit; the units of a row are adjacent.
    k, limits, shares
        Requirement, as in `enough`.
    starts, sizes, tables, costs
        Group of each code of each attribute at each level, level by level, and the loss of a record there; the last
        level of an attribute has one group.
    passes
        Number of passes in which units may move.
    flag
        As in `_slices.watched`.

    Returns
    -------
    row, weight and class of each unit, and whether all classes meet the requirement
        Records that a unit gave away are additional units, after the others.
    """
    n = len(codes)
    given = len(clusters)
    row = np.concatenate([clusters, np.empty(n, dtype=np.int32)])
    weight = np.concatenate([weights, np.zeros(n, dtype=np.int64)])
    own = np.concatenate([values, np.zeros((n, values.shape[1]), dtype=np.int32)])
    rep, levels = codes.copy(), np.zeros(codes.shape, dtype=np.int32)
    loss = np.zeros(n)
    for j, start in enumerate(starts):
        loss += costs[start + rep[:, j]]
    size = np.zeros(n, dtype=np.int64)
    np.add.at(size, clusters, weights)
    head, tail = (np.full(n, -1, dtype=np.int32) for _ in range(2))
    follow = np.full(given + n, -1, dtype=np.int32)
    order = np.argsort(clusters, kind="stable").astype(np.int32)
    same = clusters[order[1:]] == clusters[order[:-1]]
    follow[order[:-1][same]] = order[1:][same]
    head[clusters[order[::-1]]] = order[::-1]
    tail[clusters[order]] = order
    alive, place = (np.arange(n, dtype=np.int32) for _ in range(2))
    units = row, weight, own, follow
    classes = loss, size, head, tail, np.zeros(n, dtype=np.bool_)
    need, tree = (k, limits, shares), (starts, sizes, tables, costs)
    n_units, n_alive = _merge(rep, levels, units, classes, need, tree, alive, place, flag)
    label = np.empty(n_units, dtype=np.int32)
    alive = alive[:n_alive]
    at, of = head[alive], alive
    while len(at):  # the next unit of every class at once
        label[at] = of
        at, of = follow[at], of[follow[at] >= 0]
        at = at[at >= 0]
    _move(codes, rep, levels, units, classes, need, tree, alive, label, passes, flag)
    return row[:n_units], weight[:n_units], label, bool(classes[-1][alive].all())
