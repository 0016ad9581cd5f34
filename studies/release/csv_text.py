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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from sdc_problems._kernel import SLICE
from sdc_problems._slices import slices, tell
from sdc_problems._tables.coded import coded, coded_texts, distinct_cells, factorized, is_coded
from sdc_problems._tables.formats import (
    Labels,
    format_of,
    markup_format,
    read_columns,
    read_labels,
    refuse_unwritable,
    write_frame,
)
from sdc_problems._tables.intervals import with_mark
from sdc_problems._tables.spelling import Spelled, spelled
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

_PIECE = 1 << 24  # bytes of a file at a time
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
    numbers
        Columns that hold numbers in the original, whose labels get the decimal mark; each with the labels that are
        written as they are, for somebody gave them.
    original
        Table whose numbers are written as they were read, where they did not change.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    other: str | None = None
    labels: Labels = field(default_factory=Labels)
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    original: Microdata | None = field(default=None, repr=False, compare=False)

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

    def marking(self, data: Microdata, given: Mapping[str, Hierarchy] | None) -> Form:
        """Form for a table: its numbers as they were read, their labels with the decimal mark, but for labels given.

        Parameters
        ----------
        data
            The original.
        given
            Hierarchies whose labels stay as they are.
        """
        if self.other is not None:
            return self
        if self.decimal == ".":
            return replace(self, original=data)
        kept = {
            name: frozenset(text for level in range(1, one.n_levels) for text in one.labels(level))
            for name, one in (given or {}).items()
        }
        numbers = [attribute.name for attribute in data.attributes if attribute.holds_numbers]
        return replace(self, numbers={name: kept.get(name, frozenset()) for name in numbers}, original=data)

    def spelled(self, frame: pd.DataFrame, records: NDArray[np.int64]) -> dict[int, Spelled]:
        """Columns of a table whose numbers are written as they were read, by position.

        Parameters
        ----------
        frame
            The table.
        records
            Record of the original's file that each of its rows is.
        """
        return {} if self.original is None else spelled(self.original, frame, records, decimal=self.decimal)

    @property
    def errors(self) -> str:
        """Handling of halves of surrogate pairs, which only the encodings of all characters can hold."""
        return "surrogatepass" if codecs.lookup(self.encoding).name.startswith("utf") else "strict"


PLAIN = Form()
NOTHING: Mapping[int, Spelled] = MappingProxyType({})
"""No column whose numbers are written as they were read."""


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
    buffer = io.BytesIO()
    write_csv(frame, buffer.write, formula_guard=formula_guard, form=form)
    return buffer.getvalue()


def write_csv(
    frame: pd.DataFrame,
    put: Callable[[bytes], object],
    *,
    order: NDArray[np.int64] | None = None,
    formula_guard: bool = False,
    form: Form = PLAIN,
    as_read: Mapping[int, Spelled] = NOTHING,
) -> None:
    """Write a table as CSV, a slice of its rows at a time: text takes several times the memory of what it says.

    Parameters
    ----------
    frame
        The table.
    put
        Takes the bytes, piece after piece.
    order
        Row of the table in each place of the file; as they are if not given.
    formula_guard, form
        As in `to_csv`.
    as_read
        Columns whose numbers are written as they were read, by position.
    """
    # Python's csv quotes a lone carriage return only where it ends lines, and readers take it for the end of one.
    returns = any("\r" in str(name) for name in frame.columns) or any(
        "\r" in str(value)
        for i in range(frame.shape[1])
        if frame.dtypes.iloc[i].kind not in "iufb"
        for value in distinct_cells(frame.iloc[:, i])[1]
    )
    quoting: Literal[0, 2] = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    # The first piece of an encoding with a byte order mark has it, and no other.
    encoder = codecs.getincrementalencoder(form.encoding)(form.errors)

    def text_of(part: pd.DataFrame, at: slice | NDArray[np.int64], header: bool) -> str:
        buffer = io.StringIO(newline="")
        if formula_guard:
            part = guarded_table(part)
        elif as_read:
            part = part.copy(deep=False)
        for position, column in as_read.items():
            part.isetitem(position, column.written(part.iloc[:, position], at))
        if form.decimal != ".":
            part = _with_mark(part, form.decimal)
        part.to_csv(
            buffer, index=False, header=header, lineterminator="\n", quoting=quoting, sep=form.delimiter
        )  # fmt: skip
        return buffer.getvalue()

    try:
        if frame.empty:
            put(encoder.encode(text_of(frame, slice(0), header=True)))
        for low, high in slices(len(frame), steps=_CELL * frame.shape[1], what="rows written"):
            at = slice(low, high) if order is None else order[low:high]
            put(encoder.encode(text_of(frame.iloc[at], at, header=not low)))
        put(encoder.encode("", final=True))
    except UnicodeEncodeError:
        raise SDCError(
            f"the protected table has characters that {form.encoding} lacks, the encoding of the original (labels of a"
            " hierarchy?): save the original as UTF-8, or write them in characters that it has"
        ) from None


