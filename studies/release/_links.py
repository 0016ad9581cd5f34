"""Links of a release: nodes under fresh identifiers in random order and the links between them, counted as written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.graph import Exposure, assortativity, degree_risk, exposure
from sdc_problems.problems.social._release import EGO_ARCS, FORMS, LINKS, betrayal, nodes_and_links, super_nodes
from sdc_problems.studies.release._columns import Columns
from sdc_problems.studies.release.guarantees import Guarantee, at_least, at_most
from sdc_problems.studies.release.row_order import RowOrder, content_words

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.graph import ProtectedGraph, SocialGraph
    from sdc_problems.studies.release._transaction import Places, Written

GraphForm = Literal["nodes", "supernodes"]


@dataclass(frozen=True)
class LinkedRelease:
    """A protected table of nodes on its way to its files.

    Attributes
    ----------
    graph
        The original.
    k
        Fewest nodes that the release promises to look alike, or to be in one super-node; 1 if it promises none.
    form
        "nodes": every node, and all links. "supernodes": one row per cluster, and numbers of links between clusters.
    published
        Both tables as they are written.
    rows
        Row of the table of nodes that each record of the original is in. It undoes the random order: a secret.
    columns
        Columns that leave.
    rare
        Nodes that fewer than so many look like are told of as exposed.
    """

    graph: SocialGraph
    k: int
    form: str
    published: ProtectedGraph
    rows: NDArray[np.int64]
    columns: Columns
    rare: int

    @classmethod
    def of(
        cls,
        graph: SocialGraph,
        frame: pd.DataFrame,
        columns: Columns,
        *,
        k: int | None,
        form: str,
        clusters: Callable[[], NDArray[Any]] | None,
        seed: int,
        rare: int | None = None,
    ) -> LinkedRelease:
        """Put a protected table in random order, or its clusters, and its links with it.

        Parameters
        ----------
        graph
            The original.
        frame
            The protected table in the original's order, with the columns that leave.
        columns
            Which these are.
        k
            What is promised, if anything.
        form
            As for the class.
        clusters
            Makes the cluster of each record; None if the protection has no clusters.
        seed
            Draws the order.
        rare
            As for the class; k if not given.
        """
        choice(form, "form", FORMS)
        least = 1 if k is None else k
        rare = max(least if rare is None else rare, 2)
        rng = np.random.default_rng([seed, *content_words(frame)])  # two files never share an order
        if form == "nodes":
            published, rows = nodes_and_links(graph, frame, list(columns.protected), least, rng)
            return cls(graph, least, form, published, rows, columns, rare)
        if clusters is None:
            raise SDCError("this protection forms no groups of records, so there are no super-nodes: release the nodes")
        labels = np.unique(clusters(), return_inverse=True)[1]
        first = np.unique(labels, return_index=True)[1]
        values = frame[list(columns.protected)].iloc[first].reset_index(drop=True)
        if not frame[list(columns.protected)].equals(values.iloc[labels].set_axis(frame.index)):
            raise SDCError("the records of a cluster have different released values, so they cannot form a super-node")
        published, rows = super_nodes(graph, values, labels, least, rng)
        hidden = (*columns.left_out, *columns.sensitive, *columns.unchanged)
        kept = replace(columns, sensitive=(), unchanged=(), left_out=tuple(n for n in graph.data.names if n in hidden))
        return cls(graph, least, form, published, rows, kept, rare)

    def order(self, records: NDArray[np.int64], private_file: bool) -> RowOrder:
        """Order in which the nodes are written, as it is already; super-nodes are no record's row.

        Parameters
        ----------
        records
            Record of the original file that each node is.
        private_file
            Whether the file is written that says which row is which record.
        """
        if self.form == "nodes":
            return RowOrder(records[np.argsort(self.rows)], None, private_file)
        return RowOrder(np.arange(len(self.published.nodes)), None, False)

    # ------------------------------------------------------------------ the written nodes as records

    def aligned(self, nodes: pd.DataFrame) -> pd.DataFrame:
        """Records of the written nodes in the rows of the original, without what only the graph has."""
        return self._plain(nodes).iloc[self.rows].reset_index(drop=True)

    def expanded(self, nodes: pd.DataFrame) -> pd.DataFrame:
        """Records that the written nodes stand for: a super-node for as many as its file says."""
        if self.form == "nodes":
            return self._plain(nodes)
        return self._plain(nodes).iloc[np.repeat(np.arange(len(nodes)), _whole(nodes.iloc[:, -2]))]

    def _plain(self, nodes: pd.DataFrame) -> pd.DataFrame:
        names = [name for name in self.published.nodes.columns if name in (*self.graph.data.names,)]
        return nodes[[name for name in names if name != self.published.id_column]]

    # ------------------------------------------------------------------ what is promised

    def promises(self, nodes: pd.DataFrame, edges: pd.DataFrame) -> list[Guarantee]:
        """Count the guarantees on identifiers and links in the written files.

        Parameters
        ----------
        nodes, edges
            Their cells, read back as text.
        """
        ids, ends = _whole(nodes.iloc[:, 0]), edges.iloc[:, :2].apply(_whole).to_numpy(dtype=np.int64)
        fresh = np.arange(1, len(self.published.nodes) + 1)
        odd = len(np.setxor1d(ids, fresh)) + len(ids) - len(np.unique(ids))
        column = str(nodes.columns[0])
        found = [at_most("identifiers", [column], 0, odd, "identifiers are 1 to the number of rows, in random order")]
        if odd:
            return found
        unknown = int((~np.isin(ends, fresh)).any(axis=1).sum())
        ends_of = list(edges.columns[:2])
        found.append(at_most("unknown ends", ends_of, 0, unknown, "every link joins two rows of the nodes"))
        if unknown:
            return found
        row_of = np.empty(len(fresh) + 1, dtype=np.int64)
        row_of[ids] = np.arange(len(ids))
        if self.form == "nodes":
            return [*found, *self._nodes_promised(row_of[ends], edges)]
        return [*found, *self._clusters_promised(nodes, edges)]

    def _nodes_promised(self, ends: NDArray[np.int64], edges: pd.DataFrame) -> list[Guarantee]:
        n, links = self.graph.n_nodes, self.graph.edges
        meant, written = _sorted(self.rows[links], self.graph.directed), _sorted(ends, self.graph.directed)
        before, after = (pairs[:, 0] * n + pairs[:, 1] for pairs in (meant, written))
        changed = len(np.setxor1d(before, after)) + abs(len(meant) - len(written))
        degrees = np.sort(np.bincount(ends.ravel(), minlength=n))
        moved = int((degrees != np.sort(self.graph.degrees)).sum())
        names = list(edges.columns[:2])
        return [
            at_most("links changed", names, 0, changed, "every link is there once, and no other link"),
            at_most("degrees changed", names, 0, moved, "as many nodes have each number of links as in the original"),
        ]

    def _clusters_promised(self, nodes: pd.DataFrame, edges: pd.DataFrame) -> list[Guarantee]:
        size, inner = str(nodes.columns[-2]), str(nodes.columns[-1])
        sizes, within, between = _whole(nodes[size]), _whole(nodes[inner]), _whole(edges[LINKS])
        lost = abs(int(within.sum() + between.sum()) - self.graph.n_links)
        people = abs(int(sizes.sum()) - self.graph.n_nodes)
        return [
            at_least("super-node", [size], self.k, int(sizes.min()), "every super-node stands for at least k nodes"),
            at_most("nodes lost", [size], 0, people, "the super-nodes stand for all nodes"),
            at_most("links lost", [inner, LINKS], 0, lost, "links within and between super-nodes are all links"),
        ]

    # ------------------------------------------------------------------ what is said

    @cached_property
    def exposure(self) -> Exposure:
        """Nodes that links alone betray; without neighborhoods where the graph is too large to compare them."""
        small = len(self.graph.indices) <= EGO_ARCS
        n, directed = self.graph.n_nodes, self.graph.directed
        return exposure(self.graph.edges, n, self.rare, directed=directed, egos=small)

    def sentences(self, nodes: pd.DataFrame, *, exposure: bool) -> tuple[str, ...]:
        """Sentences on what the links disclose, and on what hides the identity of nodes.

        Parameters
        ----------
        nodes
            The written nodes as text.
        exposure
            Whether to say whom links alone betray.
        """
        n, m = self.graph.n_nodes, self.graph.n_links
        said = [*self.graph.notes]
        if self.form == "supernodes":
            clusters = len(self.published.nodes)
            said.append(
                f"The {n:,} nodes and {m:,} links are released as {clusters:,} super-nodes, each with its number of"
                " nodes and of links within, and the numbers of links between them; which nodes are linked"
                " is not released."
            )
            return tuple(said)
        said.append(f"All {m:,} links are released with the {n:,} nodes, under identifiers 1 to {n:,} in random order.")
        if exposure:
            said.append(betrayal(self.exposure, n, self.rare))
        found = self.measured(nodes)["by_attributes_and_degree"]
        said.append(
            "An intruder who knows the protected attributes and the number of links, and guesses among"
            " those that fit, finds"
            f" {100 * found:.3g} % of the nodes."
        )
        return tuple(said)

    def measured(self, nodes: pd.DataFrame) -> dict[str, Any]:
        """Shares and assortativities of the written nodes with the links of the graph."""
        protected = list(self.columns.protected)
        now = _codes(self.aligned(nodes)[protected])
        before = self.graph.data.codes(protected)
        edges, directed = self.graph.edges, self.graph.directed
        pairs = zip(
            protected,
            assortativity(before, edges, directed=directed).tolist(),
            assortativity(now, edges, directed=directed).tolist(),
            strict=True,
        )
        return {
            "by_attributes_and_degree": degree_risk(now, edges, directed=directed),
            "assortativity": {name: {"original": old, "released": new} for name, old, new in pairs},
        }

    def entry(self, written: Written, places: Places) -> dict[str, Any]:
        """Entry of the certificate on the graph; nothing where no links were written."""
        if places.file_of_links is None:
            return {}
        return {"graph": self.payload(written.text, places.file_of_links.name, written.edges_sha256)}

    def payload(self, nodes: pd.DataFrame, edges_file: str, sha256: str) -> dict[str, Any]:
        """Entry of the certificate on the graph."""
        told = self.exposure
        clusters = self.form == "supernodes"
        return {
            "form": self.form,
            "directed": self.graph.directed,
            "nodes": self.graph.n_nodes,
            "links": self.graph.n_links,
            "super_nodes": len(self.published.nodes) if clusters else None,
            "file_of_links": edges_file,
            "sha256_of_links": sha256,
            "content_digest_of_the_original": self.graph.digest,
            "exposed_by_links_alone": None
            if clusters
            else {"fewer_than": self.rare, "degree": told.degree, "links": told.links, "neighbourhood": told.ego},
            **({} if clusters else self.measured(nodes)),
        }


def _whole(column: pd.Series[Any]) -> NDArray[np.int64]:
    """Whole numbers of a column of text; what is none is 0."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    whole: NDArray[np.int64] = np.where(np.isfinite(numbers) & (numbers % 1 == 0), numbers, 0).astype(np.int64)
    return whole


def _sorted(pairs: NDArray[np.int64], directed: bool) -> NDArray[np.int64]:
    return pairs if directed else np.sort(pairs, axis=1)


def _codes(frame: pd.DataFrame) -> NDArray[np.int64]:
    return np.column_stack([frame[name].factorize(use_na_sentinel=False)[0] for name in frame.columns])
