"""Schema of the study file (data, problem, search, limits and seeds), checked as a whole before anything is computed.

``sdc schema`` prints its JSON Schema, ``sdc schema --example TASK`` a study for each task.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, field_validator, model_validator

from sdc_problems._files import input_file, resolved
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.study.data import DataSection, Table, load_table
from sdc_problems.studies.study.options import refused_as
from sdc_problems.studies.study.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.searches.search import Search
    from sdc_problems.studies.tasks import Task

LARGEST_FILE = 10_000_000  # bytes: far above any study file
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


class TerminationSection(Section):
    """Limits of each seed's search; it ends with whichever is met first."""

    generations: Annotated[int, Field(ge=1)] | None = Field(default=None, description="Number of generations.")
    evaluations: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Number of candidates; the generation in which it is reached is completed."
    )
    time: str | None = Field(
        default=None,
        description='Computing time over all sessions, such as "90 s", "15 min" or "2 h". The generations are the same'
        " whatever the time; how many there are depends on the machine.",
        examples=["15 min"],
    )
    stalled: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Number of generations in which the front has not changed."
    )

    @field_validator("time")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        if text is not None:
            seconds(text)
        return text

    @property
    def empty(self) -> bool:
        """Whether nothing ends the search."""
        return self.generations is None and self.evaluations is None and self.time is None and self.stalled is None

    def limits(self) -> Limits:
        """Limits in the form that the search takes."""
        time = None if self.time is None else seconds(self.time)
        return Limits(self.generations, self.evaluations, time, self.stalled)


def seconds(text: str) -> float:
    """Read a duration.

    Examples
    --------
    >>> seconds("1.5 h")
    5400.0
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|h|d)\s*", text)
    if match is None or float(match[1]) == 0:
        raise SDCError(f'a time is a positive number with s, min, h or d, such as "15 min", not {shown(text)}')
    return float(match[1]) * _UNITS[match[2]]


class RunSection(Section):
    """Seeds and workers; nothing here, but the seeds, has any influence on what comes out."""

    seeds: Annotated[int, Field(ge=1, le=10_000)] | list[Annotated[int, Field(ge=0, lt=2**63)]] = Field(
        default=1, description="How many seeds (they are 1, 2, …), or a list of them."
    )
    workers: Annotated[int, Field(ge=1, le=4096)] = Field(
        default=1, description="Processes: seeds run side by side first, then the candidates of each."
    )
    scheduler: str | None = Field(
        default=None,
        description='Dask scheduler to measure on: "local", or an address such as "tcp://host:8786". It is not kept in'
        " the run folder; `sdc resume` takes it again.",
    )

    @field_validator("seeds", mode="wrap")
    @classmethod
    def _number_or_list(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        """Replace pydantic's errors, one for each alternative, by a single sentence."""
        try:
            return handler(value)
        except ValidationError:
            raise ValueError(
                f"give a number of seeds (1 to 10000), or a list of whole numbers from 0, not {shown(value)}"
            ) from None

    @field_validator("seeds")
    @classmethod
    def _different(cls, seeds: int | list[int]) -> int | list[int]:
        if isinstance(seeds, list) and (not seeds or len(set(seeds)) < len(seeds)):
            raise ValueError("give at least one seed, and each seed once")
        return seeds

    @property
    def numbers(self) -> list[int]:
        """The seeds."""
        return list(range(1, self.seeds + 1)) if isinstance(self.seeds, int) else list(self.seeds)


class Wanted(Section):
    """Bounds on an objective, in the unit a person reads."""

    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _something(self) -> Wanted:
        if self.min is None and self.max is None:
            raise ValueError("give min, max, or both")
        return self


class Archive(Section):
    """A box archive beside the algorithm."""

    epsilon: list[Annotated[float, Field(gt=0)]] = Field(description="Side of a box for each objective.")


