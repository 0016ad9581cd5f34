"""The contract suite on the smallest problem there is: the documentation's example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pymoo.core.mutation import Mutation
from pymoo.operators.crossover.nox import NoCrossover

from sdc_problems.testing import ProblemContract


class TestColumnSuppression(ProblemContract):
    @pytest.fixture(autouse=True)
    def _example(self, column_suppression: Any) -> None:
        self.make = column_suppression  # type: ignore[method-assign]

    def check_release(self, problem: Any, x: Any, released: Any) -> None:
        super().check_release(problem, x, released)
        sizes = released.groupby(list(problem.data.quasi_identifiers)).size()
        promised = problem.natural(problem.evaluate(x))[0]
        assert sizes.min() == promised
        assert (released[list(problem.decode(x))] == "*").all(axis=None)


def test_a_broken_problem_does_not_pass(column_suppression: Any) -> None:
    """The suite catches what it is there to catch: here a mutation that edits its argument's dtype away."""

    class Broken(TestColumnSuppression):
        pass

    suite = Broken()
    suite.make = column_suppression  # type: ignore[method-assign]

    def with_wide_children(problem: Any) -> dict[str, Any]:
        class Widen(Mutation):
            def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
                return X.astype(np.int64)

        return {**problem.operators(), "mutation": Widen()}

    suite.operators = with_wide_children  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="dtype int64"):
        suite.test_children_are_valid_and_parents_untouched()

    def that_hand_out_parents(problem: Any) -> dict[str, Any]:
        return {**problem.operators(), "crossover": NoCrossover(n_parents=2)}

    suite.operators = that_hand_out_parents  # type: ignore[method-assign]
    with pytest.raises(AssertionError, match="parent's own array"):
        suite.test_children_are_valid_and_parents_untouched()

    noisy = column_suppression()
    rng = np.random.default_rng(0)
    noisy._measure = lambda X, names: rng.random((len(X), len(names)))
    suite.make = lambda: noisy  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        suite.test_f_is_deterministic_and_leaves_x_alone()
