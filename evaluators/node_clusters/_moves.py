"""Exact changes in the measures of a clustering of nodes under moves, and annealing with such moves.

A move changes two clusters. Only members whose released values change affect the matrices of categories along links,
and links between clusters are counted again from the links of the members. So the cost of a move depends only on what
it changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._kernel.loops import put
from sdc_problems.evaluators.node_clusters.table import (
    NodeTable,
    cluster_values,
    common_values,
    distance,
    members,
    modes,
    room_for_values,
)
from sdc_problems.methods._kernels.random import below, bits, uniform

DENSE = 1 << 20  # largest number of cells of an attribute's matrix that is stored as a whole
TERMS = ("aamil", "cdil", "dbil_graph", "nsil", "dr_degree")
GROUP_MOVE = 0.02  # share of proposals that dissolve or create a whole cluster
_AAMIL, _CDIL, _DBIL, _NSIL, _DEGREE = range(5)
_FREE = np.int64(-1)


class Links(NamedTuple):
    """Links and profiles for the kernels."""

    out_ptr: NDArray[np.int64]
    out: NDArray[np.int32]
    in_ptr: NDArray[np.int64]
    into: NDArray[np.int32]
    directed: bool
    degree: NDArray[np.int64]
    start: NDArray[np.int64]  # profiles: attributes × (nodes + 1)
    category: NDArray[np.int32]
    times: NDArray[np.int32]


class State(NamedTuple):
    """Clustering and its sums.

    Attributes
    ----------
    labels, member, place, size
        Cluster of each node; nodes of each cluster, position of each node in its cluster, and size of each cluster.
    code, number
        Common values of each cluster.
    cells
        Changes in the matrices of categories along links, column by column; large matrices are in a hash table.
    cells_at
        Start of an attribute's matrix in `cells`; −1 for the hash table.
    key, value, used
        Hash table of the cells, and number of its occupied slots.
    pair_key, pair_value, pair_used
        Hash table of the pairs (released values, degree) with their numbers of nodes.
    change
        Changes in the frequency of each category.
    total
        Sums of the terms: three for the losses, squares of links over pairs, different pairs.
    links_between, counts, room
        Work arrays.
    sheet
        For each attribute: start and width of its matrix, and start of its frequencies.
    simple, plain
        Whether an attribute is nominal and its matrix is stored as a whole; whether all attributes use the mode.
    """

    labels: NDArray[np.int64]
    member: NDArray[np.int32]
    place: NDArray[np.int32]
    size: NDArray[np.int64]
    code: NDArray[np.int32]
    number: NDArray[np.float64]
    cells: NDArray[np.int32]
    cells_at: NDArray[np.int64]
    key: NDArray[np.int64]
    value: NDArray[np.int64]
    used: NDArray[np.int64]
    pair_key: NDArray[np.int64]
    pair_value: NDArray[np.int64]
    pair_used: NDArray[np.int64]
    change: NDArray[np.int64]
    total: NDArray[np.float64]
    links_between: NDArray[np.int64]
    counts: NDArray[np.int64]
    room: NDArray[np.int64]
    sheet: NDArray[np.int64]
    simple: NDArray[np.bool_]
    plain: NDArray[np.bool_]


def new_state(t: NodeTable, links: Links, *, n_clusters: int, largest: int) -> State:
    """Empty state with room for ``n_clusters`` clusters of up to ``largest`` nodes."""
    p, n = t.codes.shape
    area = t.size * t.size
    dense = area <= DENSE
    hashed = int(sum(links.start[j, -1] - links.start[j, 0] for j in np.flatnonzero(~dense)))
    capacity = 1 << max(4, (4 * hashed).bit_length()) if hashed else 16
    pairs = 1 << max(4, (4 * n).bit_length())
    cells_at = np.where(dense, np.cumsum(np.where(dense, area, 0)) - area, -1)
    return State(
        labels=np.empty(n, dtype=np.int64),
        member=np.empty((n_clusters, largest), dtype=np.int32),
        place=np.empty(n, dtype=np.int32),
        size=np.zeros(n_clusters, dtype=np.int64),
        code=np.zeros((n_clusters, p), dtype=np.int32),
        number=np.zeros((n_clusters, len(t.values))),
        cells=np.zeros(int(area[dense].sum()), dtype=np.int32),
        cells_at=cells_at,
        key=np.full(capacity, _FREE),
        value=np.zeros(capacity, dtype=np.int64),
        used=np.zeros(1, dtype=np.int64),
        pair_key=np.full(pairs, _FREE),
        pair_value=np.zeros(pairs, dtype=np.int64),
        pair_used=np.zeros(1, dtype=np.int64),
        change=np.zeros(int(t.size.sum()), dtype=np.int64),
        total=np.zeros(5),
        links_between=np.zeros(n_clusters, dtype=np.int64),
        counts=np.zeros(int(t.size.max()), dtype=np.int64),
        room=room_for_values(t, largest),
        sheet=np.column_stack([cells_at, t.size, np.cumsum(t.size) - t.size]),
        simple=(t.kind == 0) & dense,
        plain=np.array([(t.rule == 0).all()]),
    )


# -- hash tables ------------------------------------------------------------------------------------------------------


@kernel(allocates=False)
def _hash(key: Any) -> Any:
    x = np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(1))


@kernel()
def _add(keys: NDArray[np.int64], values: NDArray[np.int64], used: NDArray[np.int64], key: Any, amount: Any) -> Any:
    """Add to the entry of a key; returns its previous value."""
    mask = len(keys) - 1
    if 2 * used[0] > mask:
        old_keys, old_values = keys.copy(), values.copy()
        keys[:] = _FREE
        values[:] = 0
        used[0] = 0
        for i in range(len(old_keys)):
            if old_keys[i] != _FREE and old_values[i] != 0:
                at = _hash(old_keys[i]) & mask
                while keys[at] != _FREE:
                    at = (at + 1) & mask
                keys[at] = old_keys[i]
                values[at] = old_values[i]
                used[0] += 1
    at = _hash(key) & mask
    while keys[at] != key:
        if keys[at] == _FREE:
            keys[at] = key
            used[0] += 1
            break
        at = (at + 1) & mask
    before = values[at]
    values[at] = before + amount
    return before


# -- sums of the terms ------------------------------------------------------------------------------------------------


@kernel(allocates=False)
def _shift(
    keys: NDArray[np.int64],
    values: NDArray[np.int64],
    used: NDArray[np.int64],
    category: NDArray[np.int32],
    count: NDArray[np.int32],
    low: int,
    high: int,
    one: Any,
    two: Any,
) -> Any:
    """Move the profile of a node from column ``one`` to ``two`` of a large matrix; returns the change in Σ|x' − x|."""
    change = 0
    for a in range(low, high):
        c, m = np.int64(category[a]), np.int64(count[a])
        x = _add(keys, values, used, one | c, -m)
        change += abs(x - m) - abs(x)
        x = _add(keys, values, used, two | c, m)
        change += abs(x + m) - abs(x)
    return change


