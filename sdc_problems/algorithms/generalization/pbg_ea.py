"""PBG-EA: the evolutionary search for property based generalizations, as published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.evaluator import Evaluator
from pymoo.core.population import Population
from pymoo.util.display.column import Column
from pymoo.util.display.output import Output

from sdc_problems._validation import number, whole
from sdc_problems.algorithms._checks import unconstrained
from sdc_problems.algorithms.archives.box import BoxArchive
from sdc_problems.operators.duplicates import row_keys
from sdc_problems.operators.lattice import LatticeCrossover, LatticeMutation, LatticeSampling
from sdc_problems.parallel.memo import MemoEvaluator

GENERATIONS = 100


def dominance_fitness(F: ArrayLike) -> NDArray[np.int64]:
    """Number of rows that a row's dominators dominate, summed over the dominators; 0 if nothing dominates it.

    Dewri et al. (2010), §6, after SPEA2; all objectives are minimized.

    Examples
    --------
    >>> dominance_fitness([[1, 1], [2, 2], [3, 3], [0, 9]])
    array([0, 2, 3, 0])
    """
    values = np.asarray(F, dtype=float)
    no_worse = (values[:, None, :] <= values[None, :, :]).all(axis=2)
    dominates = no_worse & ~no_worse.T
    fitness: NDArray[np.int64] = dominates.sum(axis=1) @ dominates
    return fitness


class ArchiveOutput(Output):
    """Output columns: number of different nodes measured, and of those in the archive."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes = Column("nodes", width=8)
        self.held = Column("archive", width=8)
        self.columns += [self.nodes, self.held]

    def update(self, algorithm: Any) -> None:
        """Read the counters."""
        super().update(algorithm)
        self.nodes.set(algorithm.n_nodes)
        self.held.set(len(algorithm.archive))


