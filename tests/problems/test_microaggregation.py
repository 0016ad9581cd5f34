"""MicroaggregationProblem: the contract of every problem, its objectives, what it says and releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, Microdata, SDCError, load
from sdc_problems.algorithms import BoxArchive
from sdc_problems.evaluators.information_loss import il_sse, sse
from sdc_problems.evaluators.linkage import distance_linkage
from sdc_problems.methods import exhaustive, mdav
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.problems.microaggregation import _partitions
from sdc_problems.studies.searches.operators import BaselinesFirst
from sdc_problems.testing import ProblemContract

NAMES = ["age", "wage", "rent"]
DEGREES = ["none", "school", "college"]


def table(n: int = 40, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame((rng.normal(size=(n, 3)) * 10 + 40).round(2), columns=NAMES)
    frame["name"] = [f"person {i}" for i in range(n)]
    frame["flu"] = rng.choice(["yes", "no"], n)
    return Microdata.from_frame(frame, quasi_identifiers=NAMES, sensitive=["flu"], identifiers=["name"])


def mixed(n: int = 40) -> Microdata:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, n),
        "degree": pd.Categorical(rng.choice(DEGREES, n), DEGREES, ordered=True),
        "town": rng.choice(["Olot", "Reus", "Vic"], n),
        "flu": rng.choice(["yes", "no"], n),
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=["age", "degree", "town"], sensitive=["flu"])


class TestMicroaggregation(ProblemContract):
    def make(self) -> MicroaggregationProblem:
        return MicroaggregationProblem(table(), 3)

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        names = list(problem.attributes)
        assert released.groupby(names, observed=True).size().min() >= problem.k
        pd.testing.assert_series_equal(released["flu"], problem.data.frame()["flu"])
        if set(problem.kinds) == {"numeric"}:
            np.testing.assert_allclose(released[names].mean(), problem.data.frame()[names].mean())


class TestLossAndLinkage(TestMicroaggregation):
    def make(self) -> MicroaggregationProblem:
        return MicroaggregationProblem(table(), 3, objectives=("il_sse", "dbrl"))


class TestFreeSizes(TestMicroaggregation):
    def make(self) -> MicroaggregationProblem:
        return MicroaggregationProblem(table(), 2, objectives=("il_sse", "k", "id_value"), k_max=8)


class TestMixedKinds(TestMicroaggregation):
    def make(self) -> MicroaggregationProblem:
        return MicroaggregationProblem(mixed(), 3, objectives=("sse", "dbrl"))


# -- objectives -------------------------------------------------------------------------------------------------------


def test_objectives_are_the_plain_measures() -> None:
    problem = MicroaggregationProblem(table(), 3, objectives=("sse", "il_sse", "dbrl", "k"))
    V, Z = problem.data.values(NAMES), problem.data.z_scores(NAMES)
    for x in problem.baselines().values():
        total, il, linked, k = problem.natural(problem.evaluate(x))
        assert total == pytest.approx(sse(Z, x), rel=1e-9)
        assert il == pytest.approx(il_sse(V, x), rel=1e-9)
        assert linked == pytest.approx(distance_linkage(V, problem.release(x)[NAMES].to_numpy()), rel=1e-9)
        assert k == np.bincount(x).min()


def test_a_row_beyond_the_limits_stands_for_one_valid_partition() -> None:
    problem = MicroaggregationProblem(table(), 3, objectives=("sse", "k"))
    for x in (np.zeros(40, dtype=int), np.arange(40) % 13, np.arange(40) // 20):
        labels = problem.labels(x)
        assert 3 <= np.bincount(labels).min() <= np.bincount(labels).max() <= 5
        np.testing.assert_array_equal(problem.limited(x[None, :])[0], labels)
        np.testing.assert_array_equal(problem.evaluate(x), problem.evaluate(labels))
        assert problem.decode(x) == problem.decode(labels)
        assert problem.release(x).equals(problem.release(labels))


@pytest.mark.parametrize(("n", "k", "k_max"), [(6, 3, 3), (7, 2, 2), (8, 2, 3), (9, 3, 4)])
def test_every_partition_is_enumerated_once(n: int, k: int, k_max: int) -> None:
    frame = table().frame().iloc[:n]
    data = Microdata.from_frame(frame, quasi_identifiers=NAMES)
    problem = MicroaggregationProblem(data, k, k_max=k_max, objectives=("sse", "k"))
    rows = [tuple(row) for row in _partitions(n, k, 2 * k_max - 1)]
    every = np.indices((problem.xu[0].astype(int) + 1,) * n).reshape(n, -1).T if n < 8 else np.zeros((0, n), dtype=int)
    sizes = [np.bincount(x)[np.bincount(x) > 0] for x in every]
    wanted = {
        tuple(restricted_growth(x).tolist())
        for x, s in zip(every, sizes, strict=True)
        if k <= s.min() and s.max() <= 2 * k_max - 1
    }
    assert len(rows) == len(set(rows)) == problem.n_candidates
    assert rows == sorted(rows)
    assert not wanted or set(rows) == wanted
    front = problem.enumerate_front()
    assert front.n_candidates == len(rows)
    F = problem.evaluate(np.array(rows))
    undominated = [f for f in F if not ((F <= f).all(axis=1) & (F < f).any(axis=1)).any()]
    assert {tuple(f) for f in undominated} == {tuple(f) for f in front.F}


def test_the_number_of_partitions_is_that_of_the_literature() -> None:
    data = Microdata.from_frame(table().frame().iloc[:12], quasi_identifiers=NAMES)
    assert MicroaggregationProblem(data, 3).n_candidates == 48_895
    large = MicroaggregationProblem(table(), 3)
    with pytest.raises(SDCError, match=r"about 10\^\d+ candidates, more than limit=1,000,000"):
        large.enumerate_front()


def test_baselines_and_their_order() -> None:
    problem = MicroaggregationProblem(table(), 3, k_max=10)
    found = problem.baselines()
    assert list(found)[:4] == ["MDAV", "MDAV, k = 6", "MDAV, k = 9", "MDAV, k = 10"]
    np.testing.assert_array_equal(found["MDAV"], mdav(problem.points(), 3))
    loss = {name: problem.evaluate(x)[0] for name, x in found.items()}
    assert loss["MHM on MDAV's path"] <= loss["MDAV"] < loss["MDAV, k = 10"]
    assert list(MicroaggregationProblem(mixed(), 3).baselines()) == ["MDAV"]
    one = Microdata.from_frame(table().frame(), quasi_identifiers=["age"])
    single = MicroaggregationProblem(one, 3)
    loss = {name: single.evaluate(x)[0] for name, x in single.baselines().items()}
    assert loss["optimum"] == min(loss.values())


def test_what_a_person_reads() -> None:
    problem = MicroaggregationProblem(table(), 3)
    x = problem.baselines()["MDAV"]
    found = problem.decode(x)
    assert sorted(i for group in found.groups for i in group) == list(range(40))
    assert str(found) == "13 groups of 3 to 4 records"
    assert found.k == problem.figures(x)["k"] == 3
    assert problem.figures(x)["n_groups"] == 13
    assert "13 groups of 3 to 4 similar records" in problem.describe(x)[0]
    assert "mean or median or most frequent value" in MicroaggregationProblem(mixed(), 3).describe(x)[0]


def test_released_categories_are_medians_and_modes() -> None:
    problem = MicroaggregationProblem(mixed(), 3)
    x = problem.baselines()["MDAV"]
    released, before = problem.release(x), problem.data.frame()
    assert released["degree"].cat.ordered
    for group in range(x.max() + 1):
        inside = x == group
        codes = np.sort(before["degree"].cat.codes[inside])
        assert set(released["degree"].cat.codes[inside]) == {codes[(len(codes) - 1) // 2]}
        counts = before["town"][inside].value_counts()
        assert set(released["town"][inside]) <= set(counts.index[counts == counts.max()])


# -- search -----------------------------------------------------------------------------------------------------------


def test_its_operators_find_the_optimum_of_a_few_records() -> None:
    from pymoo.algorithms.soo.nonconvex.ga import GA

    problem = MicroaggregationProblem(table(11), 3)
    best = problem.evaluate(exhaustive(problem.points(), 3))[0]
    result = minimize(problem, GA(pop_size=30, **problem.operators()), ("n_gen", 60), seed=1)
    assert result.F[0] == pytest.approx(best)


@pytest.mark.parametrize("names", [("il_sse", "dbrl"), ("il_sse", "k")])
def test_a_front_from_mdav_matches_or_dominates_it(names: tuple[str, str]) -> None:
    problem = MicroaggregationProblem(table(60), 3, objectives=names, k_max=10)
    seeds = [x for name, x in problem.baselines().items() if name.startswith("MDAV")]
    operators = problem.operators()
    operators["sampling"] = BaselinesFirst(operators["sampling"], seeds)
    result = minimize(problem, NSGA2(pop_size=40, **operators), ("n_gen", 150), seed=1)
    better = 0
    for start in problem.evaluate(np.array(seeds)):
        assert (result.F <= start).all(axis=1).any()
        better += ((result.F <= start) & (result.F < start).any(axis=1, keepdims=True)).all(axis=1).any()
    assert better > len(seeds) / 2


@pytest.mark.slow
def test_on_census_the_front_dominates_mdav_at_every_k(public: Any) -> None:
    public("census.csv")
    problem = MicroaggregationProblem(load("census").data, 3, objectives=("il_sse", "dbrl"), k_max=10)
    seeds = [x for name, x in problem.baselines().items() if name.startswith("MDAV")]
    operators = problem.operators()
    operators["sampling"] = BaselinesFirst(operators["sampling"], seeds)
    everything = BoxArchive(epsilon=1e-9)  # crowding forgets points of a front that is larger than the population
    result = minimize(problem, NSGA2(pop_size=100, archive=everything, **operators), ("n_gen", 120), seed=1)
    F = result.algorithm.archive.F
    better = 0
    for start in problem.evaluate(np.array(seeds)):
        dominating = F[(F <= start).all(axis=1)]
        assert len(dominating)
        better += (dominating < start).any()
    assert better > len(seeds) / 2


@pytest.mark.parametrize("k_max", [3, 7])
def test_refining_loses_nothing_and_keeps_the_smallest_group(k_max: int) -> None:
    problem = MicroaggregationProblem(table(90), 3, k_max=k_max)
    rng = np.random.default_rng(2)
    rows = problem.operators()["sampling"].do(problem, 12, random_state=rng).get("X")
    before = rows.copy()
    gained = 0
    for row in rows:
        better = problem.refined(row, 5_000, rng)
        assert better.dtype == row.dtype
        assert np.bincount(better).min() >= np.bincount(problem.labels(row)).min()
        assert np.bincount(better).max() <= problem.largest
        assert problem.evaluate(better)[0] <= problem.evaluate(row)[0]
        gained += problem.evaluate(better)[0] < 0.9 * problem.evaluate(row)[0]
    np.testing.assert_array_equal(rows, before)
    assert gained > 8


def test_refining_leaves_categories_alone() -> None:
    problem = MicroaggregationProblem(mixed(), 3)
    x = problem.baselines()["MDAV"]
    np.testing.assert_array_equal(problem.refined(x, 1_000, np.random.default_rng(1)), x)


# -- refused ----------------------------------------------------------------------------------------------------------


def test_what_is_refused() -> None:
    data = table(11)
    with pytest.raises(SDCError, match="k must be a whole number ≥ 2"):
        MicroaggregationProblem(data, 1)
    with pytest.raises(SDCError, match="at most 5 gives two groups"):
        MicroaggregationProblem(data, 6)
    with pytest.raises(SDCError, match="k_max = 3 is smaller than k = 4"):
        MicroaggregationProblem(data, 4, k_max=3)
    with pytest.raises(SDCError, match="unknown objective 'los'"):
        MicroaggregationProblem(data, 3, objectives=("los",))
    with pytest.raises(SDCError, match="no quasi-identifiers"):
        MicroaggregationProblem(Microdata.from_frame(data.frame()), 3)
    with pytest.raises(SDCError, match="at least 4"):
        MicroaggregationProblem(table(3), 2)


def test_duplicates_only() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0] * 6, "b": [5.0, 6.0] * 6})
    problem = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), 3)
    x = problem.baselines()["MDAV"]
    assert problem.evaluate(x)[0] == pytest.approx(0.0, abs=1e-20)
    assert problem.release(x).equals(frame)