@kernel(allocates=False)
def _retell(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    category: NDArray[np.int32],
    count: NDArray[np.int32],
    cells: NDArray[np.int32],
    change: NDArray[np.int64],
    place: NDArray[np.int64],
    on: NDArray[np.bool_],
    total: NDArray[np.float64],
    nominal: bool,
    nodes: NDArray[np.int32],
    n_nodes: int,
    guest: int,
    j: int,
    here: int,
    guests: int,
    after: int,
) -> None:
    """Replace the category of attribute j of the nodes of a cluster; ``guest`` had another category than the rest.

    ``place`` holds start and width of the attribute's matrix, and start of its frequencies.
    """
    at, size, change_at = place[0], place[1], place[2]
    aamil, moved, away = 0, 0, 0
    for q in range(n_nodes):
        v = nodes[q]
        before = guests if v == guest else here
        if before == after:
            continue
        if nominal:
            away += (columns[j, v] != after) - (columns[j, v] != before)
        if on[_CDIL]:
            f = change[change_at + before]
            moved += abs(f - 1) - abs(f)
            change[change_at + before] = f - 1
            f = change[change_at + after]
            moved += abs(f + 1) - abs(f)
            change[change_at + after] = f + 1
        if on[_AAMIL] and at >= 0:
            one, two = at + before * size, at + after * size
            for a in range(starts[j, v], starts[j, v + 1]):
                c, m = category[a], count[a]
                e = cells[one + c]
                f = cells[two + c]
                aamil += abs(e - m) - abs(e) + abs(f + m) - abs(f)
                cells[one + c] = e - m
                cells[two + c] = f + m
    total[_AAMIL] += aamil
    total[_CDIL] += moved
    total[_DBIL] += away


