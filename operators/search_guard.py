"""Repair that lets a search end properly when it has nothing left to propose, instead of failing or running forever."""

from __future__ import annotations

from typing import Any

import numpy as np
from pymoo.core.population import Population
from pymoo.core.repair import Repair

from sdc_problems.errors import SDCError
from sdc_problems.operators.duplicates import ROUNDS, ByteDuplicates, row_keys
from sdc_problems.operators.never_twice import NeverTwice

PATIENCE = 30  # rounds of mating in a generation before known children are mutated further
STEPS = 30  # largest number of further mutations of a known child


class SearchGuard(Repair):
    """Repair that tells the duplicate elimination which algorithm runs; pymoo tells no other operator early enough.

    So the duplicate elimination can end the search. If it remembers what was evaluated (`NeverTwice`), known children
    are mutated further when mating alone has found too few new ones.

    In pymoo 0.6.2, C-TAEA runs forever if its first population has fewer different solutions than it has directions. It
    gets a first population of different solutions, or an SDCError if there are not enough.

    Parameters
    ----------
    repair
        Repair that brings rows into canonical form.
    eliminate_duplicates
        Duplicate elimination of the same search.
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
        """Mutate known children repeatedly until they are new.

        Otherwise, mating would have to draw parents until their children happen to be new. If most solutions nearby are
        already evaluated, this would take most of the time, and generations would become smaller. Further mutation from
        the first round on would find less of a front, because the best new solutions are nearby.
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
        """Replace duplicates by newly sampled solutions."""
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
