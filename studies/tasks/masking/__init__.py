"""Masking: which cells of the protected file differ from the original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.masking._guarantees import guarantees
from sdc_problems.studies.tasks.masking._original import original
from sdc_problems.studies.tasks.masking._pictures import pictures

_ALGORITHMS = "sdc_problems.algorithms.masking."
_Weights = list[Annotated[float, Field(ge=0, le=1)]]

TASK = Task(
    name="masking",
    title="Which cells to change: the protected file itself",
    most_records=1_000_000,
    problem="sdc_problems.problems.masking:MaskingProblem",
    operators=("sdc_problems.operators.cells",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={
        "start": Argument(Literal["few", "many"], "Files to start from, masked by few or many of the methods."),
        "seed": Argument(Annotated[int, Field(ge=0)]),
    },
    searches=(
        Search(
            "CellSearch", "Exchanges and changes of single cells, millions of them", _ALGORITHMS
            + "cell_search:CellSearch", without=("time_limit",), arguments={"weights": Argument(_Weights | None)},
            operators=(), own=True, ends=True, objectives="any",
        ),
        Search(
            "ClusteredSearch", "Cell search in each cluster of a large file, on the workers of the run", _ALGORITHMS
            + "clustered_search:ClusteredSearch", without=("workers", "scheduler"),
            arguments={"weights": Argument(_Weights | None)}, operators=(), own=True, ends=True, objectives="any",
        ),
        Search(
            "MaskEvolution", "Evolution of files: one mutation or one crossover in each generation", _ALGORITHMS
            + "evolution:MaskEvolution", operators=("crossover", "mutation"), own=True, objectives="one",
        ),
    ),
)  # fmt: skip
