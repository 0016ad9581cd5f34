"""Verdict on a released graph: the table of its nodes, and what its links reveal and have kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.columns import label
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.graph import (
    aamil,
    assortativity,
    cdil,
    degree_risk,
    ego_matches,
    exposure,
    mixing,
    structure,
)
from sdc_problems.evaluators.graph.structure import SAMPLED_ABOVE
from sdc_problems.graph._ids import id_text, positions_of
from sdc_problems.graph._links import link_arrays
from sdc_problems.microdata import Kind
from sdc_problems.problems.social._release import EGO_ARCS, INNER, LINKS, SIZE
from sdc_problems.studies.verdict._verdict import Verdict, verdict
from sdc_problems.studies.verdict.parts import Measure, Skipped

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.graph import SocialGraph

GROUP = "Links of the released graph"
DECILES = 10


def graph_verdict(
    original: SocialGraph,
    nodes: pd.DataFrame | None = None,
    *,
    edges: pd.DataFrame | None = None,
    id: str | None = None,
    rows: ArrayLike | None = None,
    **options: Any,
) -> Verdict:
    """Measure the risk and the loss of a released graph: `verdict` of its nodes, and measures of its links.

    Without a release, measure the risk of the unprotected original.

    Parameters
    ----------
    original
        Persons and their links before protection; the roles are those of its table.
    nodes
        The released nodes: one row each, or one per super-node with its ``size`` and ``inner_links``.
    edges
        Their links: ``source``, ``target``, and between super-nodes ``links``, their number.
    id
        Column of the identifiers in both; by default that of the original.
    rows
        Record of the original that each row of the nodes is. Without it, measures that need to know who is who are
        left out; nobody but the holder of the data should know it.
    **options
        Further options of `verdict`.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import SocialGraph
    >>> people = pd.DataFrame({"id": [1, 2, 3, 4], "town": ["Olot", "Reus", "Olot", "Reus"]})
    >>> friends = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]})
    >>> graph = SocialGraph.from_frames(people, friends, quasi_identifiers=["town"])
    >>> found = graph_verdict(graph, people, edges=friends, rows=[0, 1, 2, 3])
    >>> found.value("dr_degree"), found.value("mixing")
    (1.0, 0.0)
    """
    if nodes is None or edges is None:
        found = verdict(original.data, **options)
        alone = _NodeMeasures(original, original.data.frame(), original.edges, None, found.value("k"))
        told = alone.told(original.edges, len(original.indices), after=False)
        told = [replace(measure, group="Links of the graph") for measure in told]
        return replace(found, measures=(*found.measures, *told))
    id = original.id_column if id is None else id
    names = [str(name) for name in nodes.columns]
    if id not in names:
        raise SDCError(f"the released nodes have no column {id!r} of identifiers (they have {', '.join(names)})")
    table = nodes.drop(columns=[id])
    released = _ends(nodes[id].tolist(), edges)
    grouped = {SIZE, INNER} <= set(names) and LINKS in edges.columns
    if grouped:
        sizes, inner, between = (_counts(column) for column in (nodes[SIZE], nodes[INNER], edges[LINKS]))
        people = table.drop(columns=[SIZE, INNER]).loc[np.repeat(np.arange(len(table)), sizes)].reset_index(drop=True)
        quasi = original.data.quasi_identifiers
        others = [name for name in original.data.names if name not in quasi]
        data = original.data.with_roles(quasi_identifiers=quasi, identifiers=others)
        found = verdict(data, people, **{**options, "shuffled": True})
        more: _GroupMeasures | _NodeMeasures = _GroupMeasures(original, people, sizes, inner, between, released)
    else:
        records = None if rows is None else np.asarray(rows, dtype=np.int64)
        options = {**options, "shuffled": records is None}  # the order of nodes means nothing
        found = verdict(original.data, table, rows=records, **options)
        more = _NodeMeasures(original, table, released, records, found.value("k"))
    measures, skipped = more.taken()
    return replace(found, measures=(*found.measures, *measures), skipped=(*found.skipped, *skipped))


def _ends(ids: Sequence[object], edges: pd.DataFrame) -> NDArray[np.int64]:
    """Rows of the nodes at both ends of the links."""
    missing = [name for name in ("source", "target") if name not in edges.columns]
    if missing:
        raise SDCError(f"the released links have no column {missing[0]!r}")
    return positions_of(
        [id_text(name) for name in ids],
        edges["source"].tolist(),
        edges["target"].tolist(),
        lambda row: f"link {row + 1} of the released ones",
    )


def _counts(column: pd.Series[Any]) -> NDArray[np.int64]:
    """Integers ≥ 0 from a column."""
    import pandas as pd

    numbers = pd.to_numeric(column.astype(str), errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(numbers >= 0) | (numbers % 1 != 0))
    if len(wrong):
        raise SDCError(f"column {str(column.name)!r} of the released graph is no count in row {wrong[0] + 1}")
    return numbers.astype(np.int64)


@dataclass(frozen=True)
class _Measures:
    """Measures of a released graph against its original."""

    original: SocialGraph
    table: pd.DataFrame

    def codes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Categories of the quasi-identifiers in both; numbers by the deciles of the original."""
        import pandas as pd

        data = self.original.data
        old, new = [], []
        for name in data.quasi_identifiers:
            column = self.table[name]
            if data.attribute(name).kind is Kind.NUMERIC:
                values = data.values(name)[:, 0]
                edges = np.unique(np.quantile(values, np.arange(1, DECILES) / DECILES))
                shown = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
                if np.isfinite(shown).all():
                    old.append(np.searchsorted(edges, values, side="right"))
                    new.append(np.searchsorted(edges, shown, side="right"))
                    continue
            labels = list(data.attribute(name).labels)
            place = {text: code for code, text in enumerate(labels)}
            before = data.codes(name)[:, 0].astype(np.int64)
            texts = ["?" if pd.isna(cell) else label(cell) for cell in column]
            old.append(before)
            new.append(np.array([place.setdefault(text, len(place)) for text in texts], dtype=np.int64))
        return np.column_stack(old), np.column_stack(new)

    def measure(
        self, name: str, text: str, value: float, sentence: str, *, high: float | None = 1.0, better: str = "lower",
        before: float | None = None,
    ) -> Measure:  # fmt: skip
        """One measure of the links."""
        return Measure(GROUP, name, text, float(value), "", 0.0, high, better, sentence, before=before)

    def distribution(self, old: NDArray[np.int64], new: NDArray[np.int64]) -> Measure:
        """Loss of the distribution of categories."""
        value = cdil(old, new)
        return self.measure(
            "cdil", "CDIL, distribution of categories", value,
            f"{100 * value:.3g} % of the nodes would have to change for each category to be as frequent as it was.",
        )  # fmt: skip


