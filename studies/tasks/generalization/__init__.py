"""Generalization (PBG): a level of its hierarchy for each quasi-identifier."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.generalization._guarantees import guarantees, suppressed_rows
from sdc_problems.studies.tasks.generalization._original import original
from sdc_problems.studies.tasks.generalization._pictures import pictures

_ALGORITHMS = "sdc_problems.algorithms.generalization."

TASK = Task(
    name="pbg",
    title="How far to generalize each attribute",
    problem="sdc_problems.problems.generalization:PBGProblem",
    operators=("sdc_problems.operators.lattice",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={"max_suppression": Argument(Annotated[float, Field(ge=0, lt=1)] | Annotated[int, Field(ge=0)])},
    searches=(
        Search(
            "PBGEA", "PBG-EA, as published", _ALGORITHMS + "pbg_ea:PBGEA", operators=(), own=True, archive=False,
            objectives="any",
        ),
        Search(
            "PBGSearch", "Model-guided search for minimal generalizations", _ALGORITHMS + "pbg_search:PBGSearch",
            operators=(), own=True, archive=False, ends=True, objectives="any",
        ),
    ),
    suppressed_rows=suppressed_rows,
    lattice=True,
)  # fmt: skip
