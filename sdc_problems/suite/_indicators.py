"""Indicators of a record, computed from its archive: how near to the front a run was at any time, and its cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import moocore
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems.errors import SDCError
from sdc_problems.suite._record import Record

FloatArray = NDArray[np.float64]

REFERENCE = 1.1
"""Reference point of hypervolumes in the scaled box, where the ideal is 0 and the nadir 1."""
SAME = 1e-9
"""Distance in the scaled box below which two points count as one."""
GAPS: FloatArray = 10.0 ** (-np.arange(1, 51) / 10.0)
"""Gaps that serve as targets, from 10^-0.1 to 10^-5; the whole front is the last of the 51 targets."""


class Measured(Protocol):
    """Properties of an instance that indicators need."""

    @property
    def id(self) -> str:
        """Name with its version."""

    @property
    def digest(self) -> str:
        """SHA-256 of its definition."""

    @property
    def known(self) -> str:
        """Standing of its front: exact, bracketed or best."""

    @property
    def front(self) -> FloatArray:
        """Points of the front, minimized."""

    @property
    def bound(self) -> FloatArray | None:
        """For a bracketed front: points that no solution is better than."""

    def scaled(self, F: ArrayLike) -> FloatArray:
        """Values with the ideal at 0 and the nadir at 1."""


class Curve(NamedTuple):
    """Gap of a run's archive after each solution that entered it."""

    at: NDArray[np.int64]
    """Evaluations, of all that the algorithm requested."""
    at_different: NDArray[np.int64]
    """Different solutions among them."""
    gap: FloatArray
    """Share of the front's hypervolume that is missing from then on: 1 before any solution, 0 for the whole front."""


def volume(points: ArrayLike) -> float:
    """Hypervolume of points of the scaled box, up to the reference point at 1.1 (Zitzler & Thiele 1998).

    Examples
    --------
    >>> round(volume([[0.0, 1.0], [1.0, 0.0]]), 2)
    0.21
    """
    P = np.asarray(points, dtype=float)
    P = np.ascontiguousarray(P[(P < REFERENCE).all(axis=1)])
    return float(moocore.hypervolume(P, ref=np.full(P.shape[1], REFERENCE))) if len(P) else 0.0


def check_fits(record: Record, instance: Measured) -> None:
    """Refuse a record of another instance, or of another version of it."""
    if record.instance != instance.id:
        raise SDCError(f"the record is of {record.instance or 'no instance'}, not of {instance.id}")
    if record.digest != instance.digest:
        raise SDCError(f"the record is of another {instance.id}: its digest differs, so the numbers cannot be compared")


def anytime(record: Record, instance: Measured) -> Curve:
    """Gap of the archive over the run: 1 - hypervolume of the archive / hypervolume of the front, in the scaled box.

    Parameters
    ----------
    record
        The run.
    instance
        The instance it ran on.

    Notes
    -----
    A negative gap is possible if the front is not proven: the run has found something better. The cost is one
    hypervolume for each solution that entered the archive.
    """
    check_fits(record, instance)
    S = instance.scaled(record.F) if len(record) else record.F
    whole = volume(instance.scaled(instance.front))
    archive = np.empty((0, S.shape[1]))
    gap = np.ones(len(S))
    for i, point in enumerate(S):
        if not (point < REFERENCE).all():
            gap[i] = gap[i - 1] if i else 1.0
            continue
        archive = np.vstack([archive[~np.all(archive >= point, axis=1)], point])
        gap[i] = 1.0 - volume(archive) / whole
    gap[np.abs(gap) < 1e-12] = 0.0  # rounding of the whole front's volume
    return Curve(record.at, record.at_different, gap)


def found_at(record: Record, instance: Measured) -> FloatArray:
    """Evaluation that found each point of the front; infinity for points that the run did not find.

    Parameters
    ----------
    record
        The run.
    instance
        The instance it ran on.
    """
    check_fits(record, instance)
    front = instance.scaled(instance.front)
    when = np.full(len(front), np.inf)
    S = instance.scaled(record.F) if len(record) else np.empty((0, front.shape[1]))
    for i, point in enumerate(front):
        hits = np.flatnonzero((np.abs(S - point) <= SAME).all(axis=1))
        if len(hits):
            when[i] = record.at[hits[0]]
    return when


