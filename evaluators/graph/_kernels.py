"""Compiled loops over links: one attribute at a time, and one column of the matrix of categories at a time.

The matrix itself is never built: the cells of one column are added up in a vector over the categories, and a second
pass over the same links sums them and resets them to zero. So the cost does not depend on the number of categories.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel


def profiles(
    in_ptr: NDArray[np.int64], into: NDArray[np.int32], codes: NDArray[np.int32], n_categories: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Numbers of neighbors of each node by category: pointer, categories and counts."""
    pointer = np.zeros(len(in_ptr), dtype=np.int64)
    category, count = np.empty(len(into), dtype=np.int32), np.empty(len(into), dtype=np.int32)
    _profiles(in_ptr, into, codes, np.full(n_categories, -1), pointer, category, count)
    return pointer, category[: pointer[-1]].copy(), count[: pointer[-1]].copy()


@kernel(allocates=False)
def _profiles(
    in_ptr: NDArray[np.int64],
    into: NDArray[np.int32],
    codes: NDArray[np.int32],
    place: NDArray[np.int64],
    pointer: NDArray[np.int64],
    category: NDArray[np.int32],
    count: NDArray[np.int32],
) -> None:
    used = 0
    for v in range(len(in_ptr) - 1):
        for a in range(in_ptr[v], in_ptr[v + 1]):
            c = codes[into[a]]
            if place[c] < pointer[v]:
                place[c] = used
                category[used] = c
                count[used] = 0
                used += 1
            count[place[c]] += 1
        pointer[v + 1] = used


@kernel(allocates=False)
def changed_along_links(
    pointer: NDArray[np.int64],
    category: NDArray[np.int32],
    count: NDArray[np.int32],
    original: NDArray[np.int32],
    released: NDArray[np.int32],
    head: NDArray[np.int64],
    following: NDArray[np.int64],
    cells: NDArray[np.int64],
) -> int:
    """Σ|x − x'| if only the categories of the targets are replaced.

    ``head``, ``following`` and ``cells`` are work arrays: ``head`` must hold −1 and ``cells`` 0 for each category, and
    hold the same afterward; ``following`` has two entries per node.
    """
    n = len(original)
    for v in range(n):
        if original[v] != released[v]:
            following[2 * v] = head[original[v]]
            head[original[v]] = 2 * v
            following[2 * v + 1] = head[released[v]]
            head[released[v]] = 2 * v + 1
    total = 0
    for v in range(n):
        if original[v] == released[v]:
            continue
        for column in (original[v], released[v]):
            entry = head[column]
            while entry >= 0:
                w = entry // 2
                sign = 1 if entry % 2 else -1
                for a in range(pointer[w], pointer[w + 1]):
                    cells[category[a]] += sign * count[a]
                entry = following[entry]
            entry = head[column]
            while entry >= 0:
                w = entry // 2
                for a in range(pointer[w], pointer[w + 1]):
                    total += abs(cells[category[a]])
                    cells[category[a]] = 0
                entry = following[entry]
            head[column] = -1
    return total


@kernel()
def changed_at_both_ends(
    in_ptr: NDArray[np.int64],
    into: NDArray[np.int32],
    original: NDArray[np.int32],
    released: NDArray[np.int32],
    n_categories: int,
) -> int:
    """Σ|x − x'| if the categories of both ends are replaced."""
    n = len(original)
    head = np.full(n_categories, -1, dtype=np.int64)
    following = np.empty(2 * n, dtype=np.int64)
    cells = np.zeros(n_categories, dtype=np.int64)
    for v in range(n):
        following[2 * v] = head[original[v]]
        head[original[v]] = 2 * v
        following[2 * v + 1] = head[released[v]]
        head[released[v]] = 2 * v + 1
    total = 0
    for column in range(n_categories):
        entry = head[column]
        while entry >= 0:
            w = entry // 2
            for a in range(in_ptr[w], in_ptr[w + 1]):
                if entry % 2:
                    cells[released[into[a]]] += 1
                else:
                    cells[original[into[a]]] -= 1
            entry = following[entry]
        entry = head[column]
        while entry >= 0:
            w = entry // 2
            for a in range(in_ptr[w], in_ptr[w + 1]):
                c = released[into[a]] if entry % 2 else original[into[a]]
                total += abs(cells[c])
                cells[c] = 0
            entry = following[entry]
    return total


@kernel()
def assortativity_kernel(
    in_ptr: NDArray[np.int64], into: NDArray[np.int32], codes: NDArray[np.int32], n_categories: int
) -> float:
    """Newman's assortativity of one attribute; 0 if all links are within one category."""
    n_arcs = len(into)
    ends = np.zeros(n_categories, dtype=np.int64)
    starts = np.zeros(n_categories, dtype=np.int64)
    same = 0
    for v in range(len(codes)):
        ends[codes[v]] += in_ptr[v + 1] - in_ptr[v]
        for a in range(in_ptr[v], in_ptr[v + 1]):
            starts[codes[into[a]]] += 1
            same += codes[into[a]] == codes[v]
    expected = 0.0
    for c in range(n_categories):
        expected += (starts[c] / n_arcs) * (ends[c] / n_arcs)
    if expected >= 1.0:
        return 0.0
    return (same / n_arcs - expected) / (1.0 - expected)


@kernel()
def structure_loss(
    out_ptr: NDArray[np.int64],
    out: NDArray[np.int32],
    labels: NDArray[np.int64],
    directed: bool,
) -> float:
    """Normalized structural loss of super-nodes, of which only numbers of links within and between them are known."""
    n = len(labels)
    n_clusters = labels.max() + 1
    start = np.zeros(n_clusters + 1, dtype=np.int64)
    for v in range(n):
        start[labels[v] + 1] += 1
    for c in range(n_clusters):
        start[c + 1] += start[c]
    fill = start[:-1].copy()
    member = np.empty(n, dtype=np.int64)
    for v in range(n):
        member[fill[labels[v]]] = v
        fill[labels[v]] += 1
    links = np.zeros(n_clusters, dtype=np.int64)
    total = 0.0
    for c in range(n_clusters):
        size = start[c + 1] - start[c]
        for q in range(start[c], start[c + 1]):
            v = member[q]
            for a in range(out_ptr[v], out_ptr[v + 1]):
                links[labels[out[a]]] += 1
        for q in range(start[c], start[c + 1]):
            v = member[q]
            for a in range(out_ptr[v], out_ptr[v + 1]):
                other = labels[out[a]]
                e = links[other]
                links[other] = 0
                if e == 0 or (not directed and other < c):
                    continue
                if other == c:
                    pairs = size * (size - 1) if directed else size * (size - 1) // 2
                    e = e if directed else e // 2
                else:
                    pairs = size * (start[other + 1] - start[other])
                total += 2.0 * e * (1.0 - e / pairs)
    most = n * (n - 1) / 2.0 if directed else n * (n - 1) / 4.0
    return total / most
