"""Guarantees of a released file, counted again in the file itself.

These checks read the file as its reader will: text in columns. They know nothing of the problem but which columns and
numbers to look at, so that a mistake in a problem's own release cannot hide in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators.anonymity import distinct_l, equivalence_classes, k_anonymity
from sdc_problems.studies.release.csv_text import as_written

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem

STAR = "*"


@dataclass(frozen=True)
class Guarantee:
    """One promise and what was found in the file.

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
    """Records that look alike in these columns of text have the same number."""
    codes = [frame[column].factorize()[0] for column in columns]
    return equivalence_classes(np.column_stack(codes))


def smallest_class(frame: pd.DataFrame, columns: Sequence[str]) -> int:
    """Size of the smallest class; of an empty file 0."""
    return int(k_anonymity(classes_of(frame, columns))) if len(frame) else 0


def _pbg(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
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
        sensitive = frame[problem.sensitive].factorize()[0]
        fewest = int(distinct_l(classes_of(frame, columns), sensitive))
        text = "in every class the sensitive attribute has at least ℓ different values"
        found.append(at_least("l", [*columns, problem.sensitive], figures["l"], fewest, text))
    return found


def suppressed_rows(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> NDArray[np.bool_]:
    """Mark the records that are in a file with stars for all their quasi-identifiers because they are suppressed.

    Where everything is generalised to "*" nothing is suppressed: there is one class only.
    """
    if not problem.figures(x)["suppressed"]:
        return np.zeros(len(frame), dtype=bool)
    return np.asarray((frame[list(problem.attributes)] == STAR).all(axis=1))


def _gomm(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    found = [_all_records(problem, frame)]
    for group in problem.decode(x).groups:
        text = "every combination of this group's values is shared by at least k records"
        found.append(at_least("k", group, problem.k, smallest_class(frame, group), text))
    return found


def _microaggregation(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    found = problem.decode(x)
    columns = list(problem.attributes)
    text = "every record looks like at least k − 1 others"
    return [_all_records(problem, frame), at_least("k", columns, found.k, smallest_class(frame, columns), text)]


def _pram(problem: Any, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Nothing but the chosen attributes changed, and they only along moves that the matrices allow."""
    found = [_all_records(problem, frame)]
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
        released = frame[name].map(known).fillna(-1).to_numpy().astype(np.int64)
        allowed = np.pad(matrix.to_numpy() > 0, ((0, 0), (0, 1)))  # code -1, an unknown value, is never allowed
        impossible = int((~allowed[codes, released]).sum())
        text = "every value stayed or moved as its transition matrix allows"
        found.append(at_most("impossible moves", [name], 0, impossible, text))
    return found


def _all_records(problem: Any, frame: pd.DataFrame) -> Guarantee:
    n = len(problem.data)
    return Guarantee("records", (), float(n), float(len(frame)), len(frame) == n, "no record is left out or added")


CHECKS: dict[str, Callable[[Any, NDArray[Any], Any], list[Guarantee]]] = {
    "pbg": _pbg,
    "gomm": _gomm,
    "microaggregation": _microaggregation,
    "pram": _pram,
    "pram-equations": _pram,
}


def check(task: str, problem: SDCProblem, x: NDArray[Any], frame: pd.DataFrame) -> list[Guarantee]:
    """Check everything that releasing ``x`` promises in a released file that was read back as text."""
    known: Mapping[str, Callable[[Any, NDArray[Any], Any], list[Guarantee]]] = CHECKS
    return known[task](problem, x, frame)