def _with_mark(frame: pd.DataFrame, mark: str) -> pd.DataFrame:
    """Table whose numbers with decimals are text with another decimal mark."""
    frame = frame.copy()
    for position, numbers in _decimals(frame):
        cells = frame.iloc[:, position].astype(object).to_numpy(copy=True)
        texts = np.asarray(_texts(frame.iloc[:, position]), dtype=object)
        cells[numbers] = [text.replace(".", mark) for text in texts[numbers]]
        frame.isetitem(position, cells)
    return frame


def guarded_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Table whose text and names a spreadsheet does not read as formulas."""
    frame = frame.copy()
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if is_coded(column) and all(type(text) is str for text in column.cat.categories):
            frame.isetitem(
                position, coded_texts(column.cat.codes.to_numpy(), list(map(guarded, column.cat.categories)))
            )
        elif column.dtype.kind not in "iufb":
            frame.isetitem(position, column.astype(object).map(guarded).to_numpy())
    frame.columns = [guarded(name) for name in frame.columns]
    return frame


def without_decimals(
    text: pd.DataFrame,
    frame: pd.DataFrame,
    form: Form,
    order: NDArray[np.int64] | None = None,
    as_read: Mapping[int, Spelled] = NOTHING,
) -> pd.DataFrame:
    """Cells of a file with the numbers as the table has them.

    Parameters
    ----------
    text, frame, form, as_read
        The file's cells, the table that was written, and how.
    order
        Row of the table in each place of the file; as they are if not given.
    """
    if form.decimal == "." and not as_read:
        return text
    text = text.copy()
    for position, column in as_read.items():
        place, distinct = coded(text.iloc[:, position])
        texts = column.read(distinct, whole=frame.dtypes.iloc[position].kind == "i")
        text.isetitem(position, coded_texts(place, texts))
    for position, numbers in _decimals(frame):
        if form.decimal == "." or position in as_read:
            continue
        cells = text.iloc[:, position].to_numpy().copy()
        shown = numbers if order is None else numbers[order]
        cells[shown] = [cell.replace(form.decimal, ".") for cell in cells[shown]]
        text.isetitem(position, coded_texts(*factorized(cells)))
    return text


def with_marked_labels(frame: pd.DataFrame, form: Form) -> pd.DataFrame:
    """Table whose labels of numbers and intervals have the decimal mark of the file."""
    return _relabelled(frame, _marked(frame, form))


def without_marked_labels(text: pd.DataFrame, frame: pd.DataFrame, form: Form) -> pd.DataFrame:
    """Cells of a file with the labels of the table that `with_marked_labels` was given."""
    shown = _marked(frame, form)
    return _relabelled(text, {at: {new: old for old, new in labels.items()} for at, labels in shown.items()})


def _marked(frame: pd.DataFrame, form: Form) -> dict[int, dict[str, str]]:
    """New text of each label that gets the decimal mark, by the position of its column."""
    found = {}
    for position, name in enumerate(frame.columns):
        column = frame.iloc[:, position]
        if form.decimal == "." or name not in form.numbers or column.dtype.name not in TEXT_TYPES:
            continue
        labels = {text for text in distinct_cells(column)[1] if isinstance(text, str)} - form.numbers[name]
        changed = {text: with_mark(text, form.decimal) for text in sorted(labels)}
        found[position] = {text: new for text, new in changed.items() if new != text}
    return found


def _relabelled(frame: pd.DataFrame, labels: Mapping[int, Mapping[str, str]]) -> pd.DataFrame:
    """Table with other texts in some columns; missing cells and numbers stay."""
    changed = {position: new for position, new in labels.items() if new}
    if changed:
        frame = frame.copy(deep=False)
    for position, new in changed.items():
        place, distinct = distinct_cells(frame.iloc[:, position])
        cells = np.array([new.get(cell, cell) if isinstance(cell, str) else cell for cell in distinct], dtype=object)
        frame.isetitem(position, cells[place])
    return frame


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
    """Put an apostrophe before text that a spreadsheet would read as a formula; anything else is unchanged."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def unguarded(value: str) -> str:
    """Take the apostrophe of the guard away again."""
    return value[1:] if value.startswith("'") and value[1:].startswith(FORMULA_STARTS) else value


def unguarded_table(text: pd.DataFrame) -> pd.DataFrame:
    """Cells of a file without the apostrophes of the guard."""
    text = text.copy()
    for position in range(text.shape[1]):
        place, distinct = factorized(text.iloc[:, position].to_numpy())
        text.isetitem(position, coded_texts(place, list(map(unguarded, distinct))))
    return text


