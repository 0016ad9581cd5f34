"""Evaluator for pymoo that measures on a backend."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pymoo.core.evaluator import Evaluator

from sdc_problems.parallel.backend import Backend, set_measures

if TYPE_CHECKING:
    from typing import Self


class ParallelEvaluator(Evaluator):
    """Evaluator for pymoo that measures on a backend, for use outside studies.

    Parameters
    ----------
    backend
        For instance ``ProcessPool(problem, workers=4)``; it is closed by the code that made it.

    Examples
    --------
    ::

        with ProcessPool(problem, workers=4) as pool:
            minimize(problem, NSGA2(evaluator=ParallelEvaluator(pool), **problem.operators()), ("n_gen", 100), seed=1)
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy everything but the backend: ``minimize`` copies its algorithm, and connections cannot be copied."""
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        memo[id(self.backend)] = self.backend
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: Sequence[str], **kwargs: Any) -> None:
        set_measures(pop, self.backend.evaluate(np.array([individual.X for individual in pop])))
