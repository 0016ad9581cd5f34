"""Compiled parts of the grouping engine: errors of clusters, distances to centroids, linked records.

Kernels work in arrays that numpy allocates: allocating them in compiled code would make compilation slow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


def centroids(Z: Floats, columns: NDArray[np.int64], labels: Ints, n_clusters: int) -> Floats:
    """Means of the clusters, attributes × clusters; records are summed in their order."""
    out = np.zeros((len(columns), n_clusters))
    _add_up(Z, columns, labels, out)
    out /= np.bincount(labels, minlength=n_clusters)
    return out


@kernel()
def _add_up(Z: Floats, columns: NDArray[np.int64], labels: Ints, out: Floats) -> None:
    for i in range(len(labels)):
        for j in range(len(columns)):
            out[j, labels[i]] += Z[i, columns[j]]


@kernel()
def errors(Z: Floats, columns: NDArray[np.int64], labels: Ints, means: Floats, percent: float) -> tuple[float, int]:
    """Sum of squared errors, and number of cells with |y - x| ≤ percent/100·|x|."""
    sse, disclosed = 0.0, 0
    for i in range(len(labels)):
        for j in range(len(columns)):
            x = Z[i, columns[j]]
            t = means[j, labels[i]] - x
            sse += t * t
            if 100.0 * abs(t) <= percent * abs(x):  # as in interval_disclosure_value
                disclosed += 1
    return sse, disclosed


def members(labels: Ints, order: Ints, start: Ints) -> None:
    """Records sorted by cluster: those of cluster c are order[start[c]:start[c + 1]]."""
    start[0] = 0
    np.cumsum(np.bincount(labels, minlength=len(start) - 1), out=start[1:])
    order[:] = np.argsort(labels, kind="stable")


@kernel()
def _row(Z: Floats, i: int, columns: NDArray[np.int64], means: Floats, out: Floats) -> None:
    """Squared distances from record i to all centroids; attributes are summed in their order."""
    out[:] = 0.0
    for j in range(len(columns)):
        z, mean = Z[i, columns[j]], means[j]
        for c in range(len(out)):
            t = z - mean[c]
            out[c] += t * t


@kernel()
def fill_block(Z: Floats, columns: NDArray[np.int64], means: Floats, out: Floats, nearest: Floats) -> None:
    """Squared distances from every record to every centroid of one group, and each record's smallest."""
    for i in range(len(Z)):
        _row(Z, i, columns, means, out[i])
        nearest[i] = np.inf
        for distance in out[i]:
            nearest[i] = min(nearest[i], distance)


@kernel()
def _finds_himself(
    D: NDArray[np.float64],
    nearest: Floats,
    at: int,
    L: Ints,
    order: Ints,
    start: Ints,
    slots: NDArray[np.int64],
    widest: int,
    i: int,
    slack: float,
    rest: Floats,
) -> bool:
    """Whether every other protected record is farther from record i than its own.

    D[s, at] holds the distances from record i to the clusters of the group in slot s, and nearest[s, at] the smallest
    of them. The distance between records is the sum over groups in the order of ``slots``. A sum is abandoned once it
    is certain to exceed the limit, because the remaining groups add at least ``rest``. The margin of 1e-12 is wider
    than rounding, so no abandoned sum could have been within the limit.
    """
    own, rest[len(slots)] = 0.0, 0.0
    for g in range(len(slots)):
        own += D[slots[g], at, L[slots[g], i]]
    for g in range(len(slots) - 1, -1, -1):
        rest[g] = rest[g + 1] + nearest[slots[g], at]
    reach = np.sqrt(own)
    reach += slack * (1.0 + reach)
    limit = reach * reach
    beyond = limit * (1.0 + 1e-12)
    others = rest[0] - nearest[widest, at]
    first = L[widest, i]
    n_clusters = start.shape[1] - 1
    # Records of i's cluster in the widest group come first: those that share its cluster in all groups equal i.
    for turn in range(n_clusters):
        c = first if turn == 0 else (turn - 1 if turn <= first else turn)
        if D[widest, at, c] + others > beyond:
            continue
        for a in range(start[widest, c], start[widest, c + 1]):
            j = order[widest, a]
            if j == i:
                continue
            total = 0.0
            for g in range(len(slots)):
                total += D[slots[g], at, L[slots[g], j]]
                if total + rest[g + 1] > beyond:
                    total = np.inf
                    break
            if total <= limit:
                return False
    return True


@kernel()
def count_links(
    D: NDArray[np.float64],
    nearest: Floats,
    L: Ints,
    order: Ints,
    start: Ints,
    slots: NDArray[np.int64],
    n_groups: NDArray[np.int64],
    widest: NDArray[np.int64],
    slack: float,
    out: NDArray[np.int64],
    rest: Floats,
) -> None:
    """Linked records of each grouping; row r's groups are in the first n_groups[r] entries of slots[r].

    ``rest`` is a work array with one entry more than there are slots.
    """
    for r in range(len(slots)):
        mine = slots[r, : n_groups[r]]
        links = 0
        for i in range(L.shape[1]):
            if _finds_himself(D, nearest, i, L, order, start, mine, widest[r], i, slack, rest):
                links += 1
        out[r] = links


@kernel()
def count_links_directly(
    Z: Floats,
    columns: NDArray[np.int64],
    first: NDArray[np.int64],
    means: Floats,
    L: Ints,
    order: Ints,
    start: Ints,
    widest: int,
    low: int,
    high: int,
    slack: float,
) -> int:
    """Number of linked records among low … high - 1 of one grouping, without stored distances.

    Group g has the attributes columns[first[g]:first[g + 1]]; the same rows of ``means`` hold its centroids.
    """
    n_groups = len(first) - 1
    D, nearest = np.empty((n_groups, 1, means.shape[1])), np.empty((n_groups, 1))
    slots, rest = np.arange(n_groups), np.empty(n_groups + 1)
    links = 0
    for i in range(low, high):
        for g in range(n_groups):
            a, b = first[g], first[g + 1]
            _row(Z, i, columns[a:b], means[a:b], D[g, 0])
            nearest[g, 0] = D[g, 0].min()
        if _finds_himself(D, nearest, 0, L, order, start, slots, widest, i, slack, rest):
            links += 1
    return links
