"""ExactFront: the exact front of a problem as an algorithm, usable where a search is expected."""

from __future__ import annotations

from typing import Any

from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.core.termination import NoTermination
from pymoo.util.display.multi import MultiObjectiveOutput

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError


class ExactFront(Algorithm):
    """Find the exact front in one generation, independent of the seed.

    It calls ``problem.enumerate_front()``, which measures all solutions or uses an exact algorithm, so that a study
    is certain of the front instead of likely to find it.

    Parameters
    ----------
    limit
        Largest number of solutions to measure.

    Examples
    --------
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import PBGProblem, load
    >>> people = load("people")
    >>> problem = PBGProblem(people.data, people.hierarchies)
    >>> result = minimize(problem, ExactFront())
    >>> len(result.F) == len(problem.enumerate_front().F)
    True
    """

    def __init__(self, *, limit: int = 1_000_000) -> None:
        super().__init__(output=MultiObjectiveOutput())
        self.limit = whole(limit, "limit", least=1)

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        if not hasattr(problem, "enumerate_front"):
            raise SDCError("ExactFront is for problems that can list their solutions (enumerate_front)")
        if kwargs.get("termination") is None:
            self.termination = NoTermination()

    def _initialize_infill(self) -> Population:
        front = self.problem.enumerate_front(limit=self.limit)
        if not len(front.X):
            raise SDCError("no solution meets what the problem requires: lower a requirement")
        return Population.new(X=front.X)

    def _initialize_advance(self, infills: Population | None = None, **kwargs: Any) -> None:
        self.pop = infills
        self.termination.terminate()
