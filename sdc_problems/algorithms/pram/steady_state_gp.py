"""Steady-state genetic programming by tournaments, for equations of transition matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.core.algorithm import Algorithm
from pymoo.core.initialization import Initialization
from pymoo.core.population import Population
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._validation import number, whole
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.algorithms.pram.elitist_ea import TRIES
from sdc_problems.errors import SDCError
from sdc_problems.operators.duplicates import ByteDuplicates, row_keys
from sdc_problems.operators.tree import SubtreeCrossover, TreeMutation, TreeSampling, ValidTrees

GENERATIONS = 1500


class SteadyStateGP(Algorithm):
    """Steady-state search with a small population of equations: children of tournament winners replace the losers.

    Each generation draws a tournament, whose better half are the winners. They are crossed or mutated. Then, starting
    from the best child and the worst loser, a child takes the loser's place if it is better.

    Parameters
    ----------
    pop_size
        Number of equations in the population.
    tournament
        Number of equations in a tournament; an even number.
    crossover_prob
        Probability of crossing the winners instead of mutating them.
    sampling, crossover, mutation, repair, eliminate_duplicates
        Other operators, for instance ``**problem.operators()``; by default ramped half-and-half, subtree crossover and
        subtree mutation, as in the paper. Children that are already in the population are made again.

    Notes
    -----
    Marés (2013), Algorithm 7, with its population of 6 and 1,500 generations if no termination is given. The paper does
    not say how many equations take part in a tournament.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import Microdata, PRAMEquationProblem
    >>> data = Microdata.from_frame(pd.DataFrame({"sex": list("fmfm") * 5, "town": list("ooorr") * 4}))
    >>> problem = PRAMEquationProblem(data, columns=["sex", "town"], objectives=("score_max",), evaluation="expected")
    >>> result = minimize(problem, SteadyStateGP(), ("n_gen", 30), seed=1)
    >>> bool(result.F[0] < problem.evaluate(problem.encode("N"))[0])
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        pop_size: int = 6,
        tournament: int = 4,
        crossover_prob: float = 0.5,
        sampling: Any = None,
        crossover: Any = None,
        mutation: Any = None,
        repair: Any = None,
        eliminate_duplicates: Any = None,
    ) -> None:
        super().__init__(termination=("n_gen", GENERATIONS), output=SingleObjectiveOutput())
        self.pop_size = whole(pop_size, "pop_size", least=2)
        self.tournament = whole(tournament, "tournament", least=2)
        if self.tournament % 2 or self.tournament > self.pop_size:
            raise SDCError(f"tournament must be an even number of at most pop_size = {pop_size}, not {tournament}")
        self.crossover_prob = number(crossover_prob, "crossover_prob", low=0.0, high=1.0)
        self.crossover = SubtreeCrossover() if crossover is None else crossover
        self.mutation = TreeMutation() if mutation is None else mutation
        self.repair = ValidTrees() if repair is None else repair
        self.eliminate_duplicates = ByteDuplicates() if eliminate_duplicates is None else eliminate_duplicates
        self.initialization = Initialization(
            TreeSampling() if sampling is None else sampling,
            repair=self.repair,
            eliminate_duplicates=self.eliminate_duplicates,
        )
        self._losers = np.empty(0, dtype=np.int64)

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "SteadyStateGP")

    def _initialize_infill(self) -> Any:
        population = self.initialization.do(self.problem, self.pop_size, random_state=self.random_state)
        for _ in range(TRIES):  # several attempts: small trees are often duplicates, which are dropped
            missing = self.pop_size - len(population)
            if missing == 0:
                break
            more = self.initialization.do(self.problem, 4 * self.pop_size, random_state=self.random_state)
            fresh = self.eliminate_duplicates.do(more, population)
            population = Population.merge(population, fresh[:missing])
        return population

    def _infill(self) -> Any:
        assert self.random_state is not None
        size = min(self.tournament, len(self.pop) // 2 * 2)
        chosen = self.random_state.choice(len(self.pop), size=size, replace=False)
        order = chosen[np.argsort(self.pop.get("F")[chosen, 0], kind="stable")]
        winners, self._losers = order[: size // 2], order[size // 2 :]
        cross = self.random_state.random() < self.crossover_prob
        for chosen_kind in (cross, not cross):  # few winners have few children: the other kind may still find a new one
            for _ in range(TRIES):
                children = self._children(winners, chosen_kind)
                fresh = self.eliminate_duplicates.do(children, self.pop)
                if len(fresh):
                    return fresh
        return children

    def _children(self, winners: Any, cross: bool) -> Any:
        if cross:
            n_parents = self.crossover.n_parents
            partners = self.random_state.permutation(winners)
            matings = np.resize(partners, (max(1, -(-len(partners) // n_parents)), n_parents))
            children = self.crossover(self.problem, self.pop, matings, random_state=self.random_state)
        else:
            parents = Population.new("X", self.pop[winners].get("X").copy())
            children = self.mutation(self.problem, parents, random_state=self.random_state)
        return self.repair(self.problem, children, random_state=self.random_state)

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        best_first = np.argsort(infills.get("F")[:, 0], kind="stable")
        worst_first = self._losers[::-1]
        survivors = self.pop.copy()
        present = set(row_keys(survivors.get("X")))
        for child, loser in zip(best_first, worst_first, strict=False):
            key = infills[child].X.tobytes()
            if infills[child].F[0] < survivors[loser].F[0] and key not in present:
                survivors[loser] = infills[child]
                present.add(key)
        self.pop = survivors
