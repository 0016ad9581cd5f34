"""Searches for the reproduction of Balasch-Masoliver (2010)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pymoo.optimize import minimize

from sdc_problems import GOMMProblem, load
from sdc_problems.algorithms import GOMM
from sdc_problems.algorithms.grouping.operator_analysis import efficiency_ranges
from sdc_problems.methods.partition._attribute_groups import CENSUS, WATER_TREATMENT
from sdc_problems.operators.grouping import MUTATIONS

OPERATORS = ("crossover", *MUTATIONS)


@dataclass(frozen=True)
class Case:
    """One of the thesis' two tables."""

    name: str
    title: str
    columns: tuple[str, ...]

    def problem(self, k: int, objectives: Sequence[str] = ("score_mean",)) -> GOMMProblem:
        """A new problem, which remembers nothing from other searches."""
        return GOMMProblem(load(self.name).data.with_roles(quasi_identifiers=self.columns), k, objectives=objectives)


WATER = Case("water_treatment", "Water-treatment", WATER_TREATMENT)
CENSUS_CASE = Case("census", "Census", CENSUS)


@dataclass(frozen=True)
class Scale:
    """Scale of the runs, full or quick.

    Parameters
    ----------
    ks
        Values of k in the tables.
    seeds
        Runs of GOMM and of D-GOMM for each table and k.
    analysis_ks
        Values of k that chapter 4 analyzes; also in ``ks``.
    analysis_seeds, alone
        Runs of every operator alone, and its children per generation in these.
    generations, pop_size, crossovers, mutations
        Parameters of GOMM.
    study_seeds, study_evaluations
        Runs and evaluations of each search in the multi-objective study.
    """

    ks: tuple[int, ...]
    seeds: int
    analysis_ks: tuple[int, int]
    analysis_seeds: int
    alone: int
    generations: int
    pop_size: int
    crossovers: int
    mutations: int
    study_seeds: int
    study_evaluations: int

    @property
    def children(self) -> int:
        """Number of children per generation."""
        return 2 * self.crossovers + len(MUTATIONS) * self.mutations


FULL = Scale(
    ks=(5, 10, 25, 50, 100), seeds=5, analysis_ks=(25, 100), analysis_seeds=3, alone=100,
    generations=100, pop_size=200, crossovers=25, mutations=10, study_seeds=20, study_evaluations=10_200,
)  # fmt: skip
QUICK = Scale(
    ks=(5, 25, 100), seeds=1, analysis_ks=(25, 100), analysis_seeds=1, alone=20,
    generations=50, pop_size=80, crossovers=10, mutations=5, study_seeds=3, study_evaluations=800,
)  # fmt: skip
TINY = Scale(
    ks=(100,), seeds=1, analysis_ks=(100, 100), analysis_seeds=1, alone=2,
    generations=1, pop_size=4, crossovers=1, mutations=1, study_seeds=1, study_evaluations=8,
)  # fmt: skip


@dataclass(frozen=True)
class Course:
    """One run: its result, its cost, and the log of each operator in each generation."""

    k: int
    seed: int
    figures: dict[str, float]
    evaluations: int
    seconds: float
    generations: pd.DataFrame
    operators: pd.DataFrame


def search(
    case: Case, k: int, seed: int, scale: Scale, *, problem: GOMMProblem | None = None, **options: Any
) -> Course:
    """Run GOMM once; ``options`` are GOMM's, in addition to the scale's.

    By default on a new problem, so that nothing is remembered from other searches when time is measured.
    """
    given: dict[str, Any] = {"crossovers": scale.crossovers, "mutations": scale.mutations, **options}
    problem = problem or case.problem(k)
    _ = problem.engine  # reading the table does not count as a part of the search
    start = time.perf_counter()
    result = minimize(problem, GOMM(pop_size=scale.pop_size, **given), ("n_gen", scale.generations), seed=seed)
    seconds = time.perf_counter() - start
    algorithm = result.algorithm
    log = algorithm.operator_log.merge(efficiency_ranges(algorithm.children), on=["generation", "operator"])
    figures = problem.figures(result.X)
    return Course(k, seed, figures, algorithm.evaluator.n_eval, seconds, algorithm.generation_log, log)


@dataclass(frozen=True)
class CaseRuns:
    """All runs on one table."""

    case: Case
    fixed: dict[int, list[Course]]
    dynamic: dict[int, list[Course]]
    alone: dict[tuple[int, str], list[Course]]

    def best(self, k: int) -> Course:
        """The run of GOMM with the best score."""
        return min(self.fixed[k], key=lambda course: course.figures["score_mean"])

    def together(self, k: int) -> pd.DataFrame:
        """The operator log of the combined runs, averaged over seeds."""
        return averaged([course.operators for course in self.fixed[k]])

    def separately(self, k: int) -> pd.DataFrame:
        """The operator logs of the operators used alone, averaged over seeds."""
        logs = [averaged([course.operators for course in self.alone[k, name]]) for name in OPERATORS]
        return pd.concat(logs, ignore_index=True)


def run_case(case: Case, scale: Scale, say: Callable[[str], None]) -> CaseRuns:
    """Run GOMM and D-GOMM for every k and seed, and every operator alone for the k of chapter 4."""
    fixed: dict[int, list[Course]] = {}
    dynamic: dict[int, list[Course]] = {}
    alone: dict[tuple[int, str], list[Course]] = {}
    search(case, scale.ks[-1], 0, TINY)  # compiles before times are measured
    for k in scale.ks:
        say(f"{case.title}, k = {k}: GOMM and D-GOMM, {scale.seeds} seed(s)")
        fixed[k] = [search(case, k, seed, scale) for seed in range(1, scale.seeds + 1)]
        dynamic[k] = [search(case, k, seed, scale, dynamic=True) for seed in range(1, scale.seeds + 1)]
    for k in scale.analysis_ks:
        say(f"{case.title}, k = {k}: every operator alone, {scale.analysis_seeds} seed(s)")
        problem = case.problem(k)  # times do not matter here, so runs share what is remembered
        for name in OPERATORS:
            options: dict[str, Any] = (
                {"crossovers": scale.alone // 2, "mutations": 0}
                if name == "crossover"
                else {"crossovers": 0, "mutations": {name: scale.alone}}
            )
            seeds = range(1, scale.analysis_seeds + 1)
            alone[k, name] = [search(case, k, seed, scale, problem=problem, **options) for seed in seeds]
    return CaseRuns(case, fixed, dynamic, alone)


def averaged(logs: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Mean over runs of each generation and operator."""
    return pd.concat(logs).groupby(["generation", "operator"], sort=False).mean().reset_index()


def best_cost(courses: Sequence[Course]) -> NDArray[np.float64]:
    """Best score after each generation, mean over runs."""
    return np.asarray(np.mean([course.generations["best_score_mean"].to_numpy() for course in courses], axis=0))


def group_count(courses: Sequence[Course]) -> NDArray[np.float64]:
    """Mean number of groups in the population after each generation, mean over runs."""
    return np.asarray(np.mean([course.generations["groups"].to_numpy() for course in courses], axis=0))
