"""ProtectedGraph: the published form of a social graph, written in common formats."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.graph._markup import read_markup
from sdc_problems.graph._write_markup import from_markup, kinds_of, texts_of, to_markup

if TYPE_CHECKING:
    import pandas as pd

NODES, EDGES = "nodes.csv", "edges.csv"
SOURCE, TARGET = "source", "target"


@dataclass(frozen=True, eq=False)
class ProtectedGraph:
    """A published graph: a table of nodes, a table of links, and the counts of its guarantees.

    Parameters
    ----------
    nodes
        One row per node; the first column holds the new identifiers.
    edges
        One row per link: ``source``, ``target`` and, if links have them, weights or counts.
    directed
        Whether links have a direction.
    counts
        Counts for the guarantees: nodes, links, the smallest combination of released values, …

    Examples
    --------
    >>> import pandas as pd
    >>> graph = ProtectedGraph(pd.DataFrame({"id": [1, 2]}), pd.DataFrame({"source": [1], "target": [2]}), False)
    >>> graph.to_sparse().toarray().tolist()
    [[0, 1], [1, 0]]
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    directed: bool
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if list(self.edges.columns[:2]) != [SOURCE, TARGET]:
            raise SDCError(f"links need the columns {SOURCE!r} and {TARGET!r} first")
        if not self.nodes.iloc[:, 0].is_unique:
            raise SDCError("identifiers of published nodes must differ")

    @property
    def id_column(self) -> str:
        """Column of the identifiers."""
        return str(self.nodes.columns[0])

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"ProtectedGraph({len(self.nodes):,} nodes, {len(self.edges):,} {kind} links)"

    def _positions(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        place = {name: i for i, name in enumerate(self.nodes[self.id_column])}
        try:
            return np.array(
                [(place[a], place[b]) for a, b in zip(self.edges[SOURCE], self.edges[TARGET], strict=True)],
                dtype=np.int64,
            ).reshape(-1, 2)
        except KeyError:
            raise SDCError("a published link has an end that is not a published node") from None

    # ------------------------------------------------------------------ output

    def to_csv(self, folder: str | os.PathLike[str]) -> tuple[Path, Path]:
        """Write nodes.csv and edges.csv to a folder, read them again and compare; return their paths."""
        import pandas as pd

        folder = Path(folder)
        paths = folder / NODES, folder / EDGES
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for frame, path in zip((self.nodes, self.edges), paths, strict=True):
                frame.to_csv(path, index=False, lineterminator="\n", encoding="utf-8")
        except OSError as error:
            raise SDCFailure(f"cannot write into {folder}: {error.strerror}") from error
        for frame, path in zip((self.nodes, self.edges), paths, strict=True):
            again = pd.read_csv(path, dtype=str, keep_default_na=False)
            if list(again.columns) != list(frame.columns) or len(again) != len(frame):
                raise SDCFailure(f"{path} was not written as meant: {len(again)} of {len(frame)} rows are there")
            for name in (frame.columns[0], frame.columns[-1] if frame is self.nodes else frame.columns[1]):
                meant = pd.read_csv(path, usecols=[name])[name]
                if frame[name].dtype.kind in "iu" and not np.array_equal(meant.to_numpy(), frame[name].to_numpy()):
                    raise SDCFailure(f"{path} was not written as meant: column {name!r} differs")
        return paths

    def to_graphml(self, path: str | os.PathLike[str]) -> Path:
        """Write GraphML that networkx, igraph and Gephi can read; read it again and compare."""
        return self._to_markup(Path(path), "GraphML")

    def to_gml(self, path: str | os.PathLike[str]) -> Path:
        """Write GML that networkx, igraph and Gephi can read; read it again and compare."""
        return self._to_markup(Path(path), "GML")

    def _to_markup(self, path: Path, how: str) -> Path:
        nodes, edges, kinds = texts_of(self.nodes), texts_of(self.edges), kinds_of(self.nodes, self.edges)
        content = to_markup(nodes, edges, kinds, self.directed, how)
        try:
            path.write_bytes(content)
        except OSError as error:
            raise SDCFailure(f"cannot write {path}: {error.strerror}") from error
        again = from_markup(read_markup(path, how, as_text=True), nodes, edges, kinds)
        if not (nodes.equals(again[0]) and edges.equals(again[1])):
            raise SDCFailure(f"{path} was not written as meant: read again, its cells differ")
        return path

    def to_sparse(self) -> Any:
        """Adjacency matrix (scipy.sparse CSR): 1, or the links' weight or count; rows in the order of the nodes."""
        from scipy.sparse import coo_array

        pairs = self._positions()
        values = np.ones(len(pairs), dtype=np.int64)
        if len(self.edges.columns) > 2:
            values = self.edges.iloc[:, 2].to_numpy()
        n = len(self.nodes)
        A = coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        return A.tocsr() if self.directed else (A + A.T).tocsr()

    def to_networkx(self) -> Any:
        """Make a networkx graph with columns as attributes (needs the extra ``[graph]``)."""
        try:
            import networkx
        except ImportError:
            raise SDCError("networkx is not installed: pip install sdc-problems[graph]") from None
        G = networkx.DiGraph() if self.directed else networkx.Graph()
        for row in self.nodes.to_dict("records"):
            G.add_node(row.pop(self.id_column), **{str(name): cell for name, cell in row.items()})
        for row in self.edges.to_dict("records"):
            G.add_edge(row.pop(SOURCE), row.pop(TARGET), **{str(name): cell for name, cell in row.items()})
        return G

    def to_igraph(self) -> Any:
        """Make an igraph graph with columns as attributes (igraph is not part of any extra: pip install igraph)."""
        try:
            import igraph
        except ImportError:
            raise SDCError("igraph is not installed: pip install igraph") from None
        g = igraph.Graph(n=len(self.nodes), edges=self._positions().tolist(), directed=self.directed)
        for name in self.nodes.columns:
            g.vs["name" if name == self.id_column else str(name)] = self.nodes[name].tolist()
        for name in self.edges.columns[2:]:
            g.es[str(name)] = self.edges[name].tolist()
        return g
