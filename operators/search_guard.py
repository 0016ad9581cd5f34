"""Repair that lets a search end where it has nothing left to propose, instead of breaking off or going on forever."""

from __future__ import annotations

from typing import Any

from pymoo.core.population import Population
from pymoo.core.repair import Repair

from sdc_problems.errors import SDCError
from sdc_problems.operators.duplicates import ROUNDS, ByteDuplicates, row_keys


class SearchGuard(Repair):
    """Repair that passes on the algorithm in whose name it was called: pymoo tells it to no other operator in time.

    The duplicate elimination learns whom it works for, so that it can end the search. C-TAEA, which in pymoo 0.6.2
    looks forever for as many solutions as it has directions where its first population has fewer, gets a first
    population of different solutions, or an SDCError says that there are not enough.

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

    def do(self, problem: Any, pop: Any, **kwargs: Any) -> Any:
        """Repair a population."""
        algorithm = kwargs.get("algorithm")
        pop = self.repair.do(problem, pop, **kwargs)
        if algorithm is None:
            return pop
        if isinstance(self.eliminate_duplicates, ByteDuplicates):
            self.eliminate_duplicates.asking = algorithm
        if not algorithm.is_initialized and any(c.__name__ == "CTAEA" for c in type(algorithm).__mro__):
            self._make_different(problem, pop, **kwargs)
        return pop

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
