"""Exact transportation problem: the assignment problem in which equal rows are merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._kernel import SLICE, kernel
from sdc_problems._slices import Pace, tell
from sdc_problems._validation import IntArray


def _plain_paths(cost: Any, flow: Any, left: Any, open_demand: Any, u: Any, v: Any, first: int, budget: int) -> int:
    n, m = cost.shape
    far = np.iinfo(np.int64).max
    row_distance = np.empty(n, dtype=np.int64)
    from_row, from_column = np.empty(m, dtype=np.int64), np.empty(n, dtype=np.int64)
    for source in range(first, n):
        while left[source] > 0:
            distance = np.full(m, far)
            done, reached = np.zeros(m, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
            reached[source], row_distance[source] = True, 0
            waiting = [source]
            while True:
                for i in waiting:
                    through = row_distance[i] - u[i] + cost[i] - v
                    nearer = ~done & (through < distance)
                    distance[nearer], from_row[nearer] = through[nearer], i
                best = distance[~done].min()
                equal = np.flatnonzero(~done & (distance == best))
                wanted = equal[open_demand[equal] > 0]
                nearest = wanted[0] if len(wanted) else equal[0]
                done[nearest] = True
                if len(wanted):
                    break
                found = np.flatnonzero((flow[:, nearest] > 0) & ~reached)
                reached[found], row_distance[found], from_column[found] = True, best, nearest
                waiting = found.tolist()
            u[reached] += best - row_distance[reached]
            v[done] -= best - distance[done]
            path = [(from_row[nearest], nearest)]
            while path[-1][0] != source:
                i, j = path[-1][0], from_column[path[-1][0]]
                path += [(i, j), (from_row[j], j)]
            amount = min([left[source], open_demand[nearest]] + [flow[cell] for cell in path[1::2]])
            for number, cell in enumerate(path):
                flow[cell] += -amount if number % 2 else amount
            left[source] -= amount
            open_demand[nearest] -= amount
    return len(cost)


def _plain_seconds(cost: Any, *_: Any) -> float:
    """Seconds of about as many paths as there are rows and columns, each over a few rows."""
    return float(1e-5 + sum(cost.shape) * (1e-4 + 2e-8 * cost.shape[1]))


@kernel(cost=_plain_seconds, plain=_plain_paths)
def shortest_paths(cost: Any, flow: Any, left: Any, open_demand: Any, u: Any, v: Any, first: int, budget: int) -> int:
    """Send the remaining supply of rows from ``first`` on until the budget of steps is spent; returns the next row.

    ``u`` and ``v`` are the potentials of rows and columns. The plain form ignores the budget: it is for small work.
    """
    n, m = cost.shape
    far = np.iinfo(np.int64).max
    distance = np.empty(m, dtype=np.int64)
    row_distance = np.empty(n, dtype=np.int64)
    from_row = np.empty(m, dtype=np.int64)
    from_column = np.empty(n, dtype=np.int64)
    done = np.empty(m, dtype=np.bool_)
    reached = np.empty(n, dtype=np.bool_)
    queue = np.empty(n, dtype=np.int64)
    source = first
    while source < n and budget > 0:
        while left[source] > 0 and budget > 0:
            distance[:] = far
            done[:] = False
            reached[:] = False
            reached[source] = True
            row_distance[source] = 0
            queue[0] = source
            waiting, scanned = 1, 0
            while True:
                while scanned < waiting:
                    i = queue[scanned]
                    scanned += 1
                    budget -= m
                    base = row_distance[i] - u[i]
                    for j in range(m):
                        if not done[j]:
                            d = base + cost[i, j] - v[j]
                            if d < distance[j]:
                                distance[j] = d
                                from_row[j] = i
                nearest, best = -1, far
                for j in range(m):  # of equally near columns, one with demand ends the search
                    if not done[j] and (
                        distance[j] < best or (distance[j] == best and open_demand[j] > 0 and open_demand[nearest] == 0)
                    ):
                        nearest, best = j, distance[j]
                done[nearest] = True
                budget -= n + m
                if open_demand[nearest] > 0:
                    break
                for i in range(n):
                    if flow[i, nearest] > 0 and not reached[i]:
                        reached[i] = True
                        row_distance[i] = best
                        from_column[i] = nearest
                        queue[waiting] = i
                        waiting += 1
            for i in range(n):
                if reached[i]:
                    u[i] += best - row_distance[i]
            for j in range(m):
                if done[j]:
                    v[j] -= best - distance[j]
            amount = min(left[source], open_demand[nearest])
            j = nearest
            while from_row[j] != source:
                i = from_row[j]
                j = from_column[i]
                amount = min(amount, flow[i, j])
            j = nearest
            while True:
                i = from_row[j]
                flow[i, j] += amount
                if i == source:
                    break
                j = from_column[i]
                flow[i, j] -= amount
            left[source] -= amount
            open_demand[nearest] -= amount
        if left[source] == 0:
            source += 1
    return source


def transport(cost: IntArray, supply: IntArray, demand: IntArray) -> IntArray:
    """Cheapest flow from supplies to demands, whose totals are equal; all numbers are whole.

    Successive shortest paths with potentials: Dijkstra from a row with remaining supply, over columns and back along
    used cells, to the nearest column with remaining demand; each path carries as much as it can. O(rows · columns) per
    path; there are about as many paths as rows and columns together, for any number of items.

    If there are several cheapest flows, the result depends only on the order of rows and columns.
    """
    n, m = cost.shape
    flow: IntArray = np.zeros((n, m), dtype=np.int64)
    state = flow, supply.copy(), demand.copy(), np.zeros(n, dtype=np.int64), np.zeros(m, dtype=np.int64)
    row, pace = 0, Pace(SLICE // 8)  # a step may have to wait for memory
    while row < n:
        budget = pace.steps
        row = shortest_paths(cost, *state, row, budget)
        pace.next(budget)
        tell("records assigned", row, n)
    return flow
