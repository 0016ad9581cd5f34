"""Local suppression: enough stars for k in both readings, few of them, and none that nobody needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import Microdata, SDCError
from sdc_problems.evaluators import distinct_l, equivalence_classes, k_anonymity
from sdc_problems.evaluators.wildcards import k_wildcard
from sdc_problems.methods import suppress_cells
from sdc_problems.methods.recoding import _suppress_cells, _wildcard_stars
from sdc_problems.methods.recoding._suppress_cells import suppress_table

FIVE = ["checking_status", "savings_status", "employment", "personal_status_sex", "job"]


@pytest.fixture
def german(public: Callable[[str], Path]) -> np.ndarray:
    frame = pd.read_csv(public("german_credit.csv"))[FIVE]
    return np.column_stack([pd.Categorical(frame[name]).codes for name in FIVE]).astype(int)


@pytest.mark.parametrize(
    ("reading", "p", "most"),
    [
        ("own", 5, (248, 610, 1370, 2600)),
        ("wildcard", 5, (120, 178, 297, 490)),
        ("wildcard", 3, (10, 21, 47, 108)),
    ],
)
def test_stars_of_german_credit(german: np.ndarray, reading: str, p: int, most: tuple[int, ...]) -> None:
    for k, limit in zip((2, 3, 5, 10), most, strict=True):
        found = suppress_cells(german[:, :p], k, reading=reading)
        assert (found < 0).sum() <= limit
        assert kept(german[:, :p], found, reading) >= k


def kept(codes: np.ndarray, found: np.ndarray, reading: str) -> int:
    assert ((found == codes) | (found == -1)).all()
    if reading == "own":
        return k_anonymity(equivalence_classes(found + 1))
    return k_wildcard(codes, found < 0)


tables = (
    st.integers(0, 2**32 - 1)
    .map(np.random.default_rng)
    .map(lambda rng: rng.integers(0, rng.integers(1, 5), (rng.integers(1, 30), rng.integers(1, 5))))
)


@settings(deadline=None)
@given(tables, st.integers(1, 6), st.sampled_from(["own", "wildcard"]))
def test_every_record_has_k_and_only_those_without_it_are_touched(codes: np.ndarray, k: int, reading: str) -> None:
    k = min(k, len(codes))
    before = codes.copy()
    found = suppress_cells(codes, k, reading=reading)
    np.testing.assert_array_equal(codes, before)
    assert kept(codes, found, reading) >= k
    sizes = pd.DataFrame(codes).groupby(list(range(codes.shape[1])))[0].transform("size").to_numpy()
    if (sizes >= k).all():
        assert (found >= 0).all()
    if reading == "wildcard":
        assert (found[sizes >= k] >= 0).all()


@settings(deadline=None)
@given(tables, st.integers(2, 4))
def test_no_wildcard_star_can_be_taken_back(codes: np.ndarray, k: int) -> None:
    k = min(k, len(codes))
    found = suppress_cells(codes, k, reading="wildcard")
    for i, j in np.argwhere(found < 0):
        fewer = found.copy()
        fewer[i, j] = codes[i, j]
        assert k_wildcard(codes, fewer < 0) < k


@settings(deadline=None)
@given(tables, st.integers(2, 4))
def test_many_attributes_are_starred_one_by_one(codes: np.ndarray, k: int) -> None:
    wide = np.concatenate([codes, np.zeros((len(codes), _wildcard_stars.EXACT), dtype=int)], axis=1)
    found = suppress_cells(wide, min(k, len(codes)), reading="wildcard")
    assert kept(wide, found, "wildcard") >= min(k, len(codes))
    assert (found[:, codes.shape[1] :] == 0).all()


@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_importance_decides_between_equally_many_stars(reading: str) -> None:
    codes = np.array([[0, 0], [1, 1], [0, 1], [1, 0]])
    for ranks, starred in (((1, 2), 1), ((2, 1), 0)):
        found = suppress_cells(codes, 2, importance=ranks, reading=reading)
        assert (found[:, starred] < 0).any()
        assert (found[:, 1 - starred] >= 0).all()


@pytest.mark.parametrize("reading", ["own", "wildcard"])
def test_an_attribute_has_at_most_so_many_stars(reading: str) -> None:
    codes = np.column_stack([np.arange(60) % 6, np.arange(60) // 10])
    found = suppress_cells(codes, 4, max_per_attribute=[0, 60], reading=reading)
    assert (found[:, 0] >= 0).all()
    assert kept(codes, found, reading) >= 4
    with pytest.raises(SDCError, match="so few stars"):
        suppress_cells(codes, 4, max_per_attribute=0, reading=reading)


def test_sensitive_values_differ_among_alike_records() -> None:
    rng = np.random.default_rng(3)
    codes, secret = rng.integers(0, 3, (80, 3)), rng.integers(0, 3, 80)
    found = suppress_cells(codes, 2, sensitive=secret, l=3)
    assert distinct_l(equivalence_classes(found + 1), secret) == 3
    with pytest.raises(SDCError, match="use own"):
        suppress_cells(codes, 2, sensitive=secret, l=3, reading="wildcard")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 9}, "larger than the number of records"),
        ({"reading": "other"}, "reading must be"),
        ({"importance": [1]}, "importance must be a whole number for each of 2"),
        ({"importance": [0, 1]}, r"importance\[0\] must be a whole number ≥ 1"),
        ({"max_per_attribute": [1, -1]}, r"max_per_attribute\[1\]"),
    ],
)
def test_wrong_arguments_are_a_sentence(options: dict, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        suppress_cells([[0, 1], [1, 0]], **{"k": 2, **options})


def test_a_table_gets_stars_and_columns_without_any_stay() -> None:
    frame = pd.DataFrame({"age": [20.5, 20.5, 60.0, 61.0], "town": ["Olot", "Olot", "Reus", "Reus"]})
    done = suppress_table(Microdata.from_frame(frame, quasi_identifiers=["age", "town"]), 2)
    assert {name: cells.tolist() for name, cells in done.columns.items()} == {"age": ["20.5", "20.5", "*", "*"]}
    assert done.sentences == ("2 of 8 cells are suppressed (25 %): age 2, town 0.",)
    assert _suppress_cells.READINGS == ("own", "wildcard")
