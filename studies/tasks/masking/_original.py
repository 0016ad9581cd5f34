"""Values of the unprotected data: those of the untouched file, measured like any other."""

from __future__ import annotations

from typing import Any


def original(problem: Any) -> dict[str, float]:
    """Natural values of the unprotected data."""
    row = problem.untouched[None, :].astype(problem.dtype)
    values = problem.natural(problem.evaluate(row, return_values_of=["F"]))[0]
    return {objective.name: float(value) for objective, value in zip(problem.objectives, values, strict=True)}
