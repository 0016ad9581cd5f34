"""Exposure of a released table: records that can still be found, and by which columns; counts in multiples of five."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.anonymity import class_sizes, equivalence_classes
from sdc_problems.studies.report.file_page import SIZES
from sdc_problems.studies.report.small_counts import LEAST, label_bars, rounded, shortened

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata

LARGEST = 3  # most columns of a combination
_COMBINATIONS = 300
_SHOWN = 8
_RECORDS, _CLASSES = 20_000, 2_000  # most records and classes for a search in the whole original table


def exposure(data: Microdata, released: pd.DataFrame, starred: pd.DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    """Measure how many records of a table can be found, before and after protection.

    Parameters
    ----------
    data
        The original.
    released
        The table to release, without suppressed records.
    starred
        The same with all records of the original, in order, and stars for the suppressed ones.
    columns
        Columns that an intruder knows.
    """
    names = [name for name in columns if name in released.columns]
    before = data.codes(names).astype(np.int64)
    cells = [released[name].astype(str).factorize(use_na_sentinel=False)[0] for name in names]  # a gap is also a value
    after = np.column_stack(cells).astype(np.int64)
    if not len(after):
        return {"risks": [], "sizes": [], "combinations": [], "note": "No record is released, so nobody can be found."}
    old, new = (class_sizes(equivalence_classes(codes)) for codes in (before, after))
    risks = [_risk("Prosecutor", "knows that a person is in the file, and looks for them", old, new)]
    fits, why = _fits(data, starred, names)
    if fits is not None:
        risks.append(_risk("Journalist", "wants to show that anybody at all can be found", old, fits, mean=False))
        risks.append(_risk("Marketer", "links everybody, and counts how many are right", old, fits, highest=False))
    coarse = len(after) < len(before)
    bars = [_bars(old, coarse), _bars(new, coarse)]
    where = f"Journalist and marketer look in the original table of {len(data):,} records; in a larger population they"
    return {
        "risks": risks,
        "sizes": bars,
        "combinations": _combinations(names, before, after),
        "note": f"{where} find fewer (sdc evaluate --population or --weights)." if fits is not None else why,
    }


def _risk(
    name: str, who: str, old: NDArray[np.int64], new: NDArray[np.int64], *, highest: bool = True, mean: bool = True
) -> dict[str, Any]:
    def percent(sizes: NDArray[np.int64]) -> list[float | None]:
        each = 100.0 / sizes
        return [float(f"{v:.4g}") if said else None for v, said in ((each.max(), highest), (each.mean(), mean))]

    return {"name": name, "who": who, "before": percent(old), "after": percent(new)}


def _fits(data: Microdata, starred: pd.DataFrame, names: Sequence[str]) -> tuple[NDArray[np.int64] | None, str]:
    """Number of original records that each released one may be; None, with the reason, if it is not counted."""
    from sdc_problems.studies.verdict.agency import population_fits
    from sdc_problems.studies.verdict.pairing import as_protected, pair_files
    from sdc_problems.studies.verdict.parts import Report

    why = "Journalist and marketer are not shown here: sdc evaluate measures them, with --population or --weights."
    table = starred[list(names)]
    if len(data) > _RECORDS or len(table.drop_duplicates()) > _CLASSES:
        return None, why
    try:
        kept = data.with_roles(
            quasi_identifiers=names, sensitive=(), identifiers=[n for n in data.names if n not in names]
        )
        pairing = pair_files(kept, as_protected(table), quasi_identifiers=names, same_rows=True)
        report = Report(pairing, 1, {})
        fits = population_fits(report, data)
        sizes = class_sizes(equivalence_classes(report.shown()))
    except SDCError:
        return None, why
    return (None, why) if fits is None else (np.maximum(fits, sizes), "")


def _bars(sizes: NDArray[np.int64], coarse: bool) -> dict[str, Any]:
    counts = [int(((sizes >= low) & (sizes <= (high or np.inf))).sum()) for low, high, _ in SIZES]
    bars = label_bars([text for _, _, text in SIZES], counts)
    return rounded(bars) if coarse else bars


def _combinations(names: Sequence[str], before: NDArray[np.int64], after: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Small combinations of columns that single out records, the worst first; among equals, those of fewest columns."""
    most = min(LARGEST, len(names))
    every = (chosen for m in range(1, most + 1) for chosen in combinations(range(len(names)), m))
    found = []
    for chosen in islice(every, _COMBINATIONS):
        now, then = (int((class_sizes(equivalence_classes(codes[:, chosen])) == 1).sum()) for codes in (after, before))
        if then >= LEAST:
            found.append((-now, len(chosen), -then, chosen))
    return [
        {"columns": [shortened(names[j]) for j in chosen], "before": _fives(-then), "after": _fives(-now)}
        for now, _, then, chosen in sorted(found)[:_SHOWN]
    ]


def _fives(count: int) -> int | None:
    """A count in multiples of five; None for 1 to 4."""
    return None if 0 < count < LEAST else count // LEAST * LEAST
