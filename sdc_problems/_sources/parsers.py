"""Public files as tables of text: the publishers' formats, their canonical form, and its digest.

A table here is a header and rows of strings. Canonical means: cells without surrounding blanks, missing values empty,
numbers in one spelling (``44101.0`` and ``44101`` are the same). Two files that hold the same table have the same
digest, whatever their separators, quotes, line ends or decimals look like.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sdc_problems.errors import SDCError

MISSING = ("", "?", "NA")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


class Table(NamedTuple):
    """A header and rows of canonical cells."""

    columns: tuple[str, ...]
    rows: list[list[str]]

    def digest(self) -> str:
        """Return the SHA-256 of the table: the cells, joined by control characters that no cell contains."""
        state = hashlib.sha256("\x1f".join(self.columns).encode())
        state.update("".join("\x1e" + "\x1f".join(row) for row in self.rows).encode())
        return state.hexdigest()

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()


def canonical(cell: str) -> str:
    """Return the canonical spelling of a cell.

    Examples
    --------
    >>> canonical(" 44101.0"), canonical("0.50"), canonical("?"), canonical("A11")
    ('44101', '0.5', '', 'A11')
    """
    cell = cell.strip()
    if cell in MISSING:
        return ""
    if _NUMBER.fullmatch(cell) is None:
        return cell
    value = float(cell)
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _table(columns: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], path: Path) -> Table:
    """Check the rows' lengths and make the cells canonical; ``rows`` includes their line numbers."""
    spelled: dict[str, str] = {}
    out = []
    for line, row in rows:
        if len(row) != len(columns):
            raise SDCError(f"{path}, line {line}: {len(row)} values where {len(columns)} are expected")
        for cell in row:
            if cell not in spelled:
                spelled[cell] = canonical(cell)
        out.append([spelled[cell] for cell in row])
    if not out:
        raise SDCError(f"{path} holds no records")
    return Table(tuple(columns), out)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SDCError(f"{path} is not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise SDCError(f"cannot read {path} ({error.strerror})") from error


def read_csv(path: Path, columns: Sequence[str]) -> Table:
    """Read a comma-separated file whose first row names the columns."""
    reader = csv.reader(io.StringIO(_text(path), newline=""))
    try:
        header = [name.strip() for name in next(reader, [])]
        if header != list(columns):
            raise SDCError(f"{path}: the first row must name the columns {', '.join(columns)}")
        return _table(columns, ((reader.line_num, row) for row in reader if row), path)
    except csv.Error as error:
        raise SDCError(f"{path}, line {reader.line_num}: {error}") from error


def _lines(path: Path) -> Iterable[tuple[int, str]]:
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.strip():
            yield number, line.strip()


def parse_comma_separated(paths: Sequence[Path], columns: Sequence[str]) -> Table:
    """Read lines without a header, separated by a comma and possibly a blank (adult.data, water-treatment.data)."""
    (path,) = paths
    return _table(columns, ((number, line.split(",")) for number, line in _lines(path)), path)


def parse_adult_test(paths: Sequence[Path], columns: Sequence[str]) -> Table:
    """Read adult.test: like adult.data, but after a line of another kind, and with a period after the class."""
    (path,) = paths
    rows = ((number, line.removesuffix(".").split(",")) for number, line in _lines(path) if not line.startswith("|"))
    return _table(columns, rows, path)


def parse_blank_separated(paths: Sequence[Path], columns: Sequence[str]) -> Table:
    """Read lines without a header, values separated by blanks (german.data)."""
    (path,) = paths
    return _table(columns, ((number, line.split()) for number, line in _lines(path)), path)


def parse_solar_flare(paths: Sequence[Path], columns: Sequence[str]) -> Table:
    """Read flare.data1 and flare.data2, one after the other; the first line of each is a remark."""
    parts = []
    for path in paths:
        lines = [(number, line.split()) for number, line in _lines(path)]
        # A remark is any first line that does not end in the counts of a record (the first three values are letters).
        if lines and not (len(lines[0][1]) == len(columns) and all(cell.isdigit() for cell in lines[0][1][3:])):
            del lines[0]
        parts.append(_table(columns, lines, path))
    return Table(tuple(columns), [row for part in parts for row in part.rows])


Parser = Callable[[Sequence[Path], Sequence[str]], Table]
