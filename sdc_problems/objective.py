"""Objective of a problem: its name, unit, sense and meaning in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean

BETTER = {"min": "Smaller is better.", "max": "Larger is better."}
CONCERNS = ("risk", "loss", "")

COLUMNS = ("id", "seed", "feasible", "meets_requirements")  # other columns of tables that have one per objective

OwnFunction = Callable[[NDArray[Any], NDArray[Any]], float]


@dataclass(frozen=True)
class Objective:
    """Quantity to optimize, in the unit that a person reads, with its meaning.

    Parameters
    ----------
    name
        Short name, as given in ``objectives=(...)``.
    label
        Text for an axis or a table column.
    sense
        Whether a small or a large value is wanted. Values to be maximized are stored negated in ``F``.
    bounds
        Smallest and largest possible value in natural units (may be infinite).
    unit
        ``"%"``, ``"records"``, or empty.
    meaning
        Explanation of what it counts or measures, in one or two plain sentences; ``sentence`` adds which way is better.
    formula
        The exact definition, as plain text.
    source
        Where it was defined.
    concerns
        ``"risk"`` if a better value protects people more, ``"loss"`` if it keeps more of the data, empty if it is a
        mixture of both or neither.
    formerly
        Names in earlier versions: an error for one of them gives the new name.
    function
        Only for an objective that a user writes: ``function(released, original)`` of two tables of integer codes,
        records × protected attributes. Equal codes in a column are equal cells, numeric and ordinal values keep their
        order, and -1 is a suppressed cell.

    Examples
    --------
    >>> k = Objective("k", "smallest class", "max", (1, 100), "records", meaning="Records in the smallest class.")
    >>> k.sentence
    'Records in the smallest class. Larger is better.'
    """

    name: str
    label: str
    sense: Literal["min", "max"]
    bounds: tuple[float, float] = (0.0, math.inf)
    unit: str = ""
    meaning: str = field(default="", kw_only=True)
    formula: str = field(default="", kw_only=True)
    source: str = field(default="", kw_only=True)
    concerns: Literal["risk", "loss", ""] = field(default="", kw_only=True)
    formerly: tuple[str, ...] = field(default=(), kw_only=True)
    function: OwnFunction | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.sense not in BETTER:
            raise SDCError(f"objective {self.name!r}: sense must be 'min' or 'max', not {self.sense!r}")
        if self.concerns not in CONCERNS:
            raise SDCError(f"objective {self.name!r}: concerns must be 'risk', 'loss' or '', not {self.concerns!r}")
        low, high = self.bounds
        if not low <= high:
            raise SDCError(f"objective {self.name!r}: bounds {self.bounds} are not (smallest, largest)")

    @property
    def sentence(self) -> str:
        """The meaning, and which way is better."""
        return f"{self.meaning} {BETTER[self.sense]}".lstrip()

    def __str__(self) -> str:
        return f"{self.label} [{self.unit}]" if self.unit else self.label


def by_name(*objectives: Objective) -> dict[str, Objective]:
    """Return a catalogue: objectives by name, in the order given."""
    return {objective.name: objective for objective in objectives}


def find_objective(name: object, catalogue: Mapping[str, Objective], *, what: str = "objective") -> Objective:
    """Look up an objective; the error for an earlier name gives the new one, otherwise similar names.

    Examples
    --------
    >>> catalogue = by_name(Objective("dr_linkage", "disclosure risk", "min", formerly=("dr",)))
    >>> find_objective("dr", catalogue)
    Traceback (most recent call last):
    sdc_problems.errors.SDCError: objective 'dr' is now called 'dr_linkage'
    """
    if isinstance(name, str) and name in catalogue:
        return catalogue[name]
    for objective in catalogue.values():
        if name in objective.formerly:
            raise SDCError(f"{what} {name!r} is now called {objective.name!r}")
    known = ", ".join(catalogue)
    raise SDCError(f"unknown {what} {name!r}{did_you_mean(str(name), catalogue)} (known: {known})")


def choose_objectives(
    objectives: Sequence[str | Objective], catalogue: Mapping[str, Objective]
) -> tuple[Objective, ...]:
    """Look up objectives by name; the error lists the known names.

    Parameters
    ----------
    objectives
        Names of the catalogue, or an `Objective` that a user wrote, with a ``function``.
    catalogue
        Objectives that the problem can measure, by name.

    Examples
    --------
    >>> k = Objective("k", "smallest class", "max")
    >>> choose_objectives(("k",), {"k": k}) == (k,)
    True
    """
    if isinstance(objectives, (str, Objective)):
        shown = repr(objectives) if isinstance(objectives, str) else objectives.name
        raise SDCError(f"objectives must be a sequence of names: write objectives=({shown},)")
    if not isinstance(objectives, Sequence):
        raise SDCError(
            f"objectives must be a list or tuple, not {type(objectives).__name__}: their order is that of the columns"
            " of F"
        )
    if not objectives:
        raise SDCError(f"objectives is empty; choose from {', '.join(catalogue)}")
    chosen = tuple(
        _own(given, catalogue) if isinstance(given, Objective) else find_objective(given, catalogue)
        for given in objectives
    )
    names = tuple(objective.name for objective in chosen)
    if len(set(names)) < len(names):
        raise SDCError(f"an objective is named twice in {names}")
    return chosen


def _own(objective: Objective, catalogue: Mapping[str, Objective]) -> Objective:
    """Check an `Objective` given as an object: one of the catalogue, or one with a function and a name of its own."""
    known = catalogue.get(objective.name)
    if objective == known:
        return objective
    if not objective.name.isidentifier() or objective.name in COLUMNS:
        raise SDCError(f"{objective.name!r} is not a name for an objective: tables and study files use it as a key")
    if known is not None:
        raise SDCError(f"objective {objective.name!r} is one of this problem's: give yours another name")
    if objective.function is None:
        raise SDCError(f"objective {objective.name!r} is not one of this problem's and has no function to measure it")
    return objective