class StudySections(Section):
    """A study."""

    title: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="What tables and pictures call it."
    )
    instance: str | None = Field(
        default=None,
        description="Benchmark instance that this problem is, such as pbg-people-k-glm@1: checked before the search"
        " begins, and `sdc compare` measures by its front.",
    )
    data: DataSection
    problem: dict[str, Any] = Field(description="The task and its options.")
    algorithm: dict[str, Any] = Field(description="The search and its options.")
    operators: dict[str, Any] = Field(default_factory=dict, description="Operators in place of the problem's own.")
    archive: Archive | None = None
    termination: TerminationSection = TerminationSection()
    require: dict[str, Wanted] = Field(
        default_factory=dict,
        description="What a solution must meet to be of use, by objective. It does not steer the search.",
    )
    run: RunSection = RunSection()


@dataclass(frozen=True)
class Plan:
    """Plan of a search; ``rounded`` if it proposes real numbers, ``ends`` if it has its own budget."""

    problem: SDCProblem
    algorithm: Any
    limits: Limits
    rounded: bool
    ends: bool


@dataclass(frozen=True)
class Built:
    """Built study: its table, its problem, and the plan of its search, made when it is first used.

    A search may start with the problem's baselines, which take time; reading a run does not need them.
    """

    study: Study
    table: Table
    problem: SDCProblem

    @functools.cached_property
    def plan(self) -> Plan:
        """The search with its limits."""
        return self.study.plan(self.problem)


