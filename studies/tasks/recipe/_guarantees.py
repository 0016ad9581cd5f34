"""Guarantees of a file protected by a recipe: all records, nothing else changed, and k where a method promises it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems.methods.registry import find
from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_least, at_most, smallest_class

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
    for step in recipe.steps:
        promise = find(step.method).guarantee
        if promise == "k":
            text = f"every combination of what {step.method} protects is shared by at least k records"
            found.append(at_least("k", step.columns, step.options["k"], smallest_class(frame, step.columns), text))
        elif promise == "k_wildcard":
            text = "every record matches at least k, itself included; a star matches every value"
            matching = _matching(frame, list(step.columns))
            found.append(at_least("k_wildcard", step.columns, step.options["k"], matching, text))
    for requirement in problem.requirements:
        if requirement.objective.name == "k" and np.isfinite(requirement.low):
            text = "every combination of all protected columns is shared by at least k records"
            smallest = smallest_class(frame, problem.attributes)
            found.append(at_least("k", problem.attributes, requirement.low, smallest, text))
    return found


def _matching(frame: pd.DataFrame, columns: list[str]) -> int:
    """Records that the least matched one matches."""
    from sdc_problems.evaluators.wildcards import k_wildcard

    codes = np.column_stack([frame[name].factorize(use_na_sentinel=False)[0] for name in columns])
    return int(k_wildcard(codes, (frame[columns] == STAR).to_numpy()))
