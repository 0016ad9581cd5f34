"""Compiled MDAV: the remaining points are stored contiguously, one attribute after the other.

A pass over distances therefore runs over contiguous memory and vectorizes although no sum may be reordered. Squared
differences are always added in the order of the attributes (0, 1, …), so ties are exact, and ties are always decided by
the record number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import SLICE, Progress, kernel
from sdc_problems._kernel.loops import ascend
from sdc_problems._slices import Pace

NUMERIC, ORDINAL, NOMINAL = 0, 1, 2

TREE_FROM = 1500  # records; a scan of fewer is faster than building (and compiling) a tree
TREE_GROUPS = 300  # groups; for fewer, a tree is not worth it either

_BLOCK = 512  # points whose distances stay in the first-level cache while attributes are added


@kernel()
def _distances(P: NDArray[np.float64], m: int, center: NDArray[np.float64], D: NDArray[np.float64]) -> None:
    """Squared Euclidean distances of the first m points (columns of P) to a point."""
    for low in range(0, m, _BLOCK):
        high = min(low + _BLOCK, m)
        row, c = P[0], center[0]
        for i in range(low, high):
            t = row[i] - c
            D[i] = t * t
        for j in range(1, P.shape[0]):
            row, c = P[j], center[j]
            for i in range(low, high):
                t = row[i] - c
                D[i] += t * t


@kernel()
def _farthest(D: NDArray[np.float64], ids: NDArray[np.int32], m: int) -> int:
    """Position of the largest distance; ties go to the smallest record number."""
    best, where = -np.inf, 0
    for i in range(m):
        if D[i] >= best and (D[i] > best or ids[i] < ids[where]):
            best, where = D[i], i
    return where


@kernel()
def _nearest(D: NDArray[np.float64], ids: NDArray[np.int32], m: int, found: NDArray[np.int64]) -> None:
    """Positions of the len(found) smallest distances in ascending order; ties by record number."""
    k = len(found)
    count, limit = 0, np.inf
    for i in range(m):
        v = D[i]
        if v > limit:
            continue
        at = count if count < k else k - 1
        if count == k and not (v < D[found[at]] or ids[i] < ids[found[at]]):
            continue
        while at > 0 and (v < D[found[at - 1]] or (v == D[found[at - 1]] and ids[i] < ids[found[at - 1]])):
            found[at] = found[at - 1]
            at -= 1
        found[at] = i
        if count < k:
            count += 1
        if count == k:
            limit = D[found[k - 1]]


@kernel()
def _remove(
    P: NDArray[np.float64], ids: NDArray[np.int32], D: NDArray[np.float64], m: int, gone: NDArray[np.int64]
) -> int:
    """Fill the gaps with the last points; returns the number of remaining points."""
    ascend(gone)
    for a in range(len(gone) - 1, -1, -1):
        i = gone[a]
        m -= 1
        for j in range(P.shape[0]):
            P[j, i] = P[j, m]
        ids[i] = ids[m]
        D[i] = D[m]
    return m


def _plain_first_use(labels: NDArray[np.int32], n_groups: int) -> None:
    found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    new = np.empty(len(found), dtype=np.int32)
    new[np.argsort(first)] = np.arange(len(found))
    labels[:] = new[inverse]


@kernel(cost=lambda labels, _: 1e-5 + 1e-7 * len(labels), plain=_plain_first_use)
def first_use(labels: NDArray[np.int32], n_groups: int) -> None:
    """Renumber labels 0 … n_groups − 1 in place in order of first use."""
    new = np.full(n_groups, -1, dtype=np.int32)
    used = 0
    for i in range(len(labels)):
        if new[labels[i]] < 0:
            new[labels[i]] = used
            used += 1
        labels[i] = new[labels[i]]


def _plain_columns(Z: Any) -> Any:
    return np.ascontiguousarray(Z.T), np.cumsum(Z, axis=0)[-1]


@kernel(cost=lambda Z: 1e-5 + 5e-9 * Z.size, plain=_plain_columns)
def _columns(Z: Any) -> Any:
    """Transposed table (attributes × records), and the sum of each attribute, added record by record."""
    n, d = Z.shape
    P = np.empty((d, n))
    total = np.zeros(d)
    for i in range(n):
        for j in range(d):
            P[j, i] = Z[i, j]
            total[j] += Z[i, j]
    return P, total


def _plain_groups(P: Any, ids: Any, D: Any, total: Any, labels: Any, state: Any, k: int, budget: int) -> None:
    def leave(gone: Any) -> None:
        for cells in gone.T:
            total[:] -= cells

    _plain_rounds(P, ids, labels, state, k, lambda m: total / m, _plain_squares, leave)


def _plain_rounds(P: Any, ids: Any, labels: Any, state: Any, k: int, center: Any, distances: Any, leave: Any) -> None:
    m, group = state
    left, P = ids[:m].copy(), P[:, :m]
    while m >= 2 * k:
        squares = distances(P, center(m))
        for _ in range(2 if m >= 3 * k else 1):
            at = np.flatnonzero(squares == squares.max())
            seed = at[np.argmin(left[at])]
            squares = distances(P, P[:, seed])
            squares[seed] = -1.0
            near = np.flatnonzero(squares <= np.partition(squares, k - 1)[k - 1])
            found = near[np.lexsort((left[near], squares[near]))[:k]]
            labels[left[found]] = group
            leave(P[:, found])
            stays = np.ones(m, dtype=np.bool_)
            stays[found] = False
            left, P, squares = left[stays], P[:, stays], squares[stays]
            m -= k
            group += 1
    ids[:m] = left
    state[0], state[1] = m, group


def _plain_squares(P: Any, center: Any) -> Any:
    total: Any = 0.0
    for row, c in zip(P, center, strict=True):
        t = row - c
        total = total + t * t
    return total


def _plain_seconds(P: Any, ids: Any, D: Any, total: Any, labels: Any, state: Any, k: int, budget: int) -> float:
    return float(1e-5 + state[0] / k * (4e-5 + 1.2e-9 * state[0] * (len(P) + 3)))


@kernel(cost=_plain_seconds, plain=_plain_groups, compiling=2.5)  # with the tree, which larger files need
def _scan_groups(P: Any, ids: Any, D: Any, total: Any, labels: Any, state: Any, k: int, budget: int) -> None:
    """Form groups until fewer than 2k records remain or the budget of distances is spent.

    ``state`` holds the number of remaining records (the first columns of P) and the number of groups.
    """
    d = P.shape[0]
    center = np.empty(d)
    found = np.empty(k, dtype=np.int64)
    m, group = state
    while m >= 2 * k and budget > 0:
        rounds = 2 if m >= 3 * k else 1
        for j in range(d):
            center[j] = total[j] / m
        _distances(P, m, center, D)
        for _ in range(rounds):
            # First the farthest from the centroid, then the farthest from that record: D holds those distances.
            seed = _farthest(D, ids, m)
            for j in range(d):
                center[j] = P[j, seed]
            _distances(P, m, center, D)
            D[seed] = -1.0  # the seed is in its own group even if it has duplicates
            _nearest(D, ids, m, found)
            for a in range(k):
                labels[ids[found[a]]] = group
                for j in range(d):
                    total[j] -= P[j, found[a]]
            m = _remove(P, ids, D, m, found)
            group += 1
            budget -= m * d
    state[0], state[1] = m, group


def mdav_kernel(Z: NDArray[np.float64], k: int, progress: Progress | None = None) -> NDArray[np.int32]:
    """MDAV-generic on squared Euclidean distances, without checks; labels are in order of first use.

    Parameters
    ----------
    Z
        C-contiguous float64 records × attributes (at least one of each), finite, on one scale.
    k
        Smallest group, at least 1. Fewer than 2k records form one group.
    progress
        Called as ``progress(records in groups, records)`` a few times per second.

    Notes
    -----
    Larger files use a k-d tree as long as it visits fewer records than a scan; the labels are the same.
    """
    n = len(Z)
    labels = np.full(n, -1, dtype=np.int32)
    P, total = _columns(Z)
    state = np.array([n, 0], dtype=np.int64)
    ids, D = np.arange(n, dtype=np.int32), np.empty(n)
    small = _scan_groups.is_plain_for(P, ids, D, total, labels, state, k, SLICE)  # type: ignore[attr-defined]
    if n >= max(TREE_FROM, TREE_GROUPS * k) and k > 1 and not small:
        from sdc_problems.methods._kernels.mdav_tree import tree_groups

        tree_groups(Z, k, labels, total, state, progress)
        ids = np.flatnonzero(labels < 0).astype(np.int32)
        P = np.ascontiguousarray(P[:, ids])
    pace = Pace(SLICE)
    budget = pace.steps
    while state[0] >= 2 * k:
        before = int(state[0])
        _scan_groups(P, ids, D, total, labels, state, k, budget)
        budget = pace.next((before - int(state[0])) // k * (before + int(state[0])) // 2 * len(P))
        if progress is not None:
            progress(n - int(state[0]), n)
    labels[ids[: state[0]]] = state[1]
    first_use(labels, int(state[1]) + 1)
    if progress is not None:
        progress(n, n)
    return labels


@kernel()
def _mixed_distances(
    P: NDArray[np.float64],
    m: int,
    center: NDArray[np.float64],
    kinds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    weights: NDArray[np.float64],
    D: NDArray[np.float64],
) -> None:
    """Sum of squared distances over attributes: numeric; ordinal ((|a − b| + 1)/|D|)², 0 if equal; nominal 0 or 1."""
    for i in range(m):
        D[i] = 0.0
    for j in range(P.shape[0]):
        row, c = P[j], center[j]
        for i in range(m):
            if kinds[j] == NUMERIC:
                t = row[i] - c
                D[i] += t * t
            elif row[i] != c:
                t = (abs(row[i] - c) + 1.0) / sizes[j] if kinds[j] == ORDINAL else 1.0
                D[i] += weights[j] * (t * t)


@kernel()
def _middle(counts: NDArray[np.int64], m: int) -> int:
    """Lower median of m codes given their counts."""
    below = 0
    for code in range(len(counts)):
        below += counts[code]
        if 2 * below >= m:
            return code
    return len(counts) - 1


def _plain_mixed_groups(
    P: Any, ids: Any, D: Any, total: Any, counts: Any, labels: Any, state: Any, k: int, kinds: Any, sizes: Any,
    weights: Any, budget: int,
) -> None:  # fmt: skip
    def center(m: int) -> Any:
        return [
            total[j] / m if kind == NUMERIC else
            np.argmax(2 * np.cumsum(counts[j, : sizes[j]]) >= m) if kind == ORDINAL else
            np.argmax(counts[j, : sizes[j]])
            for j, kind in enumerate(kinds)
        ]  # fmt: skip

    def distances(P: Any, center: Any) -> Any:
        found = np.zeros(P.shape[1])
        for kind, size, weight, row, c in zip(kinds, sizes, weights, P, center, strict=True):
            t: Any = row - c
            if kind == NUMERIC:
                found += t * t
                continue
            t = (np.abs(t) + 1.0) / size if kind == ORDINAL else 1.0
            found += np.where(row != c, weight * (t * t), 0.0)
        return found

    def leave(gone: Any) -> None:
        for cells in gone.T:
            total[:] -= cells
        for j in np.flatnonzero(kinds != NUMERIC):
            np.subtract.at(counts[j], gone[j].astype(np.int64), 1)

    _plain_rounds(P, ids, labels, state, k, center, distances, leave)


def _plain_mixed_seconds(P: Any, ids: Any, D: Any, total: Any, counts: Any, labels: Any, state: Any, k: int,
                         *metric: Any) -> float:  # fmt: skip
    return float(1e-5 + state[0] / k * (1e-4 + len(P) * (2.5e-5 + 4e-9 * state[0])))


@kernel(cost=_plain_mixed_seconds, plain=_plain_mixed_groups, compiling=1.2)
def _mixed_groups(
    P: Any, ids: Any, D: Any, total: Any, counts: Any, labels: Any, state: Any, k: int, kinds: Any, sizes: Any,
    weights: Any, budget: int,
) -> None:  # fmt: skip
    """Like ``_scan_groups``, on attributes of any kind; ``counts`` holds the remaining records of each code."""
    d = P.shape[0]
    center = np.empty(d)
    found = np.empty(k, dtype=np.int64)
    m, group = state
    while m >= 2 * k and budget > 0:
        rounds = 2 if m >= 3 * k else 1
        for j in range(d):
            if kinds[j] == NUMERIC:
                center[j] = total[j] / m
            elif kinds[j] == ORDINAL:
                center[j] = _middle(counts[j, : sizes[j]], m)
            else:
                center[j] = np.argmax(counts[j, : sizes[j]])
        _mixed_distances(P, m, center, kinds, sizes, weights, D)
        for _ in range(rounds):
            seed = _farthest(D, ids, m)
            for j in range(d):
                center[j] = P[j, seed]
            _mixed_distances(P, m, center, kinds, sizes, weights, D)
            D[seed] = -1.0
            _nearest(D, ids, m, found)
            for a in range(k):
                labels[ids[found[a]]] = group
                for j in range(d):
                    value = P[j, found[a]]
                    total[j] -= value
                    if kinds[j] != NUMERIC:
                        counts[j, int(value)] -= 1
            m = _remove(P, ids, D, m, found)
            group += 1
            budget -= 4 * m * d
    state[0], state[1] = m, group


def mixed_mdav_kernel(
    V: NDArray[np.float64],
    k: int,
    kinds: NDArray[np.int64],
    sizes: NDArray[np.int64],
    progress: Progress | None = None,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int32]:
    """MDAV-generic on attributes of any kind, with mean, lower median or most frequent code as centroid.

    Parameters
    ----------
    V
        Records × attributes; codes 0 … size − 1 for attributes that are not numeric.
    k
        Smallest group.
    kinds, sizes
        Per attribute: NUMERIC, ORDINAL or NOMINAL, and the number of categories (unused if numeric).
    progress
        Called as ``progress(records in groups, records)`` a few times per second.
    weights
        Per attribute: weight of the squared distance of its codes; numeric columns are scaled beforehand.
    """
    n, d = V.shape
    counted = np.ones(d) if weights is None else weights
    P, total = _columns(V)
    counts = np.zeros((d, max(1, int(sizes.max()))), dtype=np.int64)
    for j in np.flatnonzero(kinds != NUMERIC):
        counts[j] = np.bincount(V[:, j].astype(np.int64), minlength=counts.shape[1])
    ids = np.arange(n, dtype=np.int32)
    labels = np.empty(n, dtype=np.int32)
    D = np.empty(n)
    state = np.array([n, 0], dtype=np.int64)
    pace = Pace(SLICE)
    budget = pace.steps
    while state[0] >= 2 * k:
        before = int(state[0])
        _mixed_groups(P, ids, D, total, counts, labels, state, k, kinds, sizes, counted, budget)
        budget = pace.next((before - int(state[0])) // k * (before + int(state[0])) * 2 * d)
        if progress is not None:
            progress(n - int(state[0]), n)
    labels[ids[: state[0]]] = state[1]
    first_use(labels, int(state[1]) + 1)
    if progress is not None:
        progress(n, n)
    return labels
