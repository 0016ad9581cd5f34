"""The tasks that a study can name: each one's options, and how its problem is made from a table."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.study.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.study.data import Table


class GOMMOptions(Section):
    """Groups of attributes to microaggregate together."""

    k: Annotated[int, Field(ge=2)] = Field(description="Smallest cluster of each group's microaggregation.")
    objectives: list[str] = Field(
        default=["il_sse", "dr_linkage"],
        description="Any of il_sse, id_value, dld, dr_linkage, score_mean, n_groups.",
    )


def _gomm(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.problems.attribute_grouping import GOMMProblem

    return GOMMProblem(table.data, **options)


def _gomm_original(problem: Any) -> dict[str, float]:
    codes = problem.data.codes(problem.attributes)
    unique = np.unique(codes, axis=0, return_counts=True)[1] == 1
    dld = 100.0 * float(unique.sum()) / len(codes)  # a record with a twin is not strictly closest to itself
    dr = 0.5 * 100.0 + 0.5 * dld
    return {"il_sse": 0.0, "id_value": 100.0, "dld": dld, "dr_linkage": dr, "score_mean": dr / 2}


class MicroaggregationOptions(Section):
    """Groups of records to merge."""

    k: Annotated[int, Field(ge=2)] = Field(description="Smallest group of records.")
    objectives: list[str] = Field(default=["sse"], description="Any of sse, il_sse, dbrl, id_value, k.")
    k_max: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="Largest value that the smallest group is meant to reach; k if not given."
    )


def _microaggregation(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.problems.microaggregation import MicroaggregationProblem

    return MicroaggregationProblem(table.data, **options)


def _microaggregation_original(problem: Any) -> dict[str, float]:
    from sdc_problems.evaluators.linkage import distance_linkage

    points, codes = problem.points(), problem.data.codes(problem.attributes)
    smallest = int(np.unique(codes, axis=0, return_counts=True)[1].min())
    linked = distance_linkage(points, points, kinds=problem.kinds)
    return {"sse": 0.0, "il_sse": 0.0, "dbrl": linked, "id_value": 100.0, "k": float(smallest)}


class PBGOptions(Section):
    """Level of its hierarchy for each quasi-identifier."""

    objectives: list[str] = Field(
        default=["k", "glm"],
        description="Any of k, l, entropy_l, t, spread_k, spread_l, glm, glm_percent, cm, discernibility, suppressed.",
    )
    max_suppression: Annotated[float, Field(ge=0, lt=1)] | Annotated[int, Field(ge=0)] = Field(
        default=0.01, description="How many records may be suppressed: a share below 1, or a whole number."
    )
    class_label: str | None = Field(default=None, description="The attribute that cm predicts.")
    sensitive: str | None = Field(
        default=None, description="The attribute that l, entropy_l, t and spread_l protect; the first if not given."
    )


def _pbg(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.problems.generalization import PBGProblem

    for name in table.data.quasi_identifiers:
        if name not in table.hierarchies:
            raise SDCError(
                f"quasi-identifier {shown(name)} has no hierarchy: add it to [data.hierarchies], for example as"
                " {suppression = true}, or take it out of data.quasi_identifiers"
            )
    kept = {name: table.hierarchies[name] for name in table.data.quasi_identifiers}
    return PBGProblem(table.data, kept, **options)


def _pbg_original(problem: Any) -> dict[str, float]:
    whole = type(problem)(
        problem.data,
        problem.hierarchies,
        objectives=[o.name for o in problem.objectives],
        max_suppression=0,
        class_label=problem.class_label,
        sensitive=problem.sensitive,
    )
    values = whole.natural(whole.evaluate(np.zeros(whole.n_var, dtype=whole.dtype)))
    return {o.name: float(v) for o, v in zip(whole.objectives, values, strict=True)}


class PRAMOptions(Section):
    """Transition matrix of each categorical attribute, entry by entry."""

    attributes: list[str] = Field(description="Categorical columns to protect.")
    objectives: list[str] = Field(
        default=["il_categorical", "dr_categorical"],
        description="Any of il_categorical, dr_categorical, score_mean, score_max, ctbil, dbil, ebil, id_rank, dbrl,"
        " prl, bivariate, chi2, expectation_ratio, entropy.",
    )
    replicates: Annotated[int, Field(ge=1)] = Field(default=5, description="Files that a sampled score is the mean of.")
    invariant: bool = Field(default=False, description="Whether matrices keep the frequencies in expectation.")
    diagonal: Annotated[list[float], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="Range that every probability of staying is brought into."
    )
    band: Annotated[int, Field(ge=1)] | dict[str, int] | None = Field(
        default=None, description="How many places a category of an ordinal attribute may move."
    )
    evaluation: Literal["sampled", "expected"] = Field(
        default="sampled", description="Score by drawn files, or by expectation without drawing."
    )
    against: str | None = Field(default=None, description="Attribute that bivariate and chi2 cross the others with.")
    seed: Annotated[int, Field(ge=0)] = Field(default=0, description="Of the numbers that all candidates share.")


class PRAMEquationOptions(PRAMOptions):
    """Equation that makes the transition matrices of all attributes."""

    depth: Annotated[int, Field(ge=1, le=10)] = Field(default=5, description="Most levels of an equation's tree.")


def _pram(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.problems.pram import PRAMProblem

    return PRAMProblem(table.data, **options)


def _pram_equations(table: Table, options: Mapping[str, Any]) -> SDCProblem:
    from sdc_problems.problems.pram import PRAMEquationProblem

    return PRAMEquationProblem(table.data, **options)


def _pram_original(problem: Any) -> dict[str, float]:
    from sdc_problems.problems.pram import PRAMProblem

    names = [o.name for o in problem.objectives]
    free = PRAMProblem(
        problem.data, problem.attributes, objectives=names, evaluation="expected", against=problem.against
    )
    values = free.natural(free.evaluate(free.baselines()["identity"]))
    return dict(zip(names, map(float, values), strict=True))


@dataclass(frozen=True)
class Task:
    """A task by name.

    Attributes
    ----------
    title
        What it decides.
    options
        Its options; their names are the constructor's.
    build
        Makes the problem.
    operators
        Modules of ``sdc_problems.operators`` whose classes fit the encoding.
    original
        Natural values of the unprotected data, by objective; those that are not defined for it are left out.
    problem
        Module and name of the problem's class.
    random
        Whether a release draws random numbers, so that its seed must be kept secret.
    suppresses
        Whether a release may leave records out, or star them.
    """

    title: str
    options: type[Section]
    build: Callable[[Table, Mapping[str, Any]], SDCProblem]
    operators: tuple[str, ...]
    original: Callable[[Any], dict[str, float]]
    problem: tuple[str, str]
    random: bool = False
    suppresses: bool = False


TASKS: dict[str, Task] = {
    "pbg": Task(
        title="How far to generalise each attribute",
        problem=("problems.generalization", "PBGProblem"),
        options=PBGOptions,
        build=_pbg,
        original=_pbg_original,
        operators=("lattice",),
        suppresses=True,
    ),
    "gomm": Task(
        title="Which attributes to microaggregate together",
        problem=("problems.attribute_grouping", "GOMMProblem"),
        options=GOMMOptions,
        build=_gomm,
        original=_gomm_original,
        operators=("grouping",),
    ),
    "microaggregation": Task(
        title="Which records to merge",
        problem=("problems.microaggregation", "MicroaggregationProblem"),
        options=MicroaggregationOptions,
        build=_microaggregation,
        original=_microaggregation_original,
        operators=("partition",),
    ),
    "pram": Task(
        title="How to randomise categorical attributes: transition matrices",
        problem=("problems.pram", "PRAMProblem"),
        options=PRAMOptions,
        build=_pram,
        original=_pram_original,
        operators=("matrix",),
        random=True,
    ),
    "pram-equations": Task(
        title="How to randomise categorical attributes: one equation for all matrices",
        problem=("problems.pram", "PRAMEquationProblem"),
        options=PRAMEquationOptions,
        build=_pram_equations,
        original=_pram_original,
        operators=("tree",),
        random=True,
    ),
}


def unprotected(task: str, problem: SDCProblem) -> list[float | None]:
    """Natural values of the data as they are, one per objective; None where an objective says nothing of them."""
    known = TASKS[task].original(problem)
    values = [known.get(objective.name) for objective in problem.objectives]
    return [None if value is None or not np.isfinite(value) else float(value) for value in values]


def task_options(section: Mapping[str, Any]) -> Section:
    """Check a problem section."""
    name = section.get("task")
    if name is None:
        raise SDCError(f"problem.task is missing (known: {_titles()})")
    if not isinstance(name, str) or name not in TASKS:
        raise SDCError(f"problem.task {shown(name)} is unknown{did_you_mean(str(name), TASKS)} (known: {_titles()})")
    return validated(TASKS[name].options, {k: v for k, v in section.items() if k != "task"}, "problem")


def _titles() -> str:
    """Names with what they decide: nobody guesses ``pbg``."""
    return "; ".join(f"{name}: {task.title[0].lower()}{task.title[1:]}" for name, task in TASKS.items())


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
