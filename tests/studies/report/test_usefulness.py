"""Use of a released table: counts in fives against a plain count, association and slope against scipy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress
from scipy.stats.contingency import association

from sdc_problems import Microdata, SDCError
from sdc_problems.studies.report.usefulness import use_of


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    age = rng.integers(20, 70, 300)
    town = rng.choice(["Olot", "Reus", "Vic"], 300).astype(object)
    town[0] = "Nowhere"
    vote = np.where(rng.random(300) < 0.3, town == "Vic", rng.random(300) < 0.5).astype(str)
    wage = age * 30.0 + rng.normal(0, 200, 300).round()
    return pd.DataFrame({"age": age, "wage": wage, "town": town.astype(str), "vote": vote})


def test_a_cross_table_before_and_after(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    released = frame.assign(town=frame["town"].where(frame["town"] == "Vic", "other")).iloc[3:]
    found = use_of(data, {"1-1": released, "gone": released.drop(columns="town")}, "town", "vote")
    before, after, gone = found["tables"]
    assert found["rows"][-1] == "others"
    assert "Nowhere" not in json.dumps(found)
    for table, counted in ((frame, before), (released, after)):
        plain = pd.crosstab(table["town"], table["vote"])
        for text, row in zip(found["rows"][:-1], counted["counts"], strict=False):
            for value, count in zip(found["columns"], row, strict=True):
                exact = int(plain.loc[text, value]) if text in plain.index else 0
                assert count == (None if 0 < exact < 5 else exact // 5 * 5)
        assert counted["association"] == pytest.approx(association(plain.to_numpy(), method="cramer"), rel=0.01)
    assert gone["counts"] is None
    assert before["slope"] is None


def test_two_numbers_have_a_line(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "wage"])
    released = frame.assign(age=frame["age"] // 10 * 10 + 5)
    found = use_of(data, {"1-1": released, "labels": frame.assign(age="*")}, "age", "wage")
    for table, said in ((frame, found["tables"][0]), (released, found["tables"][1])):
        line = linregress(table["age"], table["wage"])
        assert said["slope"] == pytest.approx(line.slope, rel=0.01)
        assert said["correlation"] == pytest.approx(line.rvalue, rel=0.01)
    assert found["tables"][2]["slope"] is None
    with pytest.raises(SDCError, match="two different"):
        use_of(data, {}, "age", "age")
