"""CSV files as columns of codes, read in chunks so that memory holds the codes and not the cells."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems._files import check_encoding
from sdc_problems._sharing.arrays import Array
from sdc_problems._slices import tell
from sdc_problems._tables.columns import Codes, Column, parse_numbers, refuse_disguised_numbers
from sdc_problems._tables.open_file import DAMAGED, open_bytes, open_text, packing, told_delimiter
from sdc_problems._tables.spelling import Speller
from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

_DELIMITERS = (";", ",", "\t", "|")
_CHUNK = 262_144


@dataclass(frozen=True)
class CSVFormat:
    """Format of a CSV file."""

    path: Path
    delimiter: str
    encoding: str
    na_values: Sequence[str]
    decimal: str
    thousands: str | None
    chunksize: int
    before: int = 0
    """Number of lines before the header."""

    def rows(self, delimiter: str | None = None) -> Iterator[list[str]]:
        """Records as lists of cells, without blank lines."""
        with open_text(self.path, self.encoding) as stream:
            for _ in range(self.before):
                stream.readline()
            try:
                yield from (row for row in csv.reader(stream, delimiter=delimiter or self.delimiter) if row)
            except csv.Error as error:
                raise SDCError(f"{self.path} is not a valid CSV file: {error}") from error


@dataclass
class _Growing:
    """One column while it is read: numbers as long as every cell is one, otherwise text."""

    name: str
    codes_too: bool
    speller: Speller
    numeric: bool = True
    chunks: list[Codes] = field(default_factory=list)
    numbers: list[Array] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)

    def add(self, cells: pd.Series[str], form: CSVFormat) -> bool:
        """Add one chunk; False if the column turns out to be text after chunks were read as numbers."""
        import pandas as pd

        found, distinct = pd.factorize(cells)
        # Blanks around a cell are part neither of a value nor of a text for missing values.
        texts: list[str] = [text.strip() for text in distinct.tolist()]
        markers = frozenset(form.na_values)
        present = [i for i, text in enumerate(texts) if text not in markers]
        table = np.full(len(texts), -1, dtype=np.int32)
        kept = [texts[i] for i in present] if len(present) < len(texts) else texts
        if self.numeric:
            numbers = parse_numbers(kept, decimal=form.decimal, thousands=form.thousands, codes_too=self.codes_too)
            if numbers is not None:
                table[present] = np.arange(len(present), dtype=np.int32)
                self.chunks.append(table[found])
                self.numbers.append(numbers)
                self.speller.add(found, present, kept, numbers)
                return True
            self.numeric = False
            if any(len(earlier) for earlier in self.numbers):
                return False
        known = self.texts
        table[present] = [known.setdefault(text, len(known)) for text in kept]
        self.chunks.append(table[found])
        return True

    def restart(self) -> None:
        """Discard what was read as numbers."""
        self.chunks, self.numbers = [], []

    def finish(self) -> Column:
        """The whole column."""
        if not self.numeric or not any(len(part) for part in self.numbers):
            codes = np.concatenate(self.chunks)
            column = Column(self.name, "text", codes, list(self.texts)).canonical()
            if column.values and set(column.values) <= {"True", "False"}:
                truth = np.array([text == "True" for text in column.values], dtype=np.bool_)
                return Column(self.name, "bool", column.codes, truth)
            return column
        distinct = np.unique(np.concatenate(self.numbers))
        if distinct.dtype.kind == "f":
            distinct = distinct + 0.0  # makes -0.0 and 0.0 equal
        # Each chunk's codes are freed as the final ones are made, so that the column is never held twice.
        for i, numbers in enumerate(self.numbers):
            table = np.append(np.searchsorted(distinct, numbers), -1).astype(np.int32)
            self.chunks[i] = table[self.chunks[i]]
        codes = np.concatenate(self.chunks)
        whole = distinct.dtype.kind == "i"
        spelling = self.speller.finish(whole=whole)
        return Column(self.name, "int" if whole else "float", codes, distinct, spelling=spelling)


class CSVFile:
    """A CSV file with a header line; every error names the file and the place."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        delimiter: str,
        encoding: str,
        na_values: Sequence[str],
        decimal: str,
        thousands: str | None,
        chunksize: int | None,
    ) -> None:
        for option, mark in (("delimiter", delimiter), ("decimal", decimal), ("thousands", thousands or " ")):
            if len(mark) != 1:
                raise SDCError(f"{option} must be a single character, not {mark!r}")
            if mark.isalnum() or mark in '+-"\r\n\0':
                raise SDCError(f"{option} cannot be {mark!r}: this character is part of numbers, text or lines")
        if chunksize is not None and chunksize < 1:
            raise SDCError(f"chunksize must be at least 1 record, not {chunksize}")
        if thousands == decimal:
            raise SDCError(f"decimal and thousands are both {decimal!r}: they must differ")
        check_encoding(encoding)
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"  # the same, without a byte order mark in the first name
        self._form = CSVFormat(Path(path), delimiter, encoding, na_values, decimal, thousands, chunksize or _CHUNK)

    def header(self) -> list[str]:
        """The column names."""
        with self._explained():
            told = told_delimiter(self._form.path, self._form.encoding)
            if told is not None:
                self._form = replace(self._form, delimiter=told, before=1)
            self._names = _header(self._form)
        return self._names

    def columns(self, *, kinds: Collection[str], numeric: Collection[str]) -> list[Column]:
        """All columns (after `header`).

        Parameters
        ----------
        kinds
            Columns whose kind was declared; they are not checked for disguised numbers.
        numeric
            Columns declared numeric, in which digits with leading zeros are numbers too.
        """
        with self._explained():
            lines = _refuse_text_behind_quotes(self._form)
            columns = _columns(self._form, self._names, numeric, lines)
        for column in columns:
            if column.name not in kinds:
                refuse_disguised_numbers(column, from_text=True)
        return columns

    @contextmanager
    def _explained(self) -> Iterator[None]:
        form = self._form
        try:
            yield
        except FileNotFoundError:
            folder = form.path.parent
            near = [p.name for p in islice(folder.iterdir(), 1000)] if folder.is_dir() else []
            raise SDCError(f"there is no file {form.path}{did_you_mean(form.path.name, near)}") from None
        except OSError as error:
            raise SDCError(f"cannot read {form.path}: {error.strerror or error}") from error
        except DAMAGED as error:
            raise SDCError(f"{form.path} is a damaged packed file: {error}") from error
        except UnicodeError:
            raise _undecodable(form) from None


