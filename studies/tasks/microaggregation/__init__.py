"""Microaggregation: which records are merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.microaggregation._guarantees import guarantees
from sdc_problems.studies.tasks.microaggregation._original import original
from sdc_problems.studies.tasks.microaggregation._pictures import pictures

_ALGORITHMS = "sdc_problems.algorithms.microaggregation."
_Size = Annotated[int, Field(ge=2)]

TASK = Task(
    name="microaggregation",
    title="Which records to merge",
    most_records=1_000_000,
    problem="sdc_problems.problems.microaggregation:MicroaggregationProblem",
    operators=("sdc_problems.operators.partition",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={"k": Argument(_Size), "k_max": Argument(_Size | None)},
    searches=(
        Search(
            "SolanasGA", "Genetic algorithm for microaggregation, up to about 50 records",
            _ALGORITHMS + "solanas_ga:SolanasGA", operators=(), own=True, objectives="one",
        ),
        Search(
            "HybridMicroaggregation", "MDAV, then a genetic algorithm in each macrogroup",
            _ALGORITHMS + "hybrid:HybridMicroaggregation", operators=(), own=True, objectives="one",
        ),
        Search(
            "MemeticMicroaggregation", "Annealing, ruin and recreate, and crossover of groups",
            _ALGORITHMS + "memetic:MemeticMicroaggregation", without=("time_limit",), operators=(), own=True,
            ends=True, objectives="one",
        ),
    ),
)  # fmt: skip
