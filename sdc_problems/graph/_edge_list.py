"""Lists of links in the formats of Gephi, SNAP and spreadsheets."""

from __future__ import annotations

import codecs
import csv
import gzip
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdc_problems._files import input_file
from sdc_problems._slices import tell
from sdc_problems._tables.columns import label
from sdc_problems._tables.formats import format_of, read_frame
from sdc_problems._tables.open_file import DAMAGED, gunzipped
from sdc_problems.errors import SDCError, SDCFailure, did_you_mean

TOLD = 1 << 15
"""Lines, or parts of other files, between two reports of progress."""
_SOURCES = ("source", "from", "fromnodeid", "src")
_TARGETS = ("target", "to", "tonodeid", "dst")


@dataclass
class EdgeList:
    """Ends of links as text, with the line number of each."""

    name: str
    sources: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    weights: list[float] | None = None
    directed: bool | None = None  # as the file itself says
    notes: list[str] = field(default_factory=list)
    names: list[tuple[list[str], list[str]]] = field(default_factory=list)  # ends by other names of the nodes

    def known(self, ids: Collection[str]) -> EdgeList:
        """The links, with the first kind of names whose ends are all identifiers, if nodes have several names."""
        known = set(ids)
        for sources, targets in self.names:
            if known.issuperset(sources) and known.issuperset(targets):
                self.sources, self.targets = sources, targets
                break
        return self

    def where(self, row: int) -> str:
        """Place of a link."""
        return f"line {self.lines[row]} of {self.name}"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Content of a file, decompressed if its name ends in .gz."""
    path = Path(path)
    try:
        return gunzipped(input_file(path)) if path.suffix == ".gz" else input_file(path).read_bytes()
    except FileNotFoundError:
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise SDCError(f"there is no file {path}{did_you_mean(path.name, near)}") from None
    except (gzip.BadGzipFile, *DAMAGED):
        raise SDCError(f"{path} is named .gz but is not a whole gzip file") from None
    except OSError as error:
        raise SDCFailure(f"cannot read {path}: {error.strerror}") from error


def text_of(path: str | os.PathLike[str], encoding: str = "utf-8") -> str:
    """Text of a file, without its byte order mark."""
    content = read_bytes(path)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise SDCError(
            f"{Path(path).name} is not {encoding} (byte {error.start}): save it as UTF-8, or name its encoding"
        ) from None
    except LookupError:
        raise SDCError(f"unknown encoding {encoding!r}") from None


def guess_delimiter(line: str) -> str | None:
    """Delimiter of a header line; None for blanks.

    Examples
    --------
    >>> guess_delimiter("Source;Target"), guess_delimiter("1 2"), guess_delimiter("1\\t2")
    (';', None, '\\t')
    """
    found = [d for d in (";", "\t", ",", "|") if d in line]
    return max(found, key=line.count) if found else None


def read_edge_list(
    path: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> EdgeList:
    """Read links: a header that names both ends, or pairs without a header, separated by blanks or tabs.

    Parameters
    ----------
    path
        The file; ``.gz`` is decompressed. Lines that begin with ``#`` are comments. Or a workbook or Parquet file.
    source, target
        Columns of the ends; by default those with these names (also "from" and "to"), in upper or lower case.
    weight
        Column of the weights; all other columns are dropped, with a note.
    delimiter
        Character between cells; by default found from the first line.
    encoding
        Encoding of the text.
    """
    out = EdgeList(Path(path).name)
    n_lines, rows = _lines(path, delimiter, encoding)
    try:
        line, head = next(rows)
    except StopIteration:
        raise SDCError(f"{out.name} has no link") from None
    places = _header(head, out, source, target, weight)
    if places is None:
        if source is not None or target is not None or weight is not None or not _bare(head):
            # The error does not quote the first line: without a header it holds identifiers.
            raise SDCError(
                f"{out.name} has no columns for the two ends of a link in its first line: name them with source= and"
                " target=, or put a line Source,Target before the links"
            )
        places = (0, 1, None, None)
        _take(out, line, head, places)
    if places[2] is not None:
        out.weights = out.weights or []
    kinds: set[str] = set()
    for line, row in rows:
        _take(out, line, row, places, kinds)
        if not line % TOLD:
            tell("links read", line, n_lines)
    tell("links read", n_lines, n_lines)
    if not out.sources:
        raise SDCError(f"{out.name} has no link: mixing of categories along links is not defined without any")
    _say_direction(out, kinds)
    return out


def _lines(
    path: str | os.PathLike[str], delimiter: str | None, encoding: str
) -> tuple[int, Iterator[tuple[int, list[str]]]]:
    """Number of lines, and an iterator over the lines with their cells as text."""
    if format_of(path) is not None:
        frame = read_frame(path)[0]
        cells = frame.astype(object).where(frame.notna(), "").map(label)
        return len(cells) + 1, enumerate([list(map(str, cells.columns)), *cells.to_numpy().tolist()], 1)
    text = text_of(path, encoding)
    return text.count("\n") + 1, _rows(text, delimiter, Path(path).name)


def _rows(text: str, delimiter: str | None, name: str) -> Iterator[tuple[int, list[str]]]:
    lines = text.splitlines()
    first = next((row for row in lines if row.strip() and not row.lstrip().startswith("#")), "")
    separator = delimiter if delimiter is not None else guess_delimiter(first)
    if separator is None or separator == " ":
        for number, row in enumerate(lines, 1):
            if row.strip() and not row.lstrip().startswith("#"):
                yield number, row.split()
        return
    blanks = ("" if row.lstrip().startswith("#") else row for row in lines)
    reader = csv.reader(blanks, delimiter=separator)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise SDCError(f"line {reader.line_num} of {name}: {error}") from error


def _bare(head: Sequence[str]) -> bool:
    """Whether a first row is a pair of numbers, not a header."""
    try:
        return len(head) >= 2 and all(float(cell) == float(cell) for cell in head[:2])
    except ValueError:
        return False


def _header(
    head: Sequence[str], out: EdgeList, source: str | None, target: str | None, weight: str | None
) -> tuple[int, int, int | None, int | None] | None:
    names = [cell.strip() for cell in head]
    folded = [name.casefold() for name in names]

    def place(wanted: str | None, defaults: tuple[str, ...]) -> int | None:
        if wanted is not None:
            if wanted not in names:
                raise SDCError(f"{out.name} has no column {wanted!r}{did_you_mean(wanted, names)}")
            return names.index(wanted)
        return next((folded.index(name) for name in defaults if name in folded), None)

    if source is None and target is None and not set(folded) & {*_SOURCES, *_TARGETS}:
        return None
    at = place(source, _SOURCES), place(target, _TARGETS)
    if at[0] is None or at[1] is None:
        side = "source" if at[0] is None else "target"
        raise SDCError(f"{out.name} has no column for the {side} of a link: name it with {side}=")
    if at[0] == at[1]:
        raise SDCError(f"source and target of {out.name} are one column: name two")
    heavy = None if weight is None else place(weight, ())
    kind = folded.index("type") if "type" in folded else None
    known = {"id", "label", "type", "timeset", "interval"}
    dropped = [names[i] for i in range(len(names)) if i not in (*at, heavy, kind) and folded[i] not in known]
    if dropped:
        out.notes.append(f"Columns of links that were not named are left out: {', '.join(dropped)}.")
    return at[0], at[1], heavy, kind


def _take(
    out: EdgeList,
    line: int,
    row: Sequence[str],
    places: tuple[int, int, int | None, int | None],
    kinds: set[str] | None = None,
) -> None:
    a, b, heavy, kind = places
    if len(row) <= max(a, b):
        raise SDCError(f"line {line} of {out.name} has {len(row)} cell(s): a link needs a source and a target")
    out.sources.append(row[a].strip())
    out.targets.append(row[b].strip())
    out.lines.append(line)
    if heavy is not None:
        assert out.weights is not None
        try:
            out.weights.append(float(row[heavy]))
        except (ValueError, IndexError):
            raise SDCError(f"line {line} of {out.name}: the weight is not a number") from None
    if kind is not None and kinds is not None and len(row) > kind:
        kinds.add(row[kind].strip().casefold())


def _say_direction(out: EdgeList, kinds: set[str]) -> None:
    said = kinds & {"directed", "undirected"}
    if len(said) > 1:
        raise SDCError(f"{out.name} has directed and undirected links: make them one kind (column Type)")
    if said:
        out.directed = said == {"directed"}
