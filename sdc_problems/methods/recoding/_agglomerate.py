"""Compiled agglomeration: alike rows grow together until each class meets its requirement, then change places."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F64 = NDArray[np.float64]


@kernel()
def enough(members: I32, m: int, weights: I64, values: I32, k: int, limits: F64, shares: F64, counts: I64) -> bool:
    """Whether units together have k records and, in each sensitive attribute, enough different values.

    Parameters
    ----------
    members, m
        Units, the first m of which count.
    weights, values
        Records of each unit; its sensitive values.
    k
        Fewest records.
    limits
        Sensitive attributes × (fewest values, least entropy ℓ, largest t).
    shares, counts
        Sensitive attributes × values: share of each value in the table; room to count, all 0.
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
    """Loss per record of two classes together; infinite once it exceeds the bound."""
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


@kernel()
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
    """Classes of units, each of which meets the requirement, with little loss in all.

    The pair whose union adds least to the loss grows together first, of pairs with a class that does not meet it yet;
    such a class may also take as many records as it lacks from a row that has them to spare. Then single units move
    to the class where they lose least, as long as the one they leave still meets it.

    Parameters
    ----------
    codes
        Different rows: classes to begin with.
    clusters, weights, values
        Row of each unit, its records, and its sensitive values; of one row the units follow each other.
    k, limits, shares
        The requirement, as in `enough`.
    starts, sizes, tables, costs
        Group of each code of each attribute at each level, one level after the other, and the loss of a record there;
        the last level of an attribute has one group.
    passes
        How often units may move.
    flag
        As of `_slices.watched`.

    Returns
    -------
    row, weight and class of each unit, and whether all classes meet the requirement
        Records that a unit gave away are further units, after the others.
    """
    n, p = codes.shape
    given = len(clusters)
    most = given + n
    row = np.empty(most, dtype=np.int32)
    weight = np.zeros(most, dtype=np.int64)
    row[:given] = clusters
    weight[:given] = weights
    own = np.zeros((most, values.shape[1]), dtype=np.int32)
    own[:given] = values
    n_units = given
    counts = np.zeros(shares.shape, dtype=np.int64)
    takes = len(limits) == 0
    rep = codes.copy()
    levels = np.zeros((n, p), dtype=np.int32)
    loss = np.zeros(n)
    size = np.zeros(n, dtype=np.int64)
    spare = np.zeros(n, dtype=np.int64)
    head = np.full(n, -1, dtype=np.int32)
    tail = np.full(n, -1, dtype=np.int32)
    follow = np.full(most, -1, dtype=np.int32)
    members = np.empty(most, dtype=np.int32)
    for u in range(given):
        c = row[u]
        size[c] += weight[u]
        if head[c] < 0:
            head[c] = u
        else:
            follow[tail[c]] = u
        tail[c] = u
    alive = np.arange(n).astype(np.int32)
    place = np.arange(n).astype(np.int32)
    n_alive = n
    done = np.zeros(n, dtype=np.bool_)
    partner = np.full(n, -1, dtype=np.int32)
    seen = np.full(n, -1, dtype=np.int64)
    changes = np.zeros(n, dtype=np.int64)
    for c in range(n):
        for j in range(p):
            loss[c] += costs[starts[j] + rep[c, j]]
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
    label = np.empty(n_units, dtype=np.int32)
    for i in range(n_alive):
        u = head[alive[i]]
        while u >= 0:
            label[u] = alive[i]
            u = follow[u]
    # Single units move: lists are doubly linked by position only while a class is looked at.
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
    met = True
    for i in range(n_alive):
        met = met and done[alive[i]]
    return row[:n_units], weight[:n_units], label, met
