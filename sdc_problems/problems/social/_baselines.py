"""Clusterings of nodes that need no search: Algorithm 14, SaNGreeA, blocks of equal degree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.evaluators.graph._links import Arcs
from sdc_problems.evaluators.node_clusters.table import NodeTable, node_distances
from sdc_problems.operators.canonical import restricted_growth


@kernel(allocates=False)
def _nearest_clusters(
    t: NodeTable, seeds: NDArray[np.int64], labels: NDArray[np.int64], far: NDArray[np.float64], best: NDArray[np.int64]
) -> None:
    n, k = t.codes.shape[1], len(best)
    wanted = n // k if n % k == 0 else n // k - 1
    at = 0
    for c in range(wanted):
        while labels[seeds[at]] >= 0:
            at += 1
        seed = seeds[at]
        labels[seed] = c
        node_distances(t, seed, far)
        count = 0
        for v in range(n):
            if labels[v] >= 0 or (count == k - 1 and far[v] >= far[best[count - 1]]):
                continue
            if count < k - 1:
                count += 1
            q = count - 1
            while q > 0 and far[best[q - 1]] > far[v]:
                best[q] = best[q - 1]
                q -= 1
            best[q] = v
        for q in range(count):
            labels[best[q]] = c
    for v in range(n):
        if labels[v] < 0:
            labels[v] = wanted


def nearest_clusters(table: NodeTable, k: int, *, seeds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Clusters of a node and its k − 1 nearest that are in none yet; the last takes the rest (Marés 2013, Alg. 14).

    Parameters
    ----------
    table
        The nodes' attributes.
    k
        Smallest cluster.
    seeds
        Order in which nodes begin clusters: a permutation, drawn at random in the source.

    Notes
    -----
    Equal distances are decided by the place in the file. O(n²p/k).
    """
    n = table.codes.shape[1]
    labels = np.full(n, -1)
    _nearest_clusters(table, seeds.astype(np.int64), labels, np.empty(n), np.empty(k, dtype=np.int64))
    row: NDArray[np.int64] = restricted_growth(labels)
    return row


@kernel(cost=lambda cells, pointer, near, order, *_: cells.size * (cells.shape[1] + len(near)) * 3e-7)
def _sangreea(
    cells: NDArray[np.int64],
    pointer: NDArray[np.int64],
    near: NDArray[np.int32],
    order: NDArray[np.int64],
    k: int,
    alpha: float,
    beta: float,
) -> NDArray[np.int64]:
    p, n = cells.shape
    scale = max(n - 2, 1)
    labels = np.full(n, -1, dtype=np.int64)
    sum_far = np.empty(n, dtype=np.int64)
    common = np.zeros(n, dtype=np.int64)
    linked = np.zeros(n, dtype=np.bool_)
    unlike = np.empty(n, dtype=np.int64)
    equal = np.empty(p, dtype=np.bool_)
    cluster = np.empty(2 * k, dtype=np.int64)
    at, n_clusters, left = 0, 0, n
    while left >= k:
        while labels[order[at]] >= 0:
            at += 1
        fresh = order[at]
        size = 0
        for v in range(n):
            sum_far[v] = 0
        for j in range(p):
            equal[j] = True
        while True:
            labels[fresh] = n_clusters
            cluster[size] = fresh
            size += 1
            left -= 1
            for j in range(p):
                equal[j] = equal[j] and cells[j, fresh] == cells[j, cluster[0]]
            if size == k:
                break
            _add_unshared(pointer, near, fresh, common, linked, sum_far)
            best, least = -1, np.inf
            for v in range(n):
                if labels[v] >= 0:
                    continue
                unlike[v] = 0
                if alpha > 0.0:
                    for j in range(p):
                        unlike[v] += not (equal[j] and cells[j, v] == cells[j, cluster[0]])
                cost = alpha * unlike[v] / p + beta * (sum_far[v] / (size * scale))
                if cost < least:
                    best, least = v, cost
            fresh = best
        n_clusters += 1
    if left:
        _dissolve(cells, pointer, near, labels, n_clusters, alpha, beta, scale)
    return labels


@kernel()
def _add_unshared(
    pointer: NDArray[np.int64],
    near: NDArray[np.int32],
    i: int,
    common: NDArray[np.int64],
    linked: NDArray[np.bool_],
    out: NDArray[np.int64],
) -> None:
    """Add to each node the number of neighbors that only one of it and node i has; whole numbers keep ties."""
    n = len(out)
    for a in range(pointer[i], pointer[i + 1]):
        h = near[a]
        linked[h] = True
        for b in range(pointer[h], pointer[h + 1]):
            common[near[b]] += 1
    degree = pointer[i + 1] - pointer[i]
    for v in range(n):
        other = pointer[v + 1] - pointer[v]
        out[v] += degree + other - 2 * common[v] - 2 * linked[v]
        common[v] = 0
    for a in range(pointer[i], pointer[i + 1]):
        linked[near[a]] = False


