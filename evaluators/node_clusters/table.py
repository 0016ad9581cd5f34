"""Attributes of nodes as arrays, and the common values of the nodes of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import ascend
from sdc_problems._validation import choice
from sdc_problems.errors import SDCError

RULES = ("mode", "median", "mean", "generalize", "borda")
MEASURES = ("nominal", "ordinal", "numeric", "placed")
_MODE, _MEDIAN, _MEAN, _GENERALIZE, _BORDA = range(5)
_NOMINAL, _ORDINAL, _NUMERIC, _PLACED = range(4)
DECILES = 10
_FEW = 6


@dataclass(frozen=True, eq=False)
class Column:
    """Attribute of nodes, or one rank of a ranking.

    Parameters
    ----------
    codes
        Category of each node, from 0; for places, their number in ``branches``. Not needed for numbers.
    n_categories
        Size of the domain; 0 for a numeric attribute.
    kind
        "nominal", "ordinal", "numeric" or "placed": how cells are compared.
    rule
        "mode", "median" (the lower one), "mean", "generalize" (closest common ancestor) or "borda".
    values
        Numbers of a numeric attribute.
    branches, levels
        For places: the place that each place belongs to at each level (levels × places), and the level of each place.
    width, rank
        For rankings: number of columns of the ranking, which are adjacent, and position of this one, from 0.
    missing
        Code of missing values in a ranking, or −1.
    """

    codes: NDArray[np.int32]
    n_categories: int
    kind: str = "nominal"
    rule: str = "mode"
    values: NDArray[np.float64] | None = None
    branches: NDArray[np.int32] | None = None
    levels: NDArray[np.int32] | None = None
    width: int = 1
    rank: int = 0
    missing: int = -1

    def __post_init__(self) -> None:
        choice(self.kind, "kind", MEASURES)
        choice(self.rule, "rule", RULES)
        if (self.rule == "mean") != (self.kind == "numeric"):
            raise SDCError(f"rule {self.rule!r} does not fit a {self.kind} attribute: the mean is of numbers")
        if self.rule == "median" and self.kind != "ordinal":
            raise SDCError(f"rule 'median' does not fit a {self.kind} attribute: give its order, or another rule")
        if (self.branches is None or self.levels is None) and "placed" in (self.kind, _PLACED_RULE.get(self.rule)):
            raise SDCError("rule 'generalize' needs a hierarchy for the attribute")


_PLACED_RULE = {"generalize": "placed"}


class NodeTable(NamedTuple):
    """Columns as arrays for the kernels; the first axis is that of the attributes."""

    codes: NDArray[np.int32]  # class of each cell: its category, or the decile of its number
    values: NDArray[np.float64]  # numbers, one row per numeric attribute
    number: NDArray[np.int64]  # row in values, or −1
    rule: NDArray[np.int64]
    kind: NDArray[np.int64]
    size: NDArray[np.int64]  # categories
    span: NDArray[np.float64]  # range of the numbers
    cuts: NDArray[np.float64]  # inner deciles
    tree: NDArray[np.int32]
    tree_at: NDArray[np.int64]
    level: NDArray[np.int32]
    level_at: NDArray[np.int64]
    height: NDArray[np.int64]
    width: NDArray[np.int64]
    rank: NDArray[np.int64]
    missing: NDArray[np.int64]


def node_table(columns: Sequence[Column]) -> NodeTable:
    """Table of columns, as arrays.

    Examples
    --------
    >>> table = node_table([Column(np.array([0, 1, 1], dtype=np.int32), 2)])
    >>> table.codes.tolist(), table.size.tolist()
    ([[0, 1, 1]], [2])
    """
    if not columns:
        raise SDCError("there is no attribute to protect")
    n, p = len(columns[0].codes), len(columns)
    codes = np.empty((p, n), dtype=np.int32)
    numbers: list[NDArray[np.float64]] = []
    cuts = np.full((p, DECILES - 1), np.inf)
    number, span = np.full(p, -1, dtype=np.int64), np.ones(p)
    size, height = np.zeros(p, dtype=np.int64), np.ones(p, dtype=np.int64)
    trees: list[NDArray[np.int32]] = []
    levels: list[NDArray[np.int32]] = []
    tree_at, level_at = np.zeros(p, dtype=np.int64), np.zeros(p, dtype=np.int64)
    for j, column in enumerate(columns):
        if column.values is not None:
            values = np.asarray(column.values, dtype=np.float64)
            number[j] = len(numbers)
            numbers.append(values)
            span[j] = float(np.ptp(values)) or 1.0
            cuts[j] = np.quantile(values, np.arange(1, DECILES) / DECILES)
            codes[j] = np.searchsorted(cuts[j], values, side="right")
            size[j] = DECILES
        else:
            codes[j] = column.codes
            size[j] = column.n_categories
        if column.branches is not None and column.levels is not None:
            tree_at[j], level_at[j] = sum(map(np.size, trees)), sum(map(np.size, levels))
            trees.append(np.ascontiguousarray(column.branches, dtype=np.int32).ravel())
            levels.append(np.ascontiguousarray(column.levels, dtype=np.int32))
            height[j] = len(column.branches) - 1
    nothing = np.empty(0, dtype=np.int32)
    return NodeTable(
        codes=codes,
        values=np.array(numbers).reshape(len(numbers), n),
        number=number,
        rule=np.array([RULES.index(c.rule) for c in columns], dtype=np.int64),
        kind=np.array([MEASURES.index(c.kind) for c in columns], dtype=np.int64),
        size=size,
        span=span,
        cuts=cuts,
        tree=np.concatenate([nothing, *trees]),
        tree_at=tree_at,
        level=np.concatenate([nothing, *levels]),
        level_at=level_at,
        height=height,
        width=np.array([c.width for c in columns], dtype=np.int64),
        rank=np.array([c.rank for c in columns], dtype=np.int64),
        missing=np.array([c.missing for c in columns], dtype=np.int64),
    )


@kernel(allocates=False)
def distance(t: NodeTable, j: int, a: int, x: float, b: int, y: float) -> Any:
    """Distance between two cells of attribute j, with codes a and b and numbers x and y."""
    if t.kind[j] == _NUMERIC:
        return abs(x - y) / t.span[j]
    if a == b:
        return 0.0
    if t.kind[j] == _ORDINAL:
        return (abs(a - b) + 1.0) / t.size[j]
    if t.kind[j] == _PLACED:
        low, high = t.level[t.level_at[j] + a], t.level[t.level_at[j] + b]
        if low > high:
            a, b, low, high = b, a, high, low
        if t.tree[t.tree_at[j] + high * t.size[j] + a] == b:
            return (high - low) / t.height[j]
    return 1.0


@kernel(allocates=False)
def _mode(column: NDArray[np.int32], nodes: NDArray[np.int32], s: int, count: NDArray[np.int64]) -> Any:
    """Most frequent category of the first s nodes, ties to the smallest code; ``count`` is 0 before and after."""
    best, most = column[nodes[0]], 0
    if s <= _FEW:  # comparing all pairs is faster than counting
        for a in range(s):
            c = column[nodes[a]]
            found = 0
            for b in range(s):
                found += column[nodes[b]] == c
            if found > most or (found == most and c < best):
                best, most = c, found
        return best
    for a in range(s):
        c = column[nodes[a]]
        count[c] += 1
        if count[c] > most or (count[c] == most and c < best):
            best, most = c, count[c]
    for a in range(s):
        count[column[nodes[a]]] = 0
    return best


@kernel(allocates=False)
def modes(
    codes: NDArray[np.int32], nodes: NDArray[np.int32], s: int, code: NDArray[np.int32], count: NDArray[np.int64]
) -> None:
    """Most frequent category of each attribute among the first s nodes."""
    for j in range(len(codes)):
        code[j] = _mode(codes[j], nodes, s, count)


@kernel(allocates=False)
def _cuts_below(cuts: NDArray[np.float64], value: float) -> int:
    """Number of cuts that are at most a value."""
    low, high = 0, len(cuts)
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


def room_for_values(t: NodeTable, largest: int) -> NDArray[np.int64]:
    """Work array for the common values of clusters of up to ``largest`` nodes."""
    width = int(t.width.max())
    return np.empty((width * largest, width + 2), dtype=np.int64)


@kernel(allocates=False)
def common_values(
    t: NodeTable,
    nodes: NDArray[np.int32],
    s: int,
    code: NDArray[np.int32],
    number: NDArray[np.float64],
    count: NDArray[np.int64],
    room: NDArray[np.int64],
) -> None:
    """Common values of the first s nodes, by the rule of each attribute; ``count`` is 0 before and after."""
    for j in range(len(t.rule)):
        rule = t.rule[j]
        column = t.codes[j]
        if rule == _MODE:
            code[j] = _mode(column, nodes, s, count)
        elif rule == _GENERALIZE:
            base, size = t.tree_at[j], t.size[j]
            for level in range(t.height[j] + 1):
                row = base + level * size
                first = t.tree[row + column[nodes[0]]]
                same = True
                for a in range(1, s):
                    if t.tree[row + column[nodes[a]]] != first:
                        same = False
                        break
                if same:
                    code[j] = first
                    break
        elif rule == _MEAN:
            # In the order of the file and relative to the first: the same nodes give the same sum, and the mean of
            # equal numbers is that number.
            values = t.values[t.number[j]]
            base, total = 0.0, 0.0
            before = np.int64(-1)
            for _ in range(s):
                following = np.int64(len(column))
                for a in range(s):
                    if before < nodes[a] < following:
                        following = np.int64(nodes[a])
                if before < 0:
                    base = values[following]
                total += values[following] - base
                before = following
            number[t.number[j]] = base + total / s
            code[j] = _cuts_below(t.cuts[j], number[t.number[j]])
        elif rule == _MEDIAN:
            for a in range(s):
                room[a, 0] = column[nodes[a]]
            ascend(room[:s, 0])
            code[j] = room[(s - 1) // 2, 0]
        elif t.rank[j] == 0:
            _borda(t.codes, t.missing[j], t.width[j], j, nodes, s, code, room)


@kernel(allocates=False)
def _borda(
    codes: NDArray[np.int32],
    missing: int,
    r: int,
    j: int,
    nodes: NDArray[np.int32],
    s: int,
    code: NDArray[np.int32],
    room: NDArray[np.int64],
) -> None:
    """Borda count: rank s of r gives r − s + 1 points; ties: more first ranks, more second ranks, …, smaller code.

    A row of ``room`` holds the number of nodes by the rank that they give a topic, the topic, and whether it is free.
    """
    known = 0
    for rank in range(r):
        for a in range(s):
            c = codes[j + rank, nodes[a]]
            if c == missing:
                continue
            at = -1
            for b in range(known):
                if room[b, r] == c:
                    at = b
                    break
            if at < 0:
                at = known
                for q in range(r):
                    room[at, q] = 0
                room[at, r] = c
                room[at, r + 1] = 1
                known += 1
            room[at, rank] += 1
    for rank in range(r):
        best, best_points = -1, 0
        for b in range(known):
            if not room[b, r + 1]:
                continue
            points = 0
            for q in range(r):
                points += room[b, q] * (r - q)
            ahead = best < 0 or points > best_points
            if not ahead and points == best_points:
                ahead = room[b, r] < room[best, r]
                for q in range(r):
                    if room[b, q] != room[best, q]:
                        ahead = room[b, q] > room[best, q]
                        break
            if ahead:
                best, best_points = b, points
        if best < 0:
            code[j + rank] = missing
        else:
            room[best, r + 1] = 0
            code[j + rank] = room[best, r]


def members(labels: NDArray[np.int64], n_clusters: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Nodes by cluster, in the order of the file: start of each cluster, and the nodes."""
    start, nodes = np.zeros(n_clusters + 1, dtype=np.int64), np.empty(len(labels), dtype=np.int32)
    _sort_by_cluster(labels, start, nodes)
    return start, nodes


