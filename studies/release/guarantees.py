"""Guarantees of a released file, counted again in the file itself.

Each task says its own (``studies/tasks/``), with these helpers. They read the file as its reader will: text in columns.
They know nothing of the problem but which columns and numbers to look at, so that a mistake in a problem's own release
cannot hide in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR
from sdc_problems.evaluators._codes import column_labels
from sdc_problems.evaluators.anonymity import k_anonymity
from sdc_problems.evaluators.wildcards import k_wildcard
from sdc_problems.methods.registry import find

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.methods import Recipe


@dataclass(frozen=True)
class Guarantee:
    """Guarantee, and the value that was counted in the file.

    Attributes
    ----------
    name
        ``k``, ``l``, ``suppressed``, ``records`` …
    columns
        The columns that it is about.
    promised, found
        The number promised and the number found.
    holds
        Whether the promise is kept.
    sentence
        The promise in words.
    """

    name: str
    columns: tuple[str, ...]
    promised: float
    found: float
    holds: bool
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {**asdict(self), "columns": list(self.columns)}


def at_least(name: str, columns: Sequence[str], promised: float, found: float, sentence: str) -> Guarantee:
    """A promise that a number is not smaller."""
    return Guarantee(name, tuple(columns), float(promised), float(found), found >= promised, sentence)


def at_most(name: str, columns: Sequence[str], promised: float, found: float, sentence: str) -> Guarantee:
    """A promise that a number is not larger."""
    return Guarantee(name, tuple(columns), float(promised), float(found), found <= promised, sentence)


def classes_of(frame: pd.DataFrame, columns: Sequence[str]) -> NDArray[np.int64]:
    """Records that look alike in these columns have the same number; a missing cell is a value of its own."""
    return column_labels(frame[column].factorize(use_na_sentinel=False)[0] for column in columns)[0]


def smallest_class(frame: pd.DataFrame, columns: Sequence[str]) -> int:
    """Size of the smallest class; of an empty file 0."""
    return int(k_anonymity(classes_of(frame, columns))) if len(frame) else 0


def all_records(problem: Any, frame: pd.DataFrame) -> Guarantee:
    """The promise that no record is left out or added."""
    n = len(problem.data)
    return Guarantee("records", (), float(n), float(len(frame)), len(frame) == n, "no record is left out or added")


def step_guarantees(recipe: Recipe, frame: pd.DataFrame, within: Sequence[str] = ()) -> list[Guarantee]:
    """Count what each step promises.

    Parameters
    ----------
    recipe
        The recipe.
    frame
        The file's cells.
    within
        Columns that make strata, in each of which a promise is kept.
    """
    found = []
    for step in recipe.steps:
        promise, columns = find(step.method).guarantee, [*within, *step.columns]
        if promise == "k":
            text = f"every combination of what {step.method} protects is shared by at least k records"
            found.append(at_least("k", columns, step.options["k"], smallest_class(frame, columns), text))
        elif promise == "k_wildcard":
            text = "every record matches at least k, itself included; a star matches every value"
            codes = np.column_stack([frame[name].factorize(use_na_sentinel=False)[0] for name in columns])
            matching = int(k_wildcard(codes, (frame[columns] == STAR).to_numpy())) if len(frame) else 0
            found.append(at_least("k_wildcard", columns, step.options["k"], matching, text))
    return found
