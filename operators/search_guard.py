"""Repair that lets a search end where it has nothing left to propose, instead of breaking off or going on forever."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.core.population import Population
from pymoo.core.repair import Repair

from sdc_problems.errors import SDCError
from sdc_problems.operators.duplicates import ROUNDS, ByteDuplicates, row_keys
from sdc_problems.operators.never_twice import NeverTwice

PATIENCE = 30  # rounds of mating in a generation before known children go further
STEPS = 30  # mutations at most that a known child goes through


class SearchGuard(Repair):
    """Repair that passes on the algorithm in whose name it was called: pymoo tells it to no other operator in time.

    The duplicate elimination learns whom it works for, so that it can end the search. With one that remembers what was
    measured (`NeverTwice`), children that are known are mutated further where mating alone has found too few new ones.

    C-TAEA, which in pymoo 0.6.2 looks forever for as many solutions as it has directions where its first population has
    fewer, gets a first population of different solutions, or an SDCError says that there are not enough.

    Parameters
    ----------
    repair
        What brings rows into their canonical form.
    eliminate_duplicates
        The duplicate elimination beside it.
    """

    def __init__(self, repair: Repair, eliminate_duplicates: Any = None) -> None:
        super().__init__()
        self.repair = repair
        self.eliminate_duplicates = eliminate_duplicates
        self._generation, self._rounds = -1, 0

    def do(self, problem: Any, pop: Any, **kwargs: Any) -> Any:
        """Repair a population."""
        algorithm = kwargs.get("algorithm")
        pop = self.repair.do(problem, pop, **kwargs)
        if algorithm is None:
            return pop
        if isinstance(self.eliminate_duplicates, ByteDuplicates):
            self.eliminate_duplicates.asking = algorithm
        if isinstance(self.eliminate_duplicates, NeverTwice) and algorithm.is_initialized:
            self._rounds = self._rounds + 1 if self._generation == algorithm.n_iter else 1
            self._generation = algorithm.n_iter
            if self._rounds > PATIENCE:
                self._walk_on(problem, pop, **kwargs)
        if not algorithm.is_initialized and any(c.__name__ == "CTAEA" for c in type(algorithm).__mro__):
            self._make_different(problem, pop, **kwargs)
        return pop

    def _walk_on(self, problem: Any, pop: Any, *, algorithm: Any, **kwargs: Any) -> None:
        """Mutate children that are known already, again and again, until they are new: where it is crowded, go further.

        Otherwise mating would have to draw parents until their children happen to be new. Where most of what is near is
        measured, a search would spend its time on that, and its generations would become smaller. Doing so from the
        first round on finds less of a front: near is where the best ones are.
        """
        mutation: Any = getattr(getattr(algorithm, "mating", None), "mutation", None)
        for _ in range(STEPS * (mutation is not None)):
            known = np.flatnonzero(self.eliminate_duplicates.known(pop))
            if not len(known):
                break
            rows = Population.new("X", np.array([pop[i].X for i in known]))
            rows = self.repair.do(problem, mutation(problem, rows, **kwargs), **kwargs)
            for i, row in zip(known, rows, strict=True):
                pop[i].X = row.X

    def _make_different(self, problem: Any, pop: Any, *, algorithm: Any, **kwargs: Any) -> None:
        """Replace what is there twice by newly sampled solutions."""
        sampling, seen, spare = algorithm.initialization.sampling, set(), []
        given = sampling if isinstance(sampling, Population) else pop  # pymoo repairs only what is not evaluated
        for individual, key in zip(given, row_keys(given.get("X")), strict=True):
            if key in seen:
                spare.append(individual)
            seen.add(key)
        for _ in range(ROUNDS * callable(sampling)):
            if not spare:
                break
            more = self.repair.do(problem, Population.create(*sampling(problem, len(pop), **kwargs)), **kwargs)
            for individual, key in zip(more, row_keys(more.get("X")), strict=True):
                if spare and key not in seen:
                    spare.pop().X = individual.X
                    seen.add(key)
        if len(seen) < algorithm.pop_size:
            raise SDCError(
                f"C-TAEA found {len(seen)} different solutions to begin with and needs one for each of its"
                f" {algorithm.pop_size} directions: give fewer directions, or use another algorithm"
            )
