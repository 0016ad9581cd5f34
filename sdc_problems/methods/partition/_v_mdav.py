"""V-MDAV: groups around far points that take in records which are nearer to them than to anybody else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._validation import number, table
from sdc_problems.methods._kernels.mdav import first_use
from sdc_problems.methods.partition._attributes import smallest_group, z_scores


@kernel()
def _squared(P: NDArray[np.float64], i: int, point: NDArray[np.float64]) -> float:
    total = 0.0
    for j in range(P.shape[1]):
        total += (P[i, j] - point[j]) ** 2
    return total


@kernel()
def _v_mdav(P: NDArray[np.float64], k: int, reach: float) -> NDArray[np.int32]:
    """Labels in order of first use; ``reach`` is gamma squared, as all distances here are."""
    n, d = P.shape
    labels = np.full(n, -1, dtype=np.int32)
    center = np.zeros(d)
    for i in range(n):
        for j in range(d):
            center[j] += P[i, j] / n
    outwards = np.empty(n)
    for i in range(n):
        outwards[i] = _squared(P, i, center)
    near = np.empty(n)  # squared distance to the nearest member of the group that is being built
    from_seed = np.empty(n)
    size = np.zeros(n // k, dtype=np.int64)
    left, group = n, 0
    while left >= k:
        seed = -1
        for i in range(n):
            if labels[i] < 0 and (seed < 0 or outwards[i] > outwards[seed]):
                seed = i
        for i in range(n):
            near[i] = np.inf
            from_seed[i] = _squared(P, i, P[seed])
        joins = seed
        while True:
            labels[joins] = group
            size[group] += 1
            left -= 1
            for i in range(n):
                if labels[i] < 0:
                    near[i] = min(near[i], _squared(P, i, P[joins]))
            joins = -1
            if size[group] < k:  # the core: nearest to the seed
                for i in range(n):
                    if labels[i] < 0 and (joins < 0 or from_seed[i] < from_seed[joins]):
                        joins = i
                continue
            if left <= k or size[group] == 2 * k - 1:  # what remains must fill a group of its own
                break
            for i in range(n):  # the extension: nearest to any member
                if labels[i] < 0 and (joins < 0 or near[i] < near[joins]):
                    joins = i
            outside = np.inf
            for i in range(n):
                if labels[i] < 0 and i != joins:
                    outside = min(outside, _squared(P, i, P[joins]))
            if not near[joins] < reach * outside:
                break
        group += 1
    if left:
        _join_nearest(P, labels, size, group, 2 * k - 1)
    first_use(labels, group)
    return labels


@kernel()
def _join_nearest(
    P: NDArray[np.float64], labels: NDArray[np.int32], size: NDArray[np.int64], n_groups: int, most: int
) -> None:
    """Give each record without a group to the nearest centroid with room; there always is room for them."""
    centroid = np.zeros((n_groups, P.shape[1]))
    for i in range(len(labels)):
        if labels[i] >= 0:
            for j in range(P.shape[1]):
                centroid[labels[i], j] += P[i, j] / size[labels[i]]
    for i in range(len(labels)):
        if labels[i] < 0:
            best, where = np.inf, -1
            for g in range(n_groups):
                if size[g] < most:
                    away = _squared(P, i, centroid[g])
                    if where < 0 or away < best:
                        best, where = away, g
            labels[i] = where
            size[where] += 1


def v_mdav(X: object, k: int, *, gamma: float = 0.2, standardize: bool = True) -> NDArray[np.int32]:
    """Partition records into groups of k to 2k − 1 by V-MDAV.

    The record farthest from the centroid of all takes its k − 1 nearest. Then, as long as the group is smaller than
    2k − 1, the record nearest to any member joins if it is nearer to the group than ``gamma`` times its distance to the
    nearest record outside. Fewer than k records at the end join the groups with the nearest centroids that have room.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    gamma
        How readily a group grows: 0 never (fixed sizes), 0.2 for scattered records, 1.1 for clustered ones.
    standardize
        Whether attributes are turned into z-scores first.

    Returns
    -------
    labels
        One group number per record, in order of first use.

    Notes
    -----
    Solanas and Martínez-Ballesté (2006). A group stops growing when only k records are left, so that these are a group
    of their own. Equal distances are decided by the record's position. O(n²p) time, O(np) memory.

    Examples
    --------
    >>> v_mdav([[0.0], [1.0], [2.0], [2.5], [10.0], [11.0], [12.0]], 3, gamma=1.1)
    array([0, 0, 0, 0, 1, 1, 1], dtype=int32)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    reach = number(gamma, "gamma", low=0.0, high=1e6) ** 2
    return _v_mdav(np.ascontiguousarray(z_scores(values) if standardize else values), k, reach)