@kernel(allocates=False)
def _retell_others(
    t: NodeTable,
    links: Links,
    s: State,
    on: NDArray[np.bool_],
    c: int,
    guest: int,
    j: int,
    here: int,
    guests: int,
    after: int,
    numbers: tuple[float, float, float],
) -> None:
    """Part of `_retell` for attributes with their own distances or with many categories."""
    row = t.number[j]
    at = s.cells_at[j]
    base = np.int64(j) << 56
    for q in range(s.size[c]):
        v = s.member[c, q]
        before = guests if v == guest else here
        if row >= 0:
            x, old = t.values[row, v], numbers[1] if v == guest else numbers[0]
            s.total[_DBIL] += (abs(x - numbers[2]) - abs(x - old)) / t.span[j]
        elif t.kind[j] != 0 and before != after:
            o = t.codes[j, v]
            s.total[_DBIL] += distance(t, j, o, 0.0, after, 0.0) - distance(t, j, o, 0.0, before, 0.0)
        if at < 0 and on[_AAMIL] and before != after:
            one, two = base | (np.int64(before) << 28), base | (np.int64(after) << 28)
            low, high = links.start[j, v], links.start[j, v + 1]
            s.total[_AAMIL] += _shift(s.key, s.value, s.used, links.category, links.times, low, high, one, two)


@kernel(allocates=False)
def _signature(rows: NDArray[np.int64], code: NDArray[np.int32], number: NDArray[np.float64]) -> Any:
    """Hash of released values; 63 bits, so that different values have different hashes."""
    out, numbers = np.int64(1), number.view(np.int64)
    for j in range(len(rows)):
        cell = np.int64(code[j])
        if rows[j] >= 0:
            cell = numbers[rows[j]]
        out = _hash(out * np.int64(1000003) + _hash(cell + np.int64(j + 1)))
    return out


@kernel(allocates=False)
def _pair(
    key: NDArray[np.int64],
    value: NDArray[np.int64],
    used: NDArray[np.int64],
    total: NDArray[np.float64],
    signature: Any,
    degree: int,
    amount: int,
) -> None:
    """Add nodes of one degree to those with the same released values, and update the count of different pairs."""
    before = _add(key, value, used, _hash(signature + np.int64(degree) * np.int64(7919)), amount)
    if before == 0:
        total[_DEGREE] += 1
    elif before + amount == 0:
        total[_DEGREE] -= 1


@kernel(allocates=False)
def _pairs_of(
    out_ptr: NDArray[np.int64],
    out: NDArray[np.int32],
    labels: NDArray[np.int64],
    nodes: NDArray[np.int32],
    size: NDArray[np.int64],
    room: NDArray[np.int64],
    kind: int,
    c: int,
    apart: int,
) -> float:
    """Sum of links² / pairs over cluster c and its pairs with all clusters but ``apart``.

    Kinds: 0 undirected links; 1 outgoing links, including those within; 2 incoming links, without those within.
    """
    total = 0.0
    own = size[c]
    for q in range(own):
        for a in range(out_ptr[nodes[q]], out_ptr[nodes[q] + 1]):
            room[labels[out[a]]] += 1
    for q in range(own):
        for a in range(out_ptr[nodes[q]], out_ptr[nodes[q] + 1]):
            other = labels[out[a]]
            if room[other] == 0:
                continue
            e = float(room[other])
            room[other] = 0
            if other == apart:
                continue
            if other != c:
                total += e * e / (own * size[other])
            elif kind == 0:
                total += 0.5 * e * e / (own * (own - 1))
            elif kind == 1:
                total += e * e / (own * (own - 1))
    return total


@kernel(allocates=False)
def _squares(links: Links, s: State, a: int, b: int) -> float:
    """Sum of links² / pairs over two clusters and their pairs with all clusters; over one cluster if a equals b."""
    labels, size, room = s.labels, s.size, s.links_between
    out_ptr, out = links.out_ptr, links.out
    one, two = s.member[a], s.member[b]
    kind = 1 if links.directed else 0
    total = _pairs_of(out_ptr, out, labels, one, size, room, kind, a, -1)
    if a != b:
        total += _pairs_of(out_ptr, out, labels, two, size, room, kind, b, a)
    if links.directed:
        total += _pairs_of(links.in_ptr, links.into, labels, one, size, room, 2, a, -1)
        if a != b:
            total += _pairs_of(links.in_ptr, links.into, labels, two, size, room, 2, b, a)
    return total


