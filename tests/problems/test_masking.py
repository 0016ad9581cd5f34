"""MaskingProblem: the contract of every problem, its objectives, guards, sums, and what it says."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, Microdata, SDCError, load
from sdc_problems.evaluators import (
    broken_edits,
    dr_guarded,
    dr_numeric,
    il_categorical,
    pil,
    record_change,
    score_max,
    score_mean,
)
from sdc_problems.evaluators.information_loss.records import dealt_change
from sdc_problems.methods import rank_shuffle
from sdc_problems.problems._masking_starts import categorical_starts, numeric_starts
from sdc_problems.testing import ProblemContract

NAMES = ["wage", "rent", "total"]


def numbers(n: int = 60, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"wage": rng.lognormal(3, 1, n).round(2), "rent": -rng.integers(0, 400, n)})
    frame["total"] = (frame["wage"] + frame["rent"]).round(2)
    frame["name"] = [f"person {i}" for i in range(n)]
    frame["flu"] = rng.choice(["yes", "no"], n)
    return Microdata.from_frame(frame, quasi_identifiers=NAMES, sensitive=["flu"], identifiers=["name"])


def categories(n: int = 60) -> Microdata:
    rng = np.random.default_rng(3)
    degrees = ["none", "school", "college", "doctor"]
    frame = pd.DataFrame({
        "degree": pd.Categorical(rng.choice(degrees, n), degrees, ordered=True),
        "town": rng.choice(["Olot", "Reus", "Vic"], n),
        "job": rng.choice(list("abcde"), n),
        "flu": rng.choice(["yes", "no"], n),
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=["degree", "town", "job"], sensitive=["flu"])


class TestNumeric(ProblemContract):
    def make(self) -> MaskingProblem:
        return MaskingProblem(numbers(), guard=False)

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        np.testing.assert_array_equal(released[NAMES].to_numpy(float), problem.protected(x))
        before = problem.data.frame()
        pd.testing.assert_series_equal(released["flu"], before["flu"])
        assert list(released.dtypes[NAMES]) == list(before.dtypes[NAMES])
        names = tuple(problem.catalogue)
        found = dict(zip(names, problem.engine.measure(problem.cells(x).ravel(), names)[0], strict=True))
        X, Y = before[NAMES].to_numpy(float), released[NAMES].to_numpy(float)
        assert found["pil"] == pytest.approx(pil(X, Y), abs=1e-9)
        assert found["dr_numeric"] == pytest.approx(dr_numeric(X, Y), abs=1e-9)


class TestSums(TestNumeric):
    def make(self) -> MaskingProblem:
        return MaskingProblem(numbers(), objectives=("score_mean",), guard=False, edits=["total = wage + rent"])

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        np.testing.assert_allclose(released["total"], released["wage"] + released["rent"], atol=1e-9)


class TestCategorical(ProblemContract):
    def make(self) -> MaskingProblem:
        return MaskingProblem(categories())

    def check_release(self, problem: Any, x: np.ndarray, released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        before = problem.data.frame()
        assert list(released.dtypes) == list(before.dtypes)
        again = Microdata.from_frame(released[list(problem.attributes)], kinds={"town": "nominal", "job": "nominal"})
        shown = [[again.attribute(a).labels[c] for c in again.codes([a])[:, 0]] for a in problem.attributes]
        said = [[problem.data.attribute(a).labels[c] for c in column]
                for a, column in zip(problem.attributes, problem.cells(x).T, strict=True)]  # fmt: skip
        assert shown == said


class TestThreeObjectives(TestCategorical):
    def make(self) -> MaskingProblem:
        return MaskingProblem(categories(40), objectives=("il_categorical", "dr_categorical", "guess"), guard=False)


def test_objectives_are_the_public_measures() -> None:
    data = categories()
    problem = MaskingProblem(data, objectives=("il_categorical", "dr_guarded", "score_max"))
    x = problem.starts()["PRAM, p = 0.3"]
    Y, sizes = problem.cells(x), [4, 3, 5]
    domain: dict[str, Any] = {"kinds": ["ordinal", "nominal", "nominal"], "n_categories": sizes}
    loss, risk = il_categorical(data.codes(), Y, **domain), dr_guarded(data.codes(), Y, **domain)
    np.testing.assert_allclose(problem.evaluate(x), [loss, risk, score_max(loss, risk)], atol=1e-9)


def test_numbers_become_whole_codes_and_back() -> None:
    problem = MaskingProblem(numbers())
    x = problem.untouched
    np.testing.assert_array_equal(problem.protected(x), problem.original())
    codes = x.reshape(60, 3)
    assert codes.min(axis=0).tolist() == [0, 0, 0]
    np.testing.assert_array_equal(codes.max(axis=0), problem.tops)
    assert problem.decode(x).changed == (("wage", 0), ("rent", 0), ("total", 0))


def test_large_numbers_take_wider_codes() -> None:
    frame = pd.DataFrame({"a": [0, 40_000, 7], "b": [1, 2, 3]})
    problem = MaskingProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]))
    assert problem.dtype == np.int32
    assert MaskingProblem(categories()).dtype == np.int16


def test_a_guarded_numeric_file_repeats_no_original() -> None:
    """The row shift: no loss and next to no risk, and every record published. The guard calls it infeasible."""
    data = numbers()
    problem = MaskingProblem(data, objectives=("score_mean",))
    shifted = problem.encode(np.roll(problem.original(), -30, axis=0))
    unguarded = MaskingProblem(data, objectives=("score_mean",), guard=False)
    assert unguarded.evaluate(shifted)[0] < 10 < unguarded.evaluate(unguarded.untouched)[0]
    assert problem.n_ieq_constr == 1
    G = problem.evaluate(shifted, return_values_of=["G"])
    assert G[0] == pytest.approx(99.0)
    said = " ".join(problem.describe(shifted))
    assert "publishes original records in other rows" in said
    assert "100.0 % of the records all but repeat an original record" in said
    assert any("not guarded" in sentence for sentence in unguarded.describe(shifted))
    assert MaskingProblem(data, require={"copies": 5}).requirements[0].high == 5
    assert len(MaskingProblem(data, require={"pil": 5}).requirements) == 2
    assert problem.with_objectives(("pil",)).n_ieq_constr == 1


def test_a_guarded_search_ends_without_copies() -> None:
    problem = MaskingProblem(numbers(), start={"shifted": np.roll(numbers().values(), -30, axis=0)})
    result = minimize(problem, NSGA2(pop_size=20, **problem.operators()), ("n_gen", 40), seed=1)
    repeated = [problem.figures(x)["copies"] for x in result.pop.get("X")]
    assert min(repeated) < 60  # it began at 100, and copies are reduced before anything else


def test_renamed_categories_are_seen() -> None:
    problem = MaskingProblem(categories(), objectives=("score_max",))
    cells = problem.cells(problem.untouched)
    renamed = ((cells + np.array([2, 1, 2])) % [4, 3, 5]).ravel()
    other = MaskingProblem(categories(), objectives=("score_max",), guard=False)
    assert other.evaluate(renamed)[0] + 10 < problem.evaluate(renamed)[0]
    assert any("in effect renamed: 100.0 %" in sentence for sentence in problem.describe(renamed))


def test_doing_nothing_is_called_that(public: Callable[[str], Path]) -> None:
    public("german_credit.csv")
    problem = MaskingProblem(load("german_credit").data, objectives=("score_mean", "score_max"))
    x = problem.baselines()["untouched"]
    assert "It is the original: nothing is protected." in problem.describe(x)
    figures = problem.figures(x)
    assert (figures["il_categorical"], figures["dr_categorical"], figures["guess"]) == pytest.approx((0, 54.25, 100))
    unguarded = MaskingProblem(load("german_credit").data, objectives=("score_mean", "score_max"), guard=False)
    np.testing.assert_allclose(unguarded.evaluate(x), [27.125, 54.25])


def test_broken_sums_are_named_and_kept_sums_hold() -> None:
    data = numbers()
    free = MaskingProblem(data)
    moved = free.encode(np.random.default_rng(1).permuted(free.original(), axis=0))
    assert any("total = wage + rent" in s and "edits=" in s for s in free.describe(moved))
    assert free.figures(moved)["sums_broken"] > 90
    kept = MaskingProblem(data, edits=["total = wage + rent"])
    assert kept.n_var == 2 * 60
    x = kept.encode(free.protected(moved))
    assert kept.figures(x)["sums_broken"] == 0.0
    assert broken_edits(kept.protected(x), []) == 0.0
    assert not any("edits=" in s for s in kept.describe(x))


def test_a_file_of_new_records_is_called_synthetic() -> None:
    problem = MaskingProblem(numbers(200))
    X = problem.original()
    pairs = [record_change(X, np.roll(X, k, axis=0)) for k in range(200)]
    assert dealt_change(X) == pytest.approx(np.mean(pairs))
    shuffled = problem.encode(rank_shuffle(X, rng=np.random.default_rng(1)))
    assert any("synthetic" in sentence for sentence in problem.describe(shuffled))
    near = problem.encode(X + 0.3 * np.random.default_rng(2).normal(size=X.shape) * X.std(axis=0))
    assert any("perturbed" in sentence for sentence in problem.describe(near))
    assert all("No smallest class is promised" in " ".join(problem.describe(x)) for x in (shuffled, near))


def test_start_files_of_ones_own_widen_the_bounds() -> None:
    data = numbers()
    more = data.frame()[NAMES].add([0, 500, 0])
    problem = MaskingProblem(data, start={"raised": more, "as array": more.to_numpy()})
    first, second = problem.starts().values()
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(problem.protected(first), more.to_numpy().round(2))
    assert list(problem.baselines()) == ["untouched", "raised", "as array"]
    again = pickle.loads(pickle.dumps(problem))
    np.testing.assert_array_equal(again.starts()["raised"], first)
    labels = categories().frame()[["degree", "town", "job"]]
    problem = MaskingProblem(categories(), start={"itself": labels})
    np.testing.assert_array_equal(problem.starts()["itself"], problem.untouched)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"columns": "wage"}, r"write columns=\['wage'\]"),
        ({"columns": ["wage", "flu"]}, "'flu' is not a quasi-identifier"),
        ({"columns": ["wage", "wage"]}, "named twice"),
        ({"columns": ["nothing"]}, "no column 'nothing'"),
        ({"start": "some"}, "'few', 'many'"),
        ({"start": {}}, "mapping"),
        ({"start": {"a": np.zeros((2, 3))}}, "'a' must have 60 records and 3 attributes"),
        ({"start": {"a": np.full((60, 3), np.nan)}}, "finite"),
        ({"start": {"a": pd.DataFrame({"wage": [1.0]})}}, "no column 'rent'"),
        ({"guard": 1}, "guard"),
        ({"edits": "total = wage + rent"}, r"write edits=\["),
        ({"edits": ["wage = total + rent"]}, "does not hold in 100 %"),
        ({"edits": ["total = wage + rent", "wage = total - rent"]}, "two edits"),
        ({"objectives": ("dr",)}, "unknown objective"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(SDCError, match=says):
        MaskingProblem(numbers(), **options)


def test_numbers_and_categories_are_protected_apart() -> None:
    both = numbers().with_roles(quasi_identifiers=["wage", "flu"])
    with pytest.raises(SDCError, match="'wage' is numeric and 'flu' is not"):
        MaskingProblem(both)


def test_categories_of_start_files_must_be_known() -> None:
    wrong = categories().frame()[["degree", "town", "job"]].assign(town="Ripoll")
    with pytest.raises(SDCError, match="'town' holds a category"):
        MaskingProblem(categories(), start={"moved": wrong})
    with pytest.raises(SDCError, match="code that the original does not have"):
        MaskingProblem(categories(), start={"codes": np.full((60, 3), 3)})
    frame = pd.DataFrame({"a": [1.0, 5e9], "b": [1, 2]})
    with pytest.raises(SDCError, match="round it first"):
        MaskingProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]))


def test_start_populations_of_the_source(public: Callable[[str], Path]) -> None:
    public("census.csv")
    census, german = load("census").data, load("german_credit").data
    rng = np.random.default_rng(0)
    assert len(numeric_starts(census.values(), census.quasi_identifiers, rng, many=True)) == 50
    assert len(numeric_starts(census.values(), census.quasi_identifiers, rng, many=False)) == 16
    files = categorical_starts(german.codes().astype(np.int64), [4, 5, 5], ["ordinal"] * 3, rng)
    assert len(files) == 104
    problem = MaskingProblem(german, objectives=("il_categorical", "dr_categorical"), guard=False, start="many")
    F = problem.evaluate(np.stack(list(problem.starts().values())))
    mean = F.mean(axis=1)
    assert mean.min() == pytest.approx(26.68, abs=1.5)  # the source's population
    assert mean.mean() == pytest.approx(29.37, abs=1.5)
    assert score_mean(*F[0]) == pytest.approx(mean[0])


def test_many_different_records_go_without_probabilistic_linkage(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.problems import masking

    monkeypatch.setattr(masking, "MOST_ROWS", 50)
    for data, without in ((numbers(), ("pil", "dbrl")), (categories(), ("il_categorical", "guess"))):
        with pytest.raises(SDCError, match=r"up to 50 different ones, and the 60 of this table may all differ"):
            MaskingProblem(data)
        with pytest.raises(SDCError, match=r"'prl' holds probabilistic linkage"):
            MaskingProblem(data, objectives=without, require={"prl": 5})
        problem = MaskingProblem(data, objectives=without, guard=False)
        x = next(iter(problem.starts().values()))
        assert np.isfinite(problem.evaluate(x)).all()
        assert not set(problem.figures(x)) & set(masking.LINKED)
        assert "Linkage by agreement is not measured: records differ in more than 50 ways." in problem.describe(x)
    few = categories().with_roles(quasi_identifiers=["degree", "town"])  # 12 combinations, however many records
    assert "prl" in MaskingProblem(few).figures(MaskingProblem(few).untouched)
