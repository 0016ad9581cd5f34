"""Recipes as a task: what is promised of a released file, and the picture of its steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, RecipeProblem
from sdc_problems.methods import RecipeStep
from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.report.picture_types import Table
from sdc_problems.studies.tasks import find_task

TASK = find_task("recipe")


@pytest.fixture(scope="module")
def problem() -> RecipeProblem:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 90),
            "pay": rng.lognormal(3, 1, 90).round(1),
            "town": rng.choice(["Olot", "Reus", "Vic"], 90),
            "sex": rng.choice(["f", "m"], 90),
        }
    )
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "pay", "town", "sex"])
    return RecipeProblem(data, hierarchies={"age": Hierarchy.intervals(range(18, 90), [10, 30])}, require={"k": 2})


def step(method: str, *columns: str, **options: object) -> RecipeStep:
    return RecipeStep(columns, method, options)


def test_each_methods_k_is_counted_in_its_columns(problem: RecipeProblem) -> None:
    steps = [step("mdav", "age", "pay", k=5), step("suppress-cells-wildcard", "town", "sex", k=20)]
    x = problem.encode(steps)
    frame = as_written(problem.release(x)).astype(object)
    found = {(g.name, g.columns): g for g in TASK.guarantees(problem, x, frame)}
    assert found["k", ("age", "pay")].promised == 5
    assert found["k", ("age", "pay")].holds
    assert found["k_wildcard", ("town", "sex")].promised == 20
    assert found["k_wildcard", ("town", "sex")].holds
    whole = found["k", ("age", "pay", "town", "sex")]
    assert whole.promised == 2
    assert whole.found == problem.figures(x)["k"]
    broken = frame.assign(age=["1", *frame["age"][1:]])
    assert not {(g.name, g.columns): g for g in TASK.guarantees(problem, x, broken)}["k", ("age", "pay")].holds


def test_a_change_elsewhere_breaks_a_promise(problem: RecipeProblem) -> None:
    x = problem.encode([step("recode-level", "age", level=1)])
    frame = as_written(problem.release(x)).astype(object)
    frame.loc[0, "sex"] = "x"
    (changed,) = [g for g in TASK.guarantees(problem, x, frame) if g.name == "changed elsewhere"]
    assert not changed.holds
    assert changed.found == 1


def test_the_picture_is_a_table_of_the_columns(problem: RecipeProblem) -> None:
    x = problem.encode([step("mdav", "age", "pay", k=5), step("pram", "sex", stay=0.5)])
    (picture,) = TASK.pictures(problem, x)
    assert isinstance(picture, Table)
    assert [(*line[:3], line[4]) for line in picture.lines] == [
        ("age", "mdav", "k 5", "pay"),
        ("pay", "mdav", "k 5", "age"),
        ("sex", "pram", "stay 0.5, matrix frequency", ""),
        ("town", "as it is", "", ""),
    ]
    spared = problem.encode([step("mdav", "age", "pay", k=5)])
    whole = problem.figures(x)["il_mixed"]
    assert picture.lines[2][3] == pytest.approx(whole - problem.figures(spared)["il_mixed"])
    assert picture.lines[2][3] > 0  # type: ignore[operator]
    assert picture.lines[3][3] == 0
