"""Guarantees of a generalized file: smallest class, sensitive values in each class, number of suppressed records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems.evaluators.anonymity import distinct_l
from sdc_problems.studies.release.guarantees import (
    Guarantee,
    at_least,
    at_most,
    classes_of,
    smallest_class,
)

if TYPE_CHECKING:
    import pandas as pd


def guarantees(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Count k, ℓ and the suppressed records in a released file."""
    figures = problem.figures(x)
    columns = list(problem.attributes)
    starred = suppressed_rows(problem, x, frame)
    frame = frame[~starred]
    lost = len(problem.data) - len(frame)
    found = [
        at_least(
            "k", columns, figures["k"], smallest_class(frame, columns), "every record looks like at least k − 1 others"
        ),
        at_most("suppressed", columns, figures["suppressed"], lost, "no more records are left out than promised"),
    ]
    if "l" in figures and len(frame):
        classes = classes_of(frame, columns)
        text = "in every class the sensitive attribute has at least ℓ different values"
        for name in problem.sensitive:
            fewest = int(distinct_l(classes, frame[name].factorize()[0]))
            found.append(at_least("l", [*columns, name], figures["l"], fewest, text))
    return found


def suppressed_rows(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Mask of the records that have stars for all their quasi-identifiers because they are suppressed.

    If everything is generalized to "*", nothing is suppressed, because there is only one class.
    """
    if not problem.figures(x)["suppressed"]:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray((frame[list(problem.attributes)] == STAR).all(axis=1))
