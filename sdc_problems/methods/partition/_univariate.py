"""Optimal microaggregation of one attribute, and of records along a path: the algorithm of Hansen and Mukherjee."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._validation import choice, table, vector
from sdc_problems.methods._kernels.mdav import first_use
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.methods.partition._mdav import mdav


@kernel()
def _cut_values(x: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """Sizes of the cheapest runs that end at each position of a sorted vector; unreachable ends have size 0."""
    n = len(x)
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int32)
    share = np.empty(2 * k)
    inverse = np.empty(2 * k)
    for m in range(2 * k):
        inverse[m] = 1.0 / (m + 1)
        share[m] = m * inverse[m]
    for end in range(k, n + 1):
        # The run grows backwards from its end, so its mean and error are updated and never differences of large sums.
        mean, error = x[end - 1], 0.0
        for m in range(1, min(2 * k - 1, end)):
            step = x[end - 1 - m] - mean
            error += step * step * share[m]
            mean += step * inverse[m]
            if m + 1 >= k and best[end - 1 - m] + error < best[end]:
                best[end] = best[end - 1 - m] + error
                size[end] = m + 1
    return size


@kernel()
def _cut_path(P: NDArray[np.float64], k: int) -> NDArray[np.int32]:
    """As ``_cut_values`` for records in the order of a path."""
    n, d = P.shape
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int32)
    mean = np.empty(d)
    for end in range(k, n + 1):
        for j in range(d):
            mean[j] = P[end - 1, j]
        error = 0.0
        for m in range(1, min(2 * k - 1, end)):
            squares = 0.0
            for j in range(d):
                step = P[end - 1 - m, j] - mean[j]
                squares += step * step
                mean[j] += step / (m + 1)
            error += squares * m / (m + 1)
            if m + 1 >= k and best[end - 1 - m] + error < best[end]:
                best[end] = best[end - 1 - m] + error
                size[end] = m + 1
    return size


@kernel()
def _label_runs(size: NDArray[np.int32], order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Labels of the records from the sizes of the best runs, the last run first."""
    labels = np.empty(len(order), dtype=np.int32)
    end, group = len(order), 0
    while end > 0:
        start = end - size[end]
        for i in range(start, end):
            labels[order[i]] = group
        end, group = start, group + 1
    first_use(labels, group)
    return labels


def microaggregate_univariate(x: object, k: int) -> NDArray[np.int32]:
    """Partition one attribute into groups of at least k values with the smallest possible SSE.

    Parameters
    ----------
    x
        Numbers in any order.
    k
        Smallest group: 2 … n/2.

    Returns
    -------
    labels
        One group number per value, in order of first use; every group has k to 2k − 1 values.

    Notes
    -----
    Hansen and Mukherjee (2003): an optimal group is a run of the sorted values, and has fewer than 2k of them, so
    the shortest path over the positions between sorted values is optimal. The error of a run is updated value by
    value (no differences of prefix sums, which lose the small errors of neighbouring values in large files).
    O(n log n + nk) time, O(n) memory. Of runs with equal cost the shorter one is taken.

    Examples
    --------
    >>> microaggregate_univariate([1.0, 11.0, 2.0, 10.0, 3.0, 12.0, 2.5], 3)
    array([0, 1, 0, 1, 0, 1, 0], dtype=int32)
    """
    values = vector(x, "x")
    k = smallest_group(k, len(values))
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # A power of two changes no digit, and keeps the squares of the largest numbers finite.
    ordered = np.ldexp(ordered, -int(np.frexp(np.abs(ordered).max())[1]))
    return _label_runs(_cut_values(ordered, k), order)


@kernel()
def _nearest_next(P: NDArray[np.float64], groups: NDArray[np.int32], n_groups: int) -> NDArray[np.int64]:
    """Path that starts far out and goes on to the nearest record not yet visited, one group after the other.

    The next group is the one with the nearest centroid; with one group, this is the plain nearest point next.
    """
    n, d = P.shape
    size = np.zeros(n_groups, dtype=np.int64)
    centroid = np.zeros((n_groups, d))
    for i in range(n):
        size[groups[i]] += 1
        for j in range(d):
            centroid[groups[i], j] += P[i, j]
    start = np.zeros(n_groups + 1, dtype=np.int64)
    center = np.zeros(d)
    for g in range(n_groups):
        start[g + 1] = start[g] + size[g]
        for j in range(d):
            center[j] += centroid[g, j] / n
            centroid[g, j] /= size[g]
    rest = np.empty(n, dtype=np.int64)  # records group by group; of each group those not yet visited come first
    filled = start[:-1].copy()
    for i in range(n):
        rest[filled[groups[i]]] = i
        filled[groups[i]] += 1
    visited = np.zeros(n_groups, dtype=np.bool_)
    path = np.empty(n, dtype=np.int64)
    at, here, outwards = 0, center.copy(), True
    for _ in range(n_groups):
        g, best = -1, np.inf
        for h in range(n_groups):
            if not visited[h]:
                away = 0.0
                for j in range(d):
                    away += (centroid[h, j] - here[j]) ** 2
                if outwards:
                    away = -away
                if away < best:
                    g, best = h, away
        visited[g] = True
        left = size[g]
        while left > 0:
            where, best = -1, np.inf
            for a in range(start[g], start[g] + left):
                away = 0.0
                for j in range(d):
                    away += (P[rest[a], j] - here[j]) ** 2
                if outwards:
                    away = -away
                if away < best or (away == best and rest[a] < rest[where]):
                    where, best = a, away
            record = rest[where]
            left -= 1
            rest[where] = rest[start[g] + left]
            path[at] = record
            at += 1
            outwards = False
            for j in range(d):
                here[j] = P[record, j]
        for j in range(d):
            here[j] = centroid[g, j] if n_groups > 1 else here[j]
    return path


def mhm(
    X: object, k: int, *, order: Literal["mdav", "nearest"] = "mdav", standardize: bool = True
) -> NDArray[np.int32]:
    """Put the records on a path and cut it where the SSE is smallest (multivariate Hansen–Mukherjee).

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    order
        ``"mdav"``: the groups of MDAV, each next group the one with the nearest centroid, each next record the nearest
        of its group. ``"nearest"``: each next record the nearest of all that are left. Both start far from the centre.
    standardize
        Whether attributes are turned into z-scores first.

    Returns
    -------
    labels
        One group number per record, in order of first use; every group has k to 2k − 1 records.

    Notes
    -----
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé (2006). On a given path the cut is optimal; MDAV's groups are
    runs of its own path, so ``order="mdav"`` never has a larger SSE than MDAV. O(n²p) time for the path, O(nkp) for the
    cut, O(np) memory.

    Examples
    --------
    >>> mhm([[1.0], [2.0], [1.5], [8.0], [9.0], [8.5], [9.5]], 3)
    array([0, 0, 0, 1, 1, 1, 1], dtype=int32)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    how = choice(order, "order", ("mdav", "nearest"))
    P = np.ascontiguousarray(z_scores(values) if standardize else values)
    groups = mdav(P, k, standardize=False) if how == "mdav" else np.zeros(len(P), dtype=np.int32)
    path = _nearest_next(P, groups, int(groups.max()) + 1)
    return _label_runs(_cut_path(np.ascontiguousarray(P[path]), k), path)
