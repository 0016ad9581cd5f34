"""The elitist (1+1) EA that improves one candidate, here one set of transition matrices, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._validation import number
from sdc_problems.algorithms._checks import single_objective
from sdc_problems.errors import SDCError
from sdc_problems.operators.matrix import GrayBitMutation, MatrixSampling, RangeSwapCrossover

GENERATIONS = 1125
TRIES = 50  # attempts to make a child that differs from its parent


class ElitistEA(Algorithm):
    """Keep one candidate; replace it whenever a variation of it is better.

    Each generation makes one child, by crossover or by mutation, and keeps the better of the two. With the defaults
    this is the algorithm of Marés (2013) for transition matrices: the mutation flips one bit of one Gray-coded entry,
    the "crossover" swaps two ranges of entries inside the candidate.

    Parameters
    ----------
    start
        The row of X to start from; by default the first that ``sampling`` gives, for ``PRAMProblem`` the
        frequency-based matrices with p = 0.5.
    crossover_prob
        Probability of crossover instead of mutation.
    sampling, crossover, mutation, repair, eliminate_duplicates
        Other operators, for instance ``**problem.operators()``. A crossover of two parents gets a newly sampled
        candidate as the second parent. With ``eliminate_duplicates``, a child that equals its parent is made again.

    Attributes
    ----------
    accepted
        Number of children that were better so far.

    Notes
    -----
    Marés (2013), Algorithm 6. One evaluation per generation; 1,125 generations, as in its experiments, if no
    termination is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import Microdata, PRAMProblem
    >>> data = Microdata.from_frame(pd.DataFrame({"sex": list("fmfm") * 5, "town": list("ooorr") * 4}))
    >>> problem = PRAMProblem(data, columns=["sex", "town"], objectives=("score_mean",), evaluation="expected")
    >>> result = minimize(problem, ElitistEA(), ("n_gen", 50), seed=1)
    >>> bool(result.F[0] < problem.evaluate(problem.baselines()["frequency-based, p = 0.5"])[0])
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        start: ArrayLike | None = None,
        crossover_prob: float = 0.5,
        sampling: Any = None,
        crossover: Any = None,
        mutation: Any = None,
        repair: Any = None,
        eliminate_duplicates: Any = None,
    ) -> None:
        super().__init__(termination=("n_gen", GENERATIONS), output=SingleObjectiveOutput())
        if start is not None and sampling is not None:
            raise SDCError("give start= or sampling=, not both")
        self.start = None if start is None else np.array(start)
        self.crossover_prob = number(crossover_prob, "crossover_prob", low=0.0, high=1.0)
        self.sampling = MatrixSampling() if sampling is None else sampling
        self.crossover = RangeSwapCrossover() if crossover is None else crossover
        self.mutation = GrayBitMutation() if mutation is None else mutation
        self.repair = repair
        self.eliminate_duplicates = eliminate_duplicates
        self.accepted = 0

    def _setup(self, problem: Any, **kwargs: object) -> None:
        single_objective(problem, "ElitistEA")

    def _sample(self) -> Any:
        return self._repaired(self.sampling(self.problem, 1, random_state=self.random_state))

    def _repaired(self, pop: Any) -> Any:
        return pop if self.repair is None else self.repair(self.problem, pop, random_state=self.random_state)

    def _initialize_infill(self) -> Any:
        if self.start is None:
            return self._sample()
        return Population.new("X", self.problem.genome(self.start)[None, :].copy())

    def _infill(self) -> Any:
        child = self._child()
        if self.eliminate_duplicates is not None:
            for _ in range(TRIES):
                if len(self.eliminate_duplicates.do(child, self.pop)):
                    break
                child = self._child()
        return child

    def _child(self) -> Any:
        assert self.random_state is not None
        parent = Population.new("X", self.pop.get("X").copy())
        if self.random_state.random() < self.crossover_prob:
            parents = [parent, *(self._sample() for _ in range(self.crossover.n_parents - 1))]
            indices = np.arange(self.crossover.n_parents)[None, :]
            children = self.crossover(
                self.problem, Population.merge(*parents) if len(parents) > 1 else parent, indices,
                random_state=self.random_state,
            )  # fmt: skip
            return self._repaired(children[:1])
        return self._repaired(self.mutation(self.problem, parent, random_state=self.random_state))

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        if infills[0].F[0] < self.pop[0].F[0]:
            self.pop = infills
            self.accepted += 1
