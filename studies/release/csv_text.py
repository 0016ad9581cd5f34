"""Tables as CSV text and back: what is written, what a reader of the file sees, and the formula guard."""

from __future__ import annotations

import csv
import datetime
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TEXT_TYPES = ("object", "category", "str", "string")
"""Names of pandas' types whose cells are written by Python's own ``str``."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def to_csv(frame: pd.DataFrame, *, formula_guard: bool = False) -> bytes:
    """Return a table as UTF-8 CSV with a header line; numbers as short as they are exact.

    Parameters
    ----------
    frame
        The table.
    formula_guard
        Put an apostrophe before text (and column names) that begins like a formula. Numbers are left alone.
    """
    if formula_guard:
        frame = frame.copy()
        for position in range(frame.shape[1]):
            column = frame.iloc[:, position]
            if column.dtype.kind not in "iufb":
                frame.isetitem(position, column.astype(object).map(guarded).to_numpy())
        frame.columns = [guarded(name) for name in frame.columns]
    buffer = io.StringIO(newline="")
    # Python's csv quotes a lone carriage return only where it ends lines, and readers take it for the end of one.
    returns = any("\r" in str(name) for name in frame.columns) or any(
        frame.iloc[:, i].astype(str).str.contains("\r", regex=False).any()
        for i in range(frame.shape[1])
        if frame.dtypes.iloc[i].kind not in "iufb"
    )
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    frame.to_csv(buffer, index=False, lineterminator="\n", quoting=quoting)
    return buffer.getvalue().encode("utf-8", "surrogatepass")


def guarded(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would take for a formula; anything else stays as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def unguarded(value: str) -> str:
    """Take the apostrophe of the guard away again."""
    return value[1:] if value.startswith("'") and value[1:].startswith(FORMULA_STARTS) else value


def read_text(path: Path) -> pd.DataFrame:
    """Read a CSV file as a stranger would who takes every cell for text."""
    with path.open(encoding="utf-8", errors="surrogatepass", newline="") as stream:
        return _cells(stream)


def as_written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the text that a table's cells become in a CSV file."""
    import pandas as pd

    return pd.DataFrame(
        {name: _texts(frame.iloc[:, i]) for i, name in enumerate(frame.columns)}, columns=frame.columns, dtype=object
    )


def _texts(column: pd.Series[Any]) -> list[str]:
    """Text of each cell; what pandas formats in a way of its own, such as dates, is written and read."""
    if column.dtype.kind in "iub" or (column.dtype.kind == "O" and column.dtype.name in TEXT_TYPES):
        cells = column.astype(object)
        if not any(isinstance(value, (datetime.date, datetime.timedelta)) for value in cells):
            return ["" if absent else str(value) for value, absent in zip(cells, column.isna(), strict=True)]
    if column.dtype.kind == "f" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        return ["" if value == "nan" else value for value in values.astype(str).tolist()]
    return (
        _cells(io.StringIO(to_csv(column.to_frame()).decode("utf-8", "surrogatepass"), newline="")).iloc[:, 0].tolist()
    )


def _cells(stream: Iterable[str]) -> pd.DataFrame:
    import pandas as pd

    longest = csv.field_size_limit(sys.maxsize)
    try:
        rows = list(csv.reader(stream))
    finally:
        csv.field_size_limit(longest)
    return pd.DataFrame(rows[1:], columns=rows[0], dtype=object)
