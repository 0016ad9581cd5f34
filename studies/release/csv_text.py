"""Tables as CSV text and back: what is written, what a reader of the file sees, and the formula guard."""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import itertools
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from sdc_problems._kernel import SLICE
from sdc_problems._slices import slices, tell
from sdc_problems._tables.formats import (
    Labels,
    format_of,
    markup_format,
    read_frame,
    read_labels,
    refuse_unwritable,
    write_frame,
)
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_CELL = 1000  # elementary steps that the text of a cell takes
TEXT_TYPES = ("object", "category", "str", "string")
"""Names of pandas' types whose cells are written by Python's own ``str``."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Form:
    """Form of a file: of CSV its delimiter, its encoding ("utf-8-sig" with a byte order mark), its decimal mark.

    Attributes
    ----------
    delimiter, encoding, decimal
        Of a CSV file.
    other
        Format of a file that is not CSV, such as "Parquet".
    labels
        Labels that such a file keeps beside its table.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    other: str | None = None
    labels: Labels = field(default_factory=Labels)

    @classmethod
    def between(cls, source: Path, out: Path, **csv_options: str) -> Form:
        """Form of a file whose name tells its format; one of CSV is written as the original is, if that is CSV.

        Parameters
        ----------
        source
            The original.
        out
            The file to write.
        **csv_options
            Delimiter, encoding and decimal mark that the original was read with.
        """
        how = format_of(out)
        if how is not None:
            refuse_unwritable(out)
            return cls(other=how, labels=read_labels(source))
        other = format_of(source) is not None or markup_format(source) is not None
        return PLAIN if other else cls.of(source, **csv_options)

    @classmethod
    def of(cls, path: Path, *, delimiter: str, encoding: str, decimal: str) -> Form:
        """Form of a file that was read with these options; its byte order mark and a line ``sep=;`` are seen."""
        from sdc_problems._tables.open_file import open_bytes, told_delimiter

        with open_bytes(path) as stream:
            marked = stream.read(3) == codecs.BOM_UTF8
        marked = marked and codecs.lookup(encoding).name == "utf-8"
        return cls(told_delimiter(path, encoding) or delimiter, "utf-8-sig" if marked else encoding, decimal)

    @property
    def errors(self) -> str:
        """Handling of halves of surrogate pairs, which only the encodings of all characters can hold."""
        return "surrogatepass" if codecs.lookup(self.encoding).name.startswith("utf") else "strict"


PLAIN = Form()


def to_csv(frame: pd.DataFrame, *, formula_guard: bool = False, form: Form = PLAIN) -> bytes:
    """Return a table as CSV with a header line; numbers as short as they are exact.

    Parameters
    ----------
    frame
        The table.
    formula_guard
        Put an apostrophe before text (and column names) that begins like a formula. Numbers are left alone.
    form
        How to write it.
    """
    if formula_guard:
        frame = guarded_table(frame)
    if form.decimal != ".":
        frame = frame.copy()
        for position, numbers in _decimals(frame):
            cells = frame.iloc[:, position].astype(object).to_numpy(copy=True)
            texts = np.array(_texts(frame.iloc[:, position]), dtype=object)
            cells[numbers] = [text.replace(".", form.decimal) for text in texts[numbers]]
            frame.isetitem(position, cells)
    buffer = io.StringIO(newline="")
    # Python's csv quotes a lone carriage return only where it ends lines, and readers take it for the end of one.
    returns = any("\r" in str(name) for name in frame.columns) or any(
        frame.iloc[:, i].astype(str).str.contains("\r", regex=False).any()
        for i in range(frame.shape[1])
        if frame.dtypes.iloc[i].kind not in "iufb"
    )
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    if frame.empty:
        frame.to_csv(buffer, index=False, lineterminator="\n", quoting=quoting, sep=form.delimiter)
    for low, high in slices(len(frame), steps=_CELL * frame.shape[1], what="rows written"):
        part = frame.iloc[low:high]
        part.to_csv(
            buffer, index=False, header=not low, lineterminator="\n", quoting=quoting, sep=form.delimiter
        )  # fmt: skip
    try:
        return buffer.getvalue().encode(form.encoding, form.errors)
    except UnicodeEncodeError:
        raise SDCError(
            f"the protected table has characters that {form.encoding} lacks, the encoding of the original (labels of a"
            " hierarchy?): save the original as UTF-8, or write them in characters that it has"
        ) from None


