"""Hybrid microaggregation: a heuristic for the whole file, and a genetic algorithm for each piece of it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.optimize import minimize
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._validation import choice, number, whole
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.algorithms.microaggregation.solanas_ga import evolve
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods.partition._macrogroups import Heuristic, one_step, plain_mdav, two_step

if TYPE_CHECKING:
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

MACROGROUP, EPOCHS = 18, 10_000


class HybridMicroaggregation(Algorithm):
    """Cut the records into macrogroups of about K, and run the genetic algorithm in each of them.

    The first generation is the heuristic's own partition. The next one runs ``epochs`` epochs in every macrogroup;
    later ones continue from there.

    Parameters
    ----------
    heuristic
        Function of points and a smallest group that returns labels; by default MDAV.
    K
        Size of a macrogroup; with ``steps=2`` it is rounded down to a multiple of k, at least 2k.
    steps
        2: macrogroups are made of the heuristic's groups of k, which stay whole and are the first chromosome of their
        macrogroup, so that the result is never worse (Lemma 1). 1: the heuristic makes groups of K directly.
    epochs, pop_size, mutation_prob, crossover_prob
        Parameters of the genetic algorithm; by default those of the paper.
    workers
        Number of threads that work on macrogroups. The result does not depend on it.

    Notes
    -----
    Martínez-Ballesté et al. (2007), "A Genetic Approach to Multivariate Microaggregation for Database Privacy". Numeric
    attributes only; the objective is ``sse`` or ``il_sse``.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MicroaggregationProblem, Microdata
    >>> values = np.random.default_rng(1).normal(size=(60, 2))
    >>> frame = pd.DataFrame(values, columns=["a", "b"])
    >>> problem = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), k=3)
    >>> result = minimize(problem, HybridMicroaggregation(K=12, epochs=500), seed=1)
    >>> bool(result.F[0] < problem.evaluate(problem.baselines()["MDAV"])[0])
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        heuristic: Heuristic = plain_mdav,
        K: int = MACROGROUP,
        steps: Literal[1, 2] = 2,
        epochs: int = EPOCHS,
        pop_size: int = 10,
        mutation_prob: float = 0.1,
        crossover_prob: float = 0.5,
        workers: int = 1,
    ) -> None:
        super().__init__(termination=("n_gen", 2), output=SingleObjectiveOutput())
        self.heuristic = heuristic
        self.K = whole(K, "K", least=4)
        if steps not in (1, 2):
            raise SDCError(f"steps must be 1 or 2, not {steps!r}")
        self.steps = steps
        self.epochs = whole(epochs, "epochs", least=0)
        self.pop_size = whole(pop_size, "pop_size", least=2)
        self.mutation_prob = number(mutation_prob, "mutation_prob", low=0.0, high=1.0)
        self.crossover_prob = number(crossover_prob, "crossover_prob", low=0.0, high=1.0)
        self.workers = whole(workers, "workers", least=1)
        self.macrogroups: tuple[NDArray[np.intp], ...] = ()

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "HybridMicroaggregation")
        choice(problem.objectives[0].name, "the objective of HybridMicroaggregation", ("sse", "il_sse"))
        if set(problem.kinds) != {"numeric"}:
            raise SDCError("HybridMicroaggregation needs numeric quasi-identifiers: means of categories do not exist")

    def _initialize_infill(self) -> Any:
        problem, V = self.problem, self.problem.engine.V
        if self.steps == 2:
            size = max(2, self.K // problem.k) * problem.k
            pieces, start = two_step(V, problem.k, size, heuristic=self.heuristic, standardize=False)
        else:
            pieces = one_step(V, max(self.K, 2 * problem.k), heuristic=self.heuristic, standardize=False)
            start = np.empty(len(V), dtype=np.int32)
            groups = 0
            for macrogroup in range(int(pieces.max()) + 1):
                inside = pieces == macrogroup
                if inside.sum() >= 2 * problem.k:
                    start[inside] = groups + self.heuristic(V[inside], problem.k)
                else:
                    start[inside] = groups
                groups = int(start[inside].max()) + 1
        self.macrogroups = tuple(np.flatnonzero(pieces == g) for g in range(int(pieces.max()) + 1))
        return self._individual(start)

    def _individual(self, labels: NDArray[Any]) -> Any:
        return Population.new("X", problem_rows(self.problem, labels))

    def _infill(self) -> Any:
        assert self.random_state is not None
        labels = self.problem.labels(self.pop[0].X)
        seeds = self.random_state.integers(0, 2**63, size=len(self.macrogroups))
        jobs = [(inside, labels[inside], int(seed)) for inside, seed in zip(self.macrogroups, seeds, strict=True)]
        if self.workers == 1:
            improved = [self._improve(*job) for job in jobs]
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                improved = list(pool.map(lambda job: self._improve(*job), jobs))
        groups = 0
        for (inside, _, _), found in zip(jobs, improved, strict=True):
            labels[inside] = groups + found
            groups += int(found.max()) + 1
        return self._individual(labels)

    def _improve(self, inside: NDArray[np.intp], groups: NDArray[Any], seed: int) -> NDArray[np.int64]:
        """Partition of one macrogroup, at least as good as the given one."""
        k = self.problem.k
        start: NDArray[np.int64] = np.unique(groups, return_inverse=True)[1].astype(np.int64)
        if len(inside) < 2 * k:
            return start
        P = self.problem.engine.V[inside]
        found = evolve(
            P,
            k,
            rng=np.random.default_rng(seed),
            epochs=self.epochs,
            pop_size=self.pop_size,
            mutation_prob=self.mutation_prob,
            crossover_prob=self.crossover_prob,
            start=start,
            standardize=False,
        )
        return found.labels if found.sse < sse(P, start) else start

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        if infills[0].F[0] <= self.pop[0].F[0]:
            self.pop = infills

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the macrogroup of each record, from which a study can continue, together with the population."""
        pieces = np.empty(sum(len(inside) for inside in self.macrogroups), dtype=np.int32)
        for g, inside in enumerate(self.macrogroups):
            pieces[inside] = g
        return {"pieces": pieces}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the macrogroups."""
        pieces = state["pieces"]
        self.macrogroups = tuple(np.flatnonzero(pieces == g) for g in range(int(pieces.max()) + 1))


def hybrid(
    problem: MicroaggregationProblem,
    *,
    rng: np.random.Generator,
    macrogroup: int = MACROGROUP,
    steps: Literal[1, 2] = 2,
    epochs: int = EPOCHS,
    workers: int = 1,
) -> NDArray[Any]:
    """Partition the records of a problem by `HybridMicroaggregation`.

    Parameters
    ----------
    problem
        The records and k.
    rng
        Source of all random numbers.
    macrogroup
        Number of records of a macrogroup, in which the genetic algorithm runs.
    steps
        2: macrogroups are made of MDAV's groups of k; 1: MDAV makes macrogroups directly.
    epochs
        Number of generations of the genetic algorithm.
    workers
        Number of threads that work on macrogroups. The result does not depend on it.

    Returns
    -------
    labels
        One group number per record.
    """
    size = whole(macrogroup, "macrogroup", least=4)
    search = HybridMicroaggregation(K=size, steps=steps, epochs=epochs, workers=workers)
    labels: NDArray[Any] = minimize(problem, search, seed=rng, copy_algorithm=False).X
    return labels


def problem_rows(problem: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """Genome for labels that need not be numbered in order of first use."""
    rows: NDArray[Any] = problem.limited(labels[None, :])
    return rows
