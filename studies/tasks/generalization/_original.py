"""Values of the unprotected data: the lattice's bottom without suppression."""

from __future__ import annotations

from typing import Any


def original(problem: Any) -> dict[str, float]:
    """Natural values of the bottom of the lattice, without suppression."""
    whole = type(problem)(
        problem.data,
        problem.hierarchies,
        objectives=[objective.name for objective in problem.objectives],
        max_suppression=0,
        class_label=problem.class_label,
        sensitive=problem.sensitive,
    )
    values = whole.natural(whole.evaluate(whole.xl.astype(whole.dtype)))
    return {objective.name: float(value) for objective, value in zip(whole.objectives, values, strict=True)}
