"""Special uniques: records that are unique by few attributes, and the attributes that make them so (SUDA2)."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import FloatArray, code_table, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import row_labels

_WORK = 50_000_000  # records times combinations: about ten seconds


class SpecialUniques(NamedTuple):
    """Scores of the special uniques of a table.

    Attributes
    ----------
    scores
        Score of each record; 0 if it is unique by no combination that was examined.
    contributions
        Percentage of all scores that comes from combinations with each attribute.
    sizes
        Smallest number of attributes by which each record is unique; 0 if no such combination was found.
    """

    scores: FloatArray
    contributions: FloatArray
    sizes: NDArray[np.int64]


def special_uniques(quasi_identifiers: Any, *, largest: int = 3) -> SpecialUniques:
    """Special uniques scores (SUDA2): records by the smallest combinations of attributes that make them unique.

    Parameters
    ----------
    quasi_identifiers
        Category codes ≥ 0, records × attributes.
    largest
        Largest number of attributes of a combination, the M of the method; less than the number of attributes.

    Returns
    -------
    SpecialUniques
        Scores, contributions of the attributes, and sizes of the smallest combinations.

    Notes
    -----
    Elliot, Manning and Ford (2002); Manning, Haglin and Keane (2008); as in sdcMicro. A minimal sample unique is a
    combination of m attributes by which the record is unique, while it is not unique by any part of it. Each adds
    (p - m)(p - m - 1)…(p - M) to the score of the record, so that fewer attributes count more.

    Every combination is counted, O(C(p, M)·n); a combination that contains a minimal unique of a record is skipped.

    Examples
    --------
    >>> found = special_uniques([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]], largest=2)
    >>> found.scores.tolist(), found.sizes.tolist()
    ([0.0, 2.0, 2.0, 2.0], [0, 1, 1, 1])
    """
    largest = whole(largest, "largest", least=1)
    shape = np.shape(quasi_identifiers)
    if len(shape) == 2:  # before a large table is checked
        refuse_long(shape[0], shape[1], largest)
    codes = code_table(quasi_identifiers, "quasi_identifiers")
    n, p = codes.shape
    refuse_long(n, p, largest)
    largest = min(largest, max(p - 1, 1))
    scores, by_attribute = np.zeros(n), np.zeros(p)
    sizes = np.zeros(n, dtype=np.int64)
    before: dict[tuple[int, ...], NDArray[np.bool_]] = {}
    for m in range(1, largest + 1):
        weight = prod(max(p - i, 1) for i in range(m, largest + 1))
        unique: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        for chosen in combinations(range(p), m):
            groups = row_labels(codes[:, chosen])[0]
            alone = np.bincount(groups)[groups] == 1
            unique[chosen] = alone
            parts = [before[part] for part in combinations(chosen, m - 1)] if m > 1 else []
            minimal = alone & ~np.any(parts, axis=0) if parts else alone
            scores[minimal] += weight
            sizes[minimal & (sizes == 0)] = m
            by_attribute[list(chosen)] += weight * int(minimal.sum())
        before = unique
    total = scores.sum()
    return SpecialUniques(scores, 100 * by_attribute / total if total else by_attribute, sizes)


def refuse_long(n: int, p: int, largest: int) -> None:
    """Raise an error if there are more records and combinations than can be counted in about ten seconds."""
    largest = min(largest, max(p - 1, 1))
    if n * sum(comb(p, m) for m in range(1, largest + 1)) > _WORK:
        raise SDCError(
            f"special uniques of up to {largest} of {p} attributes among {n:,} records take too long: lower largest"
        )
