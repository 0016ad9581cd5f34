"""Egos: each node with its neighbors and all links among them, compared exactly.

Two egos are the same if one maps onto the other, with roots, links and labels preserved. Color refinement distinguishes
most of them; those with the same colors are compared by a search for such a map.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._slices import watched
from sdc_problems.evaluators.graph._links import Arcs, pairs_of_links, sorted_arcs

_ROUNDS = 100  # estimated steps per member and link of an ego: rounds of refinement, comparisons with other egos
_OUT, _IN = 1, 2  # directions of a link between two nodes; 3 is both


class Egos(NamedTuple):
    """Egos of all nodes as arrays.

    Attributes
    ----------
    start
        Beginning of each ego in `member` (nodes + 1 entries).
    member
        Nodes of each ego, the root first.
    color
        Color of each member: equal wherever an isomorphism may map one to the other.
    links
        Beginning of each member's links within its ego in `end`; links with the root are part of its color.
    end, way
        Position of the other end within the ego, sorted; and direction of the link.
    key
        Hash of the colors: egos with different keys are different.
    """

    start: NDArray[np.int64]
    member: NDArray[np.int32]
    color: NDArray[np.uint64]
    links: NDArray[np.int64]
    end: NDArray[np.int32]
    way: NDArray[np.int8]
    key: NDArray[np.uint64]


@kernel()
def _mixed(x: np.uint64) -> np.uint64:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel()
def _inner_links(
    pointer: NDArray[np.int64],
    near: NDArray[np.int32],
    ways: NDArray[np.int8],
    start: NDArray[np.int64],
    links: NDArray[np.int64],
    end: NDArray[np.int32],
    way: NDArray[np.int8],
    flag: NDArray[np.int64],
) -> int:
    """Links among the neighbors of each node; they are only counted if ``end`` has no room for them."""
    n = len(pointer) - 1
    place = np.full(n, -1, dtype=np.int64)
    used = 0
    flag[2] = n
    for v in range(n):
        flag[1] = v
        if flag[0]:
            break
        for a in range(pointer[v], pointer[v + 1]):
            place[near[a]] = a - pointer[v] + 1
        at = start[v]
        links[at] = used
        for a in range(pointer[v], pointer[v + 1]):
            at += 1
            links[at] = used
            w = near[a]
            for b in range(pointer[w], pointer[w + 1]):
                if place[near[b]] >= 0:
                    if len(end):
                        end[used] = place[near[b]]
                        way[used] = ways[b]
                    used += 1
        for a in range(pointer[v], pointer[v + 1]):
            place[near[a]] = -1
    links[start[n]] = used
    return used


@kernel()
def _refine(
    start: NDArray[np.int64],
    links: NDArray[np.int64],
    end: NDArray[np.int32],
    way: NDArray[np.int8],
    color: NDArray[np.uint64],
    key: NDArray[np.uint64],
    flag: NDArray[np.int64],
) -> None:
    flag[2] = len(start) - 1
    for v in range(len(start) - 1):
        flag[1] = v
        if flag[0]:
            break
        base, size = start[v], start[v + 1] - start[v]
        now = color[base : base + size]
        fresh = now.copy()
        kinds = -1
        while True:
            ordered = np.sort(now)
            found = 1
            for i in range(1, size):
                found += ordered[i] != ordered[i - 1]
            if found in (kinds, size):
                break
            kinds = found
            for i in range(size):
                total = np.uint64(0)
                for a in range(links[base + i], links[base + i + 1]):
                    total += _mixed(now[end[a]] ^ np.uint64(way[a]))
                fresh[i] = _mixed(now[i] + _mixed(total))
            now[:] = fresh
        total = np.uint64(0)
        for i in range(size):
            total += _mixed(now[i])
        key[v] = _mixed(total ^ np.uint64(size))


def egos(arcs: Arcs) -> Egos:
    """Egos of all nodes, with colors that are the same under every isomorphism.

    Notes
    -----
    Every link among the neighbors of a node is stored in both directions: six entries per triangle.
    """
    n = arcs.n
    source = np.repeat(np.arange(n), np.diff(arcs.out_ptr))
    if arcs.directed:
        a = np.concatenate([source, arcs.out.astype(np.int64)])
        b = np.concatenate([arcs.out.astype(np.int64), source])
        kind = np.repeat(np.array([_OUT, _IN]), len(source))
        keys, inverse = np.unique(a * n + b, return_inverse=True)
        ways = np.zeros(len(keys), dtype=np.int8)
        np.bitwise_or.at(ways, inverse, kind.astype(np.int8))
        pointer, near = sorted_arcs(keys // n, keys % n, n)
    else:
        pointer, near = arcs.out_ptr, arcs.out
        ways = np.full(len(near), _OUT | _IN, dtype=np.int8)
    start = pointer + np.arange(n + 1)
    links = np.zeros(start[-1] + 1, dtype=np.int64)
    nothing = np.empty(0, dtype=np.int32)
    before = pointer, near, ways, start, links
    steps = pairs_of_links(pointer)
    used = watched(lambda flag: _inner_links(*before, nothing, nothing.astype(np.int8), flag), "egos", steps=steps)
    end, way = np.empty(used, dtype=np.int32), np.empty(used, dtype=np.int8)
    if used:
        watched(lambda flag: _inner_links(*before, end, way, flag), "egos", steps=steps)
    member = np.insert(near, pointer[:-1], np.arange(n)).astype(np.int32)
    color = np.insert(ways.astype(np.uint64), pointer[:-1], np.uint64(0))
    key = np.empty(n, dtype=np.uint64)
    steps = _ROUNDS * (len(member) + used)
    watched(lambda flag: _refine(start, links, end, way, color, key, flag), "egos refined", steps=steps)
    return Egos(start, member, color, links, end, way, key)


@kernel()
def label_keys(
    start: NDArray[np.int64],
    member: NDArray[np.int32],
    color: NDArray[np.uint64],
    key: NDArray[np.uint64],
    labels: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """Keys of egos whose nodes have labels: egos with different keys are different."""
    out = np.empty(len(key), dtype=np.uint64)
    for v in range(len(key)):
        total = np.uint64(0)
        for q in range(start[v], start[v + 1]):
            total += _mixed(color[q] ^ _mixed(np.uint64(labels[member[q]])))
        out[v] = _mixed(total ^ key[v])
    return out


@kernel()
def _linked(links: NDArray[np.int64], end: NDArray[np.int32], base: int, i: int, j: int) -> int:
    """Position of the link from member i to member j of the ego that begins at ``base``; −1 if there is none."""
    low, high = links[base + i], links[base + i + 1]
    while low < high:
        middle = (low + high) // 2
        if end[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < links[base + i + 1] and end[low] == j:
        return int(low)
    return -1


@kernel()
def _order(links: NDArray[np.int64], end: NDArray[np.int32], base: int, size: int) -> NDArray[np.int64]:
    """Order of the members without the root: each one is linked to an earlier one, if its component has any."""
    order = np.empty(size - 1, dtype=np.int64)
    seen = np.zeros(size, dtype=np.bool_)
    count, done = 0, 0
    for first in range(1, size):
        if seen[first]:
            continue
        seen[first] = True
        order[count] = first
        count += 1
        while done < count:
            i = order[done]
            done += 1
            for a in range(links[base + i], links[base + i + 1]):
                if not seen[end[a]]:
                    seen[end[a]] = True
                    order[count] = end[a]
                    count += 1
    return order


@kernel()
def _same(
    start: NDArray[np.int64],
    member: NDArray[np.int32],
    color: NDArray[np.uint64],
    links: NDArray[np.int64],
    end: NDArray[np.int32],
    way: NDArray[np.int8],
    v: int,
    v_labels: NDArray[np.int64],
    u: int,
    u_labels: NDArray[np.int64],
    flag: NDArray[np.int64],
) -> bool:
    """Whether one ego maps onto another, labels included; a backtracking search."""
    p, q = start[v], start[u]
    size = start[v + 1] - p
    if start[u + 1] - q != size or links[start[v + 1]] - links[p] != links[start[u + 1]] - links[q]:
        return False
    if v_labels[member[p]] != u_labels[member[q]]:
        return False
    order = _order(links, end, p, size)
    image = np.full(size, -1, dtype=np.int64)
    taken = np.zeros(size, dtype=np.bool_)
    attempt = np.zeros(size, dtype=np.int64)
    depth = 0
    while depth < size - 1 and not flag[0]:
        i = order[depth]
        if image[i] >= 0:
            taken[image[i]] = False
            image[i] = -1
        mapped = 0
        for a in range(links[p + i], links[p + i + 1]):
            mapped += image[end[a]] >= 0
        found = -1
        for c in range(attempt[depth] + 1, size):
            if taken[c] or color[q + c] != color[p + i]:
                continue
            if v_labels[member[p + i]] != u_labels[member[q + c]]:
                continue
            left = 0
            for b in range(links[q + c], links[q + c + 1]):
                left += taken[end[b]]
            if left != mapped:
                continue
            fits = True
            for a in range(links[p + i], links[p + i + 1]):
                other = image[end[a]]
                if other >= 0:
                    b = _linked(links, end, q, c, other)
                    if b < 0 or way[b] != way[a]:
                        fits = False
                        break
            if fits:
                found = c
                break
        if found < 0:
            attempt[depth] = 0
            depth -= 1
            if depth < 0:
                return False
            continue
        attempt[depth] = found
        image[i] = found
        taken[found] = True
        depth += 1
    return True


@kernel()
def _classes(
    start: NDArray[np.int64],
    member: NDArray[np.int32],
    color: NDArray[np.uint64],
    links: NDArray[np.int64],
    end: NDArray[np.int32],
    way: NDArray[np.int8],
    labels: NDArray[np.int64],
    keys: NDArray[np.uint64],
    order: NDArray[np.int64],
    single: bool,
    flag: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Classes of labeled egos; entry s·n + v is the ego of node v with row s of the labels."""
    n = len(start) - 1
    out = np.full(len(keys), -1, dtype=np.int64)
    heads = np.empty(len(keys), dtype=np.int64)
    count, low = 0, 0
    flag[2] = len(order)
    while low < len(order):
        high = low
        while high < len(order) and keys[order[high]] == keys[order[low]]:
            high += 1
        first = count
        has_original = single
        for a in range(low, high):
            has_original = has_original or order[a] < n
        for a in range(low, high if has_original else low):
            x = order[a]
            flag[1] = a
            if flag[0]:
                return out
            for c in range(first, count):
                y = heads[c]
                if _same(start, member, color, links, end, way, y % n, labels[y // n], x % n, labels[x // n], flag):
                    out[x] = c
                    break
            if out[x] < 0:
                if x >= n:
                    continue  # a released ego that equals no original one: originals come first in the order
                out[x] = count
                heads[count] = x
                count += 1
        low = high
    return out


def ego_classes(found: Egos, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classes of egos that map onto each other, with roots and labels preserved.

    Parameters
    ----------
    found
        The egos.
    labels
        Label of each node; or two rows, the labels in the original and in the release. In that case, egos of the
        release are assigned to the classes of the original, or to −1 if they are in none.

    Returns
    -------
    ndarray
        In the shape of ``labels``: the class of each node's ego.
    """
    rows = np.ascontiguousarray(np.atleast_2d(labels), dtype=np.int64)
    keys = np.concatenate([label_keys(found.start, found.member, found.color, found.key, row) for row in rows])
    order = np.argsort(keys, kind="stable")  # originals before released ones with the same key
    single = len(rows) == 1
    classes = watched(
        lambda flag: _classes(*found[:6], rows, keys, order, single, flag), "egos compared",
        steps=_ROUNDS * (len(found.member) + len(found.end)),
    )  # fmt: skip
    return classes.reshape(np.shape(labels))
