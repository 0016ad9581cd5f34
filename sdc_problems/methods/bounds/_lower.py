"""Lower bound on the sum of squares of k-partitions, by column generation.

A partition into groups of k to 2k − 1 records is a choice of groups in which each record is in exactly one. In the
linear relaxation, groups may be chosen in part. It is solved with few groups at a time. Each solution has a price for
every record, and groups that cost less than the prices of their records are added. When no such group is left in the
whole file, no choice of groups costs less than the sum of the prices. Most groups are found by a local search; at the
end, all groups of the file are enumerated, with bounds that exclude nearly all of them after two or three records.

Cuts raise the relaxation, and an integer program over groups of small reduced cost chooses a partition. For regions of
a table, this often is the best partition, and proven to be: so a partition is improved region by region.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import number, table, whole
from sdc_problems.errors import SDCFailure
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods.bounds._known import known_partition
from sdc_problems.methods.bounds._nearest import nearest_bound
from sdc_problems.methods.bounds._regions import improved_by_regions
from sdc_problems.methods.bounds._relaxation import Relaxation
from sdc_problems.methods.bounds._semidefinite import MOST, semidefinite_bound
from sdc_problems.methods.partition._attributes import smallest_group, z_scores

PRECISION = 0.05  # a relaxation is solved to this share of its distance from the known partition
MANY = 0.02  # groups per record found by the local search from which enumerating all groups is not worth it
SMALL_K, SMALL_TABLE = 7, 400
"""Largest k, and number of records for larger ones, for which the groups of a table are gone through.

With larger k, integer programs find nothing in regions that are small enough for them.
"""
ROUNDS_OF_REGION, NODES_OF_REGION = 8, 20
SHARE_OF_REGION = 0.1  # of the time limit


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
    progress: Callable[[LowerBound], object] | None = None,
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
    progress: Callable[[BoundedPartition], object] | None = None,
) -> BoundedPartition:
    """Improve a partition by integer programs, and bound the sum of squares of every partition from below.

    First, region by region of the table: column generation finds the groups of which good partitions of a region
    consist, and an integer program (HiGHS) chooses among them. Regions grow from 20 to 120 groups. Then the same is
    done for the whole table, which is `lower_bound` and the best choice among its groups. If there was not enough time
    for that, the bound is `semidefinite_bound`, or `nearest_bound` above 5,000 records. Where a table has too many
    groups (k above 7 and more than 400 records), only that bound is computed.

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
        Seconds for the regions, again for the whole table, and once more if its groups could not be gone through. The
        result then depends on the machine.
    nodes
        Largest number of nodes in the tree of the integer program of the whole table.
    progress
        Called after each region and each round of the bound with what is known then; before the first round, the bound
        is 0.

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
    Z, start, limits = _checked(X, k, labels, standardize, rounds, time_limit, steps, tolerance)
    nodes = whole(nodes, "nodes", least=1)
    none = LowerBound(0.0, False, 0.0, 0, 0, 0)
    known, ends = start, time.perf_counter() + limits.seconds

    def improve(region: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
        left = max(0.0, min(ends - time.perf_counter(), SHARE_OF_REGION * limits.seconds))
        within = limits._replace(rounds=min(limits.rounds, ROUNDS_OF_REGION), seconds=left)
        here, before = np.ascontiguousarray(Z[region]), np.unique(known[region], return_inverse=True)[1]
        try:
            found = _solved(here, k, before, within, min(nodes, NODES_OF_REGION), None)
        except SDCFailure:  # a program that the solver gives up; the region stays what it is
            return None
        if found.sse >= sse(here, before) * (1.0 - 1e-9):
            return None
        return [region[found.labels == g] for g in np.unique(found.labels)]

    gone_through = k <= SMALL_K or len(Z) <= SMALL_TABLE
    if limits.seconds and gone_through:
        for known in improved_by_regions(Z, start, improve):
            if progress is not None:
                progress(BoundedPartition(known, sse(Z, known), none))
            if time.perf_counter() >= ends:
                break
    found = BoundedPartition(known, sse(Z, known), none)
    if gone_through:
        found = _solved(Z, k, known, limits, nodes, progress)
    if found.bound.rounds and found.bound.proven:
        return found
    return _bounded_for_any_k(Z, k, found, limits, progress)


def _bounded_for_any_k(
    Z: NDArray[np.float64],
    k: int,
    found: BoundedPartition,
    limits: _Limits,
    progress: Callable[[BoundedPartition], object] | None,
) -> BoundedPartition:
    """Bound a partition where there are too many groups to exclude them one by one."""
    began, least = time.perf_counter(), nearest_bound(Z, k, standardize=False)

    def bounded(higher: float, rounds: int) -> BoundedPartition:
        seconds = time.perf_counter() - began
        return found._replace(bound=LowerBound(min(max(least, higher), found.sse), True, seconds, rounds, 0, 0))

    best = bounded(0.0, 0)

    def told(higher: float, rounds: int) -> None:
        nonlocal best
        best = bounded(higher, rounds)
        if progress is not None:
            progress(best)

    if len(Z) <= MOST:
        limit = limits.seconds if np.isfinite(limits.seconds) else None
        semidefinite_bound(Z, k, labels=found.labels, standardize=False, time_limit=limit, progress=told)
    return best


def _solved(
    Z: NDArray[np.float64],
    k: int,
    known: NDArray[np.int64],
    limits: _Limits,
    nodes: int,
    progress: Callable[[BoundedPartition], object] | None,
) -> BoundedPartition:
    """Bound, and the best choice of groups whose reduced costs are less than what the known partition is above it."""
    best, ends = sse(Z, known), time.perf_counter() + limits.seconds

    def told(bound: LowerBound) -> None:
        if progress is not None:
            progress(BoundedPartition(known, best, bound))

    bound, relaxed = _raised(Z, k, known, limits, told)
    if relaxed is not None and len(relaxed.prices) and bound.sse < best * (1.0 - 1e-9):
        most = float(len(Z) // k)
        open_ = most - relaxed.solve()
        relaxed.search(-open_)
        relaxed.go_through(-open_, limits.steps)
        picked = relaxed.picked(most, known, max(0.0, ends - time.perf_counter()), nodes)
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
    return Z, known_partition(labels, Z, k), limits


def _raised(
    Z: NDArray[np.float64],
    k: int,
    known: NDArray[np.int64],
    limits: _Limits,
    progress: Callable[[LowerBound], object] | None,
) -> tuple[LowerBound, Relaxation | None]:
    """Best bound (0 rounds if there was no time), and the relaxation with its groups."""
    began, (rounds, limit, steps, tolerance) = time.perf_counter(), limits
    best, most_groups = sse(Z, known), len(Z) // k
    if best == 0.0:
        return LowerBound(0.0, True, 0.0, 0, 0, 0), None
    unit = best / most_groups  # mean error of a group: all figures below are multiples of it, which suits solvers
    relaxed = Relaxation(Z / np.sqrt(unit), k, known)
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
