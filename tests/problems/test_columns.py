"""The role of a quasi-identifier decides what is protected, and ``columns=`` narrows it, in every problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import (
    GOMMProblem,
    Hierarchy,
    MaskingProblem,
    MicroaggregationProblem,
    Microdata,
    PBGProblem,
    PRAMEquationProblem,
    PRAMProblem,
    SDCError,
)

RNG = np.random.default_rng(4)
NUMBERS = Microdata.from_frame(
    pd.DataFrame(RNG.normal(size=(40, 4)).round(2), columns=list("abcd")), quasi_identifiers=list("abc")
)
WORDS = Microdata.from_frame(
    pd.DataFrame({name: RNG.choice(["x", "y", "z"], 40) for name in "abcd"}), quasi_identifiers=list("abc")
)
TREES = {name: Hierarchy.suppression(["x", "y", "z"]) for name in "abc"}

MADE: list[Any] = [
    lambda **options: PBGProblem(WORDS, TREES, max_suppression=0, **options),
    lambda **options: GOMMProblem(NUMBERS, 3, **options),
    lambda **options: MicroaggregationProblem(NUMBERS, 3, **options),
    lambda **options: MaskingProblem(WORDS, **options),
    lambda **options: PRAMProblem(WORDS, evaluation="expected", **options),
    lambda **options: PRAMEquationProblem(WORDS, evaluation="expected", **options),
]


@pytest.mark.parametrize("make", MADE)
def test_columns_narrow_the_quasi_identifiers(make: Any) -> None:
    assert make().attributes == ("a", "b", "c")
    assert make(columns=None).attributes == ("a", "b", "c")
    problem = make(columns=["c", "a"])
    assert problem.attributes == ("c", "a")
    x = list(problem.baselines().values())[-1]
    assert np.isfinite(problem.evaluate(x)).all()
    released, original = problem.release(x, seed=1), problem.data.frame()
    for name in ("b", "d"):
        assert released[name].tolist() == original[name].tolist(), "a column that was left out has changed"
    assert "Quasi-identifiers that stay as they are: b." in problem.describe(x)
    whole = make()
    assert not any("stay as they are" in line for line in whole.describe(list(whole.baselines().values())[-1]))


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize(
    ("columns", "match"),
    [
        (["a", "d"], "column 'd' is not a quasi-identifier.*with_roles"),
        (["a", "age"], "age"),
        (["a", "b", "a"], "named twice"),
        ([], "columns is empty"),
        ("ab", r"columns=\['ab'\]"),
    ],
)
def test_columns_that_cannot_be_are_refused(make: Any, columns: Any, match: str) -> None:
    with pytest.raises(SDCError, match=match):
        make(columns=columns)


@pytest.mark.parametrize("make", MADE)
def test_the_former_name_is_answered_with_the_new_one(make: Any) -> None:
    with pytest.raises(TypeError, match="now called columns="):
        make(attributes=["a"])


def test_a_table_without_roles_is_protected_in_the_columns_named() -> None:
    bare = Microdata.from_frame(WORDS.frame())
    assert PRAMProblem(bare, columns=["d"], evaluation="expected").attributes == ("d",)
    with pytest.raises(SDCError, match="no quasi-identifiers were declared"):
        PRAMProblem(bare)
