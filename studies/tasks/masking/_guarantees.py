"""Guarantees of a masked file: all records, no other columns changed, and only values that the original can have.

No smallest class is among them: records may be unique in such a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_most

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-6  # of a unit: largest difference of a written number from its decimals


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count the records, the cells changed in other columns, impossible values, and broken sums."""
    found = [all_records(problem, frame)]
    if not found[0].holds:
        return found
    original = as_written(problem.data.frame())
    kept = [name for name in frame.columns if name not in problem.attributes]
    changed = sum(int((original[name].to_numpy() != frame[name].to_numpy()).sum()) for name in kept)
    found.append(at_most("changed elsewhere", kept, 0, changed, "no other column has changed"))
    columns = list(problem.attributes)
    if not problem.numeric:
        unknown = 0
        for name in columns:
            known = {*problem.data.attribute(name).labels, *original[name]}
            unknown += int((~frame[name].isin(known)).sum())
        found.append(at_most("new categories", columns, 0, unknown, "every category is one that the original may have"))
        return found
    values = frame[columns].to_numpy(dtype=np.float64)
    found.append(
        at_most(
            "numbers out of range",
            columns,
            0,
            int(_outside(problem, values).sum()),
            "every number has the decimals and lies in the range of the original and the start files",
        )
    )
    for edit in problem.edits:
        from sdc_problems.evaluators.edits import broken_edits

        broken = round(broken_edits(values, [edit]) * len(values) / 100)
        members = [columns[j] for j in (edit.left, *edit.right)]
        found.append(at_most("broken sums", members, 0, broken, f"in every record {edit.text(columns)}"))
    return found


def _outside(problem: Any, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the cells for which their column has no code; a computed sum may be any number."""
    units = problem.units(values)
    whole = np.abs(units - np.rint(units)) <= ROUNDING * np.maximum(np.abs(units), 1.0)
    low, high = problem.unit_range
    inside = (np.rint(units) >= low) & (np.rint(units) <= high)
    inside[:, list(problem.sums())] = True
    outside: NDArray[np.bool_] = ~(whole & inside)
    return outside