@kernel()
def _dissolve(
    cells: NDArray[np.int64],
    pointer: NDArray[np.int64],
    near: NDArray[np.int32],
    labels: NDArray[np.int64],
    n_clusters: int,
    alpha: float,
    beta: float,
    scale: int,
) -> None:
    """Nodes of a last cluster that is too small join others, in the order of the file."""
    p, n = cells.shape
    common = np.zeros(n, dtype=np.int64)
    linked = np.zeros(n, dtype=np.bool_)
    far = np.empty(n, dtype=np.int64)
    total = np.empty(n_clusters, dtype=np.int64)
    size = np.empty(n_clusters, dtype=np.int64)
    first = np.empty(n_clusters, dtype=np.int64)
    mixed = np.zeros((n_clusters, p), dtype=np.bool_)
    for c in range(n_clusters):
        size[c] = 0
    for v in range(n):
        c = labels[v]
        if c >= 0:
            if size[c] == 0:
                first[c] = v
            size[c] += 1
            for j in range(p):
                mixed[c, j] = mixed[c, j] or cells[j, v] != cells[j, first[c]]
    for i in range(n):
        if labels[i] >= 0:
            continue
        for v in range(n):
            far[v] = 0
        for c in range(n_clusters):
            total[c] = 0
        _add_unshared(pointer, near, i, common, linked, far)
        for v in range(n):
            if labels[v] >= 0:
                total[labels[v]] += far[v]
        best, least = -1, np.inf
        for c in range(n_clusters):
            before, after = 0, 0
            for j in range(p):
                before += mixed[c, j]
                after += mixed[c, j] or cells[j, i] != cells[j, first[c]]
            cost = alpha * ((size[c] + 1) * after - size[c] * before) / p + beta * (total[c] / (size[c] * scale))
            if cost < least:
                best, least = c, cost
        labels[i] = best
        size[best] += 1
        for j in range(p):
            mixed[best, j] = mixed[best, j] or cells[j, i] != cells[j, first[best]]


def sangreea(cells: NDArray[np.int64], links: Arcs, k: int, *, alpha: float, beta: float) -> NDArray[np.int64]:
    """SaNGreeA: clusters grown greedily from the node of largest degree, by attributes (α) and neighborhood (β).

    Added is the node with least ``α · attributes no longer equal / p + β · mean distance`` to the cluster; the distance
    of two nodes is the number of neighbors that only one of them has, themselves apart, over n − 2. The nodes of a
    last cluster below k join, in the order of the file, where ``α · ΔGIL / p + β · mean distance`` is least, GIL being
    the size of a cluster times its attributes that are not equal.

    Parameters
    ----------
    cells
        Attributes × nodes, equal codes for equal cells.
    links
        Links of the nodes; directions are followed from source to target.
    k
        Smallest cluster.
    alpha, beta
        Weights of attributes and of neighbourhood.

    References
    ----------
    Campan and Truta (2009), "Data and structural k-anonymity in social networks".

    Notes
    -----
    O(n²p + Σ degree²); no matrix is made.
    """
    order = np.argsort(-np.diff(links.out_ptr), kind="stable")
    found = _sangreea(
        np.ascontiguousarray(cells, dtype=np.int64), links.out_ptr, links.out, order, k, float(alpha), float(beta)
    )
    row: NDArray[np.int64] = restricted_growth(found)
    return row


def degree_blocks(degrees: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Clusters of k nodes that follow each other by degree, from the largest; the last has up to 2k − 1.

    Examples
    --------
    >>> degree_blocks(np.array([1, 5, 4, 2, 3]), 2)
    array([0, 1, 1, 0, 0])
    """
    n = len(degrees)
    labels = np.empty(n, dtype=np.int64)
    labels[np.argsort(-degrees, kind="stable")] = np.minimum(np.arange(n) // k, n // k - 1)
    row: NDArray[np.int64] = restricted_growth(labels)
    return row


def attribute_blocks(table: NodeTable, k: int) -> NDArray[np.int64]:
    """Clusters of k nodes that follow each other when sorted by their attributes, those with few categories first."""
    n = table.codes.shape[1]
    order = np.lexsort(table.codes[np.argsort(-table.size, kind="stable")])
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.minimum(np.arange(n) // k, n // k - 1)
    row: NDArray[np.int64] = restricted_growth(labels)
    return row
