"""Contract of an adapter to another framework: values, bounds, seeds, budgets, and finding the front."""

from __future__ import annotations

import logging
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.operators.arrays import variation
from sdc_problems.problem import SDCProblem
from sdc_problems.suite import Recorder
from sdc_problems.suite.adapters._base import Source

ROWS = 12
ODD_BUDGET = 130  # not a multiple of a population's size


class AdapterContract:
    """Inherit and define the methods up to ``nsga2``; also ``budget_for_front`` if the algorithm needs more."""

    def make(self) -> SDCProblem:
        """Build a problem with few solutions, whose front `nsga2` can find."""
        raise NotImplementedError("a contract suite needs make(): return a problem")

    def adapt(self, source: Source, rng: np.random.Generator) -> Any:
        """Return the adapter's object for a problem or a recorder."""
        raise NotImplementedError("a contract suite needs adapt(): return the framework's problem")

    def measure(self, adapted: Any, x: NDArray[Any]) -> tuple[list[float], list[float]]:
        """Measure a row through the framework: objectives, and the violation of each requirement (> 0 if violated)."""
        raise NotImplementedError("a contract suite needs measure(): call the framework's evaluation")

    def bounds(self, adapted: Any) -> tuple[list[float], list[float]]:
        """Return the bounds of the variables, as known to the framework."""
        raise NotImplementedError("a contract suite needs bounds(): return the lower and the upper bounds")

    def nsga2(self, problem: Source, budget: int, rng: np.random.Generator) -> None:
        """Run an algorithm of the framework."""
        raise NotImplementedError("a contract suite needs nsga2(): run an algorithm of the framework")

    def budget_for_front(self) -> int:
        """Evaluations within which the whole front of ``make()`` is found; more than it has solutions."""
        return 600

    # -- helpers --------------------------------------------------------------------------------------------------

    def run(self, problem: SDCProblem, budget: int, seed: int) -> Recorder:
        """Run the algorithm on a recorded problem."""
        recorder = Recorder(problem, budget, seed=seed)
        self.nsga2(recorder, budget, np.random.default_rng(seed))
        return recorder

    # -- the promises ---------------------------------------------------------------------------------------------

    def check_values(self, problem: SDCProblem) -> None:
        """Assert that the framework measures the same as pymoo's ``evaluate``; call it also with your own problems."""
        rng = np.random.default_rng(3)
        vary = variation(problem, rng)
        adapted = self.adapt(problem, rng)
        sampled = vary.sample(ROWS)
        unfit = rng.integers(problem.xl, problem.xu, size=(ROWS, problem.n_var), endpoint=True)
        for X, canonical in ((sampled, sampled), (unfit, vary.canonical(unfit))):
            F, G = problem.evaluate(canonical, return_values_of=["F", "G"])
            for x, losses, excess in zip(X, F, G, strict=True):
                measured, violations = self.measure(adapted, x)
                np.testing.assert_array_equal(measured, losses)
                np.testing.assert_array_equal(violations, np.maximum(excess, 0.0))

    def test_values_are_those_of_pymoo(self) -> None:
        self.check_values(self.make())

    def test_bounds_are_those_of_the_problem(self) -> None:
        problem = self.make()
        low, high = self.bounds(self.adapt(problem, np.random.default_rng(3)))
        np.testing.assert_array_equal(low, problem.xl)
        np.testing.assert_array_equal(high, problem.xu)

    def test_budget_is_kept_exactly(self) -> None:
        assert self.run(self.make(), ODD_BUDGET, 1).evaluations == ODD_BUDGET

    def test_same_seed_same_record(self) -> None:
        first, again, other = (self.run(self.make(), ODD_BUDGET, seed).record() for seed in (1, 1, 2))
        for name in ("at", "F", "X"):
            np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert first.X.tobytes() != other.X.tobytes()

    def test_global_generators_and_logs_are_put_back(self) -> None:
        def state() -> tuple[Any, str, int]:
            return random.getstate(), str(np.random.get_state()), logging.root.manager.disable  # noqa: NPY002

        before = state()
        self.run(self.make(), ODD_BUDGET, 1)
        assert state() == before, "the framework left its seed, or its silence"

    def test_smallest_front_is_reached(self) -> None:
        problem = self.make()
        front = problem.enumerate_front()
        assert len(front.F) > 1
        record = self.run(problem, self.budget_for_front(), 1).record()
        found = np.unique(record.F[record.front()], axis=0)
        np.testing.assert_array_equal(found, np.unique(front.F, axis=0))
