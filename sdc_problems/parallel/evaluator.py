"""Evaluator of pymoo that measures on a backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pymoo.core.evaluator import Evaluator

from sdc_problems.parallel.backend import Backend, set_measures


class ParallelEvaluator(Evaluator):
    """pymoo's evaluator on a backend, for use outside studies.

    Parameters
    ----------
    backend
        For instance ``ProcessPool(problem, workers=4)``; closed by whoever made it.

    Examples
    --------
    ::

        with ProcessPool(problem, workers=4) as pool:
            minimize(problem, NSGA2(evaluator=ParallelEvaluator(pool), **problem.operators()), ("n_gen", 100), seed=1)
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: Sequence[str], **kwargs: Any) -> None:
        set_measures(pop, self.backend.evaluate(np.array([individual.X for individual in pop])))
