"""Contract of backends: the same bytes as in this process, every row once and in order, and nothing left behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.problem import Problem
from pymoo.optimize import minimize
from pymoo.problems import get_problem

from sdc_problems.parallel import Backend, ParallelEvaluator
from sdc_problems.parallel.backend import measure


class BackendContract:
    """Inherit and define ``make``; override ``problem`` if your backend measures only other problems."""

    def make(self, problem: Problem) -> Backend:
        """Build the backend under test; called again for every test, which closes it."""
        raise NotImplementedError("a contract suite needs make(): return the backend under test")

    def problem(self) -> Problem:
        """Problem to measure, with constraints."""
        return get_problem("bnh")

    def rows(self, problem: Problem, n: int) -> NDArray[Any]:
        """Some rows within the problem's bounds."""
        X: NDArray[Any] = problem.xl + np.random.default_rng(n).random((n, problem.n_var)) * (problem.xu - problem.xl)
        return X

    def test_measures_are_those_of_this_process(self) -> None:
        problem = self.problem()
        with self.make(problem) as backend:
            for n in (37, 1, 0):
                X = self.rows(problem, n)
                before = X.copy()
                found, expected = backend.evaluate(X), measure(problem, self.rows(problem, 37))
                assert list(found) == list(expected)
                for name, values in found.items():
                    assert values.dtype == np.float64
                    assert values.shape == (n, expected[name].shape[1]), name
                    if n:
                        assert values.tobytes() == measure(problem, X)[name].tobytes(), name
                np.testing.assert_array_equal(X, before)

    def test_a_search_has_the_same_bytes_as_without_a_backend(self) -> None:
        problem = self.problem()
        plain = minimize(problem, NSGA2(pop_size=8), ("n_gen", 3), seed=1)
        with self.make(problem) as backend:
            algorithm = NSGA2(pop_size=8, evaluator=ParallelEvaluator(backend))
            found = minimize(problem, algorithm, ("n_gen", 3), seed=1)
            assert found.algorithm.evaluator.backend is backend, "a copy of the backend is closed by nobody"
        for key in ("X", "F", "G"):
            assert found.pop.get(key).tobytes() == plain.pop.get(key).tobytes(), key

    def test_has_all_that_the_runner_calls(self) -> None:
        problem = self.problem()
        backend = self.make(problem)
        assert isinstance(backend, Backend)
        with backend as entered:
            assert entered is backend
            assert backend.scheduler is None or isinstance(backend.scheduler, str)
            backend.evaluate(self.rows(problem, 2))
            backend.forget()
        backend.close()  # closing twice does no harm

    def test_is_closed_when_the_work_breaks_off(self) -> None:
        with pytest.raises(ZeroDivisionError), self.make(self.problem()):
            raise ZeroDivisionError
