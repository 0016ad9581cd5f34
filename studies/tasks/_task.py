"""Task that a study can name: its problem, and what studies, releases, reports and the page need to know about it."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._signature import REQUIRED, parameters
from sdc_problems.errors import SDCError
from sdc_problems.studies.study.options import Argument, given, options_model, refused_as
from sdc_problems.studies.study.validation import Section, shown

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.release.guarantees import Guarantee
    from sdc_problems.studies.report.picture_types import Picture
    from sdc_problems.studies.searches.search import Search
    from sdc_problems.studies.study.data import Table

GIVEN = ("data", "graph", "hierarchies")
"""Arguments of a problem that come from the study's table; all others are options of the task."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task by name.

    Parameters
    ----------
    name
        Its name in a study.
    title
        What it decides, in a few words.
    problem
        The problem's class as ``"module:Class"``, imported when it is first needed. Its constructor takes the table as
        ``data``, or the table with its links as ``graph``. If it has a parameter ``hierarchies``, it gets one for each
        quasi-identifier, or, if that parameter has a default, those that exist. Its other parameters are the task's
        options, with their types, defaults and descriptions.
    operators
        Modules whose classes fit the encoding; a study may name these instead of the problem's own.
    example
        A study file of this task.
    guarantees
        Function of the problem, the solution and the released file, read back as text: each promise with its count
        in the file. It takes only names of columns and promised numbers from the problem.
    original
        Function of the problem: natural values of the unprotected data by objective, except objectives that are not
        defined for it.
    pictures
        Function of the problem and the solution: the effect of releasing it, as pictures of the types in
        ``report/picture_types.py``.
    arguments
        Types and bounds of options that the constructor's signature does not give.
    searches
        Searches that are made for this task.
    random
        Whether a release draws random numbers, so that its seed must be kept secret.
    suppressed_rows
        Function of the problem, the solution and a released table, unchanged or read back as text, with as many records
        as the original: a mask of those that have stars because they are suppressed. A task with this function may
        leave records out, and its problem's ``release`` takes ``suppressed="drop"`` or ``"star"``.
    most_records
        Most records for which a search ends within hours and 4 GiB; with more, making the problem is refused. None
        if ten million records are feasible.
    clusters
        Function of the problem and the solution: the cluster of each record, for a task whose records have links. Its
        problem has them as ``graph``, and they are released with the table.
    lattice
        Whether a solution is a node of a lattice of levels. Any node can then be shown, measured and released by
        its row, whether or not the search has found it.
    """

    name: str
    title: str
    problem: str
    operators: tuple[str, ...]
    example: Path
    guarantees: Callable[[Any, NDArray[Any], pd.DataFrame], Sequence[Guarantee]]
    original: Callable[[Any], Mapping[str, float]]
    pictures: Callable[[Any, NDArray[Any]], Sequence[Picture]]
    arguments: Mapping[str, Argument] = field(default_factory=lambda: MappingProxyType({}))
    searches: tuple[Search, ...] = ()
    random: bool = False
    most_records: int | None = None
    suppressed_rows: Callable[[Any, NDArray[Any], pd.DataFrame], NDArray[np.bool]] | None = None
    clusters: Callable[[Any, NDArray[Any]], NDArray[Any]] | None = None
    lattice: bool = False

    @property
    def suppresses(self) -> bool:
        """Whether a release may leave records out, or star them."""
        return self.suppressed_rows is not None

    @property
    def seeded(self) -> bool:
        """Whether a release has a secret seed, for its protection or for the random order of linked records."""
        return self.random or self.clusters is not None

    @functools.cached_property
    def problem_class(self) -> type[SDCProblem]:
        """The problem's class."""
        module, _, name = self.problem.partition(":")
        try:
            found: type[SDCProblem] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as error:
            raise SDCError(f"the problem of task {self.name!r} cannot be imported: {error}") from error
        return found

    @functools.cached_property
    def options(self) -> type[Section]:
        """Model of its options: the parameters of the problem's constructor that a study file can express."""
        return options_model(self.problem_class, without=GIVEN, arguments=self.arguments)

    def build(self, table: Table, options: Section) -> SDCProblem:
        """Make the problem for a loaded table.

        Parameters
        ----------
        table
            The study's table.
        options
            The checked options.
        """
        if self.most_records is not None and len(table.data) > self.most_records:
            raise SDCError(
                f"the task {self.name} is for up to {self.most_records:,} records, and the table has"
                f" {len(table.data):,}: use the task pbg or sdc protect, which take ten million, or a part of the table"
            )
        arguments = given(options)
        known = parameters(self.problem_class)
        if "hierarchies" in known:
            arguments["hierarchies"] = _hierarchies(table, every=known["hierarchies"].default is REQUIRED)
        if "graph" not in known:
            if table.graph is not None and table.file is not None:
                raise SDCError(f"[data] has links, and the task {self.name} does not use links: remove them")
            arguments["data"] = table.data
        elif table.graph is None:
            raise SDCError(
                f"the task {self.name} needs links between the records: name their file as edges in [data], or give a"
                " graph (GraphML, GML) as file"
            )
        else:
            arguments["graph"] = table.graph
        with refused_as("problem", list(type(options).model_fields)):
            return self.problem_class(**arguments)

    def unprotected(self, problem: SDCProblem) -> list[float | None]:
        """Natural values of the unprotected data, one per objective; None where an objective is not defined."""
        known = self.original(problem)
        values = [known.get(objective.name) for objective in problem.objectives]
        return [None if value is None or not np.isfinite(value) else float(value) for value in values]

    def release(
        self,
        problem: SDCProblem,
        x: NDArray[Any],
        *,
        seed: int | None = None,
        suppressed: str = "drop",
        coded: bool = False,
    ) -> pd.DataFrame:
        """Release a solution; ``suppressed`` says whether suppressed records are left out ("drop") or starred ("star").

        Parameters
        ----------
        problem, x
            The problem and the solution.
        seed
            Seed of a protection that draws random numbers.
        suppressed
            Ignored by a task that suppresses nothing.
        coded
            Whether text columns may be coded, as in `SDCProblem.coded_release`.
        """
        options: dict[str, Any] = {"suppressed": suppressed} if self.suppresses else {}
        return (problem.coded_release if coded else problem.release)(x, seed=seed, **options)

    @functools.cached_property
    def operator_classes(self) -> Mapping[str, type[Any]]:
        """Operators by name that fit the encoding."""
        from pymoo.core.crossover import Crossover
        from pymoo.core.mutation import Mutation
        from pymoo.core.sampling import Sampling

        found: dict[str, type[Any]] = {}
        for module_name in (*self.operators, "sdc_problems.operators.copying"):
            for name, value in vars(importlib.import_module(module_name)).items():
                mine = inspect.isclass(value) and value.__module__ == module_name and not name.startswith("_")
                if mine and issubclass(value, (Sampling, Crossover, Mutation)) and not inspect.isabstract(value):
                    found[name] = value
        return MappingProxyType(found)


def _hierarchies(table: Table, *, every: bool) -> dict[str, Any]:
    """Hierarchies of the quasi-identifiers; with ``every``, each must have one."""
    if not every:
        return {name: h for name, h in table.hierarchies.items() if name in table.data.quasi_identifiers}
    for name in table.data.quasi_identifiers:
        if name not in table.hierarchies:
            raise SDCError(
                f"quasi-identifier {shown(name)} has no hierarchy: add it to [data.hierarchies], for example as"
                " {suppression = true}, or remove it from data.quasi_identifiers"
            )
    return {name: table.hierarchies[name] for name in table.data.quasi_identifiers}