# -- moves ------------------------------------------------------------------------------------------------------------


@kernel(allocates=False)
def _take(
    labels: NDArray[np.int64], member: NDArray[np.int32], place: NDArray[np.int32], size: NDArray[np.int64], v: int
) -> None:
    """Remove node v from its cluster."""
    c = labels[v]
    size[c] -= 1
    last = member[c, size[c]]
    member[c, place[v]] = last
    place[last] = place[v]


@kernel(allocates=False)
def _put(
    labels: NDArray[np.int64],
    member: NDArray[np.int32],
    place: NDArray[np.int32],
    size: NDArray[np.int64],
    v: int,
    c: int,
) -> None:
    """Add node v to a cluster."""
    member[c, size[c]] = v
    place[v] = size[c]
    size[c] += 1
    labels[v] = c


@kernel(allocates=False)
def _commit(
    t: NodeTable,
    links: Links,
    s: State,
    on: NDArray[np.bool_],
    x: int,
    y: int,
    code_a: NDArray[np.int32],
    number_a: NDArray[np.float64],
    code_b: NDArray[np.int32],
    number_b: NDArray[np.float64],
    fresh: bool,
) -> None:
    """Exchange nodes x and y, or move x to the cluster −1 − y if y < 0; both clusters get the given values.

    If ``fresh``, the values are computed here and written to the four arrays. Otherwise, a move is undone, and the
    caller restores the sums.
    """
    labels, member, place, size, total = s.labels, s.member, s.place, s.size, s.total
    codes, code, sheet = t.codes, s.code, s.sheet
    category, count, cells, change, starts = links.category, links.times, s.cells, s.change, links.start
    a = labels[x]
    b = labels[y] if y >= 0 else -1 - y
    if fresh and on[_NSIL]:
        total[_NSIL] -= _squares(links, s, a, b)
    _take(labels, member, place, size, x)
    if y >= 0:
        _take(labels, member, place, size, y)
        _put(labels, member, place, size, y, a)
    _put(labels, member, place, size, x, b)
    size_a, size_b = size[a], size[b]
    nodes_a, nodes_b = member[a], member[b]
    if fresh:
        if on[_NSIL]:
            total[_NSIL] += _squares(links, s, a, b)
        if s.plain[0]:
            if size_a:
                modes(codes, nodes_a, size_a, code_a, s.counts)
            modes(codes, nodes_b, size_b, code_b, s.counts)
        else:
            if size_a:
                common_values(t, nodes_a, size_a, code_a, number_a, s.counts, s.room)
            common_values(t, nodes_b, size_b, code_b, number_b, s.counts, s.room)
    if on[_DEGREE]:
        _recount(t, links, s, x, y, a, b, code_a, number_a, code_b, number_b)
    if on[_AAMIL] or on[_CDIL] or on[_DBIL]:
        for j in range(len(code_a)):
            here, there = code[a, j], code[b, j]
            plain = s.simple[j]
            if plain and here == there and (size_a == 0 or code_a[j] == here) and code_b[j] == there:
                continue
            for side in range(2):
                c, other, guest, now = (b, a, x, code_b[j]) if side else (a, b, y, code_a[j])
                _retell(
                    codes, starts, category, count, cells, change, sheet[j], on, total, t.kind[j] == 0, member[c],
                    size[c], guest, j, code[c, j], code[other, j], now,
                )  # fmt: skip
                if not plain:
                    row = t.number[j]
                    numbers = (0.0, 0.0, 0.0)
                    if row >= 0:
                        mean = number_b[row] if side else number_a[row]
                        numbers = (s.number[c, row], s.number[other, row], mean)
                    _retell_others(t, links, s, on, c, guest, j, code[c, j], code[other, j], now, numbers)
    for j in range(len(code_a)):
        code[a, j] = code_a[j]
        code[b, j] = code_b[j]
    for j in range(len(number_a)):
        s.number[a, j] = number_a[j]
        s.number[b, j] = number_b[j]


