"""Picture types: plain values that matplotlib (`report/pictures.py`) and the page (`web/src/pictures.ts`) both draw.

A task describes its solutions in these types, and does not say how they are drawn. A picture may be published like
a report: it must not show a count of 1 to 4 records, however it was made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.small_counts import LEAST, shortened, size_bars

MOST_RECORDS = 2_000_000
"""Most records of a table for which pictures are drawn: a picture needs several copies of the table."""


def too_many(records: int) -> str:
    """Reason why solutions of a run with so many records are not drawn, and what to do; empty if they are."""
    if records <= MOST_RECORDS:
        return ""
    return (
        f"the table has {records:,} records, and solutions are drawn of up to {MOST_RECORDS:,}: write one by sdc"
        " release, and measure it by sdc evaluate"
    )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Base of the picture types.

    Parameters
    ----------
    title
        Heading that says what is shown.
    caption
        Explanation of how to read it, in one or two sentences.
    """

    type: ClassVar[str]
    title: str
    caption: str = ""

    def rows(self) -> list[tuple[str, str]]:
        """Names and texts with the same content, for a table that compares solutions side by side."""
        return []

    def as_dict(self) -> dict[str, Any]:
        """Plain values for the page: numbers of nine digits, shortened labels, no infinity."""
        return {
            "type": self.type,
            **_plain_fields(self),
            "rows": [[shortened(a), shortened(b)] for a, b in self.rows()],
        }


@dataclass(frozen=True, kw_only=True)
class Bars(Picture):
    """A bar for each label.

    Parameters
    ----------
    labels, values
        Names and heights of the bars. If heights count records or groups of records, make them by `of_sizes` or
        leave out those of 1 to 4.
    across, up
        Names of the axes: what a label is, and what a height counts.
    summary
        The picture in a few words.
    """

    type = "bars"
    labels: tuple[str, ...]
    values: tuple[float, ...]
    across: str
    up: str
    summary: str = ""

    def __post_init__(self) -> None:
        _same_length(self, labels=self.labels, values=self.values)

    def rows(self) -> list[tuple[str, str]]:
        """Title and summary."""
        return [(self.title, self.summary)] if self.summary else []

    @classmethod
    def of_sizes(cls, sizes: ArrayLike, *, title: str, across: str, up: str) -> Bars:
        """Count the things of each size, with neighboring sizes joined until a bar stands for at least five.

        Parameters
        ----------
        sizes
            Size of each thing.
        title, across, up
            As for the class; ``up`` is the name of the things.

        Examples
        --------
        >>> picture = Bars.of_sizes([3] * 7 + [4, 5, 5, 5, 5], title="Sizes", across="records", up="clusters")
        >>> picture.labels, picture.values, picture.summary
        (('3', '4–5'), (7, 5), '12 clusters')
        """
        bars = size_bars(sizes)
        total = sum(bar["clusters"] for bar in bars)
        return cls(
            title=title,
            caption=f"{total:,} {up}; each bar stands for at least {LEAST}.",
            labels=tuple(str(b["from"]) if b["from"] == b["to"] else f"{b['from']}–{b['to']}" for b in bars),
            values=tuple(bar["clusters"] for bar in bars),
            across=across,
            up=up,
            summary=f"{total:,} {up}",
        )


