"""The tasks that a study can name: each one's options, and how its problem is made from a table."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.tables import Table


class GOMMOptions(Section):
    """Which attributes to microaggregate together."""

    k: Annotated[int, Field(ge=2)] = Field(description="Smallest cluster of each group's microaggregation.")
    objectives: list[str] = Field(default=["il", "dr"], description="Any of il, id, dld, dr, score, n_groups.")


def _gomm(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.gomm import GOMMProblem

    return GOMMProblem(table.data, **options)


@dataclass(frozen=True)
class Task:
    """A task by name."""

    title: str
    options: type[Section]
    build: Callable[[Table, Mapping[str, Any]], SDCProblem]
    operators: tuple[str, ...]  # modules of sdc_problems.operators whose classes fit the encoding


TASKS: dict[str, Task] = {
    "gomm": Task("Which attributes to microaggregate together", GOMMOptions, _gomm, ("grouping",)),
}


def task_options(section: Mapping[str, Any]) -> Section:
    """Check a problem section."""
    name = section.get("task")
    if name is None:
        raise SDCError(f"problem.task is missing (known: {', '.join(TASKS)})")
    if not isinstance(name, str) or name not in TASKS:
        raise SDCError(
            f"problem.task {shown(name)} is unknown{did_you_mean(str(name), TASKS)} (known: {', '.join(TASKS)})"
        )
    return validated(TASKS[name].options, {k: v for k, v in section.items() if k != "task"}, "problem")


def build_problem(task: str, options: Section, table: Table) -> SDCProblem:
    """Make the problem; the options' names are the constructor's."""
    given = {name: getattr(options, name) for name in type(options).model_fields}
    return TASKS[task].build(table, {name: value for name, value in given.items() if value is not None})


def operator_classes(task: str) -> dict[str, type[Any]]:
    """Operators by name that fit a task's encoding."""
    from pymoo.core.crossover import Crossover
    from pymoo.core.mutation import Mutation
    from pymoo.core.sampling import Sampling

    found: dict[str, type[Any]] = {}
    for module_name in (*TASKS[task].operators, "copying"):
        module = importlib.import_module(f"sdc_problems.operators.{module_name}")
        for name, value in vars(module).items():
            mine = isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
            if (
                mine
                and issubclass(value, (Sampling, Crossover, Mutation))
                and not getattr(value, "__abstractmethods__", None)
            ):
                found[name] = value
    return found
