"""Guarantees of a randomized file: values moved only as the matrices allow, and nothing else changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.release.csv_text import as_written
from sdc_problems.studies.release.guarantees import Guarantee, all_records, at_most

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Check that only the chosen attributes changed, and only by moves that the matrices allow."""
    found = [all_records(problem, frame)]
    if not found[0].holds:
        return found
    original = as_written(problem.data.frame())
    kept = [name for name in frame.columns if name not in problem.attributes]
    changed = sum(int((original[name].to_numpy() != frame[name].to_numpy()).sum()) for name in kept)
    found.append(at_most("changed elsewhere", kept, 0, changed, "no other column has changed"))
    for name, matrix in problem.decode(x).items():
        codes = problem.data.codes([name])[:, 0]
        known = {label: code for code, label in enumerate(problem.data.attribute(name).labels)}
        known |= dict(zip(original[name], codes.tolist(), strict=True))
        released = frame[name].astype(object).map(known).fillna(-1).to_numpy().astype(np.int64)
        allowed = np.pad(matrix.to_numpy() > 0, ((0, 0), (0, 1)))  # code -1, an unknown value, is never allowed
        impossible = int((~allowed[codes, released]).sum())
        text = "every value stayed or moved as its transition matrix allows"
        found.append(at_most("impossible moves", [name], 0, impossible, text))
    return found