@kernel(allocates=False)
def _recount(
    t: NodeTable,
    links: Links,
    s: State,
    x: int,
    y: int,
    a: int,
    b: int,
    code_a: NDArray[np.int32],
    number_a: NDArray[np.float64],
    code_b: NDArray[np.int32],
    number_b: NDArray[np.float64],
) -> None:
    """Update the pairs (released values, degree) of two clusters after a move that gives them these values."""
    number, degree, total = t.number, links.degree, s.total
    key, value, used = s.pair_key, s.pair_value, s.pair_used
    old_a, old_b = _signature(number, s.code[a], s.number[a]), _signature(number, s.code[b], s.number[b])
    new_a, new_b = _signature(number, code_a, number_a), _signature(number, code_b, number_b)
    for side in range(2):
        c, guest, new = (b, x, new_b) if side else (a, y, new_a)
        for q in range(s.size[c]):
            v = s.member[c, q]
            before = old_a if (v == guest) == (side == 1) else old_b
            if before != new:
                _pair(key, value, used, total, before, degree[v], -1)
                _pair(key, value, used, total, new, degree[v], 1)


def fill(t: NodeTable, links: Links, s: State, on: NDArray[np.bool_], labels: NDArray[np.int64]) -> None:
    """Fill a new state with a clustering; each node counts as a guest that had its own values."""
    used, dense = np.unique(labels, return_inverse=True)
    s.code[used], s.number[used] = cluster_values(t, *members(dense.ravel(), len(used)))
    _fill(t, links, s, on, labels)


@kernel(allocates=False)
def _fill(t: NodeTable, links: Links, s: State, on: NDArray[np.bool_], labels: NDArray[np.int64]) -> None:
    """:func:`fill`, given the common values of the clusters."""
    p, n = t.codes.shape
    for v in range(n):
        _put(s.labels, s.member, s.place, s.size, v, labels[v])
    for c in range(len(s.size)):
        size = s.size[c]
        if size == 0:
            continue
        signature = _signature(t.number, s.code[c], s.number[c])
        for q in range(size):
            v = s.member[c, q]
            if on[_DEGREE]:
                _pair(s.pair_key, s.pair_value, s.pair_used, s.total, signature, links.degree[v], 1)
            for j in range(p):
                row = t.number[j]
                now = s.code[c, j]
                own = t.codes[j, v]
                _retell(
                    t.codes, links.start, links.category, links.times, s.cells, s.change, s.sheet[j], on, s.total,
                    t.kind[j] == 0, s.member[c, q : q + 1], 1, v, j, now, own, now,
                )  # fmt: skip
                if not s.simple[j]:
                    told = (0.0, 0.0, 0.0)
                    if row >= 0:
                        x = s.number[c, row]
                        told = (x, t.values[row, v], x)
                    _retell_others(t, links, s, on, c, v, j, now, own, now, told)
    if on[_NSIL]:
        for c in range(len(s.size)):
            out_ptr, out, room = links.out_ptr, links.out, s.links_between
            kind = 1 if links.directed else 0
            nodes = s.member[c]
            between = _pairs_of(out_ptr, out, s.labels, nodes, s.size, room, kind, c, c)
            if links.directed:
                between += _pairs_of(links.in_ptr, links.into, s.labels, nodes, s.size, room, 2, c, c)
            # Each pair of clusters is counted from both sides.
            s.total[_NSIL] += _squares(links, s, c, c) - 0.5 * between


def terms(t: NodeTable, links: Links, s: State) -> NDArray[np.float64]:
    """Terms of the state in the units of their measures."""
    p, n = t.codes.shape
    n_arcs, total = len(links.out), s.total.tolist()
    out = np.empty(5)
    out[_AAMIL] = total[_AAMIL] / (2.0 * n_arcs * p)
    out[_CDIL] = total[_CDIL] / (2.0 * n * p)
    out[_DBIL] = total[_DBIL] / (float(n) * p)
    half = 1.0 if links.directed else 2.0
    out[_NSIL] = (2.0 * n_arcs / half - 2.0 * total[_NSIL]) / (n * (n - 1) / (2.0 * half))
    out[_DEGREE] = total[_DEGREE] / n
    return out


@kernel(allocates=False)
def _cost(s: State, scale: NDArray[np.float64]) -> float:
    """Weighted sum of the terms, up to a constant."""
    total = 0.0
    for i in range(5):
        total += scale[i] * s.total[i]
    return total


