"""Values of the unprotected data: matrices that keep every value, in expectation."""

from __future__ import annotations

from typing import Any


def original(problem: Any) -> dict[str, float]:
    """Natural values of the identity matrices, whatever limits the problem has."""
    from sdc_problems.problems.pram import PRAMProblem

    names = [objective.name for objective in problem.objectives]
    free = PRAMProblem(
        problem.data, columns=problem.attributes, objectives=names, evaluation="expected", against=problem.against
    )
    values = free.natural(free.evaluate(free.baselines()["identity"]))
    return dict(zip(names, map(float, values), strict=True))
