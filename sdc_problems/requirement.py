"""Requirement of a solution: bounds on an objective, in the unit that a person reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems.errors import SDCError
from sdc_problems.objective import Objective, find_objective

Required = float | Mapping[str, float]
"""A number, or a mapping with ``min``, ``max`` or both."""


@dataclass(frozen=True)
class Requirement:
    """Bounds within which an objective must lie.

    Attributes
    ----------
    objective
        The objective.
    low, high
        Bounds in natural units, both inclusive; infinite where there is none.

    Examples
    --------
    >>> k = Objective("k", "smallest class", "max")
    >>> Requirement.read(k, 5)
    Requirement(k >= 5)
    >>> Requirement.read(k, {"min": 5, "max": 20}).meets([3, 5, 21]).tolist()
    [False, True, False]
    """

    objective: Objective
    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def read(cls, objective: Objective, wanted: Required, *, what: str = "require") -> Requirement:
        """Read a requirement; a single number is the worst acceptable value.

        Parameters
        ----------
        objective
            The objective: at least the number if it is maximized, at most the number if it is minimized.
        wanted
            A number, or a mapping with ``min``, ``max`` or both.
        what
            Name of the place, for an error.
        """
        place = f"{what} of {objective.name!r}"
        if isinstance(wanted, Mapping):
            given = {side: value for side, value in wanted.items() if value is not None}
            unknown = sorted(set(given) - {"min", "max"})
            if unknown or not given:
                raise SDCError(f"{place} takes min, max or both, not {', '.join(map(repr, unknown)) or 'nothing'}")
            low, high = (_number(given[side], place) if side in given else None for side in ("min", "max"))
        else:
            bound = _number(wanted, place)
            low, high = (bound, None) if objective.sense == "max" else (None, bound)
        if low is not None and high is not None and low > high:
            raise SDCError(f"{place}: min = {low:g} is larger than max = {high:g}")
        return cls(objective, -math.inf if low is None else low, math.inf if high is None else high)

    def violations(self, values: ArrayLike) -> NDArray[np.float64]:
        """Violation of each bound, one column per bound; as in pymoo, a bound is met where this is not above 0."""
        column = np.asarray(values, dtype=float)
        sides = [self.low - column] * (self.low > -math.inf) + [column - self.high] * (self.high < math.inf)
        return np.stack(sides, axis=-1)

    def meets(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Mask of the values within the bounds; NaN is outside."""
        column = np.asarray(values, dtype=float)
        return (column >= self.low) & (column <= self.high)

    @property
    def n_bounds(self) -> int:
        """Number of finite bounds, which is the number of constraints."""
        return (self.low > -math.inf) + (self.high < math.inf)

    def __str__(self) -> str:
        lower = f"{self.low:g} <= " if self.low > -math.inf and self.high < math.inf else ""
        name = self.objective.name
        return f"{lower}{name} <= {self.high:g}" if self.high < math.inf else f"{name} >= {self.low:g}"

    def __repr__(self) -> str:
        return f"Requirement({self})"


def read_requirements(
    require: Mapping[str, Required] | None, catalogue: Mapping[str, Objective], *, what: str = "require"
) -> tuple[Requirement, ...]:
    """Read requirements by names of objectives.

    Parameters
    ----------
    require
        The requirements, by name: see `Requirement.read`.
    catalogue
        Objectives that may be named.
    what
        Name of the place, for an error.

    Examples
    --------
    >>> catalogue = {"k": Objective("k", "smallest class", "max"), "glm": Objective("glm", "loss", "min")}
    >>> read_requirements({"k": 5, "glm": 100}, catalogue)
    (Requirement(k >= 5), Requirement(glm <= 100))
    """
    if require is None:
        return ()
    if not isinstance(require, Mapping):
        raise SDCError(f"{what} must map names of objectives to bounds, as in {{'k': 5}}, not {type(require).__name__}")
    return tuple(
        Requirement.read(find_objective(name, catalogue, what=f"{what} objective"), wanted, what=what)
        for name, wanted in require.items()
    )


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise SDCError(f"{place} must be a finite number, or a mapping with min, max or both, not {value!r}")
    return float(value)