def scales(t: NodeTable, links: Links, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors that turn the sums into the weighted sum of the terms."""
    p, n = t.codes.shape
    out = weights.copy()
    half = 1.0 if links.directed else 2.0
    out[_AAMIL] /= 2.0 * len(links.out) * p
    out[_CDIL] /= 2.0 * n * p
    out[_DBIL] /= float(n) * p
    out[_NSIL] *= -2.0 / (n * (n - 1) / (2.0 * half))
    out[_DEGREE] /= n
    return out


class Buffers(NamedTuple):
    """Work arrays for moves: values of two clusters, and the same before the move."""

    code_a: NDArray[np.int32]
    number_a: NDArray[np.float64]
    code_b: NDArray[np.int32]
    number_b: NDArray[np.float64]
    old_a: NDArray[np.int32]
    old_number_a: NDArray[np.float64]
    old_b: NDArray[np.int32]
    old_number_b: NDArray[np.float64]


def _buffers(t: NodeTable) -> Buffers:
    def one() -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.zeros(len(t.rule), dtype=np.int32), np.zeros(len(t.values))

    return Buffers(*one(), *one(), *one(), *one())


def exchange(t: NodeTable, links: Links, s: State, on: NDArray[np.bool_], x: int, y: int) -> None:
    """Exchange nodes x and y, or move x to the cluster −1 − y if y < 0."""
    _exchange(t, links, s, on, x, y, _buffers(t))


@kernel(allocates=False)
def _exchange(t: NodeTable, links: Links, s: State, on: NDArray[np.bool_], x: int, y: int, use: Buffers) -> None:
    for j in range(len(use.code_a)):
        use.code_a[j] = use.code_b[j] = 0
    for j in range(len(use.number_a)):
        use.number_a[j] = use.number_b[j] = 0.0
    _commit(t, links, s, on, x, y, use.code_a, use.number_a, use.code_b, use.number_b, True)


def anneal(
    t: NodeTable,
    links: Links,
    s: State,
    weights: NDArray[np.float64],
    near: NDArray[np.int32],
    least: int,
    hot: float,
    cold: float,
    moves: int,
    seed: np.uint64,
    best: NDArray[np.int64],
    flag: NDArray[np.int64],
) -> float:
    """Propose moves while the temperature falls from hot to cold; the best clustering found is written to ``best``.

    A proposal moves a node to the cluster of another node, or exchanges it with a member of that cluster. The other
    node is near by its attributes, linked, or linked by two steps. Some proposals dissolve a cluster, or create one
    from nodes that their clusters can spare. Every cluster keeps at least ``least`` nodes, and at most as many as there
    is room for. ``flag`` is that of `_slices.watched`.
    """
    n_clusters, largest = s.member.shape
    state = np.array([seed | np.uint64(1)], dtype=np.uint64)
    moved, origin = np.empty(largest + least, dtype=np.int64), np.empty(largest + least, dtype=np.int64)
    free = np.empty(n_clusters, dtype=np.int64)
    found: float = _anneal(
        t, links, s, weights != 0.0, scales(t, links, weights), near, least, float(hot), float(cold), moves, state,
        _buffers(t), s.total.copy(), moved, origin, free, best, flag,
    )  # fmt: skip
    return found


@kernel(allocates=False)
def _anneal(
    t: NodeTable,
    links: Links,
    s: State,
    on: NDArray[np.bool_],
    scale: NDArray[np.float64],
    near: NDArray[np.int32],
    least: int,
    hot: float,
    cold: float,
    moves: int,
    state: NDArray[np.uint64],
    use: Buffers,
    total: NDArray[np.float64],
    moved: NDArray[np.int64],
    origin: NDArray[np.int64],
    free: NDArray[np.int64],
    best: NDArray[np.int64],
    flag: NDArray[np.int64],
) -> float:
    """:func:`anneal` with arrays allocated by the caller."""
    p, n = t.codes.shape
    n_clusters, largest = s.member.shape
    code_a, number_a, code_b, number_b = use.code_a, use.number_a, use.code_b, use.number_b
    old_a, old_number_a, old_b, old_number_b = use.old_a, use.old_number_a, use.old_b, use.old_number_b
    n_free = 0
    for c in range(n_clusters):
        if s.size[c] == 0:
            free[n_free] = c
            n_free += 1
    cost = _cost(s, scale)
    lowest = cost
    put(best, s.labels)
    stale = False  # whether the current clustering is better than the one stored in best
    linked = on[_NSIL] or on[_AAMIL]
    falling = 1.0
    temperature = hot
    if moves > 1 and hot > 0.0:
        falling = (cold / hot) ** (64.0 / moves)
    flag[2] = moves
    for step in range(moves):
        if step % 64 == 0 and step:
            temperature *= falling
            flag[1] = step
            if flag[0]:
                break
        x: Any = np.int64(below(state, n))
        a = s.labels[x]
        allowed = -temperature * np.log(uniform(state)) if temperature > 0.0 else 0.0
        coin = uniform(state)
        if coin < GROUP_MOVE:
            count, done = 0, False
            put(total, s.total)
            if stale:
                put(best, s.labels)
                stale = False
            if coin < 0.5 * GROUP_MOVE:
                done = True
                while done and s.size[a] > 0:
                    v: Any = np.int64(s.member[a, s.size[a] - 1])  # one type, so that moves are compiled once
                    b = _other(s, links, near, linked, state, v, a, largest)
                    if b < 0:
                        done = False
                        break
                    origin[count] = a
                    moved[count] = v
                    count += 1
                    _exchange(t, links, s, on, v, -1 - b, use)
                if done:
                    free[n_free] = a
                    n_free += 1
            elif n_free and s.size[a] > least:
                g = free[n_free - 1]
                for tries in range(4 * least):
                    v = x if tries == 0 else _companion(links, near, linked, state, x)
                    b = s.labels[v]
                    if b == g or s.size[b] <= least:
                        continue
                    origin[count] = b
                    moved[count] = v
                    count += 1
                    _exchange(t, links, s, on, v, -1 - g, use)
                    if count == least:
                        break
                done = count == least
                if done:
                    n_free -= 1
            fresh = _cost(s, scale)
            if done and fresh - cost <= allowed:
                cost = fresh
            else:
                if done and coin < 0.5 * GROUP_MOVE:
                    n_free -= 1
                elif done:
                    n_free += 1
                for q in range(count - 1, -1, -1):
                    _exchange(t, links, s, on, moved[q], -1 - origin[q], use)
                put(s.total, total)
        else:
            other = _companion(links, near, linked, state, x)
            b = s.labels[other]
            if a == b:
                continue
            y: Any = np.int64(s.member[b, below(state, s.size[b])])
            if s.size[a] > least and s.size[b] < largest and bits(state) & np.uint64(1):
                y = -1 - b
            for j in range(5):
                total[j] = s.total[j]
            for j in range(p):
                old_a[j] = s.code[a, j]
                old_b[j] = s.code[b, j]
            for j in range(len(number_a)):
                old_number_a[j] = s.number[a, j]
                old_number_b[j] = s.number[b, j]
            _commit(t, links, s, on, x, y, code_a, number_a, code_b, number_b, True)
            fresh = _cost(s, scale)
            if fresh - cost <= allowed:
                if stale and fresh > cost:  # the best so far has just been changed: store it as it was before this move
                    put(best, s.labels)
                    best[x] = a
                    if y >= 0:
                        best[y] = b
                    stale = False
                cost = fresh
            else:
                back = y if y >= 0 else -1 - a
                _commit(t, links, s, on, x, back, old_b, old_number_b, old_a, old_number_a, False)
                for j in range(5):
                    s.total[j] = total[j]
        if cost < lowest - 1e-15:
            lowest = cost
            stale = True
    if stale:
        put(best, s.labels)
    return lowest


@kernel(allocates=False)
def _companion(links: Links, near: NDArray[np.int32], linked: bool, state: NDArray[np.uint64], x: int) -> int:
    """Random node whose cluster may suit x: near by its attributes, linked, linked by two steps, or any."""
    n = len(links.degree)
    kind = below(state, 16)
    if linked and kind < 6:
        degree = links.out_ptr[x + 1] - links.out_ptr[x]
        if degree:
            h = links.out[links.out_ptr[x] + below(state, degree)]
            if kind < 2:
                return int(h)
            beyond = links.in_ptr[h + 1] - links.in_ptr[h]
            y = links.into[links.in_ptr[h] + below(state, beyond)]
            return int(y)
    if kind < 14:
        return int(near[x, below(state, near.shape[1])])
    return int(below(state, n))


@kernel(allocates=False)
def _other(
    s: State,
    links: Links,
    near: NDArray[np.int32],
    linked: bool,
    state: NDArray[np.uint64],
    v: int,
    a: int,
    largest: int,
) -> int:
    """Cluster other than a with room for v; −1 if there is none."""
    for _ in range(8):
        b = s.labels[_companion(links, near, linked, state, v)]
        if b != a and s.size[b] < largest:
            return int(b)
    return -1
