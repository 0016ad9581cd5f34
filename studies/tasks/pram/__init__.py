"""Randomization (PRAM): transition matrices entry by entry, or by one equation for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks._task import Task
from sdc_problems.studies.tasks.pram._guarantees import guarantees
from sdc_problems.studies.tasks.pram._original import original
from sdc_problems.studies.tasks.pram._pictures import pictures

_ALGORITHMS = "sdc_problems.algorithms.pram."
_OPERATORS = ("sampling", "crossover", "mutation")
_ARGUMENTS = {
    "replicates": Argument(Annotated[int, Field(ge=1)]),
    "seed": Argument(Annotated[int, Field(ge=0)]),
}

TASK = Task(
    name="pram",
    title="How to randomize categorical attributes: transition matrices",
    problem="sdc_problems.problems.pram:PRAMProblem",
    operators=("sdc_problems.operators.matrix",),
    example=Path(__file__).with_name("example.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments=_ARGUMENTS,
    searches=(
        Search(
            "ElitistEA", "Elitist (1+1) EA for transition matrices", _ALGORITHMS + "elitist_ea:ElitistEA",
            operators=_OPERATORS, own=True, objectives="one",
        ),
    ),
    random=True,
)  # fmt: skip

EQUATIONS_TASK = Task(
    name="pram-equations",
    title="How to randomize categorical attributes: one equation for all matrices",
    problem="sdc_problems.problems.pram:PRAMEquationProblem",
    operators=("sdc_problems.operators.tree",),
    example=Path(__file__).with_name("example-equations.toml"),
    guarantees=guarantees,
    original=original,
    pictures=pictures,
    arguments={**_ARGUMENTS, "depth": Argument(Annotated[int, Field(ge=1, le=10)])},
    searches=(
        Search(
            "SteadyStateGP", "Steady-state genetic programming", _ALGORITHMS + "steady_state_gp:SteadyStateGP",
            operators=_OPERATORS, own=True, objectives="one",
        ),
    ),
    random=True,
)  # fmt: skip
