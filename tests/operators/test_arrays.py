"""Operators as functions of arrays: which child is whose, other shapes of crossover, and what is refused.

That every problem's variation gives valid rows is in ``OperatorContract``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pymoo.operators.crossover.pntx import SinglePointCrossover

from sdc_problems import SDCError
from sdc_problems.operators import CopyCrossover, variation


@pytest.fixture
def problem(column_suppression: Callable[[], Any]) -> Any:
    return column_suppression()


def with_crossover(problem: Any, crossover: Any, rng: np.random.Generator) -> Any:
    chosen = problem.operators()
    problem.operators = lambda: {**chosen, "crossover": crossover}
    return variation(problem, rng)


A = np.zeros((30, 6), dtype=np.int8)
B = np.ones((30, 6), dtype=np.int8)


def test_children_of_a_pair_share_its_entries(problem: Any, rng: np.random.Generator) -> None:
    first, second = variation(problem, rng).cross(A, B)
    np.testing.assert_array_equal(first + second, A + B)
    assert (first != A).any()


def test_the_first_child_is_nearer_to_the_first_parent(problem: Any, rng: np.random.Generator) -> None:
    first, second = with_crossover(problem, SinglePointCrossover(prob=1.0), rng).cross(A, B)
    assert (first[:, 0] == 0).all()
    assert (second[:, 0] == 1).all()


def test_a_crossover_with_one_child_is_applied_both_ways(problem: Any, rng: np.random.Generator) -> None:
    crossover = SinglePointCrossover(prob=1.0)
    both = crossover._do
    crossover.n_offsprings = 1
    crossover._do = lambda *args, **kwargs: both(*args, **kwargs)[:1]
    first, second = with_crossover(problem, crossover, rng).cross(A, B)
    assert (first[:, 0] == 0).all()
    assert (second[:, 0] == 1).all()
    assert (first[:, -1] == 1).all()


def test_a_crossover_that_copies_gives_the_parents(problem: Any, rng: np.random.Generator) -> None:
    first, second = with_crossover(problem, CopyCrossover(), rng).cross(A, B)
    np.testing.assert_array_equal(first, A)
    np.testing.assert_array_equal(second, B)
    assert not np.shares_memory(first, A)


def test_no_rows_give_no_rows(problem: Any, rng: np.random.Generator) -> None:
    vary = variation(problem, rng)
    nothing = vary.canonical(np.empty((0, 6)))
    assert (nothing.shape, nothing.dtype) == ((0, 6), np.int8)


def test_refusals_name_the_way_out(problem: Any, rng: np.random.Generator) -> None:
    vary = variation(problem, rng)
    with pytest.raises(SDCError, match="30 rows of A, 3 rows of B"):
        vary.cross(A, B[:3])
    with pytest.raises(SDCError, match="must have 6 columns"):
        vary.mutate(A[:, :5])
    with pytest.raises(SDCError, match="finite numbers"):
        vary.canonical(np.full((1, 6), np.nan))
    with pytest.raises(SDCError, match="finite numbers"):
        vary.canonical([["a"] * 6])
    crossover = SinglePointCrossover()
    crossover.n_parents = 3
    with pytest.raises(SDCError, match="takes 3 parents"):
        with_crossover(problem, crossover, rng)
