"""Search for recipes that begins with a sweep: each method alone, at each of its settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import number, whole
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.methods import Recipe
    from sdc_problems.microdata import Microdata
    from sdc_problems.problems.recipe import RecipeProblem

MOST_RECORDS = 1_000_000
"""Most records of a table for which a search can measure enough recipes in hours and 4 GiB."""

POP_SIZE = 50

SHARE_OF_SWEEPS = 0.5
"""Share of the time that the sweeps may take."""

SHARE_OF_ONE = 0.05
"""Share of the time that one recipe may take."""

LEAST_SECONDS = 0.5
"""Seconds that one recipe may take in any search, however short."""

STEP = 0.75
"""Share of the knee's risk, or of its loss, that a neighbor of the knee has at most."""


@dataclass(frozen=True)
class RecipeFront:
    """Front of the recipes that a search has measured.

    Attributes
    ----------
    problem
        The problem.
    X, F
        Rows of the recipes, and their minimized objectives; sorted by the first objective.
    measured
        Number of recipes measured, including the sweeps.
    sweeps
        Number of sweep points measured.
    generations
        Number of generations of the search after the sweeps.
    interrupted
        Whether it was stopped before its time.
    """

    problem: RecipeProblem
    X: NDArray[Any]
    F: NDArray[np.float64]
    measured: int
    sweeps: int
    generations: int
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.X)

    def recipe(self, i: int) -> Recipe:
        """Recipe of a point of the front."""
        return self.problem.decode(self.X[i])

    @property
    def knee(self) -> int:
        """Point where the front bends: the smallest sum of the first two objectives, each scaled to its range."""
        return int(np.argmin(self._scaled()))

    def _scaled(self) -> NDArray[np.float64]:
        F = self.F[:, :2] - self.F[:, :2].min(axis=0)
        summed: NDArray[np.float64] = (F / np.maximum(F.max(axis=0), 1e-12)).sum(axis=1)
        return summed

    def neighbors(self) -> dict[str, int]:
        """Points on either side of the knee that differ noticeably from it.

        ``"safer"`` has at most three quarters of the knee's second objective, ``"more useful"`` of its first; among
        such points, the one with the smallest scaled sum is taken. If there is none, it is the next point of the front,
        if any.
        """
        knee = self.knee
        found = {}
        for name, j in (("safer", 1), ("more useful", 0)):
            better = np.flatnonzero(self.F[:, j] < self.F[knee, j])
            far = better[self.F[better, j] <= STEP * self.F[knee, j]]
            if len(far):
                found[name] = int(far[np.argmin(self._scaled()[far])])
            elif len(better):
                found[name] = int(better[np.argmax(self.F[better, j])])
        return found


def search_recipes(
    problem: RecipeProblem,
    *,
    rng: np.random.Generator,
    seconds: float | None = None,
    generations: int | None = None,
    starts: Mapping[str, NDArray[Any]] | None = None,
    pop_size: int = POP_SIZE,
    tell: Callable[[RecipeFront | None, int, float], object] | None = None,
) -> RecipeFront:
    """Search for recipes: first the sweeps of all methods, then NSGA-II from the best of them.

    No measured point of a sweep is better than the front, because everything measured competes for it. Ctrl-C ends the
    search and returns the front so far.

    Parameters
    ----------
    problem
        The problem.
    rng
        Source of the search's random numbers.
    seconds, generations
        Limit of time, half of which the sweeps may take, or of generations.
    starts
        Rows of X to measure in addition to ``problem.baselines()``, by name.
    pop_size
        Size of the population, and number of children of a generation.
    tell
        Called as ``tell(front, measured, seconds)`` after each part of the work; the front is None if nothing meets
        the requirements.

    Examples
    --------
    >>> from sdc_problems import RecipeProblem, load
    >>> people = load("people").data.with_roles(quasi_identifiers=["age", "education"]).take(range(60))
    >>> problem = RecipeProblem(people, methods=["mdav", "pram"])
    >>> front = search_recipes(problem, rng=np.random.default_rng(1), generations=3)
    >>> front.sweeps, front.measured
    (26, 176)
    """
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.evaluator import Evaluator
    from pymoo.core.population import Population

    if (seconds is None) == (generations is None):
        raise SDCError("a search ends after seconds= or after generations=: give one of them")
    if seconds is not None:
        number(seconds, "seconds", low=0.0, high=np.inf)
    if generations is not None:
        whole(generations, "generations", least=0)
    whole(pop_size, "pop_size", least=2)
    if len(problem.objectives) < 2:
        raise SDCError("a front needs at least two objectives")
    begin = time.monotonic()
    end = np.inf if seconds is None else begin + seconds
    kept = _Kept(problem)
    sweeps, done, interrupted = Population.empty(), 0, False

    def told() -> None:
        if tell is not None:
            tell(kept.front(), kept.measured, time.monotonic() - begin)

    try:
        for part in _in_turns({**problem.baselines(), **(starts or {})}):
            measured = Evaluator().eval(problem, Population.new(X=np.array(part)))
            kept.add(measured)
            sweeps = Population.merge(sweeps, measured)
            told()
            if seconds is not None and time.monotonic() > begin + SHARE_OF_SWEEPS * seconds:
                break
        kept.sweeps = len(sweeps)
        operators = {**problem.operators(), "sampling": sweeps}
        algorithm = NSGA2(pop_size=pop_size, n_offsprings=pop_size, **operators)
        algorithm.setup(problem, termination=("n_gen", 2**31), seed=int(rng.integers(2**31)))
        algorithm.next()  # the sweeps, which are already measured
        while done < (np.inf if generations is None else generations) and time.monotonic() < end:
            if not algorithm.has_next():
                break
            algorithm.next()
            kept.add(algorithm.off if algorithm.off is not None else Population.empty())
            done += 1
            kept.generations = done
            told()
    except KeyboardInterrupt:
        interrupted = True
        kept.sweeps = len(sweeps)
    found = kept.front(interrupted)
    if found is None:
        if not kept.measured:
            raise KeyboardInterrupt
        raise SDCError(
            f"none of the {kept.measured:,} recipes measured meets what is required: ask for less, or give the search"
            " more time or other methods"
        )
    return found


