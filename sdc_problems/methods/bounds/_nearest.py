"""Lower bound on the sum of squares of k-partitions from distances to nearest records: weaker, but fast for any k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import table, whole
from sdc_problems.methods.partition._attributes import smallest_group, z_scores

DIVIDED, DIVIDED_PAIRS = 5_000, 1_000_000_000
"""Largest number of records, and of pairs in all rounds, for dividing pairs between their records."""
ROWS = 512
FIRST_AHEAD, PATIENCE = 0.1, 10
"""Target of a round above the best bound, as a share; it is halved after so many rounds without improvement."""


def nearest_bound(X: object, k: int, *, standardize: bool = True, rounds: int = 1_000) -> float:
    """Lower bound on the sum of squares of every partition into groups of at least k records, fast for any k.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group.
    standardize
        Whether attributes are standardized to z-scores first.
    rounds
        Number of rounds that raise the bound, for up to 5,000 records; fewer are made for thousands of records.

    Returns
    -------
    float
        Lower bound on the sum of squares.

    Notes
    -----
    The sum of squares of a group of m records is the sum of the squared distances of its pairs divided by m. Let the
    squared distance of each pair be divided between its two records. Then the part of a record is at least that of the
    m − 1 others with the smallest parts, for some m from k to 2k − 1. The sum over the records is a bound for every
    partition and every division of pairs. Pairs are first divided in halves; each round shifts parts from the record
    that does not choose the other to the one that does (a subgradient step). The choices need not be mutual, so the
    bound is below that of `lower_bound`, if the latter finishes.

    Examples
    --------
    >>> round(nearest_bound([[0.0], [1.0], [5.0], [6.0]], 2, standardize=False), 3)  # the optimum: two pairs
    1.0
    """
    values = table(X, "X")
    k, rounds = smallest_group(k, len(values)), whole(rounds, "rounds")
    Z = np.ascontiguousarray(z_scores(values) if standardize else values)
    half = half_to_nearest(Z, k)[:, k - 1 :]
    best = float((half / np.arange(k, k + half.shape[1])).min(axis=1).sum())
    if len(Z) > DIVIDED:
        return best
    return _divided(Z, k, best, min(rounds, DIVIDED_PAIRS // len(Z) ** 2)) * (1.0 - 1e-9)  # margin for rounding


def _divided(Z: NDArray[np.float64], k: int, best: float, rounds: int) -> float:
    """Bound by the best division of pairs between their records that is found in the given rounds."""
    from scipy.sparse import coo_matrix
    from scipy.spatial.distance import cdist

    n = len(Z)
    part = 0.5 * cdist(Z, Z, "sqeuclidean")  # [i, j]: part of i in the pair; with [j, i], the squared distance
    np.fill_diagonal(part, np.inf)
    sizes = np.arange(k, min(2 * k - 1, n) + 1)
    most, rows = int(sizes[-1]) - 1, np.arange(n)[:, None]
    chosen, borne = np.empty((n, most), dtype=np.int64), np.empty((n, most))
    ahead, idle = FIRST_AHEAD, 0
    for _ in range(rounds):
        for first in range(0, n, ROWS):
            these = slice(first, min(first + ROWS, n))
            near = np.argpartition(part[these], most - 1, axis=1)[:, :most]
            here = np.take_along_axis(part[these], near, axis=1)
            order = np.argsort(here, axis=1, kind="stable")
            chosen[these], borne[these] = np.take_along_axis(near, order, 1), np.take_along_axis(here, order, 1)
        cost = np.cumsum(borne, axis=1)[:, k - 2 :] / sizes
        at = cost.argmin(axis=1)
        value = float(cost[rows[:, 0], at].sum())
        idle = 0 if value > best else idle + 1
        best = max(best, value)
        if idle == PATIENCE:
            ahead, idle = 0.5 * ahead, 0
        taken = np.arange(most)[None, :] < (sizes[at] - 1)[:, None]
        weights = np.where(taken, 1.0 / sizes[at][:, None], 0.0).ravel()
        picks = coo_matrix((weights, (np.repeat(np.arange(n), most), chosen.ravel())), shape=(n, n)).tocsr()
        slope = (picks - picks.T).tocoo()
        steep = float(np.square(slope.data).sum())
        if steep == 0.0 or best == 0.0:
            break  # all choices are mutual, which is the best division, or all records are equal
        part[slope.row, slope.col] += (best * (1.0 + ahead) - value) / steep * slope.data
    return best


def half_to_nearest(Z: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Half the sum of the squared distances to the q nearest other records, for q from 0 to 2k − 2."""
    from scipy.spatial import cKDTree

    apart = np.square(cKDTree(Z).query(Z, k=min(2 * k - 1, len(Z)))[0])
    apart[:, 0] = 0.0  # the record itself, or a duplicate
    return np.ascontiguousarray(0.5 * np.cumsum(apart, axis=1))
