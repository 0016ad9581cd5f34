"""V-MDAV: groups around distant records, extended by records that are nearer to them than to other records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import Progress, kernel
from sdc_problems._validation import number, table
from sdc_problems.methods._kernels.mdav import first_use
from sdc_problems.methods._kernels.walk import v_mdav_groups
from sdc_problems.methods.partition._attributes import smallest_group, z_scores


@kernel()
def _squared(P: NDArray[np.float64], i: int, point: NDArray[np.float64]) -> float:
    total = 0.0
    for j in range(P.shape[1]):
        total += (P[i, j] - point[j]) ** 2
    return total


@kernel(cost=lambda P, *_: P.size * 5e-6)
def _join_nearest(
    P: NDArray[np.float64], labels: NDArray[np.int32], size: NDArray[np.int64], n_groups: int, most: int
) -> None:
    """Assign each record without a group to the group with the nearest centroid and room; there always is room."""
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


def v_mdav(
    X: object, k: int, *, gamma: float = 0.2, standardize: bool = True, progress: Progress | None = None
) -> NDArray[np.int32]:
    """Partition records into groups of k to 2k − 1 by V-MDAV.

    The record farthest from the centroid of all records forms a group with its k − 1 nearest. While the group is
    smaller than 2k − 1, the record nearest to any member joins if its distance to the group is less than ``gamma``
    times its distance to the nearest record outside. If fewer than k records remain, they join the groups with the
    nearest centroids that have room.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    gamma
        How readily a group grows: 0 for never (fixed sizes), 0.2 for scattered records, 1.1 for clustered records.
    standardize
        Whether attributes are standardized to z-scores first.
    progress
        Called as ``progress(records in groups, records)`` a few times per second.

    Returns
    -------
    labels
        One group number per record, in order of first use.

    Notes
    -----
    Solanas and Martínez-Ballesté (2006). A group stops growing when only k records remain, so that these form a group.
    Ties are decided by the position of the record. O(n²p) time at worst, close to O(nk log n) for few attributes (with
    a k-d tree whose boxes shrink as records leave); O(np) memory.

    Examples
    --------
    >>> v_mdav([[0.0], [1.0], [2.0], [2.5], [10.0], [11.0], [12.0]], 3, gamma=1.1)
    array([0, 0, 0, 0, 1, 1, 1], dtype=int32)
    """
    values = table(X, "X")
    k = smallest_group(k, len(values))
    reach = number(gamma, "gamma", low=0.0, high=1e6) ** 2
    P = np.ascontiguousarray(z_scores(values) if standardize else values)
    labels = np.full(len(P), -1, dtype=np.int32)
    n_groups = v_mdav_groups(P, k, reach, labels, progress)
    if (labels < 0).any():
        _join_nearest(P, labels, np.bincount(labels[labels >= 0]), n_groups, 2 * k - 1)
    first_use(labels, n_groups)
    if progress is not None:
        progress(len(P), len(P))
    return labels