def _header(form: CSVFormat) -> list[str]:
    first = list(islice(form.rows(), 2))
    if not first:
        raise SDCError(f"{form.path} is empty: the first line must name the columns")
    names = first[0]
    if len(names) == 1:
        better = _better_delimiter(form)
        if better:
            raise SDCError(
                f"{form.path} has one column when split at {form.delimiter!r}; did you mean delimiter={better!r}?"
            )
    if len(first) == 1:
        raise SDCError(f"{form.path} has a header but no records")
    if len(first[1]) > len(names):
        # pandas would silently take a surplus column for an index.
        raise _ragged(form, 1, len(first[1]), len(names))
    return names


def _columns(form: CSVFormat, names: list[str], numeric: Collection[str], lines: int) -> list[Column]:
    growing = [_Growing(name, name in numeric, Speller(form.decimal, form.thousands)) for name in names]
    late = []
    read = 0
    for chunk in _chunks(form, None):
        read += len(chunk)
        tell("rows read", read, max(read, lines))
        for i, column in enumerate(growing):
            if i not in late and not column.add(chunk.iloc[:, i], form):
                # Earlier cells are known only as numbers ("1.0" and "1" are the same): read this column again.
                column.restart()
                late.append(i)
    if late:
        for chunk in _chunks(form, late):
            for position, i in enumerate(sorted(late)):
                growing[i].add(chunk.iloc[:, position], form)
    columns = []
    while growing:
        columns.append(growing.pop(0).finish())
    last = columns[-1]
    if (last.codes < 0).any() or (isinstance(last.values, list) and "" in last.values):
        _refuse_short_rows(form, len(names))
    return columns


