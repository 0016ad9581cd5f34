"""Guarantees of a table of nodes: all nodes, and k; the guarantees of links are the same for all linked releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_least, smallest_class

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count the nodes, and k over the quasi-identifiers."""
    columns = list(problem.attributes)
    text = "every combination of protected attributes is shared by at least k nodes"
    promised = problem.decode(x).k
    return [all_records(problem, frame), at_least("k", columns, promised, smallest_class(frame, columns), text)]
