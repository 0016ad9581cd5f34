"""Searches for the reproduction of Marés (2013), chapter 3, each with its progress over time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.core.termination import NoTermination
from scipy.stats import rankdata

from sdc_problems import MaskingProblem
from sdc_problems.algorithms import CellSearch, MaskEvolution
from sdc_problems.operators.cells import CellMutation
from sdc_problems.studies.reproductions.evolution.cases import Case
from sdc_problems.studies.store.hypervolume import Box, nondominated

SEED = 1
WEIGHTS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Weights of the loss along the front of a numeric file, which is short."""


@dataclass(frozen=True)
class Scale:
    """Scale of the runs, full or quick.

    Attributes
    ----------
    records
        Largest number of records of each file; all if None.
    generations
        Number of generations of Algorithm 5.
    moves
        Number of changes tried per cell and file by `CellSearch`, numeric and categorical.
    front_moves
        The same for each point of a front.
    pop_size, nsga_seconds
        Population size of NSGA-II, and its limit of CPU seconds.
    large
        Whether the 30,162 records are searched.
    every_ray
        A categorical front is searched towards every such non-dominated start file: 1 is each, 2 every other one, …
    """

    records: int | None = None
    generations: int = 1000
    moves: tuple[int, int] = (2000, 4000)
    front_moves: tuple[int, int] = (100, 600)
    pop_size: int = 60
    nsga_seconds: float = 60.0
    large: bool = True
    every_ray: int = 1


FULL = Scale()
QUICK = Scale(
    records=200, generations=80, moves=(40, 100), front_moves=(15, 30), pop_size=20, nsga_seconds=1.0, large=False,
    every_ray=12,
)  # fmt: skip


