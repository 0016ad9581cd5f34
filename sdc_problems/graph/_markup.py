"""GraphML and GML: nodes with their attributes, and links between them."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from sdc_problems._slices import tell
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.graph._edge_list import TOLD, EdgeList, read_bytes, text_of
from sdc_problems.graph._ids import id_text

_PART = 1 << 20  # bytes of a file to read at once

_READ: dict[str, Callable[[str], object]] = {
    "boolean": lambda text: {"true": True, "1": True, "false": False, "0": False}[text.strip().casefold()],
    "int": lambda text: int(text),
    "integer": lambda text: int(text),
    "long": lambda text: int(text),
    "float": lambda text: float(text),
    "double": lambda text: float(text),
    "string": lambda text: text,
}


@dataclass
class Markup:
    """Content of a graph file before it is checked."""

    name: str
    ids: list[Any] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    sources: list[Any] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    links: list[dict[str, Any]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    directed: bool = False
    notes: list[str] = field(default_factory=list)

    def where(self, row: int) -> str:
        """Place of a link."""
        return f"line {self.places[row]} of {self.name}" if self.places else f"link {row + 1}"


@dataclass(frozen=True)
class _Key:
    of: str
    name: str | None
    type: str
    default: str | None = None


class _GraphML:
    """One pass over the file; every handler runs at a known line."""

    def __init__(self, name: str, as_text: bool) -> None:
        self.out = Markup(name)
        self.as_text = as_text
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse
        self.keys: dict[str, _Key] = {}
        self.key: str | None = None
        self.data: str | None = None
        self.taken: list[str] = []
        self.item: dict[str, Any] | None = None
        self.kind = ""
        self.graphs = 0
        self.depth = 0
        self.vendor: set[str] = set()
        self.said: bool | None = None

    def fail(self, what: str) -> SDCError:
        return SDCError(f"line {self.parser.CurrentLineNumber} of {self.out.name}: {what}")

    def _refuse(self, *args: object) -> None:
        raise self.fail("a document type or entity is declared: save the file without it")

    def _start(self, tag: str, marks: dict[str, str]) -> None:
        tag = tag.rpartition(" ")[2]
        if tag == "key":
            self._declare(marks)
        elif tag == "graph":
            self.graphs += 1
            if self.depth or self.item is not None:
                raise self.fail("a node contains a graph: flatten it first")
            if self.graphs > 1:
                raise self.fail("there is a second graph: save one graph per file")
            self.depth = 1
            self.said = marks.get("edgedefault", "undirected") == "directed"
            self.out.directed = self.said
        elif tag in ("hyperedge", "port"):
            raise self.fail(f"a {tag} stands here: only nodes and links between two of them can be read")
        elif tag == "node":
            self.item, self.kind = {}, "node"
            self.out.ids.append(marks.get("id", ""))
            self.out.nodes.append(self.item)
        elif tag == "edge":
            self.item, self.kind = {}, "edge"
            if marks.get("directed", str(self.said).lower()) != str(self.said).lower():
                raise self.fail("directed and undirected links are mixed: make them one kind")
            self.out.sources.append(marks.get("source", ""))
            self.out.targets.append(marks.get("target", ""))
            self.out.links.append(self.item)
            self.out.places.append(self.parser.CurrentLineNumber)
        elif tag == "data":
            self.data = marks.get("key", "")
            if self.data not in self.keys:
                raise self.fail("a value's key is not declared: add its <key>")
            self.taken = []
        elif tag == "default":
            self.taken = []
            self.data = None

    def _text(self, text: str) -> None:
        self.taken.append(text)

    def _end(self, tag: str) -> None:
        tag = tag.rpartition(" ")[2]
        if tag == "data":
            assert self.data is not None
            key = self.keys[self.data]
            if key.name is None:
                self.vendor.add(self.data)
            elif self.item is not None:
                self.item[key.name] = self._value(key, "".join(self.taken))
            self.data = None
        elif tag == "default" and self.key is not None:
            old = self.keys[self.key]
            self.keys[self.key] = _Key(old.of, old.name, old.type, "".join(self.taken))
        elif tag == "key":
            self.key = None
        elif tag in ("node", "edge"):
            self.item = None
        elif tag == "graph":
            self.depth = 0

    def _value(self, key: _Key, text: str) -> object:
        try:
            return text if self.as_text else _READ[key.type](text)
        except (ValueError, KeyError):
            raise self.fail(f"a value of {key.name!r} is no {key.type}") from None

    def _declare(self, marks: dict[str, str]) -> None:
        identity, of = marks.get("id", ""), marks.get("for", "all")
        name, kind = marks.get("attr.name"), marks.get("attr.type", "string")
        if name is not None and kind not in _READ:
            raise self.fail(f"attribute {name!r} has a type that GraphML does not know")
        for other in self.keys.values():
            if name is not None and other.name == name and other.of == of and other.type != kind:
                raise self.fail(f"attribute {name!r} is declared as {other.type} and as {kind}: make it one type")
        self.keys[identity] = _Key(of, name, kind)
        self.key = identity

    def finished(self) -> Markup:
        """Fill in defaults, and add notes on what was ignored."""
        if not self.graphs:
            raise SDCError(f"{self.out.name} holds no graph: is it GraphML?")
        for of, items in (("node", self.out.nodes), ("edge", self.out.links)):
            for key in self.keys.values():
                if key.name is not None and key.default is not None and key.of in (of, "all"):
                    value = self._value(key, key.default)
                    for item in items:
                        item.setdefault(key.name, value)
        if self.vendor:
            self.out.notes.append(f"{len(self.vendor)} kind(s) of data of other programs (drawings, say) are ignored.")
        return self.out


def read_graphml(path: str | os.PathLike[str], *, as_text: bool = False) -> Markup:
    """Read a GraphML file (networkx, igraph, Gephi, yEd), with values as text or in the types that it declares."""
    reader = _GraphML(Path(path).name, as_text)
    content = memoryview(read_bytes(path))
    try:
        for low in range(0, len(content), _PART):
            reader.parser.Parse(content[low : low + _PART], False)
            tell("file read", min(low + _PART, len(content)), len(content))
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise SDCError(f"{reader.out.name} is not well-formed XML: {error}") from None
    return reader.finished()


_TOKEN = re.compile(r'"([^"]*)"|(\[)|(\])|#[^\n]*|([^\s\[\]"]+)|(\n)')


def _tokens(text: str, name: str) -> Iterator[tuple[str, Any, int]]:
    line = 1
    for number, found in enumerate(_TOKEN.finditer(text)):
        if not number % TOLD:
            tell("file read", found.start(), len(text))
        string, opened, closed, word, newline = found.groups()
        if newline:
            line += 1
        elif string is not None:
            yield "value", html.unescape(string), line
            line += string.count("\n")
        elif opened or closed:
            yield opened or closed, None, line
        elif word:
            yield "word", word, line


def _number(word: str) -> object:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return None


def _gml_list(
    tokens: Iterator[tuple[str, Any, int]], name: str, line: int, top: bool, as_text: bool
) -> list[tuple[str, Any, int]]:
    """Entries (key, value or list, line) up to the closing bracket."""
    out: list[tuple[str, Any, int]] = []
    for kind, key, at in tokens:
        if kind == "]" and not top:
            return out
        if kind != "word":
            raise SDCError(f"line {at} of {name}: a key was expected; is this GML?")
        what, value, _ = next(tokens, ("", "", at))
        if what == "[":
            out.append((key, _gml_list(tokens, name, at, False, as_text), at))
        elif what == "value":
            out.append((key, value, at))
        elif what == "word" and (number := _number(value)) is not None:
            out.append((key, value if as_text else number, at))
        else:
            raise SDCError(f"line {at} of {name}: a key has no value; is this GML?")
    if not top:
        raise SDCError(f"line {line} of {name}: a bracket is not closed")
    return out


def read_gml(path: str | os.PathLike[str], *, as_text: bool = False) -> Markup:
    """Read a GML file (networkx, igraph, Gephi), with numbers as text or as numbers."""
    out = Markup(Path(path).name)
    graphs = [
        (value, line)
        for key, value, line in _gml_list(_tokens(text_of(path), out.name), out.name, 1, True, as_text)
        if key == "graph" and isinstance(value, list)
    ]
    if len(graphs) != 1:
        raise SDCError(f"{out.name} holds {len(graphs)} graphs: save one graph per file")
    ignored = 0
    for key, value, line in graphs[0][0]:
        if key == "directed":
            out.directed = value not in (0, "0")
        if key not in ("node", "edge") or not isinstance(value, list):
            continue
        item: dict[str, Any] = {}
        for name, cell, at in value:
            if isinstance(cell, list):
                ignored += 1
            elif name in item:
                raise SDCError(f"line {at} of {out.name}: {name!r} is given twice")
            else:
                item[name] = cell
        if key == "node":
            if "id" not in item:
                raise SDCError(f"line {line} of {out.name}: a node has no id")
            out.ids.append(item.pop("id"))
            out.nodes.append(item)
        else:
            if "source" not in item or "target" not in item:
                raise SDCError(f"line {line} of {out.name}: a link needs a source and a target")
            out.sources.append(item.pop("source"))
            out.targets.append(item.pop("target"))
            out.places.append(line)
            out.links.append(item)
    if ignored:
        out.notes.append(f"{ignored} nested list(s) (drawings, say) are ignored.")
    return out


def read_markup(path: str | os.PathLike[str], how: str, *, as_text: bool = False) -> Markup:
    """Read a file whose format (of ``markup_format``) is known."""
    return (read_graphml if how == "GraphML" else read_gml)(path, as_text=as_text)


def weights_of(found: Markup, weight: str | None) -> tuple[list[Any] | None, list[str]]:
    """Weights of the links, and notes on their other attributes.

    Parameters
    ----------
    found
        Content of a file.
    weight
        Attribute of the links; None if there is none.
    """
    linked: set[str] = set().union(*found.links) if found.links else set()
    if weight is not None and weight not in linked:
        raise SDCError(f"links of {found.name} have no attribute {weight!r}{did_you_mean(weight, linked)}")
    dropped = sorted(str(name) for name in linked - {weight, "id", "label"})
    said = [f"Attributes of links that were not named are left out: {', '.join(dropped)}."] if dropped else []
    return None if weight is None else [marks.get(weight, float("nan")) for marks in found.links], said


def links_alone(path: str | os.PathLike[str], how: str, id: str, weight: str | None) -> EdgeList:
    """Links of a file of nodes and links, for nodes that come from another file.

    Parameters
    ----------
    path, how
        The file and its format.
    id
        Column of the table that identifies the nodes. In the file, nodes may be named by an attribute with this name,
        by the file's own identifiers, or by ``label`` or ``name``.
    weight
        Attribute of the links with their weights.
    """
    found = read_markup(path, how)
    weights, said = weights_of(found, weight)
    ids = [id_text(name) for name in found.ids]
    out = EdgeList(found.name, directed=found.directed, weights=weights)
    out.lines, out.notes = found.places, [*found.notes, *said]
    if any(set(marks) - {id, "label", "name"} for marks in found.nodes):
        out.notes.append(f"Attributes of the nodes of {found.name} are left out: those of the table count.")
    for attribute in (id, None, "label", "name"):
        called = ids if attribute is None else [id_text(marks.get(attribute)) for marks in found.nodes]
        name = dict(zip(ids, called, strict=True))
        ends = [[name.get(id_text(end), id_text(end)) for end in side] for side in (found.sources, found.targets)]
        if all(called):
            out.names.append((ends[0], ends[1]))
    out.sources, out.targets = out.names[0] if out.names else ([], [])
    if not out.sources:
        raise SDCError(f"{found.name} has no link: mixing of categories along links is not defined without any")
    return out