@dataclass(frozen=True)
class _NodeMeasures(_Measures):
    released: NDArray[np.int64]
    records: NDArray[np.int64] | None
    k: float | None

    def taken(self) -> tuple[list[Measure], list[Skipped]]:
        """Measures of a graph whose nodes are persons."""
        graph, n = self.original, len(self.table)
        if n != graph.n_nodes:
            raise SDCError(f"the released graph has {n:,} nodes and the original {graph.n_nodes:,}")
        arrays = link_arrays(self.released, n, directed=graph.directed)
        source = np.repeat(np.arange(n), np.diff(arrays.indptr))
        links = np.column_stack([source, arrays.indices.astype(np.int64)])
        links = links if graph.directed else links[links[:, 0] < links[:, 1]]
        old, new = self.codes()
        directed = graph.directed
        measures = self.told(links, len(arrays.indices))
        r = assortativity(old, graph.edges, directed=directed)
        after = assortativity(new, links, directed=directed)
        most = int(np.argmax(np.abs(r)))
        name = graph.data.quasi_identifiers[most]
        measures.append(
            self.measure(
                "homophily", "change of assortativity", np.abs(r - after).mean(),
                f"Average change of how much more often than by chance links join equal nodes; by {name}"
                f" from {r[most]:.2f} to {after[most]:.2f}.", high=2.0,
            )
        )  # fmt: skip
        measures.append(self.distribution(old, new))
        order = self._order(links)
        if order is None:
            why = "nodes of the release and of the original are not paired, or links have changed"
            return measures, [Skipped(GROUP, "mixing, AAMIL, nodes found by their neighborhood", why)]
        return [*measures, *self._paired(old, new[order])], []

    def told(self, links: NDArray[np.int64], arcs: int, *, after: bool = True) -> list[Measure]:
        """Measures of what links reveal; for the links of a release, with the structure of the original beside."""
        graph, n = self.original, len(self.table)
        k = max(int(self.k or 2), 2)
        told = exposure(links, n, k, directed=graph.directed, egos=arcs <= EGO_ARCS)
        known = {
            "exposed_degree": ("number of links", told.degree),
            "exposed_links": ("number of links and of links among the neighbors", told.links),
            **({} if told.ego is None else {"exposed_ego": ("neighborhood", told.ego)}),
        }
        found = [
            self.measure(
                name, f"exposed by {what}", count,
                f"{count:,} of {n:,} nodes have a {what} that fewer than {k} nodes share, without regard to"
                " attributes.",
                high=float(n),
            )
            for name, (what, count) in known.items()
        ]  # fmt: skip
        shown = [self.table[name].factorize(use_na_sentinel=False)[0] for name in graph.data.quasi_identifiers]
        risk = degree_risk(np.column_stack(shown), links, directed=graph.directed)
        sentence = f"A guess by quasi-identifiers and number of links finds {100 * risk:.3g} %."
        found.append(self.measure("dr_degree", "found by attributes and degree", risk, sentence))
        if n <= SAMPLED_ABOVE:
            before = structure(graph.edges, n, directed=graph.directed).transitivity if after else None
            found.append(
                self.measure(
                    "transitivity", "transitivity", structure(links, n, directed=graph.directed).transitivity,
                    "Share of the pairs of links at a node that a third link closes.", better="", before=before,
                )
            )  # fmt: skip
        return found

    def _order(self, links: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Row in the release of each original node, if it is known and all links are those of the original."""
        if self.records is None:
            return None
        order = np.empty(len(self.records), dtype=np.int64)
        order[self.records] = np.arange(len(order))
        meant = order[self.original.edges]
        if not self.original.directed:
            meant = np.sort(meant, axis=1)
        same = np.array_equal(np.unique(meant, axis=0), np.unique(links, axis=0))
        return order if same else None

    def _paired(self, old: NDArray[np.int64], new: NDArray[np.int64]) -> list[Measure]:
        edges, directed = self.original.edges, self.original.directed
        both, one = mixing(old, new, edges, directed=directed), aamil(old, new, edges, directed=directed)
        found = [
            self.measure(
                "mixing", "mixing along links", both,
                f"{100 * both:.3g} % of the links would have to lead elsewhere to restore the original numbers of links"
                " between categories.",
            ),
            self.measure(
                "aamil", "AAMIL, links to released neighbors", one,
                "The same, if only the other end of each link has its released value.",
            ),
        ]  # fmt: skip
        if len(self.original.indices) <= EGO_ARCS:
            told = ego_matches(old, new, edges, directed=directed)
            hits = int((told.found > 0).sum())
            found.append(
                self.measure(
                    "ego_risk", "found by attributed neighborhood", told.risk,
                    f"{hits:,} nodes have a neighborhood, with the original values of all its nodes, that"
                    " is in the release;"
                    f" a guess among those that fit finds {100 * told.risk_right:.3g} % of all nodes.",
                )
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class _GroupMeasures(_Measures):
    sizes: NDArray[np.int64]
    inner: NDArray[np.int64]
    between: NDArray[np.int64]
    released: NDArray[np.int64]

    def taken(self) -> tuple[list[Measure], list[Skipped]]:
        """Measures of super-nodes."""
        n, smallest = int(self.sizes.sum()), int(self.sizes.min())
        m = int(self.inner.sum() + self.between.sum())
        directed = self.original.directed
        sizes = self.sizes.astype(np.float64)
        within = sizes * (sizes - 1) / (1.0 if directed else 2.0)
        across = sizes[self.released[:, 0]] * sizes[self.released[:, 1]]
        e = np.concatenate([self.inner, self.between]).astype(np.float64)
        pairs = np.concatenate([within, across])
        if (e > pairs).any():
            raise SDCError("a super-node, or a pair of them, has more links than pairs of nodes")
        some = pairs > 0
        wrong = float((2 * e[some] * (1 - e[some] / pairs[some])).sum()) / (n * (n - 1) / (2.0 if directed else 4.0))
        old, new = self.codes()
        if len(old) != len(new):
            raise SDCError(f"the super-nodes stand for {len(new):,} nodes and the original has {len(old):,}")
        measures = [
            self.measure(
                "super_node", "smallest super-node", smallest,
                f"Every super-node stands for {smallest:,} nodes or more and hides the links between them.",
                high=float(n), better="higher",
            ),
            self.measure(
                "nsil", "NSIL, structure", wrong,
                f"Links drawn at random, as often as the super-nodes say, have {100 * wrong:.3g} % of the worst number"
                " of pairs wrong.",
            ),
            self.measure(
                "links", "links", m, "Links within and between super-nodes.", high=None, better="",
                before=float(self.original.n_links),
            ),
        ]  # fmt: skip
        measures.append(self.distribution(old, new))
        why = "super-nodes show no links of single nodes"
        return measures, [Skipped(GROUP, "exposure, mixing, nodes found by their neighborhood", why)]
