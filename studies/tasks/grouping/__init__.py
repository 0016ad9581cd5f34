"""Attribute grouping (GOMM): which numeric attributes are microaggregated together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.grouping._guarantees import guarantees
from sdc_problems.studies.tasks.grouping._original import original
from sdc_problems.studies.tasks.grouping._pictures import pictures

TASK = Task(
    name="gomm",
    title="Which attributes to microaggregate together",
    most_records=1_000_000,
    problem="sdc_problems.problems.attribute_grouping:GOMMProblem",
    operators=("sdc_problems.operators.grouping",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={"k": Argument(Annotated[int, Field(ge=2)])},
    searches=(
        Search(
            "GOMM", "GOMM and D-GOMM", "sdc_problems.algorithms.grouping.gomm:GOMM", operators=(), own=True,
            objectives="any",
        ),
    ),
)  # fmt: skip
