"""GraphML and GML of a released graph, written from the text of its cells and read back as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from sdc_problems._slices import slices
from sdc_problems.errors import SDCError
from sdc_problems.graph._markup import Markup

if TYPE_CHECKING:
    import pandas as pd

_LINE = 2_000  # elementary steps to write the text of a line
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TYPES = {"i": "long", "u": "long", "f": "double", "b": "boolean"}
_GML_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_GML_TAKEN = {"id", "label", "source", "target", "graphics", "node", "edge"}
_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
    'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)


Kinds = tuple[Sequence[str], Sequence[str]]
"""Kinds of the columns of nodes and links, in numpy's letters: "i", "f", "b", or another one for text."""


def kinds_of(*frames: pd.DataFrame) -> Kinds:
    """Kinds of the columns of nodes and of links."""
    nodes, edges = ([dtype.kind for dtype in frame.dtypes] for frame in frames)
    return nodes, edges


def texts_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Text of each cell; empty for a missing one."""
    texts: pd.DataFrame = frame.apply(lambda cells: cells.astype(object).where(cells.notna(), "").map(str))
    return texts.astype(object)


def to_markup(nodes: pd.DataFrame, edges: pd.DataFrame, kinds: Kinds, directed: bool, how: str) -> bytes:
    """Write a graph as the bytes of a file.

    Parameters
    ----------
    nodes, edges
        Text of each cell; the first column of the nodes identifies them, the first two of the links name the ends.
    kinds
        Kinds of the columns of both (`kinds_of`).
    directed
        Whether links have a direction.
    how
        "GraphML" or "GML".
    """
    for frame in (nodes, edges):
        for name in frame.columns:
            if _CONTROL.search(str(name)) or frame[name].str.contains(_CONTROL).any():
                raise SDCError(f"column {str(name)!r} holds a control character, which {how} cannot: write CSV instead")
    lines = _graphml(nodes, edges, kinds, directed) if how == "GraphML" else _gml(nodes, edges, kinds, directed)
    return "".join(lines).encode("utf-8")


def _rows(frame: pd.DataFrame, what: str, line: Callable[..., str]) -> list[str]:
    """One text per row."""
    out: list[str] = []
    for low, high in slices(len(frame), steps=_LINE * frame.shape[1], what=what):
        columns = [frame.iloc[low:high, j].tolist() for j in range(frame.shape[1])]
        out += [line(*cells) for cells in zip(*columns, strict=True)]
    return out


def _graphml(nodes: pd.DataFrame, edges: pd.DataFrame, kinds: Kinds, directed: bool) -> list[str]:
    keys: list[str] = []
    marks: dict[str, list[tuple[str, str, bool]]] = {"node": [], "edge": []}
    columns = (("node", nodes.columns[1:], kinds[0][1:]), ("edge", edges.columns[2:], kinds[1][2:]))
    for of, names, letters in columns:
        for name, letter in zip(names, letters, strict=True):
            kind = _TYPES.get(letter, "string")
            key = f"d{len(keys)}"
            keys.append(f'  <key id="{key}" for="{of}" attr.name={quoteattr(str(name))} attr.type="{kind}"/>\n')
            marks[of].append((f'<data key="{key}">', "</data>", kind == "boolean"))

    def data(of: str, cells: tuple[str, ...]) -> str:
        found = []
        for (opened, closed, truth), cell in zip(marks[of], cells, strict=True):
            if cell:
                text = cell.lower() if truth else escape(cell, {"\r": "&#13;"})
                found.append(f"{opened}{text}{closed}")
        return "".join(found)

    way = "directed" if directed else "undirected"
    return [
        _GRAPHML_HEAD,
        *keys,
        f'  <graph edgedefault="{way}">\n',
        *_rows(nodes, "nodes", lambda name, *cells: f'    <node id="{name}">{data("node", cells)}</node>\n'),
        *_rows(
            edges, "links", lambda a, b, *cells: f'    <edge source="{a}" target="{b}">{data("edge", cells)}</edge>\n'
        ),
        "  </graph>\n</graphml>\n",
    ]


def _gml(nodes: pd.DataFrame, edges: pd.DataFrame, kinds: Kinds, directed: bool) -> list[str]:
    names = [*map(str, nodes.columns[1:]), *map(str, edges.columns[2:])]
    wrong = [name for name in names if not _GML_KEY.fullmatch(name) or name.casefold() in _GML_TAKEN]
    if wrong:
        raise SDCError(
            f"column {wrong[0]!r} cannot be an attribute in GML, which takes letters and digits, and not its own words:"
            " write GraphML or CSV instead"
        )

    def entries(frame: pd.DataFrame, first: int, letters: Sequence[str]) -> Callable[..., str]:
        heads = [f" {name} " for name in frame.columns[first:]]
        return lambda *cells: "".join(
            head + _gml_value(cell, kind)
            for head, cell, kind in zip(heads, cells, letters[first:], strict=True)
            if cell
        )

    inside, along = entries(nodes, 1, kinds[0]), entries(edges, 2, kinds[1])
    return [
        f"graph [\n  directed {int(directed)}\n",
        *_rows(nodes, "nodes", lambda name, *cells: f'  node [ id {name} label "{name}"{inside(*cells)} ]\n'),
        *_rows(edges, "links", lambda a, b, *cells: f"  edge [ source {a} target {b}{along(*cells)} ]\n"),
        "]\n",
    ]


def _gml_value(text: str, kind: str) -> str:
    if kind in "iu":
        return text
    if kind == "b":
        return str(int(text == "True"))
    if kind == "f":
        number, e, power = text.partition("e")
        return text if "." in number or not e else f"{number}.0e{power}"
    plain = text.replace("&", "&amp;").replace('"', "&quot;")
    return '"' + "".join(c if " " <= c <= "~" else f"&#{ord(c)};" for c in plain) + '"'


def from_markup(
    found: Markup, nodes: pd.DataFrame, edges: pd.DataFrame, kinds: Kinds
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells of a file that was read as text, in the form of the tables that were written.

    Parameters
    ----------
    found
        Content of the file.
    nodes, edges, kinds
        As for `to_markup`; of the tables only names are used.
    """
    import pandas as pd

    def table(
        frame: pd.DataFrame, ends: list[list[object]], marks: list[dict[str, object]], letters: Sequence[str]
    ) -> pd.DataFrame:
        columns = [[str(name) for name in names] for names in ends]
        for name, kind in zip(frame.columns[len(ends) :], letters[len(ends) :], strict=True):
            columns.append([_as_told(str(mark.get(str(name), "")), kind) for mark in marks])
        return pd.DataFrame(dict(enumerate(columns)), dtype=object).set_axis(frame.columns, axis=1)

    return (
        table(nodes, [found.ids], found.nodes, kinds[0]),
        table(edges, [found.sources, found.targets], found.links, kinds[1]),
    )


def _as_told(cell: str, kind: str) -> str:
    """Text of a cell as it was in the table."""
    if kind == "b" and cell:
        return str(cell in ("true", "1"))
    return str(np.float64(cell).astype(str)) if kind == "f" and cell else cell
