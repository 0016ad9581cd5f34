"""Searches for the reproduction of Marés (2013), chapter 4, each with its progress over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems import Microdata, PRAMEquationProblem, PRAMProblem, load
from sdc_problems.algorithms import ElitistEA, SteadyStateGP
from sdc_problems.evaluators.disclosure_risk import expectation_ratio, mean_expectation_ratio
from sdc_problems.methods import max_entropy_matrix

CONTROL = (0.55, 0.75)


@dataclass(frozen=True)
class Scale:
    """Scale of the runs, full or quick."""

    ea_generations: int = 1125
    ea_seeds: int = 5
    gp_generations: int = 1500
    gp_seeds: int = 3
    front_generations: int = 200
    invariance_generations: int = 250
    files: int = 2000


FULL = Scale()
QUICK = Scale(
    ea_generations=150,
    ea_seeds=1,
    gp_generations=80,
    gp_seeds=1,
    front_generations=25,
    invariance_generations=40,
    files=300,
)


@dataclass(frozen=True)
class Case:
    """A file and its three attributes, under the paper's names."""

    name: str
    title: str
    attributes: tuple[str, ...]
    paper_names: tuple[str, ...]

    def data(self) -> Microdata:
        """Load the file."""
        return load(self.name).data


GERMAN = Case(
    "german_credit",
    "German credit",
    ("checking_status", "employment", "savings_status"),
    ("EXISTACC", "PRESEMPLOY", "SAVINGS"),
)
FLARE = Case(
    "solar_flare",
    "Solar flare",
    ("class_zurich", "largest_spot_size", "spot_distribution"),
    ("CLASS", "LARGSPOT", "SPOTDIST"),
)


class Best(Callback):
    """Best candidate after every generation."""

    def __init__(self) -> None:
        super().__init__()
        self.X: list[NDArray[Any]] = []
        self.F: list[float] = []

    def notify(self, algorithm: Any) -> None:
        """Remember it."""
        best = algorithm.opt[0]
        self.F.append(float(best.F[0]))
        self.X.append(best.X.copy())


@dataclass(frozen=True)
class Course:
    """A search by one score: its problem, its last candidate, and the best one after every generation."""

    problem: PRAMProblem | PRAMEquationProblem
    x: NDArray[Any]
    score: NDArray[np.float64]
    il: NDArray[np.float64]
    dr: NDArray[np.float64]

    @property
    def first(self) -> tuple[float, float]:
        """Information loss and disclosure risk of the start."""
        return float(self.il[0]), float(self.dr[0])

    @property
    def last(self) -> tuple[float, float]:
        """Information loss and disclosure risk of the end."""
        return float(self.il[-1]), float(self.dr[-1])

    def fresh(self, files: int) -> dict[str, float]:
        """Information loss and disclosure risk on files that the search has not used."""
        return self.problem.assess(self.x, ["il_categorical", "dr_categorical"], files=files)


def _course(problem: Any, both: Any, algorithm: Any, generations: int, seed: int) -> Course:
    best = Best()
    result = minimize(problem, algorithm, ("n_gen", generations), seed=seed, callback=best)
    changed = [0, *(i for i in range(1, len(best.X)) if (best.X[i] != best.X[i - 1]).any())]
    F = both.evaluate(np.array([best.X[i] for i in changed]))
    of_generation = np.searchsorted(changed, np.arange(len(best.X)), side="right") - 1
    return Course(problem, result.X, np.array(best.F), F[of_generation, 0], F[of_generation, 1])


def matrix_course(data: Microdata, attributes: Sequence[str], generations: int, seed: int) -> Course:
    """The (1+1) EA from the frequency-based matrices with p = 0.5, by the mean score of five files."""
    problem = PRAMProblem(data, columns=attributes, objectives=("score_mean",))
    return _course(problem, PRAMProblem(data, columns=attributes), ElitistEA(), generations, seed)


def equation_course(
    data: Microdata, attributes: Sequence[str], objective: str, depth: int, generations: int, seed: int
) -> Course:
    """The steady-state GP by a score of five files."""
    problem = PRAMEquationProblem(data, columns=attributes, objectives=(objective,), depth=depth)
    both = PRAMEquationProblem(data, columns=attributes, depth=depth)
    return _course(problem, both, SteadyStateGP(), generations, seed)


def median(courses: Sequence[Course]) -> Course:
    """The course with the median result (the better of two)."""
    order = sorted(courses, key=lambda course: float(course.score[-1]))
    return order[(len(order) - 1) // 2]


def front(
    data: Microdata, attributes: Sequence[str], generations: int, diagonal: tuple[float, float] | None
) -> tuple[PRAMProblem, NDArray[Any], NDArray[np.float64]]:
    """NSGA-II over expected information loss and disclosure risk, started from the baselines' matrices."""
    problem = PRAMProblem(data, columns=attributes, evaluation="expected", diagonal=diagonal)
    result = minimize(problem, NSGA2(pop_size=100, **problem.operators()), ("n_gen", generations), seed=1)
    order = np.argsort(result.F[:, 0])
    return problem, result.X[order], result.F[order]


@dataclass(frozen=True)
class Variant:
    """One way to get a matrix in the invariance experiment, and its effect."""

    name: str
    course: NDArray[np.float64]
    """Fitness after every generation; empty if there was no search."""
    bivariate: float
    chi2: float
    ratios: NDArray[np.float64]
    risk: float


def invariance(data: Microdata, attribute: str, against: str, generations: int, files: int) -> list[Variant]:
    """The five matrices of Tables 4.8 to 4.11: from maximum entropy with 0.6, by Eq. 4.5 for five files.

    They are measured on as many new ``files``.
    """
    n = data.attribute(attribute).n_categories
    settings: list[tuple[str, dict[str, Any], bool]] = [
        ("Initial matrix", {}, False),
        ("Only invariance", {"invariant": True}, False),
        ("Evolved, invariant, control", {"invariant": True, "diagonal": CONTROL}, True),
        ("Evolved, not invariant, control", {"diagonal": CONTROL}, True),
        ("Evolved, not invariant, no control", {}, True),
    ]
    variants = []
    for name, limits, evolve in settings:
        problem = PRAMProblem(data, columns=[attribute], objectives=("bivariate",), against=against, **limits)
        x = problem.encode({attribute: max_entropy_matrix(n, 0.6)})
        course = np.empty(0)
        if evolve:
            best = Best()
            x = minimize(problem, ElitistEA(start=x), ("n_gen", generations), seed=1, callback=best).X
            course = np.array(best.F)
        (P,) = problem.matrices(x)
        (counts,) = problem.frequencies
        measured = problem.assess(x, ["bivariate", "chi2"], files=files)
        variants.append(
            Variant(
                name,
                course,
                measured["bivariate"],
                measured["chi2"],
                expectation_ratio(P, counts),
                mean_expectation_ratio(P, counts),
            )
        )
    return variants
