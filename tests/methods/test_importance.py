"""Importance of columns: what every method makes of it, and what is no weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, SDCError
from sdc_problems.methods import find, local_recoding, mdav, mondrian, suppress_cells
from sdc_problems.methods._apply import apply
from sdc_problems.methods._importance import column_weights, weights_of

TREE = [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]


@pytest.fixture
def codes() -> np.ndarray:
    return np.random.default_rng(3).integers(0, 4, (60, 3))


def test_equal_weights_change_nothing(codes: np.ndarray) -> None:
    twos, kinds = [2.0] * 3, ["numeric", "ordinal", "nominal"]
    assert (mondrian(codes, 4).labels == mondrian(codes, 4, weights=twos).labels).all()
    assert (suppress_cells(codes, 4) == suppress_cells(codes, 4, weights=twos)).all()
    assert (mdav(codes, 4, kinds=kinds) == mdav(codes, 4, kinds=kinds, weights=[1, 1, 1])).all()
    trees = [TREE] * 3
    even, plain = local_recoding(codes, 4, hierarchies=trees, weights=twos), local_recoding(codes, 4, hierarchies=trees)
    assert (even.levels == plain.levels).all()


@pytest.mark.parametrize("j", [0, 1, 2])
def test_a_heavy_column_keeps_its_detail(codes: np.ndarray, j: int) -> None:
    weights = [1.0, 1.0, 1.0]
    weights[j] = 50.0
    stars = [(suppress_cells(codes, 4, weights=w)[:, j] < 0).sum() for w in (None, weights)]
    assert stars[1] < stars[0]
    found = [local_recoding(codes, 4, hierarchies=[TREE] * 3, weights=w).levels[:, j].sum() for w in (None, weights)]
    assert found[1] < found[0]
    regions = [mondrian(codes, 4, weights=w).release[:, j] for w in (None, weights)]
    assert np.ptp(regions[1], axis=1).sum() < np.ptp(regions[0], axis=1).sum()
    for kind in ("numeric", "ordinal", "nominal"):
        apart = []
        for w in (None, weights):
            labels = mdav(codes, 4, kinds=[kind] * 3, weights=w)
            pairs = np.unique(np.column_stack([labels, codes[:, j]]), axis=0)
            apart.append(len(pairs))
        assert apart[1] < apart[0]


def test_names_are_weights_in_the_order_of_the_columns(codes: np.ndarray) -> None:
    frame = pd.DataFrame(codes, columns=["a", "b", "c"])
    data = Microdata.from_frame(frame, quasi_identifiers=["a", "b", "c"], kinds=dict.fromkeys("abc", "numeric"))
    trees = {name: Hierarchy.suppression(data.categories(name)) for name in "abc"}
    given: dict[str, Any] = {"k": 4, "importance": {"c": 9}}
    labels = np.asarray(apply(find("mdav"), data, **given))
    assert (labels == mdav(codes, 4, weights=[1, 1, 9])).all()
    stars = apply(find("suppress-cells"), data, **given).columns["a"] == "*"
    assert (stars == (suppress_cells(codes, 4, weights=[1, 1, 9])[:, 0] < 0)).all()
    regions = apply(find("mondrian"), data, **given, options={"summary": "mean"}).columns["c"]
    assert regions.tolist() == mondrian(codes, 4, summary="mean", weights=[1, 1, 9]).release[:, 2].tolist()
    local = apply(find("local-recoding"), data, **given, hierarchies=trees).columns
    plain = apply(find("local-recoding"), data, k=4, hierarchies=trees).columns
    assert (local.get("c", np.zeros(1)) == "*").sum() < (plain["c"] == "*").sum()


@pytest.mark.parametrize(
    ("importance", "message"),
    [
        ({"zpi": 3}, "importance names 'zpi', which is not one of the columns to protect; did you mean 'zip'"),
        ({"zip": 0}, "importance of 'zip' must be a number above 0, not 0"),
        ({"zip": -1.5}, "above 0, not -1.5"),
        ({"zip": "3"}, "above 0, not '3'"),
        ({"zip": float("nan")}, "above 0, not nan"),
        ({"zip": True}, "above 0, not True"),
        ({"zip": 1e300}, r"must be from 1e-09 to 1e\+09, not 1e\+300"),
        ({"zip": 1e-300}, r"must be from 1e-09 to 1e\+09"),
        ([1, 2], "a number by column"),
    ],
)
def test_what_is_no_weight_is_one_sentence(importance: Any, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        weights_of(["age", "zip"], importance)


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, np.inf], ["a", 1], 3])
def test_weights_of_an_array_are_one_for_each_column(weights: Any) -> None:
    with pytest.raises(SDCError, match="weights must be a number above 0 for each of 2 attributes"):
        column_weights(weights, 2)


def test_methods_that_do_not_weigh_say_who_does(codes: np.ndarray) -> None:
    data = Microdata.from_frame(pd.DataFrame({"a": codes[:, 0]}), quasi_identifiers=["a"])
    with pytest.raises(SDCError, match=r"v-mdav does not weigh columns.*local-recoding"):
        apply(find("v-mdav"), data, k=4, importance={"a": 2})
    with pytest.raises(SDCError, match="mondrian leaves out no records: omit suppression_price"):
        apply(find("mondrian"), data, k=4, suppression_price=2)
    with pytest.raises(SDCError, match="not weighted"):
        suppress_cells(codes, 2, reading="wildcard", weights=[1, 1, 1])
