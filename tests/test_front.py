"""Fronts: as tables, as views for notebooks, and what is said of those that offer no choice."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from pymoo.optimize import minimize

from sdc_problems import Front, PBGProblem, SDCError
from sdc_problems.datasets import people
from sdc_problems.errors import SDCWarning

CROWD = people(200)


def problem(**options: Any) -> PBGProblem:
    return PBGProblem(
        CROWD.data,
        CROWD.hierarchies,
        columns=["age", "sex", "marital_status"],
        **{"objectives": ("k", "glm"), **options},
    )


def test_the_table_of_an_exact_front_is_in_units_that_a_person_reads() -> None:
    front = problem().enumerate_front()
    frame = front.to_frame()
    assert list(frame.columns) == ["k", "glm", "x"]
    np.testing.assert_array_equal(frame[["k", "glm"]].to_numpy(), problem().natural(front.F))
    assert (frame["k"] > 0).all()
    np.testing.assert_array_equal(np.stack(frame["x"]), front.X)
    assert problem().release(frame.loc[0, "x"]).shape[1] == len(CROWD.data.names)
    for same in (copy.deepcopy(front), pickle.loads(pickle.dumps(front))):
        assert same.to_frame().equals(frame)
    X, F, n = front
    assert list(Front(X, F, n).to_frame().columns) == ["f1", "f2", "x"]


def test_the_front_of_a_search_from_its_result_population_or_rows() -> None:
    pbg = problem()
    result = minimize(pbg, NSGA2(pop_size=20, **pbg.operators()), ("n_gen", 4), seed=1)
    front = pbg.front(result)
    assert front.n_candidates == result.algorithm.evaluator.n_eval <= 80
    np.testing.assert_array_equal(front.F, np.unique(result.F, axis=0))
    for found in (result.pop, result.X):
        np.testing.assert_array_equal(pbg.front(found).F, front.F)
    worst = result.pop[:1].copy()
    assert len(pbg.front(Population.merge(result.pop, worst)).F) == len(front.F)
    with pytest.raises(SDCError, match="other objectives"):
        problem(objectives=("k", "glm", "suppressed")).front(result)


def test_of_one_objective_and_of_none_that_meets_the_requirements() -> None:
    single = problem(objectives=("glm",))
    result = minimize(single, NSGA2(pop_size=10, **single.operators()), ("n_gen", 2), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(single.front(result).to_frame()) == 1
    strict = problem(require={"k": 150, "glm": 1})
    none = minimize(strict, NSGA2(pop_size=10, **strict.operators()), ("n_gen", 2), seed=1)
    assert len(strict.front(none.pop).to_frame()) == 0
    with pytest.raises(SDCError, match="no solution"):
        strict.front(none)


def test_degenerate_fronts_are_warned_of() -> None:
    with pytest.warns(SDCWarning, match=r"one point: of \d+ solutions measured, one is best in all 2 objectives"):
        assert len(problem(objectives=("glm", "glm_percent")).enumerate_front().F) == 1
    rng = np.random.default_rng(1)
    F = rng.random((150, 9))
    said = Front(np.arange(150)[:, None], F, 150).degenerate()
    assert said is not None
    assert "150 of 150 solutions are on the front: with 9 objectives" in said
    assert Front(np.arange(150)[:, None], F[:, :3], 150).degenerate() is None
    assert Front(np.arange(60)[:, None], F[:60], 150).degenerate() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        problem().enumerate_front()


def test_views_for_notebooks_are_short_escaped_and_hold_no_cell() -> None:
    pbg = problem(require={"k": 2})
    views = [pbg._repr_html_(), pbg.enumerate_front()._repr_html_(), pbg.decode(pbg.xl)._repr_html_()]
    for view, word in zip(views, ["PBGProblem", "solutions", "age"], strict=True):
        assert word in view
        assert len(view) < 6000
        assert "<script" not in view
        for name in ("marital_status", "occupation", "diagnosis"):
            assert not [cell for cell in CROWD.data.frame()[name].unique() if str(cell) in view]
    assert "Required" in views[0]
    odd = dataclasses.replace(pbg.objectives[0], label="<script>")
    assert "<script" not in Front(*pbg.enumerate_front()).of([odd, pbg.objectives[1]])._repr_html_()


@pytest.mark.parametrize("algorithm", [NSGA2(pop_size=8), NSGA2(pop_size=8, sampling=IntegerRandomSampling())])
def test_operators_for_real_numbers_get_a_sentence(algorithm: NSGA2) -> None:
    with pytest.raises(
        SDCError, match=r"must be a whole number.*made for real numbers.*NSGA2\(.*\*\*problem\.operators\(\)"
    ):
        minimize(problem(), algorithm, ("n_gen", 9), seed=1)