class ArchiveSearch(Algorithm):
    """Search whose result is its archive, which is up to date in every callback of pymoo.

    pymoo adds each generation to the archive again after the callbacks, which changes nothing.

    If suppression is free, a node is measured once for all its thresholds. Those that enter the archive are evaluated
    with it, each as the lowest threshold that suppresses the same records.

    Attributes
    ----------
    n_nodes
        Number of different nodes measured so far.
    """

    archive: BoxArchive

    def __init__(self, *, epsilon: ArrayLike, evaluator: Evaluator | None, generations: int | None) -> None:
        super().__init__(
            termination=None if generations is None else ("n_gen", generations),
            output=ArchiveOutput(),
            archive=BoxArchive(epsilon),
            evaluator=MemoEvaluator() if evaluator is None else evaluator,
        )
        self.epsilon = epsilon

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        unconstrained(problem, type(self).__name__)
        self.archive = BoxArchive(self.epsilon)
        self._seen: set[bytes] = set()
        free = getattr(problem, "suppression", "budget") == "free"
        self._n_levels: int = problem.n_var - 1 if free else problem.n_var

    @property
    def free(self) -> bool:
        """Whether rows end in a threshold."""
        return self._n_levels < int(self.problem.n_var)

    @property
    def n_nodes(self) -> int:
        """Number of different nodes measured so far."""
        return len(self._seen)

    def _see(self, X: NDArray[Any]) -> None:
        """Count the nodes of measured rows."""
        self._seen.update(row_keys(X[:, : self._n_levels]))

    def _every_threshold(self, nodes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
        """Rows of different nodes with every threshold, their F, and the position of each node's first row."""
        lowest = np.ones((len(nodes), 1), dtype=nodes.dtype)
        rows = self.problem.with_thresholds(np.column_stack([nodes, lowest]))
        F: NDArray[np.float64] = self.problem.evaluate(rows, return_values_of=["F"])
        return rows, F, np.flatnonzero(rows[:, -1] == 1)

    def _entering(self, rows: NDArray[Any], F: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mask of the rows that would be in the archive if they were added now."""
        trial = BoxArchive(self.archive.epsilon, offset=self.archive.offset)
        if len(self.archive):
            trial.update(self.archive.F, self.archive.X)
        entering: NDArray[np.bool_] = trial.update(F, rows) > 0
        return entering

    def _set_optimum(self) -> None:
        self.opt = Population.new(X=self.archive.X, F=self.archive.F)


class PBGEA(ArchiveSearch):
    """The evolutionary algorithm of Dewri et al. (2010), Algorithm 2, with the box archive of Algorithm 1.

    The first population holds the fully specialized, the fully generalized and random nodes. Each generation, nodes of
    population and archive are selected by binary tournaments on their dominance fitness, pairs of them exchange tails
    at a random point, and each attribute may move one level up or down.

    Parameters
    ----------
    pop_size
        Number of nodes in the population.
    epsilon
        Side of the archive's boxes: one number, or one per objective.
    crossover_prob
        Probability that a selected pair exchanges tails.
    mutation_prob
        Probability of a step, per attribute; by default one divided by their number.
    evaluator
        Evaluator; by default one that never measures a node twice.

    Notes
    -----
    Population and archive are united as sets: a node that is in both takes part once. With an odd population the last
    selected node has no partner and is only mutated. Without a termination there are 100 generations, including the
    first population: at most 2,500 nodes. ``n_nodes`` counts the different ones. The paper suppresses as many records
    as allowed: that is ``PBGProblem(..., suppression="budget")``. If suppression is free, other thresholds of a
    generation's nodes that enter the archive are evaluated after its population.

    Examples
    --------
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import PBGProblem, load
    >>> people = load("people")
    >>> problem = PBGProblem(people.data, people.hierarchies, suppression="budget")
    >>> result = minimize(problem, PBGEA(), ("n_gen", 10), seed=1)
    >>> result.algorithm.evaluator.n_eval
    250
    >>> len(result.F) == len(result.algorithm.archive) > 5
    True
    """

    def __init__(
        self,
        *,
        pop_size: int = 25,
        epsilon: float | Sequence[float] | NDArray[Any] = 1.0,
        crossover_prob: float = 0.8,
        mutation_prob: float | None = None,
        evaluator: Evaluator | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, evaluator=evaluator, generations=GENERATIONS)
        self.pop_size = whole(pop_size, "pop_size", least=2)
        if mutation_prob is not None:
            mutation_prob = number(mutation_prob, "mutation_prob", low=0, high=1)
        self.sampling = LatticeSampling()
        self.crossover = LatticeCrossover(number(crossover_prob, "crossover_prob", low=0, high=1))
        self.mutation = LatticeMutation(prob_var=mutation_prob)

    def _initialize_infill(self) -> Population:
        return self._completed(self.sampling.do(self.problem, self.pop_size, random_state=self.random_state))

    def _initialize_advance(self, infills: Population | None = None, **kwargs: Any) -> None:
        self._advance(infills)

    def _infill(self) -> Population:
        X, F = self._united()
        fitness = dominance_fitness(F)
        rng = self.random_state
        selected = np.empty(self.pop_size, dtype=np.intp)
        for i in range(self.pop_size):
            one, other = rng.choice(len(X), size=2, replace=False) if len(X) > 1 else (0, 0)
            selected[i] = other if fitness[other] < fitness[one] else one
        rng.shuffle(selected)
        n_pairs = self.pop_size // 2
        parents = Population.new(X=X[selected])
        pairs = np.arange(2 * n_pairs).reshape(n_pairs, 2)
        children = self.crossover.do(self.problem, parents, pairs, random_state=rng)
        children = Population.merge(children, parents[2 * n_pairs :])
        return self._completed(self.mutation.do(self.problem, children, random_state=rng))

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        self.pop = infills[: self.pop_size]
        self.archive.add(infills)
        self._see(infills.get("X"))

    def _completed(self, children: Population) -> Population:
        """Children with effective thresholds, followed by the other rows of their nodes that enter the archive."""
        if not self.free:
            return children
        X = self.problem.effective(children.get("X"))
        rows, F, _ = self._every_threshold(np.unique(X[:, : self._n_levels], axis=0))
        there = set(row_keys(X))
        others = self._entering(rows, F) & np.array([key not in there for key in row_keys(rows)])
        return Population.new(X=np.concatenate([X, rows[others]]))

    def _united(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Distinct nodes of population and archive."""
        pop: Any = self.pop
        X = np.concatenate([pop.get("X"), self.archive.X])
        F = np.concatenate([pop.get("F"), self.archive.F])
        _, first = np.unique(X, axis=0, return_index=True)
        return X[first], F[first]
