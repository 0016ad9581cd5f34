"""Agglomeration of few rows with numpy: the same as the compiled one, comparing a row with all classes at once."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

import numpy as np

NEAR = 1e-6  # share of the largest loss: a candidate farther from the best cannot be the best despite rounding


def is_nested(starts: Any, sizes: Any, tables: Any, p: int) -> bool:
    """Whether each level of each attribute only joins groups of the level below."""
    for j in range(p):
        table = _levels_of(starts, sizes, tables, j)
        for fine, coarse in itertools.pairwise(table):
            onto = np.zeros(int(fine.max()) + 1, dtype=coarse.dtype)
            onto[fine] = coarse
            if not np.array_equal(onto[fine], coarse):
                return False
    return True


def _levels_of(starts: Any, sizes: Any, tables: Any, j: int) -> Any:
    end = starts[j + 1] if j + 1 < len(starts) else len(tables)
    return tables[starts[j] : end].reshape(-1, sizes[j])


def _steps(rows: Any, starts: Any, sizes: Any, tables: Any) -> Any:
    """Rows × attributes × rows: first level at which two rows are in one group, as an offset in the tables."""
    n, p = rows.shape
    found = np.zeros((n, p, n), dtype=np.int32)
    for j in range(p):
        for level in _levels_of(starts, sizes, tables, j)[:-1]:
            groups = level[rows[:, j]]
            found[:, j] += (groups[:, None] != groups) * np.int32(sizes[j])
    return found


def _sum(parts: Any) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _candidates(worth: Any, best: float, near: float) -> Any:
    """Positions whose value may be the best of all values up to there, or equal to it."""
    before = np.minimum.accumulate(np.append(best, worth[:-1]))
    return np.flatnonzero(worth <= before + near).tolist()


def plain_merge(
    rep: Any, levels: Any, units: Any, classes: Any, need: Any, tree: Any, alive: Any, place: Any, flag: Any
) -> tuple[int, int]:
    row, weight, _, follow = units
    loss, size, head, tail, done = classes
    k = need[0]
    starts, sizes, tables, costs = tree
    n, p = rep.shape
    n_units, n_alive = len(row) - n, n
    apart = _steps(rep, starts, sizes, tables)
    base = (starts + rep).astype(np.int64)  # start of the losses of a class
    risen = np.zeros((p, n), dtype=np.int32)  # levels of classes, as offsets in the tables
    near = NEAR * (1.0 + float(costs.max()))
    done[:] = size >= k
    spare = np.where(head == tail, np.maximum(size - k, 0), 0)
    partner, seen, changes = [-1] * n, [-1] * n, [0] * n
    heap = [(0.0, 0, c) for c in np.flatnonzero(~done).tolist()]
    flag[2] = n
    while heap and n_alive > 1 and flag[0] == 0:
        flag[1] = n - n_alive
        _, _, a = heapq.heappop(heap)
        if place[a] < 0 or done[a]:
            continue
        b = partner[a]
        lacks = k - size[a]
        if b < 0 or place[b] < 0 or seen[a] != changes[b]:
            others = alive[:n_alive]
            rise = np.maximum(apart[a].take(others, axis=1), risen.take(others, axis=1))
            np.maximum(rise, risen[:, a, None], out=rise)
            together = _sum(costs[rise + base[a][:, None]])
            joins = np.where(spare[others] >= lacks, lacks, size[others])
            before = size[a] * loss[a] + joins * loss[others]
            both = size[a] + joins
            worth = both * together - before
            worth[place[a]] = np.inf
            best, alike, b = np.inf, 0, -1
            for i in _candidates(worth, best, near):
                value = worth[i]
                if value == np.inf or together[i] > (best + before[i]) / both[i] + 1e-12:
                    continue
                if value < best:
                    alike = 1 if value < best - 1e-9 else alike + 1
                    best, b = float(value), int(others[i])
                elif value < best + 1e-9:
                    alike += 1
            partner[a], seen[a] = b, changes[b]
            heapq.heappush(heap, (best, alike, a))
            continue
        risen[:, a] = np.maximum(np.maximum(risen[:, a], risen[:, b]), apart[a, :, b])
        if spare[b] >= lacks:
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
        loss[a] = _sum(costs[base[a] + risen[:, a]])
        done[a] = size[a] >= k
        if not done[a]:
            heapq.heappush(heap, (0.0, 0, a))
    levels[:] = risen.T // sizes
    return n_units, n_alive


def plain_move(
    codes: Any, rep: Any, levels: Any, units: Any, classes: Any, need: Any, tree: Any, alive: Any, label: Any,
    passes: int, flag: Any,
) -> None:  # fmt: skip
    row, weight, _, follow = units
    loss, size, head, tail, _ = classes
    k = need[0]
    starts, sizes, tables, costs = tree
    n_units = len(label)
    apart = _steps(codes, starts, sizes, tables)
    near = NEAR * (1.0 + float(costs.max()))
    place = np.zeros(len(codes), dtype=np.int64)
    place[alive] = np.arange(len(alive))
    # For the classes in their order: representative row, start of its losses, and levels.
    stands = alive.copy()
    base = (starts + codes[stands]).T.astype(np.int64)
    risen = (levels[alive] * sizes).T.astype(np.int32)
    for _ in range(passes):
        moved = False
        for u in range(n_units):
            if flag[0] != 0:
                break
            flag[1], flag[2] = u, n_units
            a = label[u]
            if loss[a] == 0.0 or size[a] - weight[u] < k or weight[u] == 0:
                continue
            members, v = [], head[a]
            while v >= 0:
                if v != u:
                    members.append(v)
                v = follow[v]
            if not members:
                continue
            rows = row[members]
            fresh = apart[rows[0]].take(rows, axis=1).max(axis=1)
            left = float(_sum(costs[starts + codes[rows[0]] + fresh]))
            gain = size[a] * loss[a] - (size[a] - weight[u]) * left
            sizes_of = size[alive]
            lost = sizes_of * loss[alive]
            rise = np.maximum(apart[row[u]].take(stands, axis=1), risen)
            together = _sum(costs[rise + base])
            worth = (sizes_of + weight[u]) * together - lost
            worth[place[a]] = np.inf
            best, to = gain - 1e-9, -1
            for i in _candidates(worth, best, near):
                if together[i] > (best + lost[i]) / (sizes_of[i] + weight[u]) + 1e-12:
                    continue
                if worth[i] < best:
                    best, to = float(worth[i]), i
            if to < 0:
                continue
            b, moved = alive[to], True
            v, before = head[a], -1
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
            at = place[a]
            stands[at] = row[head[a]]
            base[:, at] = starts + codes[stands[at]]
            risen[:, at] = fresh
            rep[a], levels[a] = codes[stands[at]], fresh // sizes
            risen[:, to] = rise[:, to]
            levels[b] = risen[:, to] // sizes
            loss[a], loss[b] = left, _sum(costs[base[:, to] + risen[:, to]])
        if not moved:
            break
