"""Top and bottom coding and global recoding: the figures of the reference files and the edge cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Hierarchy
from sdc_problems.errors import SDCError
from sdc_problems.evaluators import (
    ctbil,
    dbil,
    distance_linkage,
    ebil,
    interval_disclosure_rank,
    pil,
    pil_components,
    probabilistic_linkage,
)
from sdc_problems.methods import bottom_code, recode_intervals, recode_level, recode_map, recode_rare, top_code

THREE = ("checking_status", "savings_status", "employment")


@pytest.fixture
def census(public: Callable[[str], Path]) -> np.ndarray:
    return pd.read_csv(public("census.csv")).to_numpy(float)


@pytest.fixture
def german(public: Callable[[str], Path]) -> pd.DataFrame:
    return pd.read_csv(public("german_credit.csv"))


def test_census_cut_at_quantiles(census: np.ndarray) -> None:
    top, bottom = top_code(census, percent=95), bottom_code(census, percent=5)
    assert ((top != census).sum(), (bottom != census).sum()) == (683, 684)
    assert (pil(census, top), pil(census, bottom)) == pytest.approx((52.2747, 18.3707), abs=5e-5)
    assert tuple(pil_components(census, top)) == pytest.approx((54.305, 91.400, 70.580, 45.056, 0.033), abs=6e-4)
    linked = [distance_linkage(census, Y, direction="to_original", ties="any") for Y in (top, bottom)]
    assert linked == pytest.approx([92.3148, 99.5370], abs=5e-5)
    weights = census[:, 0]
    assert top_code(weights, percent=95).max() == pytest.approx(395_868.85)
    mean = top_code(weights, percent=95, by="mean", decimals=2)
    assert (mean != weights).sum() == 54
    assert mean.max() == 451_029.04
    assert top_code(weights, percent=95, by="mean").max() == 451_029, "whole numbers stay whole"


def codes_of(german: pd.DataFrame) -> np.ndarray:
    return np.column_stack([pd.Categorical(german[name]).codes for name in THREE]).astype(int)


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ("rare 2", (8.5833, 2.5167, 8.2532, 97.9000, 4.7083, 4.8000)),
        ("rare 3", (31.4167, 12.9517, 27.1209, 54.9000, 1.8000, 1.8000)),
        ("first 2", (20.4167, 6.6833, 17.9273, 78.4667, 4.3250, 4.5000)),
        ("last 2", (13.9333, 4.0100, 12.8295, 92.1000, 4.7000, 4.3825)),
    ],
)
def test_german_credit_recoded(german: pd.DataFrame, how: str, wanted: tuple[float, ...]) -> None:
    X = codes_of(german)
    which, count = how.split()
    if which == "rare":
        Y = recode_rare(X, categories=int(count))
    else:
        ends = [range(2) if which == "first" else range(size - 2, size) for size in (4, 5, 5)]
        Y = np.column_stack([recode_map(X[:, j], [end]) for j, end in enumerate(ends)])
    found = (
        ctbil(X, Y),
        dbil(X, Y, kinds="ordinal"),
        ebil(X, Y),
        interval_disclosure_rank(X, Y, kinds="ordinal"),
        distance_linkage(X, Y, direction="to_original", kinds="ordinal"),
        probabilistic_linkage(X, Y),
    )
    assert found == pytest.approx(wanted, abs=5e-5)


def test_two_rarest_of_german_credit(german: pd.DataFrame) -> None:
    X = codes_of(german)
    gone = [set(np.unique(X[:, j])[np.argsort(np.bincount(X[:, j]), kind="stable")[:2]]) for j in range(3)]
    assert gone == [{2, 1}, {3, 2}, {0, 1}]  # A13, A12; A64, A63; A71, A72
    Y = recode_rare(X, categories=2)
    assert [len(np.unique(Y[:, j])) for j in range(3)] == [3, 4, 4]


def test_ages_of_german_credit(german: pd.DataFrame) -> None:
    assert recode_intervals(german.age, bins=6).counts.tolist() == [334, 322, 176, 100, 50, 18]
    assert recode_intervals(german.age, bins=6, method="equal_count").breaks.tolist() == [19, 25, 28, 33, 38, 47, 75]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(1, 7))
def test_ordinal_coding_merges_an_end(values: list[int], categories: int) -> None:
    codes = np.array(values)
    top = top_code(codes, categories=categories, n_categories=7)
    assert (top == np.minimum(codes, 7 - categories)).all()
    assert (bottom_code(codes, categories=categories, n_categories=7) == np.maximum(codes, categories - 1)).all()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.integers(1, 3))
def test_rare_categories_become_one(values: list[int], categories: int) -> None:
    codes = np.array(values)
    present = np.unique(codes)
    if categories > len(present) > 1:
        with pytest.raises(SDCError, match="categories"):
            recode_rare(codes, categories=categories)
        return
    out = recode_rare(codes, categories=categories)
    assert len(np.unique(out)) == (len(present) - categories + 1 if len(present) > 1 else 1)
    changed = codes[out != codes]
    assert all((codes == kept).sum() >= (codes == gone).sum() for gone in changed for kept in out[codes == gone])


def test_numbers_strictly_beyond_are_cut() -> None:
    x = np.array([1.0, 2.0, 3.0, 5.0, 10.0])
    assert top_code(x, threshold=3).tolist() == [1, 2, 3, 3, 3]
    assert top_code(x, threshold=3, by="mean", decimals=1).tolist() == [1, 2, 3, 7.5, 7.5]
    assert top_code(x, threshold=3, by="median", decimals=1).tolist() == [1, 2, 3, 7.5, 7.5]
    assert top_code(x, threshold=3, by=99).tolist() == [1, 2, 3, 99, 99]
    assert bottom_code(x, threshold=3).tolist() == [3, 3, 3, 5, 10]
    assert top_code(np.full(4, 7.0), threshold=3).tolist() == [7] * 4, "a constant column stays"
    assert top_code(np.column_stack([x, x]), threshold=[3, 5])[:, 1].tolist() == [1, 2, 3, 5, 5]


def test_the_missing_category_is_not_merged() -> None:
    codes = np.array([0, 1, 2, 3, 3])
    assert top_code(codes, categories=2, missing_codes=3).tolist() == [0, 1, 1, 3, 3]
    assert top_code(codes, categories=2, n_categories=4, missing_codes=3).tolist() == [0, 1, 1, 3, 3]
    assert top_code(codes, categories=2, missing_codes=3, missing="value").tolist() == [0, 1, 2, 2, 2]
    assert recode_rare([0, 0, 1, 1, 2, 3], categories=2, missing_codes=3).tolist()[-1] == 3
    assert recode_rare([0, 0, 1, 1, 2, 3], categories=2, missing_codes=3, missing="value").tolist()[-1] == 2


def test_intervals() -> None:
    found = recode_intervals([1.0, 4.0, 10.0], breaks=[0, 2, 3, 10])
    assert found.values.tolist() == ["[0, 2)", "[3, 10]", "[3, 10]"]
    assert found.counts.tolist() == [1, 0, 2], "an empty interval stays and is reported"
    assert recode_intervals([1.0, 4.0, 10.0], breaks=[0, 2, 3, 10], show="median").values.tolist() == [1, 7, 7]
    logs = recode_intervals([1.0, 10.0, 100.0], bins=2, method="log_width")
    assert logs.breaks == pytest.approx([1, 10, 100])
    assert recode_intervals([5.0, 5.0], bins=3).values.tolist() == ["[5, 5]"] * 2


def test_levels_of_a_hierarchy() -> None:
    zips = Hierarchy.masking(["08001", "08002", "43001"])
    assert recode_level(["43001", "08002"], zips, 3).tolist() == ["43***", "08***"]
    with pytest.raises(SDCError, match="lacks 1"):
        recode_level(["99999"], zips, 1)


def test_arguments_stay(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    unchanged(top_code, rng.random((9, 2)), percent=90)
    unchanged(recode_rare, rng.integers(0, 5, (30, 2)), categories=2)
    unchanged(recode_map, rng.integers(0, 5, 30), [[0, 1]])
    unchanged(recode_intervals, rng.random(9), bins=3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: top_code([1.0], threshold=1, percent=5), "exactly one of"),
        (lambda: top_code([1.0, 2.0], percent=50, by="mode"), "by must be"),
        (lambda: top_code([[1.0, 2.0]], threshold=[1, 2, 3]), "threshold must be one finite number"),
        (lambda: top_code([0, 1], categories=3), "column 0 of x has 2"),
        (lambda: top_code([0, 5], categories=2, n_categories=3), "n_categories says 3"),
        (lambda: top_code([0.5], categories=1), "column 0 of x must hold whole"),
        (lambda: recode_map([0, 1], [[0], [0, 1]]), "code 0 stands in two groups"),
        (lambda: recode_map([0, 1], [[]]), r"groups\[0\] is empty"),
        (lambda: recode_intervals([1.0, 9.0], breaks=[0, 5]), "1 value.* outside, the first at position 1"),
        (lambda: recode_intervals([1.0], breaks=[5, 5]), "breaks must rise"),
        (lambda: recode_intervals([0.0, 1.0], bins=2, method="log_width"), "x is 0 at position 0"),
        (lambda: recode_intervals([1.0], bins=1, method="kmeans"), "method must be one of"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()