@dataclass(frozen=True)
class Line:
    """A named curve of `Lines`: a height for each place."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Lines(Picture):
    """Curves over the same places.

    Parameters
    ----------
    places
        Positions of the values, ascending.
    lines
        The curves.
    across, up
        Names of the axes.
    """

    type = "lines"
    places: tuple[float, ...]
    lines: tuple[Line, ...]
    across: str
    up: str

    def __post_init__(self) -> None:
        _same_length(self, places=self.places, **{line.name: line.values for line in self.lines})


@dataclass(frozen=True, kw_only=True)
class Matrix(Picture):
    """Shares from 0 to 1 in rows and columns, such as a transition matrix.

    Parameters
    ----------
    name
        Attribute to which the matrix belongs.
    row_labels, column_labels
        Names of rows and columns.
    shares
        The shares, row by row.
    down, across
        Names of the axes.
    measure
        Meaning of a share.
    records
        Numbers of records that cells stand for, if they do; numbers of 1 to 4 are left out.
    summary
        The matrix in a few words.
    """

    type = "matrix"
    name: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]
    down: str = "original"
    across: str = "protected"
    measure: str = "probability"
    records: tuple[tuple[float | None, ...], ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        _same_length(self, row_labels=self.row_labels, shares=self.shares)
        _same_length(self, column_labels=self.column_labels, **{f"row {i}": r for i, r in enumerate(self.shares)})
        guarded = tuple(tuple(None if cell is None else _guarded(cell) for cell in row) for row in self.records)
        object.__setattr__(self, "records", guarded)
        object.__setattr__(self, "shares", tuple(tuple(float(f"{v:.3f}") for v in row) for row in self.shares))

    def rows(self) -> list[tuple[str, str]]:
        """Name and summary."""
        return [(self.name, self.summary)] if self.summary else []


@dataclass(frozen=True)
class Block:
    """Items that belong together, with a value; part of `Blocks`."""

    items: tuple[str, ...]
    value: float


@dataclass(frozen=True, kw_only=True)
class Blocks(Picture):
    """Groups of items, each with a value.

    Parameters
    ----------
    blocks
        The groups.
    items, value, unit
        Names of the items and of the value, and its unit.
    noun
        Name of a group.
    """

    type = "blocks"
    blocks: tuple[Block, ...]
    items: str
    value: str
    unit: str = ""
    noun: str = "group"

    def rows(self) -> list[tuple[str, str]]:
        """Each item with the others of its group."""
        found = []
        for number, block in enumerate(self.blocks, start=1):
            for item in block.items:
                others = ", ".join(other for other in block.items if other != item)
                found.append((item, f"with {others or 'none: on its own'} ({self.noun} {number})"))
        return found


@dataclass(frozen=True)
class Levels:
    """A hierarchy of a `Lattice`: its name, the level taken, and what each of its levels does, from level 0 on."""

    name: str
    level: int
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Neighbour:
    """A node one step from that of a `Lattice`: which hierarchy it moves along, +1 or -1, and its objectives."""

    attribute: int
    step: int
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Lattice(Picture):
    """A node of a lattice of levels, and the objectives of its neighbors.

    Parameters
    ----------
    attributes
        Hierarchies, each with the level taken.
    neighbours
        Nodes one step away; their values are the problem's objectives in natural units.
    across
        Name of a level.
    """

    type = "lattice"
    attributes: tuple[Levels, ...]
    neighbours: tuple[Neighbour, ...] = ()
    across: str = "level"

    def __post_init__(self) -> None:
        for attribute in self.attributes:
            if not 0 <= attribute.level < len(attribute.levels):
                raise SDCError(f"picture {self.title!r}: {attribute.name!r} has no level {attribute.level}")

    def rows(self) -> list[tuple[str, str]]:
        """Each attribute with what its level does."""
        return [(attribute.name, attribute.levels[attribute.level]) for attribute in self.attributes]


@dataclass(frozen=True)
class Node:
    """A node of `Graph`: its name (or empty) and its place in a square of side 1, from the lower left corner."""

    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Link:
    """A link of `Graph` between two nodes, or from a node to itself; without a value if it stands for a small count."""

    source: int
    target: int
    value: float | None


@dataclass(frozen=True)
class State:
    """A state of `Graph`, such as before or after: sizes and shades (0 to 1) of its nodes, and its links."""

    name: str
    sizes: tuple[float, ...]
    links: tuple[Link, ...]
    shades: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Graph(Picture):
    """Nodes and their links in one state, or in several side by side.

    Parameters
    ----------
    nodes
        The nodes, which have the same places in every state.
    states
        The states, drawn to one scale.
    size, value, shade
        Meaning of a node's area, of a link's width and of a node's shade. Counts of 1 to 4 records are left out; links
        with such a count have no value.
    unit
        Unit of the values of links.
    summary
        The picture in a few words.
    """

    type = "graph"
    nodes: tuple[Node, ...]
    states: tuple[State, ...]
    size: str
    value: str
    shade: str = ""
    unit: str = ""
    summary: str = ""

    def __post_init__(self) -> None:
        for state in self.states:
            _same_length(self, nodes=self.nodes, sizes=state.sizes)
            if state.shades:
                _same_length(self, nodes=self.nodes, shades=state.shades)
            for link in state.links:
                if not (0 <= link.source < len(self.nodes) and 0 <= link.target < len(self.nodes)):
                    raise SDCError(f"picture {self.title!r}: a link of {state.name!r} leads to no node")

    def rows(self) -> list[tuple[str, str]]:
        """Title and summary."""
        return [(self.title, self.summary)] if self.summary else []

    @staticmethod
    def around(names: Sequence[str]) -> tuple[Node, ...]:
        """Place nodes on a circle, beginning at the top.

        Examples
        --------
        >>> [(node.name, round(node.x, 2), round(node.y, 2)) for node in Graph.around(["a", "b"])]
        [('a', 0.5, 1.0), ('b', 0.5, 0.0)]
        """
        angle = 2 * np.pi * np.arange(len(names)) / max(len(names), 1)
        places = zip(names, (0.5 + 0.5 * np.sin(angle)).tolist(), (0.5 + 0.5 * np.cos(angle)).tolist(), strict=True)
        return tuple(Node(name, x, y) for name, x, y in places)


@dataclass(frozen=True, kw_only=True)
class Formula(Picture):
    """An equation, as text.

    Parameters
    ----------
    text
        The equation.
    """

    type = "formula"
    text: str


@dataclass(frozen=True, kw_only=True)
class Table(Picture):
    """Rows of cells under column names.

    Parameters
    ----------
    head
        Names of the columns.
    lines
        The rows, a cell for each column: texts, and numbers that are not counts of records.
    """

    type = "table"
    head: tuple[str, ...]
    lines: tuple[tuple[str | float, ...], ...]

    def __post_init__(self) -> None:
        for line in self.lines:
            _same_length(self, head=self.head, line=line)

    def rows(self) -> list[tuple[str, str]]:
        """First cell of each row, and the others."""
        texts = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in line] for line in self.lines]
        return [(first, ", ".join(text for text in others if text)) for first, *others in texts]


_ALL = (Bars, Lines, Matrix, Blocks, Lattice, Graph, Table, Formula)
TYPES: Mapping[str, type[Picture]] = {kind.type: kind for kind in _ALL}
"""Every picture type by name."""


def _guarded(records: float) -> int | None:
    """A rounded number of records; None for 1 to 4."""
    whole = round(records)
    return whole if whole == 0 or whole >= LEAST else None


def _same_length(picture: Picture, **parts: Sequence[Any]) -> None:
    lengths = {name: len(part) for name, part in parts.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise SDCError(f"picture {picture.title!r}: parts of different lengths ({said})")


def _plain_fields(value: Any) -> dict[str, Any]:
    """Fields of a picture or of a part of one; free text is kept in full, names are shortened."""
    whole = ("caption", "text")
    named = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: part if name in whole else _plain(part) for name, part in named.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    if is_dataclass(value):
        return _plain_fields(value)
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value