def search_table(
    data: Microdata,
    *,
    seconds: float,
    seed: int,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    methods: Sequence[str] | None = None,
    k: int | None = None,
    tell: Callable[[RecipeFront | None, int, float], object] | None = None,
) -> tuple[RecipeFront, dict[str, float]]:
    """Search for recipes of a table among the methods that are fast enough for it.

    Parameters
    ----------
    data
        The table; its quasi-identifiers are protected.
    seconds
        Time of the search. A method that takes more than a twentieth of it for one recipe is left out.
    seed
        Seed of the search, and of the random numbers that the methods draw.
    hierarchies
        Hierarchies by column, for methods that need them.
    methods
        Names of the methods to choose from; by default all.
    k
        Smallest number of records that look alike in all columns together, in every recipe.
    tell
        As for `search_recipes`.

    Returns
    -------
    tuple
        The front, and the seconds of each method that was left out.
    """
    from sdc_problems.problems.recipe import RecipeProblem

    number(seconds, "seconds", low=0.0, high=np.inf)
    if len(data) > MOST_RECORDS:
        raise SDCError(
            f"a search for recipes is for up to {MOST_RECORDS:,} records, and the table has {len(data):,}: search on a"
            " part of it, and apply the recipe to the whole table (sdc protect --recipe)"
        )
    require = None if k is None else {"k": k}
    problem = RecipeProblem(data, hierarchies=hierarchies, methods=methods, require=require, seed=seed)
    slow = slow_methods(problem, max(seconds * SHARE_OF_ONE, LEAST_SECONDS))
    if slow:
        fast = [offer.name for offer in problem.offers[1:] if offer.name not in slow]
        if not fast:  # the fastest method is better than none
            fast = [min(slow, key=lambda name: slow[name])]
            slow = {name: taken for name, taken in slow.items() if name not in fast}
        problem = RecipeProblem(data, hierarchies=hierarchies, methods=fast, require=require, seed=seed)
    return search_recipes(problem, rng=np.random.default_rng(seed), seconds=seconds, tell=tell), slow


def _in_turns(named: Mapping[str, NDArray[Any]]) -> list[list[NDArray[Any]]]:
    """Rows in parts: the strongest setting of every method, then the next milder of each, and so on."""
    of_method: dict[str, list[NDArray[Any]]] = {}
    for name, row in named.items():
        of_method.setdefault(name.partition(" ")[0], []).append(row)
    longest = max(len(rows) for rows in of_method.values())
    return [[rows[-1 - i] for rows in of_method.values() if i < len(rows)] for i in range(longest)]


class _Kept:
    """Non-dominated recipes among all that were measured."""

    def __init__(self, problem: RecipeProblem) -> None:
        self.problem = problem
        self.X = np.empty((0, problem.n_var), dtype=problem.dtype)
        self.F = np.empty((0, len(problem.objectives)))
        self.measured = self.sweeps = self.generations = 0

    def add(self, measured: Any) -> None:
        """Add measured individuals."""
        from moocore import is_nondominated

        self.measured += len(measured)
        allowed = [individual for individual in measured if bool(np.all(individual.FEAS))]
        if not allowed:
            return
        X = np.vstack([self.X, [individual.X for individual in allowed]])
        F = np.vstack([self.F, [individual.F for individual in allowed]])
        best = is_nondominated(F, keep_weakly=False)
        order = np.lexsort(F[best].T[::-1])
        self.X, self.F = X[best][order].astype(self.problem.dtype), F[best][order]

    def front(self, interrupted: bool = False) -> RecipeFront | None:
        """Front of what was measured so far."""
        if not len(self.X):
            return None
        return RecipeFront(self.problem, self.X, self.F, self.measured, self.sweeps, self.generations, interrupted)


def slow_methods(problem: RecipeProblem, most: float) -> dict[str, float]:
    """Seconds of the methods that are too slow for a search; the strongest setting is tried for all columns.

    Parameters
    ----------
    problem
        The problem.
    most
        Seconds that a method may take.
    """
    turns = _in_turns(problem.baselines())[:2]
    slow: dict[str, float] = {}
    for row in turns[0]:
        method = _method_of(problem, row)
        taken = _seconds(problem, row)
        if taken > most:  # perhaps because it was just compiled
            taken = min(
                [taken, *(_seconds(problem, again) for again in turns[1] if _method_of(problem, again) == method)]
            )
        if taken > most and method is not None:
            slow[method] = taken
    return slow


def _method_of(problem: RecipeProblem, row: NDArray[Any]) -> str | None:
    steps = problem.decode(row).steps
    return steps[0].method if steps else None


def _seconds(problem: RecipeProblem, row: NDArray[Any]) -> float:
    begin = time.monotonic()
    problem.evaluate(np.array([row]))
    return time.monotonic() - begin
