from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.algorithms import PBGEA, PBGSearch
from sdc_problems.datasets import people
from sdc_problems.evaluators.indicators import representation_ratio


@pytest.fixture(scope="module")
def problem() -> PBGProblem:
    dataset = load("people")
    return PBGProblem(dataset.data, dataset.hierarchies, objectives=("k", "glm"), suppression="budget")


@pytest.fixture(scope="module")
def free() -> PBGProblem:
    dataset = load("people")
    return PBGProblem(dataset.data, dataset.hierarchies, objectives=("k", "glm"))


def test_no_node_is_measured_twice_and_the_budget_is_kept(problem: PBGProblem) -> None:
    asked: list[np.ndarray] = []
    result = minimize(problem, PBGSearch(200), seed=3, callback=lambda a: asked.append(a.pop.get("X").copy()))
    X = np.concatenate(asked)
    assert len(X) == len(np.unique(X, axis=0)) == 200
    assert X.dtype == problem.dtype
    assert (X[0] == 0).all()
    assert (X[1] == problem.xu).all()
    evaluator = result.algorithm.evaluator
    assert evaluator.n_unique == evaluator.n_eval == 200
    np.testing.assert_array_equal(problem.evaluate(result.X), result.algorithm.archive.F)


def test_it_finds_the_front_in_a_twentieth_of_the_nodes(problem: PBGProblem) -> None:
    front = problem.enumerate_front().F
    result = minimize(problem, PBGSearch(max_evaluations=896), seed=1)
    assert representation_ratio(result.F, front, 1) >= 0.99


def test_it_beats_the_paper_at_the_same_number_of_nodes(problem: PBGProblem) -> None:
    front = problem.enumerate_front().F
    theirs = minimize(problem, PBGEA(), ("n_gen", 30), seed=1)
    ours = minimize(problem, PBGSearch(theirs.algorithm.evaluator.n_unique), seed=1)
    assert representation_ratio(ours.F, front, 1) >= representation_ratio(theirs.F, front, 1)


def test_same_seed_same_bytes(problem: PBGProblem) -> None:
    one, two, other = (minimize(problem, PBGSearch(150), seed=seed) for seed in (5, 5, 6))
    assert one.X.tobytes() == two.X.tobytes()
    assert one.F.tobytes() == two.F.tobytes()
    assert one.algorithm._model.X.tobytes() != other.algorithm._model.X.tobytes()


def test_a_lattice_smaller_than_the_budget_is_measured_completely() -> None:
    dataset = people(200)
    data = dataset.data.with_roles(quasi_identifiers=["sex", "income", "workclass"], sensitive=["diagnosis"])
    small = PBGProblem(data, dataset.hierarchies, objectives=("k", "l", "glm"))
    result = minimize(small, PBGSearch(1000), seed=1)
    assert result.algorithm.n_nodes == small.n_nodes == 16
    assert {tuple(f) for f in result.F} <= {tuple(f) for f in small.enumerate_front().F}


def test_where_suppression_is_free_a_node_counts_once_whatever_its_thresholds(free: PBGProblem) -> None:
    asked: list[np.ndarray] = []
    result = minimize(free, PBGSearch(150), seed=3, callback=lambda a: asked.append(a.pop.get("X").copy()))
    X = np.concatenate(asked)
    assert len(np.unique(X, axis=0)) == len(X) == result.algorithm.evaluator.n_eval
    assert len(np.unique(X[:, :-1], axis=0)) == result.algorithm.n_nodes == 150
    np.testing.assert_array_equal(free.effective(X), X)
    assert len(X) < 300  # only thresholds that enter the archive are evaluated beside the largest
    np.testing.assert_array_equal(free.evaluate(result.X), result.F)
    again = minimize(free, PBGSearch(150), seed=3)
    assert again.X.tobytes() == result.X.tobytes()


def test_the_free_front_is_found_from_as_few_nodes_as_that_of_the_budget(problem: PBGProblem, free: PBGProblem) -> None:
    ratios = []
    for tested in (free, problem):
        found = minimize(tested, PBGSearch(400), seed=1).F
        ratios.append(representation_ratio(found, tested.enumerate_front().F, 1))
    assert ratios[0] >= ratios[1]


def test_a_termination_may_end_it_earlier(problem: PBGProblem) -> None:
    assert minimize(problem, PBGSearch(500), ("n_eval", 100), seed=1).algorithm.evaluator.n_unique < 120


@pytest.mark.parametrize("options", [{"max_evaluations": 1}, {"batch_size": 0}, {"epsilon": -1}])
def test_bad_parameters(options: dict[str, Any]) -> None:
    with pytest.raises(SDCError):
        PBGSearch(**options)
