"""SocialGraph: persons as records of a Microdata, and the links between them as sorted arrays."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sharing.arrays import OpenedLate, SharedArrays
from sdc_problems._tables.formats import format_of, markup_format, read_frame
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.graph._edge_list import EdgeList, guess_delimiter, read_bytes, read_edge_list, text_of
from sdc_problems.graph._ids import id_text, positions_of
from sdc_problems.graph._links import link_arrays
from sdc_problems.graph._markup import Markup, links_alone, read_gml, read_graphml, weights_of
from sdc_problems.microdata import Microdata

if TYPE_CHECKING:
    import pandas as pd

_META = "graph"


class SocialGraph(OpenedLate):
    """Social graph: one record of a `Microdata` per person (node), and links as CSR arrays.

    Immutable; the arrays are shared between processes, like those of `Microdata`.

    Parameters
    ----------
    data
        One record per node.
    edges
        Links × 2: pairs of record positions from 0. An undirected link is listed once (or every link in both
        directions, as in some files) and becomes two arcs.
    directed
        Whether links have a direction.
    weights
        One positive number per link. They are kept and published; the measures count links.
    self_loops
        "error" or "drop" for links from a node to itself.
    repeated
        "error" or "sum" for links that are listed more than once.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "town": ["Olot", "Reus", "Reus"]})
    >>> links = pd.DataFrame({"source": [1, 2], "target": [2, 3]})
    >>> graph = SocialGraph.from_frames(people, links, quasi_identifiers=["town"])
    >>> graph
    SocialGraph(3 nodes, 2 undirected links)
    >>> graph.degrees.tolist()
    [1, 2, 1]
    """

    __slots__ = ("__weakref__", "_handle", "_meta", "data")
    _late = ("_meta",)

    def __init__(
        self,
        data: Microdata,
        edges: object,
        *,
        directed: bool = False,
        weights: object = None,
        self_loops: str = "error",
        repeated: str = "error",
    ) -> None:
        pairs = np.asarray(edges)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise SDCError(f"edges must be pairs of whole numbers, not {pairs.dtype} of shape {pairs.shape}")
        n = data.n_records
        outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
        if len(outside):
            raise SDCError(
                f"{len(outside)} link(s) have an end that is not a record (0 to {n - 1}), "
                f"the first is link {outside[0] + 1}"
            )
        self._fill(data, pairs.astype(np.int64), bool(directed), weights, self_loops, repeated, None, (), "id")

    def _fill(
        self,
        data: Microdata,
        pairs: NDArray[np.int64],
        directed: bool,
        weights: object,
        self_loops: str,
        repeated: str,
        where: Callable[[int], str] | None,
        notes: Sequence[str],
        id_column: str,
    ) -> None:
        options: dict[str, Any] = {} if where is None else {"where": where}
        links = link_arrays(
            pairs,
            data.n_records,
            directed=directed,
            weights=weights,
            self_loops=self_loops,
            repeated=repeated,
            **options,
        )
        alone = int((_degrees(links.indptr, links.indices, directed) == 0).sum())
        said = [*notes, *links.notes]
        if alone:
            said.append(f"{alone} node(s) have no link; they are kept, in releases too.")
        meta = {"directed": directed, "notes": said, "id": id_column}
        arrays: dict[str, NDArray[Any]] = {
            _META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
            "indptr": links.indptr,
            "indices": links.indices,
        }
        if links.weights is not None:
            arrays["weights"] = links.weights
        self.data = data
        self._meta: dict[str, Any] = meta
        self._handle = SharedArrays(arrays, copy=False)

    @classmethod
    def _assembled(cls, data: Microdata, pairs: NDArray[np.int64], **parts: Any) -> SocialGraph:
        graph = cls.__new__(cls)
        graph._fill(data, pairs, **parts)
        return graph

    # ------------------------------------------------------------------ reading

    @classmethod
    def from_csv(
        cls,
        nodes: str | os.PathLike[str],
        edges: str | os.PathLike[str],
        *,
        id: str = "id",
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
        directed: bool | None = None,
        self_loops: str = "error",
        repeated: str = "error",
        delimiter: str | None = None,
        encoding: str = "utf-8",
        **table: Any,
    ) -> SocialGraph:
        """Read a table of nodes and a list of links in the formats of Gephi, SNAP and spreadsheets.

        Parameters
        ----------
        nodes
            CSV file with a header, or another file that `Microdata.from_file` reads; ``id`` names the column of
            identifiers (in upper or lower case).
        edges
            Links: a header with source and target (Gephi's Id, Type and Label are understood), or pairs separated by
            blanks or tabs (SNAP), with ``#`` comments, also as ``.gz``; a workbook; or the links of a GraphML or GML
            file.
        id, source, target, weight
            Names of columns.
        directed
            Whether links have a direction; by default as the file's column Type says, otherwise no.
        self_loops, repeated
            As for the class.
        delimiter, encoding
            How the table of nodes is written; by default the delimiter is found from its header.
        **table
            Roles, kinds, orders and missing values as in `Microdata.from_csv`; by default, missing values are a
            category.
        """
        listed = _listed(edges, id, source, target, weight, encoding)
        names, form = _header(nodes, delimiter, encoding)
        id = next((name for name in names if name.casefold() == id.casefold()), id)
        data = Microdata.from_file(nodes, **form, **_with_id(table, id, names))
        if directed is not None and listed.directed is not None and bool(directed) != listed.directed:
            said = "directed" if listed.directed else "undirected"
            raise SDCError(f"{listed.name} says its links are {said}: omit directed=, or correct its column Type")
        way = bool(listed.directed if directed is None else directed)
        listed.known([id_text(label) for label in data.attribute(id).labels])
        return cls._linked(
            data,
            listed.sources,
            listed.targets,
            id,
            weights=listed.weights,
            directed=way,
            self_loops=self_loops,
            repeated=repeated,
            where=listed.where,
            notes=listed.notes,
        )

    @classmethod
    def from_frames(
        cls,
        nodes: pd.DataFrame,
        edges: pd.DataFrame,
        *,
        id: str = "id",
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool = False,
        self_loops: str = "error",
        repeated: str = "error",
        **table: Any,
    ) -> SocialGraph:
        """Take a frame of nodes and a frame of links; options as for `from_csv`."""
        for name in (source, target, *([weight] if weight else [])):
            if name not in edges.columns:
                raise SDCError(f"the links have no column {name!r}{did_you_mean(name, map(str, edges.columns))}")
        data = Microdata.from_frame(nodes, **_with_id(table, id, list(nodes.columns)))
        return cls._linked(
            data,
            edges[source].tolist(),
            edges[target].tolist(),
            id,
            weights=edges[weight].to_numpy() if weight else None,
            directed=directed,
            self_loops=self_loops,
            repeated=repeated,
            where=None,
            notes=(),
        )

    @classmethod
    def from_sparse(cls, A: Any, nodes: Microdata, *, directed: bool | None = None, **options: Any) -> SocialGraph:
        """Take a square scipy.sparse matrix (entry i, j: link from i to j) and the records of its rows.

        Parameters
        ----------
        A
            Matrix; values other than 1 are weights.
        nodes
            One record per row.
        directed
            Whether links have a direction; by default, if the matrix is not symmetric.
        **options
            ``self_loops`` and ``repeated`` as for the class.
        """
        A = A.tocoo()
        if A.shape != (len(nodes), len(nodes)):
            raise SDCError(f"the matrix has shape {A.shape} for {len(nodes)} records")
        rows, columns, values = A.row.astype(np.int64), A.col.astype(np.int64), np.asarray(A.data)
        if directed is None:
            directed = bool((abs(A - A.T) > 0).nnz)
        elif not directed and (abs(A - A.T) > 0).nnz:
            raise SDCError("the matrix is not symmetric: give directed=True")
        if not directed:
            upper = rows <= columns
            rows, columns, values = rows[upper], columns[upper], values[upper]
        weights = None if (values == 1).all() else values
        return cls(nodes, np.column_stack([rows, columns]), directed=directed, weights=weights, **options)

    @classmethod
    def from_graphml(cls, path: str | os.PathLike[str], *, id: str = "id", **options: Any) -> SocialGraph:
        """Read GraphML from networkx, igraph, Gephi and yEd; options as for `from_networkx`."""
        return cls._marked(read_graphml(path), id, **options)

    @classmethod
    def from_gml(cls, path: str | os.PathLike[str], *, id: str = "id", **options: Any) -> SocialGraph:
        """Read GML from networkx, igraph and Gephi; options as for `from_networkx`."""
        return cls._marked(read_gml(path), id, **options)

    @classmethod
    def from_networkx(cls, G: Any, *, id: str = "id", **options: Any) -> SocialGraph:
        """Take a networkx graph, with its nodes' attributes as columns.

        Parameters
        ----------
        G
            The graph (Graph, DiGraph, or their multigraphs with ``repeated="sum"``).
        id
            Column of the nodes' names; made from them if no attribute has this name.
        **options
            ``weight`` (attribute of links), ``self_loops``, ``repeated``, and the roles, kinds, orders and missing
            values of `Microdata.from_frame`.
        """
        out = Markup("the graph", directed=bool(G.is_directed()))
        for name, marks in G.nodes(data=True):
            out.ids.append(name)
            out.nodes.append(dict(marks))
        for a, b, marks in G.edges(data=True):
            out.sources.append(a)
            out.targets.append(b)
            out.links.append(dict(marks))
        return cls._marked(out, id, **options)

    @classmethod
    def from_igraph(cls, g: Any, *, id: str = "id", **options: Any) -> SocialGraph:
        """Take an igraph graph, with its vertices' attributes as columns; options as for `from_networkx`."""
        out = Markup("the graph", directed=bool(g.is_directed()), ids=list(range(g.vcount())))
        out.nodes = [vertex.attributes() for vertex in g.vs]
        for a, b in g.get_edgelist():
            out.sources.append(a)
            out.targets.append(b)
        out.links = [link.attributes() for link in g.es]
        return cls._marked(out, id, **options)

    @classmethod
    def _marked(
        cls,
        found: Markup,
        id: str,
        *,
        weight: str | None = None,
        self_loops: str = "error",
        repeated: str = "error",
        **table: Any,
    ) -> SocialGraph:
        import pandas as pd

        if not found.nodes:
            raise SDCError(f"{found.name} has no node")
        ids = [id_text(name) for name in found.ids]
        names = list(dict.fromkeys(name for marks in found.nodes for name in marks))
        columns: dict[str, Any] = {name: [marks.get(name) for marks in found.nodes] for name in names}
        called = [id_text(value) for value in columns[id]] if id in columns else ids
        if id in columns and (len(set(called)) < len(called) or "" in called):
            raise SDCError(
                f"attribute {id!r} of the nodes of {found.name} is blank or repeated: name the column of identifiers "
                "with id="
            )
        frame = pd.DataFrame({id: called, **{name: cells for name, cells in columns.items() if name != id}})
        weights, said = weights_of(found, weight)
        notes = [*found.notes, *said]
        data = Microdata.from_frame(frame, **_with_id(table, id, list(frame.columns)))
        pairs = positions_of(ids, found.sources, found.targets, found.where)
        return cls._assembled(
            data,
            pairs,
            directed=found.directed,
            weights=weights,
            self_loops=self_loops,
            repeated=repeated,
            where=found.where,
            notes=notes,
            id_column=id,
        )

    @classmethod
    def _linked(
        cls, data: Microdata, sources: Sequence[object], targets: Sequence[object], id: str, **parts: Any
    ) -> SocialGraph:
        where = parts["where"] or (lambda row: f"link {row + 1}")
        attribute = data.attribute(id)
        labels = [id_text(text) for text in attribute.labels]
        ids = [labels[code] for code in data.codes(id)[:, 0]]
        pairs = positions_of(["" if name == "?" else name for name in ids], sources, targets, where)
        return cls._assembled(data, pairs, id_column=id, **parts)

    # ------------------------------------------------------------------ properties

    @property
    def directed(self) -> bool:
        """Whether links have a direction."""
        return bool(self._meta["directed"])

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was changed or left out when the links were read."""
        return tuple(self._meta["notes"])

    @property
    def id_column(self) -> str:
        """Column of the identifiers."""
        return str(self._meta["id"])

    @property
    def handle(self) -> SharedArrays:
        """The arrays of the links, shared by all processes."""
        return self._handle

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Position of each node's first arc in `indices` (nodes + 1 entries)."""
        array: NDArray[np.int64] = self._handle["indptr"]
        return array

    @property
    def indices(self) -> NDArray[np.int32]:
        """Targets of the arcs, sorted within each source."""
        array: NDArray[np.int32] = self._handle["indices"]
        return array

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of the arcs, if links have any."""
        return self._handle.get("weights")

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.data.n_records

    @property
    def n_links(self) -> int:
        """Number of links; an undirected one counts once."""
        return len(self.indices) if self.directed else len(self.indices) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of links of each node (in and out together if links have a direction)."""
        return _degrees(self.indptr, self.indices, self.directed)

    @property
    def edges(self) -> NDArray[np.int64]:
        """Links × 2 positions, sorted; an undirected link is listed once, its smaller end first."""
        arcs = self._arcs()
        return arcs if self.directed else arcs[arcs[:, 0] < arcs[:, 1]]

    @property
    def edge_weights(self) -> NDArray[np.float64] | None:
        """Weights in the order of `edges`."""
        if self.weights is None:
            return None
        arcs = self._arcs()
        return self.weights if self.directed else self.weights[arcs[:, 0] < arcs[:, 1]]

    def _arcs(self) -> NDArray[np.int64]:
        source = np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))
        return np.column_stack([source, self.indices.astype(np.int64)])

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of the records and the links."""
        arrays = [self.indptr.tobytes(), self.indices.tobytes()]
        if self.weights is not None:
            arrays.append(self.weights.tobytes())
        text = hashlib.sha256(b"".join(arrays)).hexdigest()
        return hashlib.sha256(json.dumps([self.data.digest, self.directed, text]).encode()).hexdigest()

    def with_roles(self, **roles: Sequence[str]) -> SocialGraph:
        """The same persons and links with other roles, as in `Microdata.with_roles`."""
        graph = type(self).__new__(type(self))
        graph.data, graph._meta, graph._handle = self.data.with_roles(**roles), self._meta, self._handle
        return graph

    # ------------------------------------------------------------------ special methods

    def __len__(self) -> int:
        return self.n_nodes

    def __repr__(self) -> str:
        if not self._handle.at_hand:
            return "SocialGraph(not here)"
        kind = "directed" if self.directed else "undirected"
        return f"SocialGraph({self.n_nodes:,} nodes, {self.n_links:,} {kind} links)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SocialGraph):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> SocialGraph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SocialGraph:
        return self

    def _open(self) -> None:
        self._meta = json.loads(self._handle[_META].tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.data, self._handle)


def _opened(data: Microdata, handle: SharedArrays) -> SocialGraph:
    graph = SocialGraph.__new__(SocialGraph)
    graph.data, graph._handle = data, handle
    if handle.at_hand:
        graph._open()
    return graph


def _header(
    nodes: str | os.PathLike[str], delimiter: str | None, encoding: str
) -> tuple[list[str], dict[str, str | None]]:
    """Names of a table's columns, and options for reading it."""
    if format_of(nodes) is not None:
        return list(map(str, read_frame(nodes)[0].columns)), {"delimiter": delimiter, "encoding": encoding}
    if read_bytes(nodes).startswith(b"\xef\xbb\xbf") and encoding == "utf-8":
        encoding = "utf-8-sig"
    head = text_of(nodes, encoding).partition("\n")[0]
    delimiter = delimiter or guess_delimiter(head) or ","
    return [name.strip().strip('"') for name in head.split(delimiter)], {"delimiter": delimiter, "encoding": encoding}


