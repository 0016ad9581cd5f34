"""Guarantees of a file with microaggregated groups of attributes: k within each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_least, smallest_class

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count the records, and k for each group of attributes."""
    found = [all_records(problem, frame)]
    for group in problem.decode(x).groups:
        text = "every combination of this group's values is shared by at least k records"
        found.append(at_least("k", group, problem.k, smallest_class(frame, group), text))
    return found
