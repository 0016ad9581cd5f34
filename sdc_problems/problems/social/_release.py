"""Releases of a social graph: nodes and links with fresh identifiers, or one row per cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.graph import ProtectedGraph

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.evaluators.graph.risk import Exposure
    from sdc_problems.graph import SocialGraph

SIZE, INNER, LINKS = "size", "inner_links", "links"
FORMS = ("nodes", "supernodes")
EGO_ARCS = 200_000  # arcs up to which a person is told of neighborhoods without asking


def nodes_and_links(
    graph: SocialGraph, released: pd.DataFrame, protected: list[str], k: int, rng: np.random.Generator
) -> tuple[ProtectedGraph, NDArray[np.int64]]:
    """Nodes with their released values and all links, ids 1 … n in random order; and the row of each original node.

    Parameters
    ----------
    graph
        The original.
    released
        The protected table of nodes, in the original's order.
    protected
        Its columns that are common to at least k nodes.
    k
        What is promised.
    rng
        Draws the order; it must not be known to readers.
    """
    import pandas as pd

    n, name = graph.n_nodes, graph.id_column
    fresh = rng.permutation(n) + 1
    nodes = released.drop(columns=[column for column in graph.data.identifiers if column in released.columns])
    if name in nodes.columns:
        raise SDCError(f"column {name!r} names the nodes and is none of the identifiers: declare it as one")
    nodes.insert(0, name, fresh)
    nodes = nodes.sort_values(name).reset_index(drop=True)
    ends = fresh[graph.edges]
    if not graph.directed:
        ends = np.sort(ends, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    edges = pd.DataFrame(ends[order], columns=["source", "target"])
    if graph.edge_weights is not None:
        edges["weight"] = graph.edge_weights[order]
    smallest = smallest_combination(nodes, protected)
    if smallest < k:
        raise SDCError(
            f"a combination of released values has {smallest} nodes, fewer than k = {k}: nothing is released"
        )
    degrees = np.bincount(np.concatenate([edges["source"], edges["target"]]), minlength=n + 1)[1:]
    if len(edges) != graph.n_links or not np.array_equal(degrees[fresh - 1], graph.degrees):
        raise SDCError("the released links are not those of the graph: nothing is released")
    counts = {"nodes": n, "links": len(edges), "smallest_combination": smallest}
    return ProtectedGraph(nodes, edges, graph.directed, counts), fresh - 1


def smallest_combination(nodes: pd.DataFrame, protected: list[str]) -> int:
    """Fewest rows that share their values in some columns; missing cells are a value."""
    return int(nodes.groupby(protected, dropna=False, observed=True).size().min())


def super_nodes(
    graph: SocialGraph, values: pd.DataFrame, labels: NDArray[np.int64], k: int, rng: np.random.Generator
) -> tuple[ProtectedGraph, NDArray[np.int64]]:
    """One row per cluster: released values, size and inner links; and the numbers of links between clusters.

    The second part is the row of each original node's cluster.

    Parameters
    ----------
    graph
        The original.
    values
        Released values of each cluster.
    labels
        Cluster of each node.
    k
        What is promised.
    rng
        Draws the order of the clusters.
    """
    import pandas as pd

    n_clusters = int(labels.max()) + 1
    fresh = rng.permutation(n_clusters) + 1
    sizes = np.bincount(labels, minlength=n_clusters)
    if sizes.min() < k:
        raise SDCError(f"a cluster has {sizes.min()} nodes, fewer than k = {k}: nothing is released")
    ends = fresh[labels[graph.edges]]
    if not graph.directed:
        ends = np.sort(ends, axis=1)
    pairs, count = np.unique(ends, axis=0, return_counts=True)
    inner = pairs[:, 0] == pairs[:, 1]
    within = np.zeros(n_clusters, dtype=np.int64)
    within[pairs[inner, 0] - 1] = count[inner]
    nodes = values.copy()
    nodes.insert(0, _free("id", nodes), fresh)
    nodes[_free(SIZE, nodes)] = sizes
    nodes[_free(INNER, nodes)] = within[fresh - 1]
    nodes = nodes.sort_values(nodes.columns[0]).reset_index(drop=True)
    edges = pd.DataFrame(pairs[~inner], columns=["source", "target"])
    edges[LINKS] = count[~inner]
    if int(within.sum() + edges[LINKS].sum()) != graph.n_links:
        raise SDCError("the links of the clusters are not those of the graph: nothing is released")
    counts = {
        "nodes": graph.n_nodes,
        "links": graph.n_links,
        "clusters": n_clusters,
        "smallest_cluster": int(sizes.min()),
    }
    return ProtectedGraph(nodes, edges, graph.directed, counts), fresh[labels] - 1


def _free(name: str, frame: pd.DataFrame) -> str:
    """Return the name, with underscores behind it until no column is called so."""
    while name in frame.columns:
        name += "_"
    return name


def betrayal(told: Exposure, n: int, k: int) -> str:
    """Sentence on the people whom links alone betray."""
    ego = "" if told.ego is None else f", {told.ego:,} a neighborhood"
    return (
        f"The links stay, and betray people: of {n:,} nodes, {told.degree:,} have a number of links that fewer than "
        f"{k} share, {told.links:,} a number of links and of links among their neighbors{ego}. Super-nodes hide these."
    )
