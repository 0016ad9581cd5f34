"""Guarantees of a file of merged records: all are there, and k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_least, smallest_class

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count the records, and k over the quasi-identifiers."""
    found = problem.decode(x)
    columns = list(problem.attributes)
    text = "every record looks like at least k − 1 others"
    return [all_records(problem, frame), at_least("k", columns, found.k, smallest_class(frame, columns), text)]
