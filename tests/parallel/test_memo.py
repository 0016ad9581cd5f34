from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.optimize import minimize
from pymoo.problems import get_problem

from sdc_problems.errors import SDCError
from sdc_problems.operators.lattice import LatticeCrossover, LatticeMutation, LatticeSampling
from sdc_problems.parallel.memo import MemoEvaluator


class Counted(Problem):
    """Two objectives of integer rows; remembers every row it was asked for."""

    def __init__(self) -> None:
        super().__init__(n_var=3, n_obj=2, xl=0, xu=4, vtype=int)
        self.asked: list[tuple[int, ...]] = []

    def _evaluate(self, x: Any, out: Any, *args: Any, **kwargs: Any) -> None:
        self.asked += [tuple(row) for row in x]
        out["F"] = np.column_stack([x.sum(axis=1), (4 - x).prod(axis=1)]).astype(float)

    def __deepcopy__(self, memo: Any) -> Counted:
        return self


@given(st.lists(st.lists(st.integers(0, 8), max_size=10), max_size=6))
def test_every_row_is_measured_once_and_gets_its_own_values(batches: list[list[int]]) -> None:
    problem, evaluator = Counted(), MemoEvaluator()
    for batch in batches:
        if not batch:
            continue
        X = np.array([[i % 3, i // 3, 1] for i in batch], dtype=np.int16)
        pop = evaluator.eval(problem, Population.new(X=X))
        np.testing.assert_array_equal(pop.get("F"), Counted().evaluate(X))
        pop[0].F[:] = -1  # an algorithm that edits its individuals does not reach what is remembered
    assert len(problem.asked) == len(set(problem.asked)) == evaluator.n_unique
    assert evaluator.n_eval == sum(map(len, batches))


def test_a_search_is_the_same_with_it() -> None:
    def run(**options: Any) -> Any:
        algorithm = NSGA2(
            pop_size=20, sampling=LatticeSampling(), crossover=LatticeCrossover(), mutation=LatticeMutation(), **options
        )
        return minimize(Counted(), algorithm, ("n_eval", 300), seed=4)

    plain, remembering = run(), run(evaluator=MemoEvaluator())
    assert plain.pop.get("X").tobytes() == remembering.pop.get("X").tobytes()
    assert plain.pop.get("F").tobytes() == remembering.pop.get("F").tobytes()
    evaluator = remembering.algorithm.evaluator
    assert evaluator.n_eval == plain.algorithm.evaluator.n_eval
    assert evaluator.n_unique == len(set(remembering.problem.asked)) == len(remembering.problem.asked) <= 125


def test_constraints_are_remembered_too() -> None:
    problem, evaluator = get_problem("bnh"), MemoEvaluator()
    X = np.array([[1.0, 2.0], [4.0, 3.0]])
    first = evaluator.eval(problem, Population.new(X=X))
    second = evaluator.eval(problem, Population.new(X=X))
    assert evaluator.n_unique == 2
    for name in ("F", "G", "CV", "FEAS"):
        np.testing.assert_array_equal(first.get(name), second.get(name))


def test_what_is_forgotten_is_measured_again() -> None:
    problem, evaluator = Counted(), MemoEvaluator(capacity=2)
    for level in (0, 1, 2, 2, 0):
        evaluator.eval(problem, Population.new(X=np.full((1, 3), level)))
    assert [row[0] for row in problem.asked] == [0, 1, 2, 0]
    with pytest.raises(SDCError, match="capacity"):
        MemoEvaluator(capacity=0)


def test_copies_go_on_independently() -> None:
    problem, evaluator = Counted(), MemoEvaluator()
    evaluator.eval(problem, Population.new(X=np.zeros((1, 3), int)))
    other = copy.deepcopy(evaluator)
    other.eval(problem, Population.new(X=np.ones((1, 3), int)))
    assert (evaluator.n_unique, other.n_unique) == (1, 2)
