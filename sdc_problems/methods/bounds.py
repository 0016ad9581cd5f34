"""Lower bound on the sum of squares of k-partitions, by column generation.

A partition into groups of k to 2k − 1 records is a choice of groups in which each record is in exactly one. In the
linear relaxation, groups may be chosen in part. It is solved with few groups at a time. Each solution has a price for
every record, and groups that cost less than the prices of their records are added. When no such group is left in the
whole file, no choice of groups costs less than the sum of the prices. Most groups are found by a local search; at the
end, all groups of the file are enumerated, with bounds that exclude nearly all of them after two or three records.

Cuts raise the relaxation: a partition has at most |S| // d groups with d or more records in a set S (subset-row
inequalities, after Jepsen et al. 2008).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import number, table, whole
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods._kernels.mdav import mdav_kernel
from sdc_problems.methods._kernels.pricing import cheap_groups, searched_groups
from sdc_problems.methods.partition._attributes import smallest_group, z_scores

NEAREST = 60  # records, or 4k, among which the local search looks for a group
LARGEST_POOL, KEPT = 60_000, 35_000  # largest number of groups, and number kept when it is exceeded
CUTS_PER_ROUND = 400
CUTS_PER_RECORD = 6
PRECISION = 0.05  # a relaxation is solved to this share of its distance from the known partition
MANY = 0.02  # groups per record found by the local search from which enumerating all groups is not worth it
DIVIDED, DIVIDED_PAIRS = 5_000, 1_000_000_000
"""Largest number of records, and of pairs in all rounds, for dividing pairs between their records."""
ROWS = 512
FIRST_AHEAD, PATIENCE = 0.1, 10
"""Target of a round above the best bound, as a share; it is halved after so many rounds without improvement."""
NEARLY = (0.05, 0.15, 0.3)
"""Reduced costs, in mean errors of a group, up to which a group may still be useful for a partition."""
STARTS = 15  # pairs of a group from which sets grow

Group = tuple[int, ...]
Cut = tuple[Group, int]


class LowerBound(NamedTuple):
    """Lower bound on the sum of squares of every k-partition of a table.

    Attributes
    ----------
    sse
        The bound on the sum of squares.
    proven
        Whether all groups of the file were excluded; otherwise, ``sse`` is an estimate of the bound.
    seconds, rounds, groups, cuts
        Time, and numbers of rounds, groups and cuts.
    """

    sse: float
    proven: bool
    seconds: float
    rounds: int
    groups: int
    cuts: int


class BoundedPartition(NamedTuple):
    """Partition of a table, and a lower bound for all partitions.

    Attributes
    ----------
    labels
        Group of each record.
    sse
        Its sum of squares.
    bound
        Lower bound on the sum of squares of every partition.
    """

    labels: NDArray[np.int64]
    sse: float
    bound: LowerBound


def lower_bound(
    X: object,
    k: int,
    *,
    labels: object | None = None,
    standardize: bool = True,
    rounds: int = 10,
    time_limit: float | None = None,
    steps: int = 2_000_000_000,
    tolerance: float = 1e-4,
    progress: Callable[[LowerBound], None] | None = None,
) -> LowerBound:
    """Lower bound on the sum of squares of every partition into groups of at least k records.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    labels
        Good known partition, such as the result of a search; by default, that of MDAV. The better it is, the less work
        remains; the bound does not depend on it. The work ends when the bound reaches it.
    standardize
        Whether attributes are standardized to z-scores first.
    rounds
        Number of rounds, each of which adds cuts that raise the bound.
    time_limit
        Seconds after which no round is started and the current one is given up.
    steps
        Number of steps after which enumerating all groups of the file is given up. The bound is then an estimate, based
        on the groups found by the local search.
    tolerance
        Share of the sum of squares by which the bound may be below its relaxation; a larger one excludes groups faster.
        Before the last round, it is larger while the relaxation is far below the known partition.
    progress
        Called after each round with the best bound so far.

    Returns
    -------
    LowerBound
        Highest proven bound; if none was proven, the last estimate.

    Notes
    -----
    The bound holds for groups of any size from k: groups of 2k or more records can be split without increasing the sum
    of squares. There are at most n // k groups, each may undercut its prices by its part of the tolerance, and the
    bound is lowered by that.

    Suitable for a few thousand records and small k: the linear programs grow with n, the steps with k.

    Examples
    --------
    >>> from sdc_problems.methods import exhaustive
    >>> X = np.random.default_rng(1).normal(size=(12, 2))
    >>> best = sse(X, exhaustive(X, 3, standardize=False))
    >>> bound = lower_bound(X, 3, standardize=False)
    >>> bound.proven, bool(0.99 * best < bound.sse <= best)
    (True, True)
    """
    Z, known, limits = _checked(X, k, labels, standardize, rounds, time_limit, steps, tolerance)
    bound, _ = _raised(Z, k, known, limits, progress)
    if not bound.rounds and bound.sse < sse(Z, known):
        raise SDCFailure(f"no bound within {limits.seconds:g} seconds: allow more time, or fewer records")
    return bound


def bounded_partition(
    X: object,
    k: int,
    *,
    labels: object | None = None,
    standardize: bool = True,
    rounds: int = 10,
    time_limit: float | None = None,
    steps: int = 2_000_000_000,
    tolerance: float = 1e-4,
    nodes: int = 1_000,
    progress: Callable[[LowerBound], None] | None = None,
) -> BoundedPartition:
    """Partition a table and bound its sum of squares: `lower_bound`, then the best choice among the groups found.

    Good partitions consist of groups that column generation finds. An integer program (HiGHS) chooses the best
    partition into these groups.

    Parameters
    ----------
    X
        Records × numeric attributes.
    k
        Smallest group: 2 … n/2.
    labels
        Good known partition, such as the result of a search; by default, that of MDAV. The result is never worse.
    standardize
        Whether attributes are standardized to z-scores first.
    rounds, steps, tolerance
        As for `lower_bound`.
    time_limit
        Seconds for the bound, and again for the integer program. The result then depends on the machine.
    nodes
        Largest number of nodes in the tree of the integer program.
    progress
        Called after each round with the best bound so far.

    Returns
    -------
    BoundedPartition
        Labels, their sum of squares, and the bound.

    Examples
    --------
    >>> X = np.random.default_rng(1).normal(size=(60, 2))
    >>> found = bounded_partition(X, 3, rounds=4)
    >>> bool(0.97 * found.sse < found.bound.sse <= found.sse * (1 + 1e-9))
    True
    """
    Z, known, limits = _checked(X, k, labels, standardize, rounds, time_limit, steps, tolerance)
    best, nodes = sse(Z, known), whole(nodes, "nodes", least=1)
    bound, relaxed = _raised(Z, k, known, limits, progress)
    least = nearest_bound(Z, k, standardize=False)
    if not bound.rounds or not bound.proven or bound.sse < least:
        bound = bound._replace(sse=min(least, best), proven=True)
    if relaxed is not None and len(relaxed.prices) and bound.sse < best * (1.0 - 1e-9):
        for more in NEARLY:
            relaxed.search(-more)
        picked = relaxed.picked(limits.seconds, nodes)
        if picked is not None and sse(Z, picked) < best:
            known, best = picked, sse(Z, picked)
    return BoundedPartition(known, best, bound)


class _Limits(NamedTuple):
    rounds: int
    seconds: float
    steps: int
    tolerance: float


def _checked(
    X: object,
    k: int,
    labels: object | None,
    standardize: bool,
    rounds: int,
    time_limit: float | None,
    steps: int,
    tolerance: float,
) -> tuple[NDArray[np.float64], NDArray[np.int64], _Limits]:
    """Check arguments; returns points, a known partition and limits."""
    values = table(X, "X")
    k = smallest_group(k, len(values))
    limits = _Limits(
        whole(rounds, "rounds", least=1),
        np.inf if time_limit is None else number(time_limit, "time_limit", low=0.0, high=1e9),
        whole(steps, "steps", least=0),
        number(tolerance, "tolerance", low=1e-6, high=0.5),
    )
    Z = np.ascontiguousarray(z_scores(values) if standardize else values)
    return Z, mdav_kernel(Z, k).astype(np.int64) if labels is None else _partition(labels, len(Z), k), limits


def _raised(
    Z: NDArray[np.float64],
    k: int,
    known: NDArray[np.int64],
    limits: _Limits,
    progress: Callable[[LowerBound], None] | None,
) -> tuple[LowerBound, _Relaxation | None]:
    """Best bound (0 rounds if there was no time), and the relaxation with its groups."""
    began, (rounds, limit, steps, tolerance) = time.perf_counter(), limits
    best, most_groups = sse(Z, known), len(Z) // k
    if best == 0.0:
        return LowerBound(0.0, True, 0.0, 0, 0, 0), None
    unit = best / most_groups  # mean error of a group: all figures below are multiples of it, which suits solvers
    relaxed = _Relaxation(Z / np.sqrt(unit), k, known)
    tolerance *= 0.5  # one half for the groups that are left out, the other for imprecision
    left_out = tolerance * most_groups
    bound, finely = LowerBound(0.0, False, 0.0, 0, 0, 0), False
    for number_of_round in range(1, rounds + 1):
        done, finely = False, finely or number_of_round == rounds
        while not done and time.perf_counter() - began < limit:
            value, undercut = relaxed.solve(), None
            precise = max(2.0 * left_out, 0.0 if finely else PRECISION * (most_groups - value))
            found = relaxed.search(tolerance)
            if steps and found <= MANY * len(Z):
                more, undercut = relaxed.go_through(tolerance, steps)
                steps = 0 if undercut is None else steps
                done = undercut is not None and (left_out + undercut <= precise or found + more == 0)
            elif not steps and not found:
                done, undercut = True, 0.0
            if undercut is not None:
                reached, seconds = unit * max(0.0, value - left_out - undercut), time.perf_counter() - began
                new = LowerBound(reached, steps > 0, seconds, number_of_round, len(relaxed.pool), len(relaxed.cuts))
                if not bound.proven or (new.proven and new.sse > bound.sse):
                    bound = new
        if not done:
            break
        if progress is not None:
            progress(bound)
        if most_groups - value <= 1e-9 * most_groups:
            break
        if relaxed.separate() == 0:
            if finely:
                break
            finely = True
    return bound, relaxed


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
    half = _half_to_nearest(Z, k)[:, k - 1 :]
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


def _partition(labels: object, n: int, k: int) -> NDArray[np.int64]:
    """Check the labels of a known partition."""
    known = np.asarray(labels)
    if known.shape != (n,):
        raise SDCError(f"labels must hold one group number for each of the {n} records, not {known.shape}")
    groups, sizes = np.unique(known, return_counts=True)
    if sizes.min() < k:
        raise SDCError(f"labels: group {groups[sizes.argmin()]} has {sizes.min()} records, fewer than k = {k}")
    return known.astype(np.int64)


class _Relaxation:
    """Linear relaxation of the choice of groups, with the groups and cuts added so far."""

    def __init__(self, Z: NDArray[np.float64], k: int, labels: NDArray[Any]) -> None:
        self.Z, self.k = Z, k
        self._half, self._near = _half_to_nearest(Z, k), _neighbours(Z, k)
        self._calm, self.prices = np.zeros(len(Z)), np.zeros(0)
        self.pool: dict[Group, float] = {}
        self.cuts: list[Cut] = []
        for g in np.unique(labels):
            self.add(np.flatnonzero(labels == g))

    def add(self, members: NDArray[np.int64]) -> None:
        points = self.Z[members]
        self.pool[tuple(sorted(members.tolist()))] = float(((points - points.mean(axis=0)) ** 2).sum())

    def solve(self) -> float:
        """Solve the relaxation for the present groups; sets shares and prices, and returns the value of the prices."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_matrix

        n = len(self.Z)
        self.groups = list(self.pool)
        cost = np.array([self.pool[group] for group in self.groups])
        A = self._records_of(self.groups)
        B: Any = csc_matrix((0, len(self.groups)))
        room = np.zeros(0)
        if self.cuts:
            rows = np.repeat(np.arange(len(self.cuts)), [len(S) for S, _ in self.cuts])
            inside = csc_matrix(
                (np.ones(len(rows)), (rows, np.concatenate([S for S, _ in self.cuts]))), (len(self.cuts), n)
            )
            hits = (inside @ A).tocoo()
            hits.data = np.floor(hits.data / np.array([d for _, d in self.cuts])[hits.row])
            B, room = hits.tocsc(), np.array([len(S) // d for S, d in self.cuts], dtype=float)
        solved = linprog(cost, A_eq=A, b_eq=np.ones(n), A_ub=B, b_ub=room, method="highs-ds")
        if solved.status != 0:
            raise SDCFailure(f"the linear program could not be solved: {solved.message}")
        self.shares = np.asarray(solved.x)
        self.prices = np.asarray(solved.eqlin.marginals)
        self.cut_prices = np.maximum(0.0, -np.asarray(solved.ineqlin.marginals))
        if len(self.pool) > LARGEST_POOL:
            reduced = cost - A.T @ self.prices + B.T @ self.cut_prices
            self.pool = {self.groups[j]: cost[j] for j in np.argsort(reduced, kind="stable")[:KEPT]}
        self._tables = self._cut_tables()
        return float(self.prices.sum() - self.cut_prices @ room)

    def search(self, tolerance: float) -> int:
        """Add groups, found by a local search, that undercut their prices by more than a tolerance."""
        before = len(self.pool)
        self._calm = 0.5 * (self._calm + self.prices)  # smoothed, because prices jump from solution to solution
        for prices in (self._calm, self.prices):
            self._join(searched_groups(self.Z, self.k, self._near, prices, *self._tables, tolerance))
        return len(self.pool) - before

    def go_through(self, tolerance: float, steps: int) -> tuple[int, float | None]:
        """Add the cheapest of all groups that undercut their prices by more than a tolerance.

        Returns
        -------
        added, undercut
            Number of groups added, and an upper bound on the total by which the groups of a partition undercut their
            prices beyond the tolerance of each; ``None`` if it was given up after ``steps``.
        """
        before = len(self.pool)
        groups, undercut, left = cheap_groups(self.Z, self.k, self._half, self.prices, *self._tables, tolerance, steps)
        self._join(groups)
        return len(self.pool) - before, undercut if left else None

    def _cut_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Cuts of each record (padded with −1), and d and price of each cut."""
        lists: list[list[int]] = [[] for _ in self.Z]
        for q, (S, _) in enumerate(self.cuts):
            if self.cut_prices[q] > 0.0:
                for i in S:
                    lists[i].append(q)
        cuts_of = np.full((len(self.Z), max(1, *map(len, lists))), -1)
        for i, mine in enumerate(lists):
            cuts_of[i, : len(mine)] = mine
        return cuts_of, np.array([d for _, d in self.cuts] or [1]), np.append(self.cut_prices, 0.0)

    def _join(self, rows: NDArray[np.int64]) -> None:
        for row in rows:
            self.add(row[row >= 0])

    def picked(self, seconds: float, nodes: int) -> NDArray[np.int64] | None:
        """Choose whole groups with the smallest total cost, each record in one; None if none was found in time."""
        from scipy.optimize import Bounds, LinearConstraint, milp

        groups = list(self.pool)
        A = self._records_of(groups)
        options: Any = {"node_limit": nodes, "mip_rel_gap": 1e-5}
        if np.isfinite(seconds):
            options["time_limit"] = seconds
        solved = milp(
            np.array([self.pool[group] for group in groups]), constraints=LinearConstraint(A, 1.0, 1.0),
            integrality=np.ones(len(groups), dtype=np.int64), bounds=Bounds(0.0, 1.0), options=options,
        )  # fmt: skip
        if solved.x is None:
            return None
        labels = np.full(len(self.Z), -1)
        for g, j in enumerate(np.flatnonzero(solved.x > 0.5)):
            labels[list(groups[j])] = g
        return None if (labels < 0).any() else labels

    def _records_of(self, groups: list[Group]) -> Any:
        """Incidence matrix, records × groups: 1 if a record is in a group."""
        from scipy.sparse import csc_matrix

        starts = np.cumsum([0, *map(len, groups)])
        return csc_matrix((np.ones(starts[-1]), np.concatenate(groups), starts), shape=(len(self.Z), len(groups)))

    def separate(self) -> int:
        """Add the most violated cuts and drop those without effect; returns the number found."""
        self.cuts = [cut for cut, price in zip(self.cuts, self.cut_prices, strict=True) if price > 1e-9]
        partly = [
            (frozenset(group), float(share))
            for group, share in zip(self.groups, self.shares, strict=True)
            if 1e-6 < share < 1 - 1e-6
        ]
        holding: dict[int, list[int]] = {}
        for q, (group, _) in enumerate(partly):
            for i in group:
                holding.setdefault(i, []).append(q)
        known, found = set(self.cuts), {}
        for group, _ in partly:
            pairs = [frozenset(pair) for pair in combinations(sorted(group), 2)][:STARTS]
            for d, starts in ((2, pairs), *((d, [group]) for d in range(3, self.k + 2))):
                for start in starts:
                    for cut, excess in _grown(set(start), d, partly, holding):
                        if cut not in known:
                            found[cut] = excess
        used: dict[int, int] = {}
        added = 0
        for cut in sorted(found, key=lambda cut: (-found[cut], cut)):
            if added < CUTS_PER_ROUND and sum(used.get(i, 0) for i in cut[0]) <= CUTS_PER_RECORD * len(cut[0]):
                for i in cut[0]:
                    used[i] = used.get(i, 0) + 1
                self.cuts.append(cut)
                added += 1
        return added


def _grown(
    S: set[int], d: int, partly: list[tuple[frozenset[int], float]], holding: dict[int, list[int]]
) -> list[tuple[Cut, float]]:
    """Grow a set record by record, by the largest shares; returns the violated cuts on the way."""
    violated = []
    while len(S) <= max(9, 4 * d + 1):
        touching = sorted({q for i in S for q in holding.get(i, ())})
        taken, gain = 0.0, dict[int, float]()
        for q in touching:
            group, share = partly[q]
            inside = len(group & S)
            taken += share * (inside // d)
            for i in group - S:
                step = share if (inside + 1) % d == 0 else 0.15 * share * (inside % d + 1) / d
                gain[i] = gain.get(i, 0.0) + step
        if taken > len(S) // d + 2e-3:
            violated.append(((tuple(sorted(S)), d), taken - len(S) // d))
        if not gain:
            break
        S.add(max(gain, key=lambda i: (gain[i], -i)))
    return violated


def _half_to_nearest(Z: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Half the sum of the squared distances to the q nearest other records, for q from 0 to 2k − 2."""
    from scipy.spatial import cKDTree

    apart = np.square(cKDTree(Z).query(Z, k=min(2 * k - 1, len(Z)))[0])
    apart[:, 0] = 0.0  # the record itself, or a duplicate
    return np.ascontiguousarray(0.5 * np.cumsum(apart, axis=1))


def _neighbours(Z: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Each record, followed by its nearest others."""
    from scipy.spatial import cKDTree

    near = np.asarray(cKDTree(Z).query(Z, k=min(max(NEAREST, 4 * k), len(Z)))[1], dtype=np.int64)
    for i, row in enumerate(near):  # duplicates may come before the record
        row[:] = np.concatenate([[i], row[row != i][: len(row) - 1]])
    return np.ascontiguousarray(near)
