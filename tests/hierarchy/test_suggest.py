"""Hierarchies that make themselves: they cover the column, nest, hold their values, and read as a person would say."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import Microdata, SDCError
from sdc_problems._tables.levels import misplaced
from sdc_problems.hierarchy import Suggestion, suggest


def made(values: object, name: str = "x", **options: object) -> Suggestion:
    data = Microdata.from_frame(pd.DataFrame({name: values}), **options)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = suggest(data, name)
    check(found, data, name)
    return found


def check(found: Suggestion, data: Microdata, name: str) -> None:
    """What every suggestion promises."""
    hierarchy = found.hierarchy
    table = hierarchy.table(data.categories(name))  # covers what occurs
    sizes = [hierarchy.n_groups(level) for level in range(hierarchy.n_levels)]
    assert table.shape[0] == hierarchy.n_levels
    assert sizes == [1, 1] or all(a > b for a, b in pairwise(sizes)), "a level that merges nothing"
    assert hierarchy.labels(hierarchy.length) == ("*",)
    labels = [hierarchy.labels(level) for level in range(hierarchy.n_levels)]
    codes = np.array([hierarchy.codes(level) for level in range(hierarchy.n_levels)])
    assert misplaced(codes, labels) is None, "a label that does not hold its value"


def labels(found: Suggestion, value: object) -> list[str]:
    """Labels of a value from level 1 on."""
    return next(list(row[1:]) for row in found.hierarchy.rows() if row[0] == str(value))


def test_ages_get_readable_bands() -> None:
    found = made(range(18, 91), "age")
    assert found.reason == "numbers: bands of 5, 10, 20, 40"
    assert labels(found, 37) == ["35-39", "30-39", "20-39", "0-39", "*"]


def test_outliers_share_a_band_at_the_end() -> None:
    found = made([*range(18, 68)] * 20 + [99, 104], "age")
    assert labels(found, 104)[0] == labels(found, 99)[0] == ">=70"
    assert labels(found, 67)[0] == "65-69"


def test_skewed_amounts_do_not_end_in_one_band() -> None:
    amounts = np.random.default_rng(1).lognormal(10, 1, 3000).round(2)
    found = made(amounts, "income")
    largest = np.bincount(found.hierarchy.codes(1)).max()
    assert largest < 0.35 * len(amounts)
    assert any(label.startswith(">=") for label in found.hierarchy.labels(1))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=60), st.sampled_from([1, 0.1, 0.001, 7.25]))
def test_bands_hold_their_numbers(numbers: list[int], unit: float) -> None:
    made([number * unit for number in numbers])


@given(st.lists(st.text("abcdeXYZ0123.-/ ", min_size=1, max_size=7), min_size=2, max_size=60))
def test_any_text_gets_levels(texts: list[str]) -> None:
    if all(text.strip() == "" for text in texts):
        return
    made(pd.Series(texts, dtype=object), missing="category")


@pytest.mark.parametrize(
    ("written", "levels"),
    [
        ("%Y-%m-%d", ["2024-12", "2024-Q4", "2024", "2020-2029", "*"]),
        ("%d.%m.%Y", ["2024-12", "2024-Q4", "2024", "2020-2029", "*"]),
        ("%m/%d/%Y", ["2024-12", "2024-Q4", "2024", "2020-2029", "*"]),
    ],
)
def test_dates_as_people_write_them(written: str, levels: list[str]) -> None:
    days = pd.date_range("2012-01-01", "2024-12-31", freq="D")
    found = made(days.strftime(written), "admitted")
    assert labels(found, days[-1].strftime(written)) == levels


def test_day_and_month_are_never_guessed() -> None:
    found = made(["01/02/2019", "03/04/2021", "05/06/2024", "07/08/2024"], "admitted")
    assert labels(found, "05/06/2024")[:2] == ["2024", "2020-2029"]


def test_postal_codes_keep_leading_zeros() -> None:
    found = made([f"0{i}" for i in range(8000, 8100)] + ["09001", "43001"], "town")
    assert labels(found, "08042") == ["0804*", "080**", "0****", "*"]
    numeric = made(range(43001, 43101), "zip")
    assert labels(numeric, 43042)[0] == "4304*"


def test_codes_of_diagnoses_are_cut_to_beginnings() -> None:
    codes = [f"{letter}{i}.{j}" for letter in "EIJ" for i in range(10, 30) for j in range(5)]
    assert labels(made(codes, "diagnosis"), "E11.3") == ["E11*", "E1*", "E*", "*"]


def test_rare_categories_become_other() -> None:
    found = made(list("a" * 50 + "b" * 30 + "c" * 15 + "d" * 3 + "e" + "f"), "town")
    assert labels(found, "f") == ["other", "other", "other", "*"]
    assert labels(found, "c") == ["c", "other", "other", "*"]
    assert labels(made(["other"] * 5 + list("abcdef"), "town"), "f")[0] == "(other)"


def test_ordered_categories_join_neighbors() -> None:
    steps = ["none", "little", "some", "much", "most"]
    data = Microdata.from_frame(pd.DataFrame({"pain": steps}), orders={"pain": steps})
    found = suggest(data, "pain")
    check(found, data, "pain")
    assert labels(found, "some") == ["some to much", "none to much", "*"]


def test_a_missing_value_stays_itself_below_the_top() -> None:
    found = made(["E11.1", "E11.2", "E12.1", "J45.1", "J45.2", "J46.1", None], "icd", missing="category")
    assert set(labels(found, "?")) == {"?", "*"}


def test_a_column_without_values_is_refused() -> None:
    data = Microdata.from_frame(pd.DataFrame({"x": pd.Series([None, None], dtype=object)}), missing="category")
    with pytest.raises(SDCError, match="'x' has no values"):
        suggest(data, "x")