def _chunks(form: CSVFormat, wanted: list[int] | None) -> Iterator[pd.DataFrame]:
    import pandas as pd

    try:
        with ExitStack() as opened:
            # pandas opens a plain file itself, which is fastest.
            unpacked = form.before or packing(form.path)
            source: Any = opened.enter_context(open_text(form.path, form.encoding)) if unpacked else form.path
            reader = pd.read_csv(
                source, sep=form.delimiter, encoding=form.encoding, dtype=str, na_filter=False, index_col=False,
                header=0, usecols=wanted, engine="c", chunksize=form.chunksize, compression=None, skiprows=form.before,
            )  # fmt: skip
            yield from opened.enter_context(reader)
    except pd.errors.ParserError as error:
        surplus = re.search(r"Expected \d+ fields in line \d+, saw \d+", str(error))
        width = 0
        for number, row in enumerate(form.rows()):
            width = width or len(row)
            if surplus and len(row) > width:
                raise _ragged(form, number, len(row), width) from None
        raise SDCError(f"{form.path} is not a valid CSV file ({error}); is a quotation mark left open?") from error


def _refuse_text_behind_quotes(form: CSVFormat) -> int:
    """Refuse a cell like "100"5, which would be read as 1005; return the number of lines without the first.

    Blanks after a quotation mark are accepted.
    """
    mark = re.escape(form.delimiter)
    suspect = re.compile(rf'[^{mark}"\r\n]"[^{mark}"\r\n]')
    blanks = re.compile(rf'"[ \t]+(?={mark}|[\r\n]|$)')
    lines, odd = -1, False
    with open_text(form.path, form.encoding) as stream:
        for line in stream:
            lines += 1
            odd = odd or ('"' in line and suspect.search(line) is not None)
    if not odd:
        return lines
    with open_text(form.path, form.encoding) as stream:
        for _ in range(form.before):
            stream.readline()
        reader = csv.reader((blanks.sub('"', line) for line in stream), delimiter=form.delimiter, strict=True)
        number = 0
        try:
            for row in reader:
                number += bool(row)
        except csv.Error:
            raise SDCError(
                f"{form.path}, row {number}: text follows the closing quotation mark of a cell, or a mark is left"
                " open; write a quotation mark within a quoted cell twice"
            ) from None
    return lines


def _refuse_short_rows(form: CSVFormat, width: int) -> None:
    """Refuse a record that ends early: it looks like one with missing values, but is a broken line."""
    for number, row in enumerate(form.rows()):
        if len(row) < width:
            raise _ragged(form, number, len(row), width)


def _ragged(form: CSVFormat, row: int, cells: int, width: int) -> SDCError:
    better = _better_delimiter(form)
    hint = f"; did you mean delimiter={better!r}?" if better else "; quote cells that contain the delimiter"
    return SDCError(f"{form.path}, row {row}: number of cells is {cells}, but the header names {width} columns{hint}")


def _better_delimiter(form: CSVFormat) -> str | None:
    """The delimiter that splits the first lines into equally many cells, more than one; None if there is none."""
    best, most = None, 1
    for delimiter in _DELIMITERS:
        if delimiter != form.delimiter:
            widths = {len(row) for row in islice(form.rows(delimiter), 10)}
            if len(widths) == 1 and max(widths) > most:
                best, most = delimiter, max(widths)
    return best


def _undecodable(form: CSVFormat) -> SDCError:
    """Error that names the byte that is not in the encoding, and its row and column."""
    encoding = "utf-8" if form.encoding == "utf-8-sig" else form.encoding
    with open_bytes(form.path) as stream:
        head = stream.read(4)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return SDCError(f"{form.path} is not {encoding} but UTF-16: give encoding='utf-16'")
    place = ""
    offset = 0
    with open_bytes(form.path) as stream:
        for line in stream:
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                place = f": byte 0x{line[error.start]:02x} at position {offset + error.start}"
                break
            offset += len(line)
    # Latin-1 keeps every byte, so each cell can be tried separately.
    names: list[str] = []
    for number, row in enumerate(replace(form, encoding="latin-1").rows()):
        names = names or row
        for i, cell in enumerate(row):
            try:
                cell.encode("latin-1").decode(encoding)
            except UnicodeDecodeError:
                where = f"row {number}, column {names[i]!r}" if number and i < len(names) else f"column name {i + 1}"
                return SDCError(
                    f"{form.path} is not {encoding}{place} ({where}); try encoding='cp1252' or encoding='latin-1'"
                )
    return SDCError(f"{form.path} is not {encoding}{place}; give the encoding it was written in")