def _listed(
    edges: str | os.PathLike[str],
    id: str,
    source: str | None,
    target: str | None,
    weight: str | None,
    encoding: str,
) -> EdgeList:
    """Links of a file of pairs, or of a file that also holds nodes."""
    how = markup_format(edges)
    if how is None:
        return read_edge_list(edges, source=source, target=target, weight=weight, encoding=encoding)
    if source is not None or target is not None:
        named = "source" if source is not None else "target"
        raise SDCError(f"{Path(edges).name} defines its links itself: omit {named}=")
    return links_alone(edges, how, id, weight)


def _degrees(indptr: NDArray[np.int64], indices: NDArray[np.int32], directed: bool) -> NDArray[np.int64]:
    out = np.diff(indptr)
    return out + np.bincount(indices, minlength=len(out)) if directed else out


def _with_id(table: Mapping[str, Any], id: str, names: Sequence[str]) -> dict[str, Any]:
    """Options of a table, with its column of identifiers as a direct identifier, kept as text or whole numbers."""
    if id not in names:
        raise SDCError(f"the nodes have no column {id!r}{did_you_mean(id, map(str, names))}: name it with id=")
    options = {"missing": "category", **table}
    for role in ("quasi_identifiers", "sensitive"):
        if id in options.get(role, ()):
            raise SDCError(f"column {id!r} names the nodes: it cannot be one of {role}")
    options["identifiers"] = list(dict.fromkeys([*options.get("identifiers", ()), id]))
    kinds = dict(options.get("kinds") or {})
    kinds[id] = "nominal"
    options["kinds"] = kinds
    return options
