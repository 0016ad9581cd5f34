"""The embedded table: the same everywhere, and like a census."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from sdc_problems._sources import people as _people
from sdc_problems._sources.parsers import Table
from sdc_problems.datasets import people
from sdc_problems.errors import SDCError


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return _people.draw()


def share(frame: pd.DataFrame, where: pd.Series, condition: pd.Series) -> float:
    return float(condition[where].mean())


def test_the_table_never_changes(frame: pd.DataFrame) -> None:
    table = Table(tuple(frame.columns), frame.astype(str).to_numpy().tolist())
    assert table.digest() == "4bb954045b3af6cb44f8226c681bdd22cbcf9e4e01d9fa5ff0a0f08a0a047fe3"


def test_a_larger_table_begins_with_the_smaller_one(frame: pd.DataFrame) -> None:
    larger = _people.draw(5_300)
    pd.testing.assert_frame_equal(larger.iloc[:5_000], frame)
    assert not larger.iloc[5_000:].reset_index(drop=True).equals(frame.iloc[:300])


def test_another_seed_gives_other_people(frame: pd.DataFrame) -> None:
    other = _people.draw(5_000, seed=1)
    assert (other["wage"] != frame["wage"]).mean() > 0.9
    # … of the same population
    for column in ("sex", "education", "income", "diagnosis"):
        difference = other[column].value_counts(normalize=True) - frame[column].value_counts(normalize=True)
        assert difference.abs().max() < 0.03, column


def test_roles_kinds_and_hierarchies() -> None:
    dataset = people()
    data = dataset.data
    assert len(data) == 5_000
    assert data.quasi_identifiers == _people.QUASI_IDENTIFIERS
    assert data.sensitive == ("occupation", "diagnosis")
    assert [data.attribute(name).kind for name in ("hours", "wage", "savings")] == ["numeric"] * 3
    assert data.attribute("education").kind == "ordinal"
    assert data.attribute("education").labels == list(_people.EDUCATION)
    assert tuple(dataset.hierarchies) == _people.QUASI_IDENTIFIERS
    assert [h.length for h in dataset.hierarchies.values()] == [6, 3, 3, 3, 1, 1, 4, 1]
    assert math.prod(h.n_levels for h in dataset.hierarchies.values()) == 17_920
    assert "do not exist" in dataset.about


@pytest.mark.parametrize("records", [0, 49, -5, 2.5, True, "10"])
def test_a_bad_number_of_records_is_refused(records: object) -> None:
    with pytest.raises(SDCError, match="records must be a whole number"):
        people(records)  # type: ignore[arg-type]


def test_every_value_occurs(frame: pd.DataFrame) -> None:
    expected = {
        "workclass": _people.WORKCLASS,
        "education": tuple(_people.EDUCATION),
        "marital_status": _people.MARITAL_STATUS,
        "ethnicity": _people.ETHNICITY,
        "sex": _people.SEX,
        "birthplace": _people.BIRTHPLACE,
        "income": _people.INCOME,
        "occupation": _people.OCCUPATION,
        "diagnosis": _people.DIAGNOSIS,
    }
    for column, values in expected.items():
        assert set(frame[column]) == set(values), column
    assert set(frame["age"]) == set(range(17, 91))


def test_marginals_are_those_of_a_census(frame: pd.DataFrame) -> None:
    age = frame["age"]
    assert 42 < age.mean() < 49
    assert 0.48 < (frame["sex"] == "female").mean() < 0.54
    assert 0.65 < (frame["workclass"] == "private company").mean() < 0.8
    assert 0.2 < (frame["income"] == "over 50k").mean() < 0.35
    assert 0.78 < frame["birthplace"].isin(_people.PROVINCES).mean() < 0.86
    assert 0.3 < (frame["diagnosis"] == "no diagnosis").mean() < 0.5
    assert frame["hours"].between(4, 90).all()
    assert frame["hours"].median() == 40
    assert (frame["hours"] == 40).mean() > 0.25


def test_schooling_depends_on_age(frame: pd.DataFrame) -> None:
    order = list(_people.EDUCATION)
    level = frame["education"].map(order.index)
    youngest = frame["education"].map(_people.EDUCATION)
    assert (frame["age"] >= youngest).all()
    assert level[frame["age"].between(28, 45)].mean() > level[frame["age"] > 65].mean() + 1.0
    assert share(frame, frame["birthplace"] == "Capital", level >= 12) > share(
        frame, frame["birthplace"] == "Plains", level >= 12
    )


def test_marital_status_depends_on_age_and_sex(frame: pd.DataFrame) -> None:
    never = frame["marital_status"] == "never married"
    widowed = frame["marital_status"] == "widowed"
    age = frame["age"]
    assert share(frame, age < 22, never) > 0.9
    assert share(frame, age.between(35, 60), never) < 0.25
    assert share(frame, age >= 75, widowed) > 0.15
    assert share(frame, age < 50, widowed) < 0.01
    assert share(frame, (age >= 70) & (frame["sex"] == "female"), widowed) > 1.5 * share(
        frame, (age >= 70) & (frame["sex"] == "male"), widowed
    )


def test_income_follows_schooling_age_and_hours(frame: pd.DataFrame) -> None:
    rich = frame["income"] == "over 50k"
    level = frame["education"].map(list(_people.EDUCATION).index)
    assert share(frame, level >= 12, rich) > 2 * share(frame, level == 8, rich)
    assert share(frame, frame["age"].between(40, 60), rich) > 3 * share(frame, frame["age"] < 25, rich)
    assert frame["wage"].corr(frame["hours"], method="spearman") > 0.35
    assert frame.loc[rich, "wage"].median() > 1.6 * frame.loc[~rich, "wage"].median()


def test_occupation_depends_on_sex_and_diagnosis_on_age(frame: pd.DataFrame) -> None:
    female = frame["sex"] == "female"
    assert share(frame, frame["occupation"] == "care", female) > 0.75
    assert share(frame, frame["occupation"] == "craft and trades", female) < 0.2
    old = frame["age"] >= 60
    for diagnosis in ("hypertension", "heart disease", "diabetes", "arthritis", "cancer"):
        assert share(frame, old, frame["diagnosis"] == diagnosis) > 2 * share(
            frame, ~old, frame["diagnosis"] == diagnosis
        )


def test_ethnicity_depends_on_the_place_of_birth(frame: pd.DataFrame) -> None:
    asia = frame["birthplace"].isin(["China", "Vietnam", "Philippines", "India", "Japan"])
    assert share(frame, asia, frame["ethnicity"] == "group D") > 0.6
    assert share(frame, ~asia, frame["ethnicity"] == "group D") < 0.1


def test_amounts_are_skewed_and_correlated(frame: pd.DataFrame) -> None:
    assert frame["wage"].skew() > 1
    assert frame["savings"].skew() > 3
    assert frame["savings"].corr(frame["wage"], method="spearman") > 0.25
    assert frame["savings"].corr(frame["age"], method="spearman") > 0.25
    assert (frame["wage"] >= 0).all()
    assert (frame["savings"] >= 0).all()
    assert np.array_equal(frame["wage"] % 10, np.zeros(len(frame)))
