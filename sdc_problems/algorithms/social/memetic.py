"""Memetic search for clusters of nodes: annealing by exact moves, crossover of whole clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.optimize import minimize
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._validation import choice, whole
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.algorithms.microaggregation.memetic import BudgetSpent
from sdc_problems.evaluators.node_clusters import FOLLOWED, NodeClusterSearch
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.partition import WholeGroupCrossover, limited

if TYPE_CHECKING:
    from sdc_problems.problems.social import SocialGraphProblem

MOVES_PER_NODE = 6_500  # without a limit
ROUNDS = 100  # steps of the temperature
ANNEALED = 70  # rounds in which the best baseline is annealed; the rest goes to children
CHILD = 10  # rounds for each child
HOT, COLD = 0.5, 0.01  # first and last temperature, in costs of the start per node
WARM = 0.05  # first temperature of a child
ELITE = 4  # clusterings that have children


class ClusterMilestone(NamedTuple):
    """Milestone of a search: its smallest loss after so many proposals."""

    moves: int
    loss: float


class MemeticSocialGraph(Algorithm):
    """Search for the clusters of nodes with the smallest loss by annealing and crossover of clusters.

    The best baseline is annealed for 70 % of the proposals: nodes join other clusters and change places, clusters
    dissolve and form, each change being exact. Then children of the best clusterings so far, made of whole clusters of
    both, are annealed from a low temperature. The first generation is the best baseline, so the result is never worse.

    Parameters
    ----------
    move_limit
        Proposals; 6,500 per node if not given. The same seed gives the same result.

    Attributes
    ----------
    trajectory
        Proposals and smallest loss after each round.

    Notes
    -----
    One objective: ``il_graph``, ``aamil``, ``cdil``, ``dbil_graph``, ``nsil`` or ``dr_degree``. For several, pymoo's
    algorithms with ``problem.operators()`` use the same moves in their mutation. A proposal costs what it changes: the
    neighbors, by category, of the nodes whose values change.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import SocialGraph, SocialGraphProblem
    >>> rng = np.random.default_rng(1)
    >>> people = pd.DataFrame({"id": range(60), "a": rng.choice(list("xyz"), 60), "b": rng.choice(list("uvw"), 60)})
    >>> links = pd.DataFrame({"source": range(59), "target": range(1, 60)})
    >>> graph = SocialGraph.from_frames(people, links, quasi_identifiers=["a", "b"])
    >>> problem = SocialGraphProblem(graph, 4, objectives=("il_graph",))
    >>> result = minimize(problem, MemeticSocialGraph(move_limit=20_000), seed=1)
    >>> bool(result.F[0] < min(problem.evaluate(x)[0] for x in problem.baselines().values()))
    True
    """

    pop: Any

    def __init__(self, *, move_limit: int | None = None) -> None:
        super().__init__(termination=BudgetSpent(), output=SingleObjectiveOutput())
        self.move_limit = None if move_limit is None else whole(move_limit, "move_limit", least=1)
        self.trajectory: list[ClusterMilestone] = []
        self._search: NodeClusterSearch | None = None
        self._elite: list[tuple[float, NDArray[np.int64]]] = []
        self._round = 0

    @property
    def progress(self) -> float:
        """Share of the budget that is spent."""
        return self._round / ROUNDS

    @property
    def _moves(self) -> int:
        """Proposals of a round."""
        assert self.move_limit is not None
        return max(1, -(-self.move_limit // ROUNDS))

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "MemeticSocialGraph")
        choice(problem.objectives[0].name, "the objective of MemeticSocialGraph", FOLLOWED)
        if self.move_limit is None:
            self.move_limit = MOVES_PER_NODE * problem.n_var

    def _fresh(self, labels: NDArray[Any]) -> NodeClusterSearch:
        problem: SocialGraphProblem = self.problem
        weights = {problem.objectives[0].name: 1.0}
        search = NodeClusterSearch(problem.engine, weights, least=problem.smallest, largest=problem.largest)
        search.start(labels)
        return search

    def _initialize_infill(self) -> Any:
        found = [row.astype(np.int64) for row in self.problem.baselines().values()]
        loss = self.problem.engine.measure(np.array(found), (self.problem.objectives[0].name,))[:, 0]
        for i in np.argsort(loss, kind="stable"):
            self._consider(float(loss[i]), found[i])
        self._start = self._elite[0][0]
        self._search = self._fresh(self._elite[0][1])
        return self._best()

    def _consider(self, loss: float, labels: NDArray[np.int64]) -> None:
        """Keep a clustering if it is among the best and like none of them."""
        row = restricted_growth(labels)
        if any(np.array_equal(row, other) for _, other in self._elite):
            return
        self._elite = sorted([*self._elite, (loss, row)], key=lambda one: one[0])[:ELITE]

    def _best(self) -> Any:
        return Population.new("X", self._elite[0][1].astype(self.problem.dtype)[None, :])

    def _infill(self) -> Any:
        assert self._search is not None
        assert self.random_state is not None
        before = self._elite[0][0]
        at = self._round
        if at < ANNEALED:
            hot, share = HOT, at / ANNEALED
        else:
            if (at - ANNEALED) % CHILD == 0:
                self._search = self._fresh(self._child())
            hot, share = WARM, (at - ANNEALED) % CHILD / CHILD
        scale = self._start / self.problem.n_var
        temperature = hot * (COLD / hot) ** share * scale
        seed = int(self.random_state.integers(0, 2**63))
        self._search.anneal(self._moves, hot=temperature, cold=temperature, seed=seed)
        self._search.settle()  # so that a search that was stopped here goes on with the same moves
        self._round += 1
        ended = self._round >= ANNEALED and (self._round - ANNEALED) % CHILD == 0
        if ended or self._search.best_cost < before - 1e-12:
            self._consider(self._search.best_cost, self._search.best)
        # A round without improvement has nothing to measure: the best is measured already.
        return self._best() if self._elite[0][0] < before else None

    def _child(self) -> NDArray[np.int64]:
        """Clusters of the best clustering and of another one of the best, whole as far as they fit together."""
        assert self.random_state is not None
        if len(self._elite) < 2:
            return self._elite[0][1]
        other = 1 + int(self.random_state.integers(len(self._elite) - 1))
        parents = np.stack([self._elite[0][1], self._elite[other][1]])[:, None, :].astype(self.problem.dtype)
        made = WholeGroupCrossover()._do(self.problem, parents, random_state=self.random_state)[0, 0]
        child: NDArray[np.int64] = limited(made, self.problem.smallest, self.problem.largest).astype(np.int64)
        return child

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        self._note()

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        if infills is not None:
            self.pop = infills
        self._note()

    def _note(self) -> None:
        self.trajectory.append(ClusterMilestone(self._round * self._moves, self._elite[0][0]))

    def checkpoint(self) -> Mapping[str, NDArray[Any]]:
        """Return the state from which, with the population, a study can continue."""
        assert self._search is not None
        return {
            "round": np.array([self._round]),
            "figures": np.array([self._start, self._search.best_cost, *(loss for loss, _ in self._elite)]),
            "elite": np.stack([row for _, row in self._elite]),
            "present": self._search.labels,
            "best": self._search.best,
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the search."""
        self._round = int(state["round"][0])
        self._start, cost, *losses = (float(figure) for figure in state["figures"])
        self._elite = [(loss, row.astype(np.int64)) for loss, row in zip(losses, state["elite"], strict=True)]
        self._search = self._fresh(state["present"].astype(np.int64))
        self._search.best[:], self._search.best_cost = state["best"], cost


def memetic_social_graph(
    problem: SocialGraphProblem, *, rng: np.random.Generator, moves: int | None = None
) -> NDArray[Any]:
    """Cluster the nodes of a problem by `MemeticSocialGraph`.

    Parameters
    ----------
    problem
        The graph, k, and the one objective.
    rng
        Where all random numbers come from.
    moves
        Limit of proposals; 6,500 per node if not given.

    Returns
    -------
    labels
        One cluster number per node.
    """
    labels: NDArray[Any] = minimize(problem, MemeticSocialGraph(move_limit=moves), seed=rng, copy_algorithm=False).X
    return labels
