"""Contract of benchmark instances: measured values equal the frozen ones, and the front is a front."""

from __future__ import annotations

import functools

import moocore
import numpy as np
import pytest
from numpy.typing import NDArray

from sdc_problems.problem import SDCProblem
from sdc_problems.suite import Instance

PRECISION = 1e-9  # relative; absolute for a value of 0


def _equal(measured: NDArray[np.float64], frozen: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(measured, frozen, rtol=PRECISION, atol=PRECISION)


class InstanceContract:
    """Inherit and define ``make``, which returns the instance.

    An instance whose public file is not on this machine is skipped; the message has its name.
    """

    def make(self) -> Instance:
        """Return the instance."""
        raise NotImplementedError

    @pytest.fixture
    def instance(self) -> Instance:
        """Return the instance, if its table is on this machine."""
        found = self.make()
        if not found.available:
            pytest.skip(f"{found.id} needs the file of {found.table['name']}")
        return found

    def test_it_says_what_it_is(self, instance: Instance) -> None:
        name, _, version = instance.id.rpartition("@")
        assert name
        assert int(version) >= 1
        for text in (instance.suite, instance.task, instance.title, instance.what_is_hard, instance.proof):
            assert text == text.strip() != ""
        assert 0 < instance.budgets["short"] < instance.budgets["long"]
        assert instance.known in ("exact", "bracketed", "best")
        assert instance.space >= len(instance.front)

    def test_its_problem_is_the_one_it_describes(self, instance: Instance) -> None:
        problem = _problem(instance)
        assert tuple(objective.name for objective in problem.objectives) == instance.objectives
        assert tuple(objective.sense for objective in problem.objectives) == instance.senses
        assert not problem.requirements, "an instance has no requirements: its front is that of all solutions"

    def test_measured_rows_keep_their_values(self, instance: Instance) -> None:
        rows, values = instance.measured()
        assert len(rows) >= 200
        _equal(_problem(instance).evaluate(rows), values)

    def test_solutions_of_the_front_have_its_values(self, instance: Instance) -> None:
        _equal(_problem(instance).evaluate(instance.front_x), instance.front)

    def test_the_front_is_a_front(self, instance: Instance) -> None:
        F = instance.front
        assert np.isfinite(F).all()
        assert moocore.is_nondominated(F, keep_weakly=False).all()
        assert (np.lexsort(F.T[::-1]) == np.arange(len(F))).all(), "sorted by the first objective, then the next"
        _equal(F.min(axis=0), instance.ideal)
        _equal(F.max(axis=0), instance.nadir)
        assert (instance.ideal < instance.nadir).all(), "every objective tells points of the front apart"
        _equal(instance.scaled(instance.reference), np.full(instance.n_objectives, 1.1))
        assert (_problem(instance).pareto_front() == F).all()

    def test_no_measured_row_is_better_than_what_is_proven(self, instance: Instance) -> None:
        values = instance.measured()[1]
        proven = {"exact": instance.front, "bracketed": instance.bound, "best": None}[instance.known]
        if proven is not None:
            slack = PRECISION * (1 + np.abs(values))
            reached = (proven[:, None, :] <= (values + slack)[None]).all(axis=2).any(axis=0)
            assert reached.all()

    def test_a_bound_is_no_worse_than_its_point(self, instance: Instance) -> None:
        assert (instance.bound is not None) == (instance.known == "bracketed")
        if instance.bound is not None:
            assert instance.bound.shape == instance.front.shape
            assert (instance.bound <= instance.front + PRECISION * (1 + np.abs(instance.front))).all()


@functools.lru_cache(maxsize=2)
def _problem(instance: Instance) -> SDCProblem:
    return instance.problem()
