"""Value mapping: original and released values, and the number of records of each pair."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import coded, coded_texts
from sdc_problems._tables.columns import STAR
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.release.csv_text import to_csv

if TYPE_CHECKING:
    import pandas as pd

SUPPRESSED = "(suppressed)"
SEED, ROWS_SEED = "(seed)", "(rows seed)"
"""Lines of a mapping that keep what a random protection, and the order of the rows, were drawn with."""


def record_by_record(
    text: pd.DataFrame, original: pd.DataFrame, lost: NDArray[np.bool_], protected: Sequence[str]
) -> pd.DataFrame:
    """Put the records of the written file in the rows of the original; suppressed ones have stars.

    Parameters
    ----------
    text
        The file's cells.
    original
        The original's cells.
    lost
        Mask of the original's records that were suppressed.
    protected
        Columns that have stars there.
    """
    if len(text) == len(original):
        return text
    if len(text) != int((~lost).sum()):
        raise SDCFailure("the written file is not the original without its suppressed records: nothing is released")
    import pandas as pd

    columns = {}
    for name in text.columns:  # codes of both, one after the other
        (before, labels), (after, new) = coded(original[name]), coded(text[name])
        place = np.empty(len(original), dtype=np.int64)
        place[~lost] = after
        place[lost] = len(new) if name in protected else len(new) + 1 + before[lost]
        columns[name] = coded_texts(place, [*new, STAR, *labels])
    return pd.DataFrame(columns, copy=False)


def value_mapping(
    original: pd.DataFrame, aligned: pd.DataFrame, lost: NDArray[np.bool_], seeds: Mapping[str, int | None]
) -> bytes:
    """Return what became of each value as CSV: column, original, released, number of records.

    For the data's holder only: it repeats original values. Columns that were left as they are do not appear.

    Parameters
    ----------
    original
        The original's cells.
    aligned, lost
        The released records, as many as the original's, and which of them were suppressed.
    seeds
        By `SEED` and `ROWS_SEED`, if there is one; kept here, where they are private.
    """
    import pandas as pd

    parts = []
    for name in aligned.columns:
        (before, labels), (after, new) = coded(original[name]), coded(aligned[name])
        if np.array_equal(np.array(labels, dtype=object)[before], np.array(new, dtype=object)[after]):
            continue
        after = np.where(lost, len(new), after)
        found, records = np.unique(before.astype(np.int64) * (len(new) + 1) + after, return_counts=True)
        shown = np.array([*new, SUPPRESSED], dtype=object)
        counted = pd.DataFrame(
            {
                "original": np.array(labels, dtype=object)[found // (len(new) + 1)],
                "released": shown[found % (len(new) + 1)],
                "records": records,
            }
        )
        counted = counted.sort_values(["original", "released"], kind="stable")
        counted.insert(0, "column", name)
        parts.append(counted)
    kept = [(name, str(seed)) for name, seed in seeds.items() if seed is not None]
    for name, seed in reversed(kept):
        parts.insert(0, pd.DataFrame({"column": [name], "original": [""], "released": [seed], "records": [0]}))
    table = pd.concat(parts) if parts else pd.DataFrame(columns=["column", "original", "released", "records"])
    return to_csv(table)


def kept_seed(path: Path, name: str) -> int | None:
    """Seed (`SEED`, `ROWS_SEED`) that a value mapping keeps; None if there is no such file, or it keeps none."""
    try:
        with path.open(encoding="utf-8", errors="surrogatepass", newline="") as stream:
            rows = [row for _, row in zip(range(3), csv.reader(stream), strict=False)]
    except (OSError, csv.Error, UnicodeError):
        return None
    return next((int(r[2]) for r in rows[1:] if r[:1] == [name] and len(r) == 4 and r[2].isdecimal()), None)