@dataclass(frozen=True)
class Course:
    """Course of an evolution.

    Attributes
    ----------
    scores
        Smallest, mean and largest score of each generation, that of the start first.
    first, last
        Loss and risk of each file, at the start and at the end.
    crossover, mutation
        Mean CPU seconds of a generation of each kind.
    seconds
        CPU seconds of all generations.
    best
        Row of X of the best file.
    """

    scores: NDArray[np.float64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    crossover: float
    mutation: float
    seconds: float
    best: NDArray[Any]


class Textbook(MaskEvolution):
    """Evolution with both operators in each generation, at the rates of Schaffer et al. (1989): Figure 3.5.

    Parameters
    ----------
    all_cells
        Whether each cell is mutated with the mutation's probability (the source's test 1), or one cell (test 2).
    """

    CROSSOVER, MUTATION = 0.9, 0.01

    def __init__(self, *, all_cells: bool) -> None:
        super().__init__(crossover_prob=1.0)
        self.all_cells = all_cells

    def _infill(self) -> Any:
        rng = self.random_state
        assert rng is not None
        chance = 1.0 / np.maximum(self.pop.get("F")[:, 0], 1e-9)
        self._parents = rng.choice(len(chance), size=2, replace=False, p=chance / chance.sum()).tolist()
        rows = self.pop.get("X")[self._parents].copy()
        if rng.random() < self.CROSSOVER:
            rows = self.crossover._do(self.problem, rows[:, None, :], random_state=rng)[:, 0]
        for row in rows:
            cells = rng.binomial(len(row), self.MUTATION) if self.all_cells else rng.random() < self.MUTATION
            if cells:
                row[:] = CellMutation(n_cells=int(cells))._do(self.problem, row[None, :], random_state=rng)[0]
        children = [self._child(i, row) for i, row in zip(self._parents, rows, strict=True)]
        self.evaluator.n_eval += len(children)
        return Population.create(*children)


def evolve(
    case: Case,
    score: str,
    scale: Scale,
    *,
    seed: int = SEED,
    without: float = 0.0,
    algorithm: MaskEvolution | None = None,
) -> Course:
    """Run Algorithm 5, or a variant, from a population like the source's, not guarded as in the source.

    Parameters
    ----------
    case, score, scale
        The file, the score to minimize, and the scale of the run.
    seed
        Seed of the evolution.
    without
        Share of the start files to leave out, from the best.
    algorithm
        The variant.
    """
    problem = case.problem((score,), guard=False, most=scale.records)
    if without:
        files = problem.starts()
        order = np.argsort(problem.evaluate(np.stack(list(files.values())))[:, 0], kind="stable")
        names = [list(files)[i] for i in order[round(without * len(files)) :]]
        kept = {name: problem.protected(files[name]) for name in names}
        problem = case.problem((score,), guard=False, most=scale.records, start=kept)
    search = MaskEvolution() if algorithm is None else algorithm
    search.setup(problem, termination=("n_gen", scale.generations + 1), seed=seed)
    search.next()
    first = search.pop.get("X").copy()
    scores = [_three(search)]
    spent: dict[int, list[float]] = {1: [], 2: []}
    while search.has_next():
        began, before = time.process_time(), search.evaluator.n_eval
        search.next()
        spent[search.evaluator.n_eval - before].append(time.process_time() - began)
        scores.append(_three(search))
    parts = case.problem(parts_of(problem), guard=False, most=scale.records)
    return Course(
        np.array(scores),
        parts.evaluate(first),
        parts.evaluate(search.pop.get("X")),
        float(np.mean(spent[2])) if spent[2] else 0.0,
        float(np.mean(spent[1])) if spent[1] else 0.0,
        sum(map(sum, spent.values())),
        search.pop.get("X")[int(np.argmin(search.pop.get("F")[:, 0]))].copy(),
    )


def parts_of(problem: MaskingProblem) -> tuple[str, ...]:
    """Names of the loss and the risk from which a problem's scores are computed."""
    return tuple(problem.engine.made_of["score_mean"])


def _three(search: Any) -> tuple[float, float, float]:
    F = search.pop.get("F")[:, 0]
    return float(F.min()), float(F.mean()), float(F.max())


@dataclass(frozen=True)
class Found:
    """Result of a search by cells: its problem, the file, its score, and the score after given seconds."""

    problem: MaskingProblem
    x: NDArray[Any]
    score: float
    start: float
    seconds: NDArray[np.float64]
    scores: NDArray[np.float64]


def search_cells(case: Case, scale: Scale, *, edits: tuple[str, ...] = (), seed: int = SEED) -> Found:
    """Run `CellSearch` on a file, guarded."""
    start = None if case.name != "adult" else "few"
    problem = case.problem((case.score,), guard=True, most=scale.records, start=start, edits=edits)
    moves = scale.moves[not case.numeric] * problem.n_var
    search = CellSearch(move_limit=moves, islands=2)
    search.setup(problem, seed=seed)
    seconds, scores, began = [], [], 0.0
    while search.has_next():
        search.next()
        began = began or time.perf_counter()  # the first measurement is of the start files
        seconds.append(time.perf_counter() - began)
        scores.append(search.trajectory[-1].score)
    best = search.opt[0]
    guarded = case.problem((case.score,), guard=True, most=scale.records, start=start)
    starts = guarded.evaluate(np.stack(list(guarded.starts().values())), return_values_of=["F"])
    return Found(problem, best.X, float(best.F[0]), float(starts.min()), np.array(seconds), np.array(scores))


@dataclass(frozen=True)
class Fronts:
    """Fronts of loss and risk of one file.

    Attributes
    ----------
    start
        Loss and risk of the start files.
    ours, nsga
        Fronts of `CellSearch` and NSGA-II.
    ours_course, nsga_course
        CPU seconds, and the dominated share of the box between the best and the worst of all start files by then.
    """

    start: NDArray[np.float64]
    ours: NDArray[np.float64]
    nsga: NDArray[np.float64]
    ours_course: NDArray[np.float64]
    nsga_course: NDArray[np.float64]

    def dominated(self) -> tuple[int, int]:
        """Number of start files that a file of our front dominates, and number of those it only equals."""
        as_good = (self.ours[:, None] <= self.start[None]).all(axis=2)
        beaten = (as_good & (self.ours[:, None] < self.start[None]).any(axis=2)).any(axis=0)
        return int(beaten.sum()), int((as_good.any(axis=0) & ~beaten).sum())


def rays(F: NDArray[np.float64]) -> tuple[float, ...]:
    """Weights of the loss for which the larger of weighted loss and weighted risk leads towards each point of a front.

    A file with a lower value than the point's, for such a weight, is better than the point in both objectives.
    """
    best = F[nondominated(F)]
    return tuple(np.unique(np.round(best[:, 1] / best.sum(axis=1), 4)).tolist())


def fronts(case: Case, scale: Scale, *, seed: int = SEED) -> Fronts:
    """Search the front of loss and risk by `CellSearch` and by NSGA-II, both guarded and from the same start files."""
    problem = case.problem(parts_of(case.problem((case.score,), guard=True, most=scale.records)), guard=True,
                           most=scale.records)  # fmt: skip
    start = problem.evaluate(np.stack(list(problem.baselines().values())), return_values_of=["F"])
    box = Box(np.zeros(2), start.max(axis=0))
    weights = WEIGHTS if case.numeric else rays(start[1:])[:: scale.every_ray]
    moves = scale.front_moves[not case.numeric] * problem.n_var * 2 * len(weights)
    ours, ours_course = _course(CellSearch(move_limit=moves, weights=weights), problem, box, seed)
    search = NSGA2(pop_size=scale.pop_size, **problem.operators())
    nsga, nsga_course = _course(search, problem, box, seed, seconds=scale.nsga_seconds)
    return Fronts(start[1:], ours, nsga, ours_course, nsga_course)


def _course(
    search: Any, problem: MaskingProblem, box: Box, seed: int, seconds: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Final front of a search, and the hypervolume by CPU seconds."""
    front, course, began = np.zeros((0, 2)), [], time.process_time()
    for population in _populations(search, problem, seed, seconds):
        F = np.vstack([front, population.get("F")[population.get("FEAS")[:, 0]]])
        front = F[nondominated(F)]
        course.append((time.process_time() - began, box.share(front)))
    return front[np.argsort(front[:, 0])], np.array(course)


def _populations(search: Any, problem: MaskingProblem, seed: int, seconds: float | None) -> Iterator[Any]:
    """Population after each step, until the search ends or its CPU seconds are used up."""
    limits = {} if seconds is None else {"termination": NoTermination()}
    began = time.process_time()
    search.setup(problem, seed=seed, **limits)
    while search.has_next() and (seconds is None or time.process_time() - began < seconds):
        search.next()
        yield search.pop


def record_front(case: Case, scale: Scale, *, seed: int = SEED) -> tuple[MaskingProblem, NDArray[Any]]:
    """Search files by risk, change of single values and loss of regressions: NSGA-II, guarded; return rows of X."""
    objectives = ("dr_numeric", "record_change", "regression_change")
    problem = case.problem(objectives, guard=True, most=scale.records)
    search = NSGA2(pop_size=scale.pop_size, **problem.operators())
    last = list(_populations(search, problem, seed, scale.nsga_seconds))[-1]
    return problem, last.get("X")[last.get("FEAS")[:, 0]]


def linked_by_exclusion(X: NDArray[np.float64], Y: NDArray[np.float64], *, percent: float = 10.0) -> float:
    """Percentage of records linked by an intruder who knows that the search keeps values away from their ranks.

    For an original record, the candidates are the released records with the fewest attributes within ``percent`` of its
    ranks (in percent of the records); one of them is picked at random.
    """
    n, p = X.shape
    before, after = (np.column_stack([rankdata(column) for column in table.T]) for table in (X, Y))
    near = np.zeros((n, n), dtype=np.int16)
    for j in range(p):
        near += np.abs(before[:, None, j] - after[None, :, j]) <= percent * n / 100
    candidates = near == near.min(axis=1, keepdims=True)
    return float(100.0 * (np.diag(candidates) / candidates.sum(axis=1)).mean())