@kernel(allocates=False)
def _sort_by_cluster(labels: NDArray[np.int64], start: NDArray[np.int64], nodes: NDArray[np.int32]) -> None:
    n_clusters = len(start) - 1
    for v in range(len(labels)):
        start[labels[v]] += 1
    for c in range(n_clusters):
        start[c + 1] += start[c]  # ends of the clusters, which become their starts as the nodes are put in from behind
    for v in range(len(labels) - 1, -1, -1):
        start[labels[v]] -= 1
        nodes[start[labels[v]]] = v


def cluster_values(
    t: NodeTable, start: NDArray[np.int64], nodes: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Codes (clusters × attributes) and numbers (clusters × numeric attributes) of all clusters."""
    n_clusters = len(start) - 1
    code = np.empty((n_clusters, len(t.rule)), dtype=np.int32)
    number = np.empty((n_clusters, len(t.values)))
    room = room_for_values(t, int(np.diff(start).max()))
    _cluster_values(
        t, start, nodes, bool((t.rule == _MODE).all()), code, number, np.zeros(t.size.max(), np.int64), room
    )
    return code, number


@kernel(allocates=False)
def _cluster_values(
    t: NodeTable,
    start: NDArray[np.int64],
    nodes: NDArray[np.int32],
    only_modes: bool,
    code: NDArray[np.int32],
    number: NDArray[np.float64],
    count: NDArray[np.int64],
    room: NDArray[np.int64],
) -> None:
    n_clusters = len(start) - 1
    codes = t.codes
    if only_modes:
        for j in range(len(codes)):
            column = codes[j]
            for c in range(n_clusters):
                low = start[c]
                code[c, j] = _mode(column, nodes[low:], start[c + 1] - low, count)
        return
    for c in range(n_clusters):
        common_values(t, nodes[start[c] :], start[c + 1] - start[c], code[c], number[c], count, room)


@kernel(allocates=False)
def node_distances(t: NodeTable, v: int, out: NDArray[np.float64]) -> None:
    """Mean distance over the attributes from one node to every node."""
    p, n = t.codes.shape
    for u in range(n):
        out[u] = 0.0
    for j in range(p):
        column = t.codes[j]
        if t.kind[j] == _NOMINAL:
            for u in range(n):
                out[u] += column[u] != column[v]
        elif t.kind[j] == _NUMERIC:
            values = t.values[t.number[j]]
            for u in range(n):
                out[u] += abs(values[u] - values[v]) / t.span[j]
        else:
            for u in range(n):
                out[u] += distance(t, j, column[u], 0.0, column[v], 0.0)
    for u in range(n):
        out[u] /= p
