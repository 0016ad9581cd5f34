"""Recipes: the methods that protect each column, and their strength."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.algorithms.recipes import MOST_RECORDS
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.recipe._guarantees import guarantees
from sdc_problems.studies.tasks.recipe._original import original
from sdc_problems.studies.tasks.recipe._pictures import pictures

TASK = Task(
    name="recipe",
    title="Which method for which column, and how strong",
    most_records=MOST_RECORDS,
    problem="sdc_problems.problems.recipe:RecipeProblem",
    operators=("sdc_problems.operators.recipe",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={
        "seed": Argument(Annotated[int, Field(ge=0)]),
        "attacked": Argument(Annotated[int, Field(ge=1)] | None),
    },
    random=True,
)
