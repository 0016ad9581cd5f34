"""Search that a study can name: its class, options and tasks."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from sdc_problems.studies.study.options import Argument, options_model
from sdc_problems.studies.study.validation import Section

# pymoo holds an object for each individual and compares all pairs: with a million, a generation takes over ten minutes.
Size = Annotated[int, Field(ge=2, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]


class Start(Section):
    """Source of the first population."""

    start: Literal["random", "baselines"] = Field(
        default="random", description="Whether the first population begins with the problem's baselines."
    )


class Directions(Section):
    """Reference directions of a search."""

    directions: Size = Field(default=50, description="Number of reference directions, spread evenly.")


class ReferencePoints(Section):
    """Aspiration points in natural units."""

    reference_points: list[list[float]] = Field(
        min_length=1, description="Points to come near, one number per objective, in the unit a person reads."
    )


STUDY_OPTIONS: dict[str, type[Section]] = {
    "start": Start,
    "directions": Directions,
    "reference_points": ReferencePoints,
}
"""Options that are not arguments of a constructor: a study's own way to give a sampling or arrays."""


@dataclass(frozen=True)
class Search:
    """A search by name.

    Attributes
    ----------
    name
        Its name in a study.
    title
        A short description.
    target
        Its class, as ``"module:Class"``; imported when it is first needed.
    parameters
        Arguments of the constructor that a study may set; if None, all that a study file can express.
    without
        Arguments that a study may not set.
    arguments
        Types and descriptions of arguments that have none.
    defaults
        Defaults of arguments that have none.
    study
        Names of its additional ``STUDY_OPTIONS``.
    operators
        Operators that it takes.
    own
        Whether it has its own operators, so that it gets only those that a study names.
    real
        Whether it proposes real numbers, which are rounded.
    archive
        Whether a study may give it a box archive; some searches have their own.
    ends
        Whether it has its own budget, so that a study needs no [termination].
    objectives
        Numbers of objectives that it can handle.
    tasks
        Names of the tasks to which it belongs and for which alone it is made; all tasks if None.
    """

    name: str
    title: str
    target: str
    parameters: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    study: tuple[Literal["start", "directions", "reference_points"], ...] = ()
    operators: tuple[str, ...] = ("sampling", "crossover", "mutation", "repair", "eliminate_duplicates")
    own: bool = False
    real: bool = False
    archive: bool = True
    ends: bool = False
    objectives: Literal["one", "several", "any"] = "several"
    tasks: tuple[str, ...] | None = None

    def load(self) -> Any:
        """Import its class."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)

    @functools.cached_property
    def options(self) -> type[Section]:
        """Model of its options: those of the constructor, and the additional ones of a study."""
        return options_model(
            self.load(),
            only=self.parameters,
            without=self.without,
            arguments=self.arguments,
            defaults=self.defaults,
            more=tuple(STUDY_OPTIONS[name] for name in self.study) or (Section,),
        )
