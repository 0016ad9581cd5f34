"""Disclosure risk of a social graph: what links disclose about people with common attributes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import code_pair, code_table, labels, whole
from sdc_problems.evaluators._codes import dense, row_labels
from sdc_problems.evaluators.graph._egos import Egos, ego_classes
from sdc_problems.evaluators.graph._egos import egos as _egos
from sdc_problems.evaluators.graph._links import Arcs, arcs
from sdc_problems.evaluators.graph.structure import links_among_neighbours


class EgoMatches(NamedTuple):
    """Result of searching nodes by their neighborhood.

    Attributes
    ----------
    found
        For each original node, number of nodes of the release with the same neighborhood.
    right
        For each original node, chance that an intruder who picks one of these nodes picks the right one.
    """

    found: NDArray[np.int64]
    right: NDArray[np.float64]

    @property
    def risk(self) -> float:
        """Share of nodes that are found at all."""
        return float((self.found > 0).mean())

    @property
    def risk_right(self) -> float:
        """Expected share of nodes that are identified correctly."""
        return float(self.right.mean())


def matches(found: Egos, rows: NDArray[np.int64]) -> EgoMatches:
    """Matches of egos by two rows of labels: those of the original and those of the release."""
    n = rows.shape[1]
    before, after = ego_classes(found, rows)
    in_release = np.bincount(after[after >= 0], minlength=n)[before]
    right = np.where(before == after, 1.0 / np.maximum(in_release, 1), 0.0)
    return EgoMatches(in_release, right)


def ego_matches(original: object, released: object, edges: object, *, directed: bool = False) -> EgoMatches:
    """Find nodes in the release by the attributes of a node and its neighbors, and the links among them.

    The ego of a node is the node, its neighbors and all links among them. A node is found if some ego of the release
    maps onto its own, root on root, and every node has its original attributes (Marés 2013, Eq. 6.10).

    Parameters
    ----------
    original, released
        Category codes, nodes × attributes; a code means the same in both.
    edges
        Links × 2 positions of nodes, an undirected link once.
    directed
        Whether a link is one arc, from its first node to its second.

    Returns
    -------
    EgoMatches

    Notes
    -----
    Exact. Egos are distinguished by color refinement; if the colors agree, a search looks for a map. The search takes
    exponential time at worst, in neighborhoods more regular than those of people.

    Examples
    --------
    >>> ego_matches([0, 1, 2], [0, 1, 1], [[0, 1], [1, 2]])
    EgoMatches(found=array([1, 0, 0]), right=array([1., 0., 0.]))
    """
    first, second = code_pair(original, released, "original", "released")
    links = arcs(edges, len(first), directed=directed)
    numbers = row_labels(np.concatenate([first, second]))[0].reshape(2, -1)
    return matches(_egos(links), numbers)


def ego_risk(original: object, released: object, edges: object, *, directed: bool = False) -> float:
    """Share of nodes whose neighborhood, with its attributes, is found in the release (Marés 2013, Eq. 6.9).

    A node that is found need not be the only one: see ``risk_right`` of `ego_matches`.

    Parameters
    ----------
    original, released, edges, directed
        As for `ego_matches`.

    Examples
    --------
    >>> ego_risk([0, 0, 1], [0, 0, 1], [[0, 1], [1, 2]])
    1.0
    """
    return ego_matches(original, released, edges, directed=directed).risk


def degree_risk(released: object, edges: object, *, directed: bool = False) -> float:
    """Share of nodes identified by released attributes and number of links: number of different pairs / n.

    An intruder who knows both guesses among the nodes that fit, so each different pair of (released values, degree)
    yields one expected hit (the objective ``dr_degree``).

    Parameters
    ----------
    released
        Category codes, nodes × attributes.
    edges, directed
        As for `ego_matches`.

    Examples
    --------
    >>> degree_risk([0, 0, 0], [[0, 1], [1, 2]]) * 3
    2.0
    """
    table = code_table(released, "released")
    links = arcs(edges, len(table), directed=directed)
    keys = np.column_stack([table, dense(links.degrees)[0]])
    return row_labels(keys)[1] / len(table)


class Exposure(NamedTuple):
    """Numbers of nodes exposed by their links alone: nodes that look the same as fewer than k − 1 others.

    Attributes
    ----------
    degree
        By the number of links.
    links
        By the number of links and the number of links among the neighbors.
    ego
        By the whole neighborhood; None if neighborhoods were not compared.
    """

    degree: int
    links: int
    ego: int | None


def exposure(edges: object, n: object, k: object, *, directed: bool = False, egos: bool = True) -> Exposure:
    """Count nodes that are exposed by their links alone, whatever their attributes are.

    Parameters
    ----------
    edges
        Links × 2 positions of nodes, an undirected link once.
    n
        Number of nodes.
    k
        Number of nodes that must look the same; at least 2.
    directed
        Whether a link is one arc, from its first node to its second.
    egos
        Whether neighborhoods are compared, which takes most of the time.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> exposure([[0, 1], [1, 2], [2, 3]], 4, 3)
    Exposure(degree=4, links=4, ego=4)
    >>> exposure([[0, 1], [1, 2], [2, 3]], 4, 3, egos=False)
    Exposure(degree=4, links=4, ego=None)
    >>> exposure([[0, 1], [1, 2], [2, 3]], 4, 2)
    Exposure(degree=0, links=0, ego=0)
    """
    links, least = arcs(edges, n, directed=directed), whole(k, "k", least=2)
    return exposed(links, _egos(links) if egos else None, least)


def exposed(links: Arcs, found: Egos | None, k: int) -> Exposure:
    """Exposure of the nodes of a graph by their links, and by their egos if these are given."""
    degree = links.degrees
    inner = links_among_neighbours(links)

    def rare(numbers: NDArray[np.int64]) -> int:
        return int((np.bincount(numbers)[numbers] < k).sum())

    pairs = row_labels(np.column_stack([dense(degree)[0], dense(inner)[0]]))[0]
    ego = None
    if found is not None:
        ego = rare(labels(ego_classes(found, np.zeros(links.n, dtype=np.int64)), None, "egos"))
    return Exposure(rare(dense(degree)[0]), rare(pairs), ego)
