"""Files of a search: the engine's state of each, and pymoo individuals with their objectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.individual import Individual

from sdc_problems.errors import SDCError

EVALUATED = ("F", "G", "H")


def masking_only(problem: Any, name: str) -> None:
    """Refuse a problem other than masking, and say what to do instead."""
    from sdc_problems.problems.masking import MaskingProblem

    if not isinstance(problem, MaskingProblem):
        raise SDCError(f"{name} changes the cells of a MaskingProblem, not of a {type(problem).__name__}")


def individual(problem: Any, row: NDArray[Any], measures: Mapping[str, float]) -> Individual:
    """Individual with a row of X whose objectives and constraints are known; missing ones are measured here.

    Parameters
    ----------
    problem
        A `MaskingProblem`.
    row
        Row of X.
    measures
        Measures by name, from the engine.
    """
    lacking = [o.name for o in problem.measured_objectives if o.name not in measures and o.function is None]
    found = dict(measures)
    if lacking:
        found.update(zip(lacking, problem._measure(row[None, :], lacking)[0], strict=True))
    found.update(problem._own_figures(row))
    values = np.array([[found[o.name] for o in problem.measured_objectives]])
    made = Individual(X=row)
    made.F = problem.minimized(values[:, : problem.n_obj])[0]
    made.G = problem._violations(values)[0]
    made.H = np.zeros(0)
    made.evaluated.update(EVALUATED)
    return made


def violation(one: Any) -> float:
    """Sum of an individual's constraint violations."""
    return float(np.maximum(one.G, 0.0).sum())


def not_worse(child: Any, parent: Any) -> bool:
    """Whether a child replaces its parent: violations are compared first, then the single objective."""
    mine, other = violation(child), violation(parent)
    return mine < other or (mine == other and bool(child.F[0] <= parent.F[0]))