def guarded_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Table whose text and names a spreadsheet does not take for formulas."""
    frame = frame.copy()
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if column.dtype.kind not in "iufb":
            frame.isetitem(position, column.astype(object).map(guarded).to_numpy())
    frame.columns = [guarded(name) for name in frame.columns]
    return frame


def without_decimals(text: pd.DataFrame, frame: pd.DataFrame, form: Form) -> pd.DataFrame:
    """Cells of a file with the decimal point that the table's numbers have."""
    if form.decimal == ".":
        return text
    text = text.copy()
    for position, numbers in _decimals(frame):
        cells = text.iloc[:, position].to_numpy(copy=True)
        cells[numbers] = [cell.replace(form.decimal, ".") for cell in cells[numbers]]
        text.isetitem(position, cells)
    return text


def _decimals(frame: pd.DataFrame) -> Iterable[tuple[int, NDArray[np.bool_]]]:
    """Columns with cells that are numbers with decimals, and which cells these are."""
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if column.dtype.kind == "f":
            yield position, ~column.isna().to_numpy(dtype=bool)
        elif column.dtype.kind == "O":
            found = np.array([isinstance(cell, float) and cell == cell for cell in column], dtype=bool)
            if found.any():
                yield position, found


def guarded(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would take for a formula; anything else stays as it is."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def unguarded(value: str) -> str:
    """Take the apostrophe of the guard away again."""
    return value[1:] if value.startswith("'") and value[1:].startswith(FORMULA_STARTS) else value


def to_bytes(frame: pd.DataFrame, *, formula_guard: bool = False, form: Form = PLAIN) -> bytes:
    """Return a table as the bytes of a file; options as in `to_csv`."""
    if form.other is None:
        return to_csv(frame, formula_guard=formula_guard, form=form)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "table"
        write_frame(guarded_table(frame) if formula_guard else frame, place, form.other, form.labels)
        return place.read_bytes()


def read_text(path: Path, form: Form = PLAIN, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a file as a stranger would who takes every cell for text.

    Parameters
    ----------
    path
        The file.
    form
        Its form.
    like
        The table that was written: statistics programs have no whole numbers, so a 1.0 of theirs is its 1.
    """
    if form.other is not None:
        found = read_frame(path, form.other)[0]
        for position in range(0 if like is None else min(like.shape[1], found.shape[1])):
            assert like is not None
            before, after = like.iloc[:, position].dtype, found.iloc[:, position].dtype
            if before.kind in "iub" and after.kind == "f" and not found.iloc[:, position].isna().any():
                found.isetitem(position, found.iloc[:, position].astype(before).array)
        return as_written(found)
    with path.open(encoding=form.encoding, errors=form.errors, newline="") as stream:
        return _cells(stream, form.delimiter, what="rows read back")


def as_written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the text that a table's cells become in a CSV file."""
    import pandas as pd

    return pd.DataFrame(
        {name: _texts(frame.iloc[:, i]) for i, name in enumerate(frame.columns)}, columns=frame.columns, dtype=object
    )


def _texts(column: pd.Series[Any]) -> list[str]:
    """Text of each cell; what pandas formats in a way of its own, such as dates, is written and read."""
    if column.dtype.kind in "iub" or (column.dtype.kind == "O" and column.dtype.name in TEXT_TYPES):
        place, distinct = _distinct(column)
        if not any(isinstance(value, (datetime.date, datetime.timedelta)) for value in distinct):
            texts = ["" if absent else str(value) for value, absent in zip(distinct, distinct.isna(), strict=True)]
            return np.array(texts, dtype=object)[place].tolist() if len(texts) < len(column) else texts
    if column.dtype.kind == "f" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        return ["" if value == "nan" else value for value in values.astype(str).tolist()]
    return (
        _cells(io.StringIO(to_csv(column.to_frame()).decode("utf-8", "surrogatepass"), newline="")).iloc[:, 0].tolist()
    )


def _distinct(column: pd.Series[Any]) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """Place of each cell among the distinct ones; where types are mixed every cell is one of its own, as 1 == True."""
    import pandas as pd

    if column.dtype.kind == "O" and column.dtype.name == "object":
        types = set(map(type, column[~column.isna().to_numpy(dtype=bool)]))
        if types - {str}:
            return np.arange(len(column)), pd.Index(column, dtype=object)
    place, distinct = column.factorize(use_na_sentinel=False)
    return place, pd.Index(distinct)


def _cells(stream: TextIO, delimiter: str = ",", *, what: str | None = None) -> pd.DataFrame:
    import pandas as pd

    longest = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader(stream, delimiter=delimiter)
        names = next(reader)
        parts = [pd.DataFrame([], columns=names, dtype=object)]
        while rows := list(itertools.islice(reader, max(1, SLICE // (_CELL * len(names))))):
            once = [list(map(sys.intern, row)) for row in rows]  # a large file has few different cells
            parts.append(pd.DataFrame(once, columns=names, dtype=object))
            if what is not None:
                tell(what, stream.buffer.tell(), os.fstat(stream.fileno()).st_size)
    finally:
        csv.field_size_limit(longest)
    return pd.concat(parts[1:] or parts, ignore_index=True)
