"""Disclosure risk of a social graph: what links tell about people whose attributes are common."""

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
    """Nodes found by their neighborhood.

    Attributes
    ----------
    found
        Number of nodes of the release whose neighborhood is that of each original node.
    right
        Chance of each node to be picked by an intruder who picks one of these.
    """

    found: NDArray[np.int64]
    right: NDArray[np.float64]

    @property
    def risk(self) -> float:
        """Share of nodes that are found at all."""
        return float((self.found > 0).mean())

    @property
    def risk_right(self) -> float:
        """Share of nodes that are picked rightly."""
        return float(self.right.mean())


def matches(found: Egos, rows: NDArray[np.int64]) -> EgoMatches:
    """Matches of egos by labels of the original and of the release, the two rows."""
    n = rows.shape[1]
    before, after = ego_classes(found, rows)
    in_release = np.bincount(after[after >= 0], minlength=n)[before]
    right = np.where(before == after, 1.0 / np.maximum(in_release, 1), 0.0)
    return EgoMatches(in_release, right)


def ego_matches(original: object, released: object, edges: object, *, directed: bool = False) -> EgoMatches:
    """Nodes that someone finds in the release who knows the attributes of a node and its neighbors, and their links.

    The ego of a node is the node, its neighbors and all links among them. A node is found if some ego of the release
    maps onto its own, root on root, every node having its original attributes (Marés 2013, Eq. 6.10).

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
    Exact. Egos are told apart by refined colors; where these agree, a map is searched, which takes exponential time at
    worst, in neighborhoods that are more regular than people's.

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
    """Share of nodes whose neighborhood with its attributes is found in the release (Marés 2013, Eq. 6.9).

    Being found is not being told apart: see ``risk_right`` of `ego_matches`.

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
    """Share of nodes hit by someone who knows released attributes and the number of links: pairs that differ / n.

    Such an intruder guesses among the nodes that fit, so that each different pair of (released values, degree) gives
    one hit (the objective ``dr_degree``).

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
    """Nodes told apart by their links alone: those that share what is known with fewer than k − 1 others.

    Attributes
    ----------
    degree
        By the number of links.
    links
        By the number of links and of links among the neighbors.
    ego
        By the whole neighborhood; None where these were not compared.
    """

    degree: int
    links: int
    ego: int | None


def exposure(edges: object, n: object, k: object, *, directed: bool = False, egos: bool = True) -> Exposure:
    """Nodes that links alone betray, whatever their attributes are.

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
        Whether neighborhoods are compared, which takes the time.

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
    """Exposure of a graph by its numbers of links, and by its egos if they are given."""
    degree = links.degrees
    inner = links_among_neighbours(links)

    def rare(numbers: NDArray[np.int64]) -> int:
        return int((np.bincount(numbers)[numbers] < k).sum())

    pairs = row_labels(np.column_stack([dense(degree)[0], dense(inner)[0]]))[0]
    ego = None
    if found is not None:
        ego = rare(labels(ego_classes(found, np.zeros(links.n, dtype=np.int64)), None, "egos"))
    return Exposure(rare(dense(degree)[0]), rare(pairs), ego)
