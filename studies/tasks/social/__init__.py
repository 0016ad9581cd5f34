"""Social graphs: which persons share their attributes, and their links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.social._guarantees import guarantees
from sdc_problems.studies.tasks.social._original import original
from sdc_problems.studies.tasks.social._pictures import pictures

_Size = Annotated[int, Field(ge=2)]

TASK = Task(
    name="social",
    title="Which people of a social graph share their attributes",
    most_records=1_000_000,
    problem="sdc_problems.problems.social:SocialGraphProblem",
    operators=("sdc_problems.operators.partition",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={"k": Argument(_Size), "k_max": Argument(_Size | None)},
    searches=(
        Search(
            "MemeticSocialGraph", "Annealing by exact moves, and crossover of clusters",
            "sdc_problems.algorithms.social.memetic:MemeticSocialGraph", operators=(), own=True, ends=True,
            objectives="one",
        ),
    ),
    clusters=lambda problem, x: problem.labels(x),
)  # fmt: skip