def runtimes(
    record: Record, instance: Measured, curve: Curve | None = None, when: FloatArray | None = None
) -> FloatArray:
    """Evaluations needed for each of the 51 targets; infinity for targets that the run did not reach.

    Parameters
    ----------
    record
        The run.
    instance
        The instance it ran on. If its front is not proven, the last target is a gap of 0 to the best front known.
    curve, when
        Results of ``anytime`` and ``found_at``, if they are already known.
    """
    curve = anytime(record, instance) if curve is None else curve
    if instance.known == "exact":
        last = float((found_at(record, instance) if when is None else when).max())
    else:
        last = _first(curve, 0.0)
    return np.array([*(_first(curve, gap) for gap in GAPS), last])


def _first(curve: Curve, gap: float) -> float:
    reached = np.flatnonzero(curve.gap <= gap)
    return float(curve.at[reached[0]]) if len(reached) else np.inf


def expected_runtimes(times: ArrayLike, evaluations: ArrayLike) -> FloatArray:
    """Expected runtime for each target: evaluations of all runs until they reach it or end, per run that reaches it.

    Hansen et al. (2021): the evaluations needed by an algorithm that is restarted whenever its budget is used up;
    infinity if no run reached the target.

    Parameters
    ----------
    times
        Runs × targets, as from ``runtimes``.
    evaluations
        Total number of evaluations of each run.

    Examples
    --------
    >>> expected_runtimes([[10, 30], [20, np.inf]], [100, 100]).tolist()
    [15.0, 130.0]
    """
    T = np.asarray(times, dtype=float)
    spent = np.where(np.isfinite(T), T, np.asarray(evaluations, dtype=float)[:, None]).sum(axis=0)
    reached = np.isfinite(T).sum(axis=0)
    with np.errstate(divide="ignore"):
        expected: FloatArray = np.where(reached > 0, spent / np.maximum(reached, 1), np.inf)
    return expected


def area(curve: Curve, evaluations: int) -> float:
    """Area over the anytime curve: mean gap over the evaluations 1, …, n; smaller is better.

    Examples
    --------
    >>> area(Curve(np.array([1, 3]), np.array([1, 2]), np.array([0.5, 0.0])), 4)
    0.25
    """
    there = curve.at <= evaluations
    begins = np.concatenate([[1], curve.at[there], [evaluations + 1]])
    gaps = np.concatenate([[1.0], curve.gap[there]])
    return float((np.diff(begins) * gaps).sum() / evaluations)


def indicators(
    record: Record,
    instance: Measured,
    at: Sequence[int] | None = None,
    *,
    curve: Curve | None = None,
    when: FloatArray | None = None,
) -> list[dict[str, float | int | str | None]]:
    """Indicators of a run after given numbers of evaluations, one dictionary for each number.

    ``gap``; ``gap_bound``, the gap to the proven bound (exact: the same; best: not known); ``found``, the share of
    the front's points (exact only); additive ``epsilon`` and ``igd_plus`` in the scaled box; ``area`` over the anytime
    curve; and the number of the 51 ``targets`` that were reached.

    Parameters
    ----------
    record
        The run.
    instance
        The instance it ran on.
    at
        Numbers of evaluations; by default the run's budget.
    curve, when
        Results of ``anytime`` and ``found_at``, if they are already known.
    """
    curve = anytime(record, instance) if curve is None else curve
    when = found_at(record, instance) if when is None else when
    times = runtimes(record, instance, curve, when)
    front = instance.scaled(instance.front)
    whole, bound = volume(front), instance.bound
    widest = None if bound is None else volume(instance.scaled(bound))
    rows: list[dict[str, float | int | str | None]] = []
    for evaluations in [record.budget] if at is None else at:
        F = record.F[record.front(evaluations)]
        S = np.ascontiguousarray(instance.scaled(F)) if len(F) else None
        n = int((curve.at <= evaluations).sum())
        gap = float(curve.gap[n - 1]) if n else 1.0
        to_bound = gap if instance.known == "exact" else None
        if widest is not None:
            to_bound = 1.0 - (1.0 - gap) * whole / widest
        complete = evaluations >= record.budget
        rows.append(
            {
                "instance": record.instance,
                "algorithm": record.algorithm,
                "seed": record.seed,
                "budget": evaluations,
                "evaluations": min(record.evaluations, evaluations),
                "different": record.different if complete else None,
                "gap": gap,
                "gap_bound": to_bound,
                "found": float((when <= evaluations).mean()) if instance.known == "exact" else None,
                "epsilon": None if S is None else float(moocore.epsilon_additive(S, ref=front)),
                "igd_plus": None if S is None else float(moocore.igd_plus(S, ref=front)),
                "area": area(curve, evaluations),
                "targets": int((times <= evaluations).sum()),
                "seconds_measuring": record.seconds_measuring if complete else None,
                "seconds_algorithm": record.seconds_algorithm if complete else None,
            }
        )
    return rows
