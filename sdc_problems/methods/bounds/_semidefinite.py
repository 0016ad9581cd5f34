"""Lower bound on the sum of squares of k-partitions from semidefinite multipliers: strong, and for any k.

Write a partition as the matrix Z of shares: Z_ij = 1/m if records i and j are in the same group of m, and 0 otherwise.
Its sum of squares is the sum of C_ij Z_ij, where C_ij is half the squared distance. Each row of Z has the sum 1, its
largest share on the diagonal, and Z is symmetric and positive semidefinite. For any positive semidefinite S and any
antisymmetric A, the sum of (C − S + A)_ij Z_ij is therefore not above the sum of squares, and it is not below the sum
of the least values that rows of shares can have one by one, which is found by sorting each row. S and A are improved by
alternating directions (ADMM): a copy of Z is brought near the rows' conditions, then near a semidefinite matrix. What
triangle inequalities it violates then shift C, by multipliers that are at least 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import number, table, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods.bounds._known import known_partition
from sdc_problems.methods.bounds._shares import nearest_shares
from sdc_problems.methods.bounds._triangles import Triangles
from sdc_problems.methods.partition._attributes import smallest_group, z_scores
from sdc_problems.parallel._process import linear_algebra_in_one_thread

MOST = 5_000
"""Largest number of records: five matrices of all pairs are held."""
BLOCK = 1_250  # records whose multipliers S are positive semidefinite together; between blocks there is only A
PENALTY, OVER = 16.0, 1.8  # of the deviation from symmetry, where costs are about 1; and relaxation of a step
LOOK = 10  # rounds between two bounds
FIRST_TRIANGLES, STEP = 40, 2.0  # round from which there are triangle inequalities, and step of their multipliers
PER_RECORD, VIOLATED = 10, 0.05  # of those that are added at a look; least violation, in multiples of the largest share
STILL, PATIENCE = 1e-5, 5  # least improvement of the bound as a share, and looks without it after which no more come
ROWS = 512
MARGIN = 1e-9  # for rounding, as a share


def semidefinite_bound(
    X: object,
    k: int,
    *,
    labels: object | None = None,
    standardize: bool = True,
    rounds: int = 300,
    time_limit: float | None = None,
    progress: Callable[[float, int], object] | None = None,
) -> float:
    """Lower bound on the sum of squares of every partition into groups of at least k records, strong for any k.

    Parameters
    ----------
    X
        Records × numeric attributes; at most 5,000 records.
    k
        Smallest group.
    labels
        Good known partition; by default, that of MDAV. It gives the scale of the steps, and the work ends when the
        bound reaches it; every partition gives a valid bound.
    standardize
        Whether attributes are standardized to z-scores first.
    rounds
        Largest number of rounds. Fewer are made if the bound hardly rises any more.
    time_limit
        Seconds after which no round is started. The bound then depends on the machine.
    progress
        Called with the best bound so far and the number of rounds, every ten rounds.

    Returns
    -------
    float
        Lower bound on the sum of squares; 0 if there was no time for it.

    Notes
    -----
    A round takes an eigendecomposition: some n³ steps, or n · 1,250² where there are more records than 1,250. These are
    divided in blocks of near ones, and S has no entries between blocks, which weakens the bound. It is weaker than
    `lower_bound` for small k, and much stronger than `nearest_bound`. The relaxation is that of Peng and Wei (2007),
    with bounds on the size of clusters; the triangle inequalities are known from Piccialli et al. (2022).

    Examples
    --------
    >>> from sdc_problems.methods import exhaustive
    >>> X = np.random.default_rng(1).normal(size=(12, 2))
    >>> best = sse(X, exhaustive(X, 4, standardize=False))
    >>> bool(0.9 * best < semidefinite_bound(X, 4, standardize=False) <= best)
    True
    """
    values = table(X, "X")
    k, rounds = smallest_group(k, len(values)), whole(rounds, "rounds", least=1)
    ends = np.inf if time_limit is None else time.perf_counter() + number(time_limit, "time_limit", low=0.0, high=1e9)
    if len(values) > MOST:
        raise SDCError(f"a semidefinite bound is for at most {MOST:,} records, not {len(values):,}: use nearest_bound")
    Z = np.ascontiguousarray(z_scores(values) if standardize else values)
    known = sse(Z, known_partition(labels, Z, k))
    if known == 0.0:
        return 0.0
    order, blocks = _blocks(Z)
    with linear_algebra_in_one_thread():
        return _raised(Z[order], k, known, blocks, rounds, ends, progress)


def _raised(
    Z: NDArray[np.float64],
    k: int,
    known: float,
    blocks: list[slice],
    rounds: int,
    ends: float,
    progress: Callable[[float, int], object] | None,
) -> float:
    from scipy.spatial.distance import cdist

    n = len(Z)
    unit = known * k / n  # so that costs are about 1, and shares about 1/k
    C = cdist(Z, Z, "sqeuclidean")
    C *= 0.5 / unit
    sizes = np.arange(k, min(2 * k - 1, n) + 1)
    shares = np.eye(n) / k
    U, T, shifts = np.zeros((n, n)), np.empty((n, n)), np.full(n, np.inf)
    triangles, best, idle = Triangles(n), 0.0, 0
    for done in range(1, rounds + 1):
        if time.perf_counter() >= ends:
            break
        nearest_shares(shares, U, C, 1.0 / PENALTY, OVER, 1.0 / sizes[-1], 1.0 / k, shifts, T)
        _symmetric(T, blocks, shares)
        np.subtract(T, shares, out=U)  # its symmetric part is −S / PENALTY, and negative semidefinite
        triangles.step(shares, C, STEP)
        if done % LOOK and done < rounds:
            continue
        value = unit * _least(C, U, sizes) * (1.0 - MARGIN)
        idle = 0 if value > best * (1.0 + STILL) else idle + 1
        best = max(best, value)
        if progress is not None:
            progress(best, done)
        if best >= known * (1.0 - 2 * MARGIN) or idle == PATIENCE:
            break
        if done >= FIRST_TRIANGLES:
            triangles.renew(shares, VIOLATED / k, PER_RECORD)
    return best


def _symmetric(T: NDArray[np.float64], blocks: list[slice], out: NDArray[np.float64]) -> None:
    """Nearest symmetric matrix whose diagonal blocks are positive semidefinite."""
    from scipy.linalg import eigh

    np.add(T, T.T, out=out)
    out *= 0.5
    for block in blocks:
        values, vectors = eigh(out[block, block], driver="evr", check_finite=False)
        negative = values < 0.0
        if 2 * negative.sum() <= len(values):
            out[block, block] -= (vectors[:, negative] * values[negative]) @ vectors[:, negative].T
        else:
            out[block, block] = (vectors[:, ~negative] * values[~negative]) @ vectors[:, ~negative].T


def _least(C: NDArray[np.float64], U: NDArray[np.float64], sizes: NDArray[np.int64]) -> float:
    """Sum over the records of the least cost of a row of shares: of the m − 1 cheapest others, for some m."""
    most, total = int(sizes[-1]) - 1, 0.0
    for first in range(0, len(C), ROWS):
        costs = C[first : first + ROWS] + PENALTY * U[first : first + ROWS]
        here = np.arange(len(costs))
        own = costs[here, first + here].copy()
        costs[here, first + here] = np.inf
        cheap = np.sort(np.partition(costs, most - 1, axis=1)[:, :most], axis=1)
        total += float(((own[:, None] + np.cumsum(cheap, axis=1)[:, sizes[0] - 2 :]) / sizes).min(axis=1).sum())
    return total


def _blocks(Z: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[slice]]:
    """Order of the records, and blocks of near ones in it."""
    from scipy.spatial import cKDTree

    leaves: list[NDArray[np.int64]] = []
    nodes: list[Any] = [cKDTree(Z, leafsize=BLOCK).tree]
    while nodes:
        node = nodes.pop()
        if node.split_dim < 0:
            leaves.append(np.asarray(node.indices, dtype=np.int64))
        else:
            nodes += [node.greater, node.lesser]
    ends = np.cumsum([len(leaf) for leaf in leaves])
    return np.concatenate(leaves), [
        slice(int(end) - len(leaf), int(end)) for leaf, end in zip(leaves, ends, strict=True)
    ]
