"""Protect a file by microaggregation in one step: group its records, write their centroids, check what was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCFailure, did_you_mean
from sdc_problems.studies.release._release import read_back, temporary_beside, without_identifiers
from sdc_problems.studies.release.csv_text import to_csv
from sdc_problems.studies.release.guarantees import Guarantee
from sdc_problems.studies.tasks import find_task
from sdc_problems.studies.verdict import LINKAGE_LIMIT, Verdict, verdict
from sdc_problems.studies.verdict.pairing import read_protected

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

Labels = NDArray[np.int32]


@dataclass(frozen=True)
class Settings:
    """Settings of the methods besides k.

    Attributes
    ----------
    gamma
        How readily a group of V-MDAV grows.
    K
        Records of a macrogroup.
    epochs
        Epochs of the genetic algorithm.
    seed
        Of the methods that draw random numbers.
    moves, seconds
        Limits of the memetic search; if neither is given, 20,000 moves per record.
    """

    gamma: float = 0.2
    K: int = 18
    epochs: int = 10_000
    seed: int = 1
    moves: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Method:
    """A way to group records.

    Attributes
    ----------
    title
        What it is.
    group
        Makes one label per record.
    numeric
        Whether it is for numeric columns only.
    """

    title: str
    group: Callable[[MicroaggregationProblem, Settings], NDArray[Any]]
    numeric: bool = True


def _mdav(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import mdav

    return mdav(problem.points(), problem.k, kinds=problem.kinds)


def _v_mdav(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import v_mdav

    return v_mdav(problem.points(), problem.k, gamma=settings.gamma)


def _mhm(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import mhm

    return mhm(problem.points(), problem.k)


def _mhm_nearest(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import mhm

    return mhm(problem.points(), problem.k, order="nearest")


def _univariate(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import microaggregate_univariate

    points = problem.points()
    if points.shape[1] != 1:
        raise SDCError(f"method univariate is for one column, not for {points.shape[1]}: use mdav, mhm or hybrid")
    return microaggregate_univariate(points[:, 0], problem.k)


def _exhaustive(problem: MicroaggregationProblem, settings: Settings) -> Labels:
    from sdc_problems.methods import exhaustive

    return exhaustive(problem.points(), problem.k)


def _searched(problem: MicroaggregationProblem, algorithm: Any, settings: Settings) -> NDArray[Any]:
    from pymoo.optimize import minimize

    labels: NDArray[Any] = minimize(problem, algorithm, seed=settings.seed, copy_algorithm=False).X
    return labels


def _hybrid(steps: Literal[1, 2]) -> Callable[[MicroaggregationProblem, Settings], NDArray[Any]]:
    def group(problem: MicroaggregationProblem, settings: Settings) -> NDArray[Any]:
        from sdc_problems.algorithms import HybridMicroaggregation

        return _searched(problem, HybridMicroaggregation(K=settings.K, steps=steps, epochs=settings.epochs), settings)

    return group


def _ga(problem: MicroaggregationProblem, settings: Settings) -> NDArray[Any]:
    from sdc_problems.algorithms.microaggregation.solanas_ga import evolve

    rng = np.random.default_rng(settings.seed)
    return evolve(problem.points(), problem.k, rng=rng, epochs=settings.epochs).labels


def _memetic(problem: MicroaggregationProblem, settings: Settings) -> NDArray[Any]:
    from sdc_problems.algorithms import MemeticMicroaggregation

    search = MemeticMicroaggregation(move_limit=settings.moves, time_limit=settings.seconds)
    return _searched(problem, search, settings)


METHODS: dict[str, Method] = {
    "mdav": Method("fixed-size groups around the farthest records", _mdav, numeric=False),
    "v-mdav": Method("groups of k to 2k − 1 around the farthest records", _v_mdav),
    "mhm": Method("the best cut of MDAV's path", _mhm),
    "mhm-nearest": Method("the best cut of the nearest-point path", _mhm_nearest),
    "univariate": Method("the optimum of one column", _univariate),
    "hybrid": Method("MDAV, then a genetic algorithm in macrogroups of its groups (two-step)", _hybrid(2)),
    "hybrid-one-step": Method("a genetic algorithm in MDAV's groups of K", _hybrid(1)),
    "memetic": Method("annealing, ruin and recreate, and crossover of groups: the smallest loss", _memetic),
    "ga": Method("the genetic algorithm, for up to about 50 records", _ga),
    "exhaustive": Method("the optimum of up to 12 records", _exhaustive),
}


@dataclass(frozen=True)
class Protected:
    """A protected file that was written.

    Attributes
    ----------
    file
        Where it is.
    method
        How it was made.
    groups
        Number of groups.
    what_was_done
        In plain sentences.
    guarantees
        Promises, counted again in the file.
    verdict
        What the file gives away and has lost.
    """

    file: Path
    method: str
    groups: int
    what_was_done: tuple[str, ...]
    guarantees: tuple[Guarantee, ...]
    verdict: Verdict

    def payload(self) -> dict[str, Any]:
        """Everything as JSON can hold it."""
        return {
            "schema": "sdc.protected/1",
            "file": self.file.name,
            "method": self.method,
            "groups": self.groups,
            "what_was_done": list(self.what_was_done),
            "guarantees_checked_in_the_file": [g.as_dict() for g in self.guarantees],
            "verdict": self.verdict.payload(),
        }


def protect(
    data: Microdata,
    out: Path,
    *,
    method: str,
    k: int,
    settings: Settings | None = None,
    formula_guard: bool = False,
    overwrite: bool = False,
    linkage_limit: int = LINKAGE_LIMIT,
) -> Protected:
    """Microaggregate the quasi-identifiers and write the protected file; all or nothing.

    Parameters
    ----------
    data
        The table; its quasi-identifiers are the columns that are protected.
    out
        The CSV file to write, without the direct identifiers.
    method
        A name in ``METHODS``.
    k
        Smallest group.
    settings
        What some methods ask for besides k.
    formula_guard
        Put an apostrophe before text that a spreadsheet would take for a formula.
    overwrite
        Whether a file that exists already may be replaced.
    linkage_limit
        Most records for which the verdict links probabilistically.
    """
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

    if method not in METHODS:
        raise SDCError(f"there is no method {method!r}{did_you_mean(method, METHODS)} (known: {', '.join(METHODS)})")
    out = Path(out)
    if not out.parent.is_dir():
        raise SDCError(f"there is no folder {str(out.parent)!r} to write into")
    if out.is_dir():
        raise SDCError(f"{str(out)!r} is a folder: name a file")
    if out.exists() and not overwrite:
        raise SDCError(f"{str(out)!r} exists already: choose another --out, or give --overwrite")
    problem = MicroaggregationProblem(data, k)
    other = [name for name, kind in zip(problem.attributes, problem.kinds, strict=True) if kind != "numeric"]
    if other and METHODS[method].numeric:
        fit = ", ".join(name for name, entry in METHODS.items() if not entry.numeric)
        raise SDCError(f"method {method} is for numeric columns, and {other[0]!r} is not one: use {fit}")
    x = problem.genome(METHODS[method].group(problem, Settings() if settings is None else settings))
    frame = without_identifiers(problem.release(x), problem)
    with temporary_beside(out) as temporary:
        temporary.write_bytes(to_csv(frame, formula_guard=formula_guard))
        guarantees = find_task("microaggregation").guarantees(problem, x, read_back(temporary, frame, formula_guard))
        broken = [g for g in guarantees if not g.holds]
        if broken:
            found = "; ".join(f"{g.name}: {g.found:g} where {g.promised:g} was promised" for g in broken)
            raise SDCFailure(f"the written file does not keep what was promised ({found}): nothing is released")
        measured = frame if formula_guard else read_protected(temporary)
        found_out = verdict(data, measured, same_rows=True, linkage_limit=linkage_limit)
        temporary.replace(out)
    groups = int(problem.labels(x).max()) + 1
    return Protected(out, method, groups, problem.describe(x), tuple(guarantees), found_out)
