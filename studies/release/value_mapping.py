"""The released file beside the original, record by record: what became of each value, and all measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.release.csv_text import as_written, to_csv

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.tasks import Task

SUPPRESSED = "(suppressed)"


def record_by_record(
    task: Task, problem: SDCProblem, x: NDArray[Any], written: pd.DataFrame
) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """Put the records of the written file beside those of the original; suppressed ones have stars and are marked.

    Parameters
    ----------
    task, problem, x
        The task, its problem and the solution that was released.
    written
        The file's cells as text, without the direct identifiers.
    """
    if task.suppressed_rows is None:
        return written, np.zeros(len(written), dtype=bool)
    if len(written) == len(problem.data):
        return written, task.suppressed_rows(problem, x, written)
    starred = as_written(task.release(problem, x, suppressed="star"))[list(written.columns)]
    lost = task.suppressed_rows(problem, x, starred)
    if not starred[~lost].reset_index(drop=True).equals(written.reset_index(drop=True)):
        raise SDCFailure("the written file is not the original without its suppressed records: nothing is released")
    return starred, lost


def value_mapping(problem: SDCProblem, aligned: pd.DataFrame, lost: NDArray[np.bool_], seed: int | None) -> bytes:
    """Return what became of each value as CSV: column, original, released, number of records.

    For the data's holder only: it repeats original values. Columns that were left as they are do not appear.

    Parameters
    ----------
    problem
        The problem.
    aligned, lost
        The released records as text, as many as the original's, and which of them were suppressed.
    seed
        What a random protection was drawn with; kept here, where it is private.
    """
    import pandas as pd

    original = as_written(problem.data.frame())
    parts = []
    for name in aligned.columns:
        pairs = pd.DataFrame(
            {"original": original[name].to_numpy(), "released": aligned[name].to_numpy()}, dtype=object
        )
        if (pairs["original"] == pairs["released"]).all():
            continue
        pairs.loc[lost, "released"] = SUPPRESSED
        counted = pairs.value_counts(sort=False).reset_index(name="records")
        counted = counted.sort_values(["original", "released"], kind="stable")
        counted.insert(0, "column", name)
        parts.append(counted)
    if seed is not None:
        parts.insert(0, pd.DataFrame({"column": ["(seed)"], "original": [""], "released": [str(seed)], "records": [0]}))
    table = pd.concat(parts) if parts else pd.DataFrame(columns=["column", "original", "released", "records"])
    return to_csv(table)


def measured_in_file(problem: SDCProblem, aligned: pd.DataFrame) -> dict[str, Any]:
    """Measure the released records as ``sdc evaluate`` does: every measure that applies, or why none does."""
    from sdc_problems.studies.verdict import verdict

    data = problem.data
    attributes = getattr(problem, "attributes", data.quasi_identifiers)
    sensitive = [name for name in data.sensitive if name not in attributes]
    try:
        found = verdict(data, aligned, quasi_identifiers=attributes, sensitive=sensitive, same_rows=True)
    except SDCError as error:
        return {"not_measured": str(error)}
    return found.payload()
