"""GOMMProblem: the contract of every problem, its objectives, what it says and releases, its exact front."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.optimize import minimize
from pymoo.util.ref_dirs import get_reference_directions

from sdc_problems import GOMMProblem, Microdata, SDCError
from sdc_problems.datasets import load
from sdc_problems.methods.partition._attribute_groups import CENSUS, WATER_TREATMENT
from sdc_problems.problems.attribute_grouping import _partitions
from sdc_problems.testing import ProblemContract

NAMES = ["age", "hours", "wage", "savings", "rent", "debt"]


def table(n: int = 60, p: int = 6, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, 2))
    values = np.column_stack([base, base @ rng.normal(size=(2, p - 2)) + 0.5 * rng.normal(size=(n, p - 2))])
    frame = pd.DataFrame((values * 10 + 40).round(2), columns=NAMES[:p])
    frame["town"] = rng.choice(["Olot", "Reus"], n)
    return Microdata.from_frame(frame, quasi_identifiers=NAMES[:p], sensitive=["town"])


class TestGOMM(ProblemContract):
    def make(self) -> GOMMProblem:
        return GOMMProblem(table(), 4)

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        for group in problem.decode(x).groups:
            assert released.groupby(list(group)).size().min() >= problem.k
        pd.testing.assert_series_equal(released["town"], problem.data.frame()["town"])
        means = problem.data.frame()[NAMES].mean()
        np.testing.assert_allclose(released[NAMES].mean(), means)


class TestGOMMWithThreeObjectives(TestGOMM):
    def make(self) -> GOMMProblem:
        return GOMMProblem(table(), 4, objectives=("il_sse", "id_value", "dld"))


class TestGOMMWithOneObjective(TestGOMM):
    def make(self) -> GOMMProblem:
        return GOMMProblem(table(), 4, objectives=("score_mean",))


# -- objectives -------------------------------------------------------------------------------------------------------


def test_objectives_belong_together() -> None:
    names = ("il_sse", "id_value", "dld", "dr_linkage", "score_mean", "n_groups")
    problem = GOMMProblem(table(), 4, objectives=names)
    X = np.random.default_rng(1).integers(0, 6, size=(30, 6))
    il, disclosed, linked, risk, score, n_groups = problem.evaluate(X).T
    np.testing.assert_array_equal(risk, 0.5 * disclosed + 0.5 * linked)
    np.testing.assert_array_equal(score, (il + risk) / 2)
    assert n_groups.tolist() == [len(set(x)) for x in X.tolist()]
    for name, column in zip(names, problem.evaluate(X).T, strict=True):
        np.testing.assert_array_equal(GOMMProblem(table(), 4, objectives=(name,)).evaluate(X)[:, 0], column)


def test_counting_groups_needs_no_engine() -> None:
    problem = GOMMProblem(table(), 4, objectives=("n_groups",))
    assert problem.evaluate(np.array([0, 1, 2, 0, 1, 2])) == 3
    assert problem._compiled.engine is None


def test_released_table_measures_what_the_problem_said() -> None:
    from sdc_problems.evaluators.disclosure_risk import dr_linkage

    problem = GOMMProblem(table(), 4)
    values = problem.data.values(NAMES)
    for x in problem.baselines().values():
        il, risk = problem.evaluate(x)
        released = problem.release(x)[NAMES].to_numpy()
        errors = ((released - values) / values.std(axis=0)) ** 2
        assert 100 * errors.mean() == pytest.approx(il)
        assert dr_linkage(values, released) == pytest.approx(risk)


def test_release_is_the_example_of_the_thesis() -> None:
    """Table 2.1: two attributes, each microaggregated on its own with k = 2 (2.5, where 1.5 is printed)."""
    frame = pd.DataFrame({"a1": [1, 3, 5, 8, 12, 13], "a2": [2, 6, 3, 9, 8, 10]})
    problem = GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=["a1", "a2"]), 2)
    released = problem.release(problem.encode([["a1"], ["a2"]]))
    assert released["a1"].tolist() == [2, 2, 6.5, 6.5, 12.5, 12.5]
    assert released["a2"].tolist() == [2.5, 7, 2.5, 9.5, 7, 9.5]
    assert not released.duplicated().any(), "all protected records differ: whoever knows both attributes finds anybody"


# -- what a person reads ----------------------------------------------------------------------------------------------


def test_encode_and_decode_are_inverse() -> None:
    problem = GOMMProblem(table(), 4)
    groups = (("age", "debt"), ("hours", "wage", "rent"), ("savings",))
    x = problem.encode(groups)
    assert x.tolist() == [0, 1, 1, 2, 1, 0]
    assert x.dtype == problem.dtype
    found = problem.decode(x)
    assert found.groups == groups
    assert found.k == 4
    assert "(hours, wage, rent)" in str(found)


def test_figures_of_a_grouping_and_the_losses_of_its_groups() -> None:
    problem = GOMMProblem(table(), 4)
    groups = (("age", "debt"), ("hours", "wage", "rent"), ("savings",))
    x = problem.encode(groups)
    figures = problem.figures(x)
    assert figures["score_mean"] == (figures["il_sse"] + figures["dr_linkage"]) / 2
    assert figures["smallest_class"] == problem.release(x).groupby(NAMES).size().min()
    losses = problem.group_losses(x)
    assert sum(loss * len(g) for loss, g in zip(losses, groups, strict=True)) / 6 == pytest.approx(figures["il_sse"])
    other_numbers = np.array([5, 2, 2, 0, 2, 5])
    assert problem.decode(other_numbers).groups == groups
    assert problem.group_losses(other_numbers) == losses


def test_describe_says_what_is_promised_and_what_not() -> None:
    problem = GOMMProblem(table(), 4)
    one, several = (problem.describe(problem.baselines()[name]) for name in ("one group", "univariate"))
    assert "in 1 group:" in one[0]
    assert "at least 4 times" in one[1]
    assert "0 of 60 records" in one[2]
    assert "in 6 groups:" in several[0]
    assert "some records that are alone" in several[1]


def test_baselines_cover_the_literature() -> None:
    names = set(GOMMProblem(table(), 4).baselines())
    assert {"one group", "univariate", "correlated, groups of 5", "anti-correlated, groups of 2"} <= names
    assert not any(name.startswith("hand-made") for name in names)


@pytest.mark.parametrize(("columns", "name"), [(CENSUS, "Gnc4"), (WATER_TREATMENT, "Gc10")])
def test_files_of_the_thesis_have_its_handmade_groupings(columns: tuple[str, ...], name: str) -> None:
    values = np.random.default_rng(0).normal(size=(20, len(columns)))
    data = Microdata.from_frame(pd.DataFrame(values, columns=columns), quasi_identifiers=columns)
    assert f"hand-made {name}" in GOMMProblem(data, 3).baselines()


# -- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused() -> None:
    data = table()
    with pytest.raises(SDCError, match="one attribute \\('age'\\) cannot be grouped"):
        GOMMProblem(data.with_roles(quasi_identifiers=["age"]), 4)
    with pytest.raises(SDCError, match="no quasi-identifiers were declared"):
        GOMMProblem(data.with_roles(), 4)
    with pytest.raises(SDCError, match="'town' is nominal"):
        GOMMProblem(data.with_roles(quasi_identifiers=["age", "town"]), 4)
    for k in (31, 60, 61):
        with pytest.raises(SDCError, match=f"k = {k} is too large for 60 records: at most 30"):
            GOMMProblem(data, k)
    for bad in (1, 0, -3, 2.5, True):
        with pytest.raises(SDCError, match="k must be a whole number ≥ 2"):
            GOMMProblem(data, bad)
    with pytest.raises(SDCError, match="did you mean 'dld'"):
        GOMMProblem(data, 4, objectives=("il_sse", "dl"))
    with pytest.raises(SDCError, match="threads"):
        GOMMProblem(data, 4, threads=0)
    with pytest.raises(TypeError):
        GOMMProblem(data, 4, objective="il_sse")


def test_constant_attributes_are_refused() -> None:
    frame = table().frame()
    frame["rent"] = 12.0
    with pytest.raises(SDCError, match=r"'rent'.*remove it from"):
        GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=NAMES), 4)
    frame["rent"] = np.nan
    with pytest.raises(SDCError, match="rent"):
        GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=NAMES), 4)


def test_groupings_that_are_none_are_refused() -> None:
    problem = GOMMProblem(table(), 4)
    with pytest.raises(SDCError, match="'wages' is not a quasi-identifier; did you mean 'wage'"):
        problem.encode([["age", "hours", "wages"], ["savings", "rent", "debt"]])
    with pytest.raises(SDCError, match="misses 'wage', 'debt'"):
        problem.encode([["age", "hours"], ["savings", "rent"]])
    with pytest.raises(SDCError, match="'age' is in the grouping twice"):
        problem.encode([["age", "hours", "wage"], ["savings", "rent", "debt", "age"]])
    assert problem.encode(["age", ["hours", "wage", "savings"], [], ["rent", "debt"]]).tolist() == [0, 1, 1, 1, 2, 2]


# -- the exact front --------------------------------------------------------------------------------------------------


def test_partitions_are_all_there_once() -> None:
    bell = [1, 2, 5, 15, 52, 203, 877]
    for n, count in enumerate(bell, start=1):
        rows = [tuple(row) for row in _partitions(n)]
        assert len(rows) == count
        assert sorted(set(rows)) == rows
        assert all(row[0] == 0 and all(row[j] <= max(row[:j]) + 1 for j in range(1, n)) for row in rows)


def test_front_is_that_of_all_groupings() -> None:
    for objectives in (("il_sse", "dr_linkage"), ("il_sse", "id_value", "dld"), ("score_mean",)):
        problem = GOMMProblem(table(p=5), 4, objectives=objectives)
        X, F, n = problem.enumerate_front()
        assert n == 52
        every = np.array(list(itertools.product(range(5), repeat=5)))
        all_f = problem.evaluate(every)
        dominated = ((all_f[None] <= F[:, None]).all(axis=2) & (all_f[None] < F[:, None]).any(axis=2)).any()
        assert not dominated
        best = {f.tobytes() for f in F}
        undominated = [f for f in all_f if not ((all_f <= f).all(axis=1) & (all_f < f).any(axis=1)).any()]
        assert {f.tobytes() for f in undominated} == best
        assert len(best) == len(F)
        np.testing.assert_array_equal(problem.evaluate(X), F)
        assert X.dtype == problem.dtype


def test_too_many_attributes_are_not_enumerated() -> None:
    values = np.random.default_rng(0).normal(size=(20, 12))
    data = Microdata.from_frame(pd.DataFrame(values).rename(columns=str), quasi_identifiers=list(map(str, range(12))))
    with pytest.raises(SDCError, match="4,213,597 candidates, more than limit=1,000,000"):
        GOMMProblem(data, 3).enumerate_front()


# -- searches ---------------------------------------------------------------------------------------------------------


def test_nsga2_reaches_the_front_of_a_small_table() -> None:
    problem = GOMMProblem(table(), 4)
    result = minimize(problem, NSGA2(pop_size=40, **problem.operators()), ("n_eval", 190), seed=1)
    front = problem.enumerate_front().F
    found = {f.tobytes() for f in result.F} & {f.tobytes() for f in front}
    assert len(found) >= 0.9 * len(front)  # of 203 groupings, 190 were measured, each of them once


def test_nsga3_takes_three_objectives() -> None:
    problem = GOMMProblem(table(), 4, objectives=("il_sse", "id_value", "dld"))
    directions = get_reference_directions("energy", 3, 20, seed=1)
    result = minimize(problem, NSGA3(directions, **problem.operators()), ("n_gen", 5), seed=1)
    assert result.F.shape[1] == 3


@pytest.mark.slow
def test_nsga2_reaches_the_front_of_census(public: Callable[[str], Path]) -> None:
    """At least 0.95 of the exact front of the first ten columns, k = 25, in the thesis' 10,200 evaluations."""
    assert public("census.csv")
    data = load("census").data
    problem = GOMMProblem(data.with_roles(quasi_identifiers=data.names[:10]), 25)
    front = problem.enumerate_front().F
    exact = {f.tobytes() for f in front}
    shares = []
    for seed in range(5):
        result = minimize(problem, NSGA2(pop_size=200, **problem.operators()), ("n_eval", 10_200), seed=seed)
        shares.append(len(exact & {f.tobytes() for f in result.F}) / len(exact))
    assert np.median(shares) >= 0.95
