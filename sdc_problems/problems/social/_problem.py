"""Social graphs: clusters of at least k nodes whose attributes become common, links kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.views import TextView
from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.graph._links import from_csr
from sdc_problems.evaluators.graph.risk import Exposure, exposed
from sdc_problems.evaluators.node_clusters import FOLLOWED, NodeClusterEngine, NodeClusterSearch
from sdc_problems.front import batched
from sdc_problems.methods.partition._attributes import smallest_group
from sdc_problems.methods.partition._centroids import span
from sdc_problems.methods.partition._mdav import mdav
from sdc_problems.microdata import Kind, Microdata
from sdc_problems.objective import Objective
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.partition import GroupSizes, RandomPartitions, RecordMutation, WholeGroupCrossover, limited
from sdc_problems.problem import AT_ONCE, SDCProblem
from sdc_problems.problems.microaggregation import SMALL_LABELS, _partitions
from sdc_problems.problems.social._baselines import attribute_blocks, degree_blocks, nearest_clusters, sangreea
from sdc_problems.problems.social._columns import columns_of, plan_of, released_cells
from sdc_problems.problems.social._objectives import graph_objectives
from sdc_problems.problems.social._release import EGO_ARCS, FORMS, betrayal, nodes_and_links, super_nodes

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.graph import ProtectedGraph, SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.requirement import Required

QUADRATIC = 20_000  # nodes up to which the slower baselines are made: their time grows with the square
DRAWS = 5  # of Algorithm 14, as many as the source ran
SANGREEA = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))


@dataclass(frozen=True)
class NodeClusters(TextView):
    """Clusters of nodes.

    Attributes
    ----------
    clusters
        Positions of the nodes of each cluster, counted from 0.
    """

    clusters: tuple[tuple[int, ...], ...]

    @property
    def k(self) -> int:
        """Size of the smallest cluster."""
        return min(len(cluster) for cluster in self.clusters)

    def __str__(self) -> str:
        sizes = [len(cluster) for cluster in self.clusters]
        return f"{len(sizes)} clusters of {span(sizes)} nodes"


class SocialGraphProblem(SDCProblem):
    """Group the nodes of a graph into clusters of at least k; each cluster's quasi-identifiers become common.

    A row of X gives every node the number of its cluster, in order of first use. Sizes lie between k and 2k − 1, or up
    to 2·k_max − 1. The cap costs nothing in ``dbil_graph`` of nominal attributes and places, but may in ``aamil``.
    Links are not changed: what they tell is measured, and said with every release.

    A row that breaks the limits stands for the clustering that ``sdc_problems.operators.partition.limited`` makes of
    it, always the same one.

    Parameters
    ----------
    graph
        People and their links; quasi-identifiers, sensitive attributes and identifiers are roles of its table.
    k
        Smallest cluster, 2 … n/2.
    objectives
        Any of ``il_graph``, ``aamil``, ``mixing``, ``cdil``, ``dbil_graph``, ``homophily``, ``ego_risk``,
        ``ego_risk_single``, ``ego_risk_right``, ``dr_degree``, ``nsil``, ``ngil``, ``k``, ``score_mean``,
        ``score_max``, and ``l`` if there is a sensitive attribute; or an `Objective` with a function. All but
        ``k`` and ``l`` are fractions.
    require
        What a solution must meet, such as ``{"il_graph": 0.2}``; see `SDCProblem`.
    k_max
        Largest value that the smallest cluster is meant to reach; k if not given.
    hierarchies
        Column to its hierarchy: such a place becomes the closest common ancestor of its cluster.
    ranked
        Rankings: tuples of columns of one domain, best first. They become the best by Borda's rule.
    aggregate
        Column to how its common value is made: "mode" (nominal ones), "median" (the lower one, of ordinal ones), "mean"
        (of numeric ones) or "generalize" (the truthful choice, with a hierarchy).
    threads
        Candidates measured at once; all processors if not given. Results do not depend on it.

    Notes
    -----
    Marés (2013), chapter 6; Campan and Truta (2009), "Data and structural k-anonymity in social networks". Numbers
    count by the original's deciles in ``aamil``, ``mixing``, ``cdil`` and ``homophily``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import SocialGraph
    >>> people = pd.DataFrame({"id": [1, 2, 3, 4], "town": ["Olot", "Reus", "Olot", "Reus"]})
    >>> friends = pd.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]})
    >>> graph = SocialGraph.from_frames(people, friends, quasi_identifiers=["town"])
    >>> problem = SocialGraphProblem(graph, k=2)
    >>> x = np.array([0, 1, 0, 1])
    >>> problem.natural(problem.evaluate(x)).tolist()
    [0.0, 1.0]
    >>> problem.release_graph(x, form="supernodes", seed=1).nodes
       id  town  size  inner_links
    0   1  Olot     2            0
    1   2  Reus     2            0
    """

    def __init__(
        self,
        graph: SocialGraph,
        k: int,
        *,
        objectives: Sequence[str | Objective] = ("il_graph", "dr_degree"),
        require: Mapping[str, Required] | None = None,
        k_max: int | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        ranked: Sequence[Sequence[str]] = (),
        aggregate: Mapping[str, str] | None = None,
        threads: int | None = None,
    ) -> None:
        n = graph.n_nodes
        self.graph = graph
        self.hierarchies = dict(hierarchies or {})
        self.plan = plan_of(graph.data, self.hierarchies, ranked, dict(aggregate or {}))
        self.k = smallest_group(k, n)
        self.k_max = self.k if k_max is None else smallest_group(k_max, n)
        if self.k_max < self.k:
            raise SDCError(f"k_max = {self.k_max} is smaller than k = {self.k}")
        self.attributes = self.plan.names
        self.smallest = self.k
        self.largest = min(2 * self.k_max - 1, n)
        self._threads = None if threads is None else whole(threads, "threads", least=1)
        n_groups = n // self.k
        super().__init__(
            data=graph.data,
            objectives=objectives,
            catalogue=graph_objectives(self.smallest, self.largest),
            require=require,
            n_var=n,
            xl=0,
            xu=n_groups - 1,
            dtype=np.int16 if n_groups <= SMALL_LABELS else np.int32,
        )

    # -- for the operators -----------------------------------------------------------------------------------------

    @property
    def neighbours(self) -> NDArray[np.int32]:
        """Positions of the nearest other nodes of each by their attributes, for the operators."""
        nearest: NDArray[np.int32] = self.engine.neighbours
        return nearest

    def limited(self, X: ArrayLike) -> NDArray[Any]:
        """Rows as they are measured and released: every cluster within the limits, labels in order of first use."""
        return limited(self.genomes(X), self.smallest, self.largest)

    def labels(self, x: ArrayLike) -> NDArray[np.int64]:
        """Cluster of each node as it would be released."""
        row: NDArray[np.int64] = limited(self.genome(x), self.smallest, self.largest).astype(np.int64)
        return row

    def refined(self, x: ArrayLike, proposals: int, random_state: np.random.Generator) -> NDArray[Any]:
        """One row after so many proposals to move nodes, of which those that lose nothing are taken.

        Lost is a weighted sum of those of the objectives that moves can follow exactly (``il_graph`` and its terms,
        ``nsil``, ``dr_degree``), the weights being drawn anew each time; of ``il_graph`` if there is none among them.
        The smallest cluster does not become smaller.
        """
        row: NDArray[Any] = self.limited(x)[0]
        followed = [o.name for o in self.objectives if o.name in FOLLOWED] or ["il_graph"]
        share = random_state.dirichlet(np.ones(len(followed)))
        weights = dict(zip(followed, share.tolist(), strict=True))
        search = NodeClusterSearch(self.engine, weights, least=int(np.bincount(row).min()), largest=self.largest)
        search.start(row)
        search.anneal(proposals, hot=0.0, cold=0.0, seed=int(random_state.integers(0, 2**63)))
        better: NDArray[Any] = search.best.astype(row.dtype)
        return better

    # -- what every problem provides ------------------------------------------------------------------------------

    def _compile(self) -> NodeClusterEngine:
        data = self.graph.data
        return NodeClusterEngine(
            columns_of(data, self.plan, self.hierarchies),
            from_csr(self.graph.indptr, self.graph.indices, directed=self.graph.directed),
            sensitive=data.codes(data.sensitive) if data.sensitive else None,
            threads=self._threads,
        )

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.engine.measure(limited(X, self.smallest, self.largest), names)
        return values

    def _check_objective(self, objective: Objective) -> None:
        if objective.name == "l" and not self.data.sensitive:
            raise SDCError("objective 'l' needs a sensitive attribute: give sensitive= when the graph is read")

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        original, released = self.engine.cells(self.labels(x))
        yield released, original

    def _operators(self) -> dict[str, Any]:
        """Return random clusterings, the crossover of whole clusters, and moves between neighboring ones."""
        return {
            "sampling": RandomPartitions(),
            "crossover": WholeGroupCrossover(),
            "mutation": RecordMutation(),
            "repair": GroupSizes(),
        }

    @property
    def n_candidates(self) -> int:
        """Number of clusterings within the limits: 48,895 for 12 nodes and k = 3."""
        return partitions_within(len(self.data), self.smallest, self.largest)

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every clustering within the limits once."""
        for rows in batched(_partitions(len(self.data), self.smallest, self.largest), AT_ONCE):
            yield np.array(rows, dtype=self.dtype)

    def decode(self, x: ArrayLike) -> NodeClusters:
        """Read which nodes share their values."""
        labels = self.labels(x)
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        return NodeClusters(tuple(tuple(group.tolist()) for group in groups))

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the clustering: losses, risks, and the shares of cells that become untrue or coarser.

        Risks by neighborhood are left out above 200,000 arcs, if they are no objectives.
        """
        labels = self.labels(x)
        asked = {o.name for o in self.measured_objectives}
        every = [name for name in self.catalogue if name != "l" or self.data.sensitive]
        slow = {"ego_risk", "ego_risk_single", "ego_risk_right", "score_mean", "score_max"}
        small = self.engine.arcs.n_arcs <= EGO_ARCS
        names = tuple(name for name in every if small or name in asked or name not in slow)
        values = self.engine.measure(labels[None, :], names)[0]
        untrue, coarser = self._changed(labels)
        return {
            **dict(zip(names, map(float, values), strict=True)),
            "n_clusters": float(labels.max() + 1),
            "untrue": untrue,
            "coarser": coarser,
            **self._own_figures(self.genome(x)),
        }

    def _changed(self, labels: NDArray[np.int64]) -> tuple[float, float]:
        """Shares of cells whose released value is not true of the person, and whose is true but coarser."""
        table = self.engine.table
        code, number = self.engine.values(labels)
        untrue = coarser = 0
        for j, rule in enumerate(self.plan.rules):
            if table.number[j] >= 0:
                differ = table.values[table.number[j]] != number[labels, table.number[j]]
            else:
                differ = table.codes[j] != code[labels, j]
            if rule == "generalize":
                coarser += int(differ.sum())
            else:
                untrue += int(differ.sum())
        return untrue / table.codes.size, coarser / table.codes.size

    @cached_property
    def exposure(self) -> Exposure:
        """Nodes that links alone betray, in the original and in every release that keeps the links.

        Neighborhoods are left out above 200,000 arcs, if no objective compares them.
        """
        slow = {"ego_risk", "ego_risk_single", "ego_risk_right", "score_mean", "score_max"}
        small = self.engine.arcs.n_arcs <= EGO_ARCS or slow & {o.name for o in self.measured_objectives}
        return exposed(self.engine.arcs, self.engine.egos if small else None, self.k)

    def describe(self, x: ArrayLike, *, form: str = "nodes") -> tuple[str, ...]:
        """Say in plain sentences what releasing ``x`` would do to the data.

        Parameters
        ----------
        x
            The clustering.
        form
            As for `release_graph`.
        """
        choice(form, "form", FORMS)
        labels, n = self.labels(x), len(self.data)
        found = self.decode(x)
        untrue, coarser = self._changed(labels)
        before, after = self.engine.homophily_before, self.engine.homophily_after(labels)
        names = self.attributes
        most = int(np.argmax(np.abs(before)))
        words = {
            "mode": "the most frequent value",
            "median": "the lower median",
            "mean": "the mean",
            "generalize": "the closest common ancestor",
            "borda": "the best by Borda's rule",
        }
        used = " or ".join(dict.fromkeys(words[rule] for rule in self.plan.rules))
        return (
            f"The {n} nodes form {found}; in {', '.join(names)} each node gets {used} of its cluster.",
            f"So whoever knows all of these, and nothing of the links, sees every node at least {found.k} times.",
            f"{100 * untrue:.1f} % of the cells become untrue of the person, {100 * coarser:.1f} % become coarser; the "
            f"rest stays.",
            f"Links within a category are kept in part: assortativity by {names[most]} goes from {before[most]:.2f} to "
            f"{after[most]:.2f}.",
            betrayal(self.exposure, n, self.k)
            if form == "nodes"
            else "Who is linked to whom within and between clusters is hidden.",
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the table of nodes with each cluster's values in the quasi-identifiers; nothing is random here."""
        labels = self.labels(x)
        smallest = int(np.bincount(labels).min())
        if smallest < self.k:
            raise SDCError(f"a cluster has {smallest} nodes, fewer than k = {self.k}: nothing is released")
        frame = self._publishable()
        code, number = self.engine.values(labels)
        cells = released_cells(self.data, self.plan, self.hierarchies, code[labels], number[labels])
        for name in self.attributes:
            frame[name] = cells[name]
        return frame

    def release_graph(self, x: ArrayLike, *, form: str = "nodes", seed: int | None = None) -> ProtectedGraph:
        """Return nodes and links as they can be published, with ids 1 … n in random order.

        Parameters
        ----------
        x
            The clustering.
        form
            ``"nodes"``: every node with its released values, and all links (the source's release). ``"supernodes"``:
            one row per cluster with its values, size and inner links, and the numbers of links between clusters.
        seed
            Draws the order. It is a secret: who knows it, knows who is who. Drawn from the system if not given.
        """
        choice(form, "form", FORMS)
        rng = np.random.default_rng(seed)
        if form == "nodes":
            return nodes_and_links(self.graph, self.release(x), list(self.attributes), self.k, rng)[0]
        import pandas as pd

        labels = self.labels(x)
        code, number = self.engine.values(labels)
        cells = released_cells(self.data, self.plan, self.hierarchies, code, number)
        ordered = [name for name in self.data.names if name in cells]
        values = pd.DataFrame({name: cells[name] for name in ordered})
        return super_nodes(self.graph, values, labels, self.k, rng)[0]

    def microdata(self, x: ArrayLike) -> Microdata:
        """Return released attributes and degree as a table to be protected again: with the degree, k no longer holds.

        Notes
        -----
        Marés (2013), §6.2.2. The degree is called ``degree``, with underscores behind it if a column is called so.
        """
        frame = self.release(x).drop(columns=list(self.data.identifiers))
        name = "degree"
        while name in frame.columns:
            name += "_"
        frame[name] = self.engine.degrees
        kinds = {c: self.data.attribute(c).kind.value for c in frame.columns if c in self.data.names}
        orders = {}
        for c in self.attributes:
            if c in self.hierarchies:
                kinds[c] = Kind.NOMINAL.value
            elif kinds[c] == Kind.ORDINAL.value:
                attribute = self.data.attribute(c)
                orders[c] = list(attribute.categories[: attribute.n_categories - attribute.has_missing])
        wanted = [c for c in (*self.attributes, name) if len(frame[c].unique()) > 1]
        return Microdata.from_frame(
            frame,
            quasi_identifiers=wanted,
            sensitive=self.data.sensitive,
            kinds={c: kind for c, kind in kinds.items() if c not in orders},
            orders=orders,
            missing="category",
        )

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Algorithm 14 with five seeds, MDAV on the attributes, SaNGreeA with three weights, blocks of equal degree.

        Above 20,000 nodes only the last, and blocks in the order of the attributes.
        """
        engine, k = self.engine, self.k
        found: dict[str, NDArray[Any]] = {}
        if engine.n <= QUADRATIC:
            for draw in range(DRAWS):
                seeds = np.random.default_rng(draw).permutation(engine.n)
                found[f"Algorithm 14, seed {draw + 1}"] = nearest_clusters(engine.table, k, seeds=seeds)
            found["MDAV"] = mdav(self._points(), k, kinds=[self._kind(name) for name in self.attributes])
            for alpha, beta in SANGREEA:
                name = f"SaNGreeA, α = {alpha:g}, β = {beta:g}"
                found[name] = sangreea(engine.originals, engine.arcs, k, alpha=alpha, beta=beta)
        found["degree blocks"] = degree_blocks(engine.degrees, k)
        found["attribute blocks"] = attribute_blocks(engine.table, k)
        rows = limited(np.array([restricted_growth(labels) for labels in found.values()]), self.smallest, self.largest)
        return dict(zip(found, rows.astype(self.dtype), strict=True))

    def _kind(self, name: str) -> str:
        return (
            "nominal"
            if name in self.hierarchies or self.plan.ranking_of(name)
            else self.data.attribute(name).kind.value
        )

    def _points(self) -> NDArray[np.float64]:
        """Quasi-identifiers as numbers: values of numeric ones, codes of the others."""
        points: NDArray[np.float64] = self.data.codes(self.attributes).astype(np.float64)
        for j, name in enumerate(self.attributes):
            if self._kind(name) == "numeric":
                points[:, j] = self.data.values(name)[:, 0]
        return points


def partitions_within(n: int, smallest: int, largest: int) -> int:
    """Number of partitions of n records into groups of so many at least and at most.

    Examples
    --------
    >>> partitions_within(12, 3, 5), partitions_within(12, 4, 7)
    (48895, 7029)
    """
    counts = [1]
    for m in range(1, n + 1):  # by the size of the first record's group
        sizes = range(smallest, min(largest, m) + 1)
        counts.append(sum(comb(m - 1, size - 1) * counts[m - size] for size in sizes))
    return counts[-1]


__all__ = ["NodeClusters", "SocialGraphProblem"]
