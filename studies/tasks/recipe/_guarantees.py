"""Guarantees of a file protected by a recipe: all records, nothing else changed, and k where a method promises it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.release.guarantees import (
    Guarantee,
    all_records,
    at_least,
    at_most,
    smallest_class,
    step_guarantees,
)

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count the records, the cells changed in other columns, and the k of each method and of the whole."""
    found = [all_records(problem, frame)]
    if not found[0].holds:
        return found
    recipe = problem.decode(x)
    protected = [name for step in recipe.steps for name in step.columns]
    original = as_written(problem.data.frame())
    kept = [name for name in frame.columns if name not in protected and name not in problem.data.identifiers]
    changed = sum(int((original[name].to_numpy() != frame[name].to_numpy()).sum()) for name in kept)
    found.append(at_most("changed elsewhere", kept, 0, changed, "no other column has changed"))
    found += step_guarantees(recipe, frame)
    for requirement in problem.requirements:
        if requirement.objective.name == "k" and np.isfinite(requirement.low):
            text = "every combination of all protected columns is shared by at least k records"
            smallest = smallest_class(frame, problem.attributes)
            found.append(at_least("k", problem.attributes, requirement.low, smallest, text))
    return found