def to_bytes(frame: pd.DataFrame, *, formula_guard: bool = False, form: Form = PLAIN) -> bytes:
    """Return a table as the bytes of a file; options as in `to_csv`."""
    buffer = io.BytesIO()
    write_bytes(frame, buffer.write, formula_guard=formula_guard, form=form)
    return buffer.getvalue()


def write_bytes(
    frame: pd.DataFrame,
    put: Callable[[bytes], object],
    *,
    order: NDArray[np.int64] | None = None,
    formula_guard: bool = False,
    form: Form = PLAIN,
    as_read: Mapping[int, Spelled] = NOTHING,
) -> None:
    """Write a table as a file of any form, piece after piece; parameters as in `write_csv`."""
    if form.other is None:
        write_csv(frame, put, order=order, formula_guard=formula_guard, form=form, as_read=as_read)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "table"
        frame = guarded_table(frame) if formula_guard else frame
        write_frame(frame, place, form.other, form.labels, order=order)
        with place.open("rb") as stream:
            while content := stream.read(_PIECE):
                put(content)


def read_text(path: Path, form: Form = PLAIN, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a file with every cell as text.

    Parameters
    ----------
    path
        The file.
    form
        Its form.
    like
        The table that was written: statistics programs have no whole numbers, so a 1.0 of theirs is its 1.
    """
    import pandas as pd

    if form.other is not None:
        names, columns = read_columns(path, form.other)
        texts = []
        for position, column in enumerate(columns):
            if like is not None and position < like.shape[1]:
                before = like.iloc[:, position].dtype
                if before.kind in "iub" and column.dtype.kind == "f" and not column.isna().any():
                    column = column.astype(before)
            texts.append(pd.Series(_texts(column)))
        return pd.concat(texts, axis=1).set_axis(names, axis=1) if texts else pd.DataFrame()
    with path.open(encoding=form.encoding, errors=form.errors, newline="") as stream:
        return _cells(stream, form.delimiter, what="rows read back")


def as_written(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the text that a table's cells become in a CSV file.

    Columns are categorical: a number for each cell and each text once, a fifth of the memory of cells of text.
    """
    import pandas as pd

    return pd.DataFrame(
        {name: _texts(frame.iloc[:, i]) for i, name in enumerate(frame.columns)}, columns=frame.columns, copy=False
    )


def _texts(column: pd.Series[Any]) -> pd.Categorical:
    """Text of each cell; what pandas formats in a way of its own, such as dates, is written and read."""
    import pandas as pd

    if column.dtype.kind in "iub" or (column.dtype.kind == "O" and column.dtype.name in TEXT_TYPES):
        place, distinct = distinct_cells(column)
        if not any(isinstance(value, (datetime.date, datetime.timedelta)) for value in distinct):
            texts = ["" if absent else str(value) for value, absent in zip(distinct, distinct.isna(), strict=True)]
            return coded_texts(place, texts)
    if column.dtype.kind == "f" and isinstance(column.dtype, np.dtype):
        values = column.to_numpy()
        bits = np.dtype(f"i{values.dtype.itemsize}")  # 0.0 and -0.0 are equal, and written otherwise
        place, distinct_bits = pd.factorize(values.view(bits))
        texts = distinct_bits.view(values.dtype).astype(str).tolist()
        return coded_texts(place, ["" if text == "nan" else text for text in texts])
    text = io.StringIO(to_csv(column.to_frame()).decode("utf-8", "surrogatepass"), newline="")
    return coded_texts(*coded(_cells(text).iloc[:, 0]))


def _cells(stream: TextIO, delimiter: str = ",", *, what: str | None = None) -> pd.DataFrame:
    import pandas as pd

    longest = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.reader(stream, delimiter=delimiter)
        names = next(reader)
        growing = [_Growing() for _ in names]
        while rows := list(itertools.islice(reader, max(1, SLICE // (_CELL * len(names))))):
            if any(len(row) != len(names) for row in rows):
                raise SDCError("the file has a row of more or fewer cells than its header names")
            for column, cells in zip(growing, zip(*rows, strict=True), strict=True):
                column.add(cells)
            if what is not None:
                tell(what, stream.buffer.tell(), os.fstat(stream.fileno()).st_size)
    finally:
        csv.field_size_limit(longest)
    found = pd.concat([pd.Series(column.finish()) for column in growing], axis=1) if growing else pd.DataFrame()
    return found.set_axis(names, axis=1)


class _Growing:
    """A column of text while it is read: each different text once, and its number for each cell."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._parts: list[NDArray[np.int32]] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the next cells."""
        place = self._place
        found = np.fromiter((place.setdefault(cell, len(place)) for cell in cells), dtype=np.int32, count=len(cells))
        self._parts.append(found.astype(np.min_scalar_type(-max(len(place), 1))))

    def finish(self) -> pd.Categorical:
        """The whole column."""
        empty = np.zeros(0, dtype=np.int8)
        return coded_texts(np.concatenate([empty, *self._parts]), list(self._place))