@dataclass(frozen=True)
class Study:
    """A checked study.

    Attributes
    ----------
    sections
        Its sections.
    problem_options, algorithm_options
        The task's and the search's own options.
    folder
        Folder from which its relative paths start.
    """

    sections: StudySections
    problem_options: Section
    algorithm_options: Section
    folder: Path

    @classmethod
    def from_file(cls, path: str | Path) -> tuple[Study, str]:
        """Read a study file; return the study and its text."""
        path = Path(path)
        try:
            text = input_file(path, largest=LARGEST_FILE).read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            near = [p.name for p in path.parent.glob("*.toml")] if path.parent.is_dir() else []
            raise SDCError(f"there is no study file {str(path)!r}{did_you_mean(path.name, near)}") from None
        except UnicodeDecodeError:
            raise SDCError(f"{str(path)!r} is not UTF-8 text") from None
        except OSError as error:
            raise SDCError(f"cannot read {str(path)!r}: {error.strerror}") from None
        return cls.from_text(text, folder=resolved(path).parent, name=str(path)), text

    @classmethod
    def from_text(cls, text: str, *, folder: Path, name: str = "the study") -> Study:
        """Read the text of a study file."""
        try:
            values = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # ValueError: invalid TOML, or a number of thousands of digits
            table = Path(name).suffix.lower() in (".csv", ".tsv", ".txt", ".parquet")
            hint = "; a table is named in a study file, as file in its [data] (sdc schema --example)" if table else ""
            raise SDCError(f"{name} is not TOML: {error}{hint}") from None
        try:
            return cls.from_values(values, folder=folder)
        except SDCError as error:
            raise SDCError(f"{name}: {error}") from None

    @classmethod
    def from_values(cls, values: Mapping[str, Any], *, folder: Path) -> Study:
        """Check a study given as nested dictionaries."""
        return cls._of(validated(StudySections, values, ""), folder)

    @classmethod
    def _of(cls, sections: StudySections, folder: Path) -> Study:
        from sdc_problems.studies.searches.catalogue import find_search, search_options

        problem = _task_options(sections.problem)
        algorithm = search_options(sections.algorithm)
        if sections.termination.empty and not find_search(sections.algorithm["name"]).ends:
            raise SDCError("[termination] is empty: give at least one of generations, evaluations, time, stalled")
        return cls(sections, problem, algorithm, folder)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the sections: models of options are made when needed and belong to no module."""
        return Study._of, (self.sections, self.folder)

    @property
    def task(self) -> str:
        """Name of the task."""
        return str(self.sections.problem["task"])

    @property
    def algorithm_name(self) -> str:
        """Name of the search."""
        return str(self.sections.algorithm["name"])

    @property
    def title(self) -> str:
        """The title, or task and search."""
        return self.sections.title or f"{self.task}, {self.algorithm_name}"

    def values(self) -> dict[str, Any]:
        """The study with every default filled in, as plain values; without those that do not affect the result."""
        whole = self.sections.model_dump(mode="json", exclude_none=True)
        whole["problem"] = {"task": self.task, **self.problem_options.model_dump(mode="json", exclude_none=True)}
        whole["algorithm"] = {
            "name": self.algorithm_name,
            **self.algorithm_options.model_dump(mode="json", exclude_none=True),
        }
        whole["run"] = {"seeds": self.sections.run.numbers}
        return whole

    def digest(self) -> str:
        """SHA-256 of ``values()``."""
        return hashlib.sha256(json.dumps(self.values(), sort_keys=True).encode()).hexdigest()

    def build(self, *, search: bool = True) -> Built:
        """Load the data, and make the problem and, unless the run is only read, the algorithm."""
        from sdc_problems.objective import by_name
        from sdc_problems.requirement import read_requirements
        from sdc_problems.studies.tasks import find_task

        table = load_table(self.sections.data, self.folder)
        problem = find_task(self.task).build(table, self.problem_options)
        wanted = {name: bounds.model_dump() for name, bounds in self.sections.require.items()}
        read_requirements(wanted, by_name(*problem.objectives), what="[require]")
        built = Built(self, table, problem)
        if search and self.sections.instance is not None:
            from sdc_problems.suite import instance

            instance(self.sections.instance).check(problem)
        if search:
            _ = built.plan  # errors in it are reported now
        return built

    def plan(self, problem: SDCProblem) -> Plan:
        """Add the algorithm and its limits to an existing problem."""
        from sdc_problems.studies.searches.catalogue import build_search, find_search

        epsilon = None if self.sections.archive is None else self.sections.archive.epsilon
        algorithm = build_search(
            self.algorithm_name, self.algorithm_options, problem, self.task, self.sections.operators, epsilon
        )
        limits = self.sections.termination.limits()
        found = find_search(self.algorithm_name)
        return Plan(problem, algorithm, limits, found.real, found.ends)


def _task_options(section: Mapping[str, Any]) -> Section:
    """Check a problem section."""
    from sdc_problems.studies.tasks import find_task
    from sdc_problems.studies.tasks._registry import titles

    name = section.get("task")
    if name is None:
        raise SDCError(f"problem.task is missing (known: {titles()})")
    with refused_as("problem", ["task"]):
        task = find_task(name)
    return validated(task.options, {k: v for k, v in section.items() if k != "task"}, "problem")


def json_schema() -> dict[str, Any]:
    """JSON Schema of the study file, for editors."""
    from sdc_problems.studies.searches.catalogue import available_searches
    from sdc_problems.studies.tasks import available_tasks

    schema = StudySections.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "sdc-problems study"
    definitions = schema.setdefault("$defs", {})
    choices: dict[str, tuple[str, Mapping[str, Task | Search]]] = {
        "problem": ("task", available_tasks()),
        "algorithm": ("name", available_searches()),
    }
    for section, (key, found) in choices.items():
        alternatives = []
        for name, choice in found.items():
            try:
                one = choice.options.model_json_schema(ref_template="#/$defs/{model}")
            except SDCError as error:  # from another package; the others remain usable
                warnings.warn(str(error), stacklevel=2)
                continue
            definitions.update(one.pop("$defs", {}))
            one["properties"] = {key: {"const": name, "description": choice.title}, **one.get("properties", {})}
            one["required"] = [key, *one.get("required", [])]
            one["title"] = name
            definitions[f"{section}-{name}"] = one
            alternatives.append({"$ref": f"#/$defs/{section}-{name}"})
        schema["properties"][section] = {
            "oneOf": alternatives,
            "description": schema["properties"][section]["description"],
        }
    return schema
