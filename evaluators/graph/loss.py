"""Information loss of a social graph whose node attributes were replaced, or whose clusters are published.

All measures are fractions from 0 to 1, computed per attribute and then averaged (Marés 2013, §6.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import IntArray, code_pair, code_table, domain_sizes, labels
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense
from sdc_problems.evaluators.graph._kernels import (
    assortativity_kernel,
    changed_along_links,
    changed_at_both_ends,
    profiles,
    structure_loss,
)
from sdc_problems.evaluators.graph._links import Arcs, arcs
from sdc_problems.evaluators.information_loss.categorical import category_distance

FloatArray = NDArray[np.float64]


def _pair(original: object, released: object) -> tuple[NDArray[np.int32], NDArray[np.int32], IntArray]:
    """Codes of both tables, one row per attribute, numbered from 0 over the values that occur in either."""
    first, second = code_pair(original, released, "original", "released")
    n, p = first.shape
    old, new = np.empty((p, n), dtype=np.int32), np.empty((p, n), dtype=np.int32)
    sizes = np.empty(p, dtype=np.int64)
    for j in range(p):
        both, sizes[j] = dense(np.concatenate([first[:, j], second[:, j]]))
        old[j], new[j] = both[:n], both[n:]
    return old, new, sizes


def aamil_by_attribute(original: object, released: object, edges: object, *, directed: bool = False) -> FloatArray:
    """Attribute adjacency loss of each attribute, as Figure 6.6 of the source counts it; see `aamil`."""
    old, new, sizes = _pair(original, released)
    links = arcs(edges, old.shape[1], directed=directed)
    following = np.empty(2 * links.n, dtype=np.int64)
    out = np.empty(len(old))
    for j, size in enumerate(sizes):
        profile = profiles(links.in_ptr, links.into, old[j], size)
        head, cells = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
        out[j] = changed_along_links(*profile, old[j], new[j], head, following, cells) / (2.0 * links.n_arcs)
    return out


def aamil(original: object, released: object, edges: object, *, directed: bool = False) -> float:
    """Attribute adjacency matrices information loss with one end masked.

    ``Σ|x − x'| / 2Σx`` over pairs of categories (Marés 2013, Eq. 6.3–6.4), where x[i, j] is the number of arcs from
    category i to category j, and x'[i, j] the number of arcs whose source has category i in the original and whose
    target has category j in the release. This gives the 0.5 of Figure 6.6; `mixing` masks both ends.

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
    float
        From 0 to 1, the mean over the attributes.

    Notes
    -----
    O(arcs) per attribute, for any number of categories.

    Examples
    --------
    >>> aamil([1, 0, 2], [0, 0, 0], [[0, 1], [1, 2]])
    0.5
    """
    return float(aamil_by_attribute(original, released, edges, directed=directed).mean())


def mixing_by_attribute(original: object, released: object, edges: object, *, directed: bool = False) -> FloatArray:
    """Mixing loss of each attribute; see `mixing`."""
    old, new, sizes = _pair(original, released)
    links = arcs(edges, old.shape[1], directed=directed)
    lost = [changed_at_both_ends(links.in_ptr, links.into, old[j], new[j], size) for j, size in enumerate(sizes)]
    return np.array(lost) / (2.0 * links.n_arcs)


def mixing(original: object, released: object, edges: object, *, directed: bool = False) -> float:
    """Attribute adjacency matrices information loss with both ends masked, as a reader of the release sees it.

    Like `aamil`, but x'[i, j] is the number of arcs from category i to category j in the released graph, as stated in
    the text below Eq. 6.4 of Marés (2013).

    Parameters
    ----------
    original, released, edges, directed
        As for `aamil`.

    Examples
    --------
    >>> mixing([1, 0, 2], [0, 0, 0], [[0, 1], [1, 2]])
    1.0
    """
    return float(mixing_by_attribute(original, released, edges, directed=directed).mean())


def cdil_by_attribute(original: object, released: object) -> FloatArray:
    """Distribution loss of each attribute; see `cdil`."""
    old, new, sizes = _pair(original, released)
    out = np.empty(len(old))
    for j, size in enumerate(sizes):
        change = np.bincount(old[j], minlength=size) - np.bincount(new[j], minlength=size)
        out[j] = np.abs(change).sum() / (2.0 * old.shape[1])
    return out


def cdil(original: object, released: object) -> float:
    """Categories distribution information loss: ``Σ|freq − freq'| / 2n`` (Marés 2013, Eq. 6.5–6.6).

    Parameters
    ----------
    original, released
        Category codes, nodes × attributes; a code means the same in both.

    Examples
    --------
    >>> round(cdil([0, 0, 1], [0, 0, 0]), 3)
    0.333
    """
    return float(cdil_by_attribute(original, released).mean())


def place_distance(a: object, b: object, branches: object, levels: object) -> FloatArray:
    """Distance between two places of one hierarchy, elementwise (Marés 2013, Eq. 6.1).

    0 if equal, ``|level a − level b| / highest level`` if one is an ancestor of the other, else 1.

    Parameters
    ----------
    a, b
        Numbers of places, two vectors of the same length.
    branches
        Levels × places: the place that each place belongs to at each level; up to its own level, itself.
    levels
        Level of each place: the highest level at which it is not generalized.

    Examples
    --------
    >>> branches = [[0, 1, 2, 3], [2, 3, 2, 3], [3, 3, 3, 3]]  # two towns, a state, the country
    >>> place_distance([0, 0, 0], [2, 3, 1], branches, [0, 0, 1, 2])
    array([0.5, 1. , 1. ])
    """
    first = labels(a, None, "a")
    second = labels(b, len(first), "b")
    tree, height = code_table(branches, "branches"), labels(levels, None, "levels")
    if max(first.max(), second.max()) >= len(height) or tree.shape[1] != len(height):
        raise SDCError("branches and levels must have one entry for each place of a and b")
    low, high = np.where(height[first] <= height[second], [first, second], [second, first])
    below = tree[height[high], low] == high
    steps = np.abs(height[first] - height[second]) / max(len(tree) - 1, 1)
    out: FloatArray = np.where(first == second, 0.0, np.where(below, steps, 1.0))
    return out


def dbil_by_attribute(
    original: object, released: object, *, kinds: object = "nominal", n_categories: object = None
) -> FloatArray:
    """Distance-based loss of each attribute; see `dbil_graph`."""
    first, second = code_pair(original, released, "original", "released")
    p = first.shape[1]
    words = [kinds] * p if isinstance(kinds, str) else list(kinds)  # type: ignore[call-overload]
    if len(words) != p:
        raise SDCError(f"kinds has {len(words)} entries for {p} attributes")
    sizes = domain_sizes(n_categories, first, second)
    return np.array(
        [
            category_distance(first[:, j], second[:, j], kind=words[j], n_categories=int(sizes[j])).mean()
            for j in range(p)
        ]
    )


def dbil_graph(original: object, released: object, *, kinds: object = "nominal", n_categories: object = None) -> float:
    """Distance-based information loss: mean distance between original and released cell (Marés 2013, Eq. 6.7).

    Parameters
    ----------
    original, released
        Category codes, nodes × attributes; a code means the same in both.
    kinds
        ``"nominal"`` (0 or 1) or ``"ordinal"`` (share of the domain between the two), for all attributes or for each.
    n_categories
        Size of each domain; by default, the largest code plus one.

    Notes
    -----
    Places have the distance `place_distance`, numbers ``|a − b| / range``; `NodeClusterEngine` supports all of them.

    Examples
    --------
    >>> dbil_graph([[0, 0, 0, 0]], [[0, 0, 1, 1]])
    0.5
    """
    return float(dbil_by_attribute(original, released, kinds=kinds, n_categories=n_categories).mean())


def il_graph(original: object, released: object, edges: object, *, directed: bool = False) -> float:
    """Average semantic information loss of nominal attributes: ``(aamil + cdil + dbil) / 3`` (Marés 2013, Eq. 6.8).

    Parameters
    ----------
    original, released, edges, directed
        As for `aamil`.

    Examples
    --------
    >>> round(il_graph([1, 0, 2], [0, 0, 0], [[0, 1], [1, 2]]), 4)
    0.6111
    """
    parts = (
        aamil(original, released, edges, directed=directed),
        cdil(original, released),
        dbil_graph(original, released),
    )
    return sum(parts) / 3.0


def assortativity(codes: object, edges: object, *, directed: bool = False) -> FloatArray:
    """Newman's assortativity of each attribute: 1 if links join equal categories only, 0 if as many as by chance.

    ``(Σ e_ii − Σ a_i b_i) / (1 − Σ a_i b_i)`` with the shares e of the mixing matrix and its margins a, b. It is not
    defined if all nodes with links have one category; the result is then 0.

    Parameters
    ----------
    codes
        Category codes, nodes × attributes.
    edges, directed
        As for `aamil`.

    References
    ----------
    Newman (2003), "Mixing patterns in networks".

    Examples
    --------
    >>> assortativity([0, 0, 1, 1], [[0, 1], [2, 3]])
    array([1.])
    """
    table = code_table(codes, "codes")
    links = arcs(edges, len(table), directed=directed)
    return np.array([_assortativity(links, column) for column in table.T])


def _assortativity(links: Arcs, column: IntArray) -> float:
    numbered, size = dense(column)
    return float(assortativity_kernel(links.in_ptr, links.into, numbered.astype(np.int32), size))


def homophily(original: object, released: object, edges: object, *, directed: bool = False) -> float:
    """Change of homophily: mean over the attributes of ``|r − r'|``, where r is Newman's assortativity.

    Parameters
    ----------
    original, released, edges, directed
        As for `aamil`.

    Examples
    --------
    >>> homophily([0, 0, 1, 1], [0, 0, 0, 0], [[0, 1], [2, 3]])
    1.0
    """
    first, second = code_pair(original, released, "original", "released")
    before = assortativity(first, edges, directed=directed)
    return float(np.abs(before - assortativity(second, edges, directed=directed)).mean())


def nsil(clusters: object, edges: object, *, directed: bool = False) -> float:
    """Normalized structural information loss of super-nodes.

    ``Σ 2e(1 − e/pairs)`` over clusters (e inner links, pairs = s(s − 1)/2) and pairs of clusters (pairs = s·t),
    divided by n(n − 1)/4: the expected error of a reader who spreads the published number of links evenly over the
    pairs. Directed links are counted for each direction.

    Parameters
    ----------
    clusters
        Cluster of each node.
    edges, directed
        As for `aamil`; no link may be listed twice.

    References
    ----------
    Campan and Truta (2009), "Data and structural k-anonymity in social networks".

    Examples
    --------
    >>> nsil([0, 0, 1, 1], [[0, 1], [2, 3]])
    0.0
    >>> round(nsil([0, 1, 0, 1], [[0, 1], [2, 3]]), 3)
    0.667
    """
    numbers = labels(clusters, None, "clusters")
    links = arcs(edges, len(numbers), directed=directed)
    _once(links)
    found, _ = dense(numbers)
    return float(structure_loss(links.out_ptr, links.out, found.astype(np.int64), links.directed))


def _once(links: Arcs) -> None:
    source = np.repeat(np.arange(links.n), np.diff(links.out_ptr))
    again = int(((np.diff(source) == 0) & (np.diff(links.out) == 0)).sum())
    if again:
        raise SDCError("edges names a link more than once: give each undirected link in one direction only")


def ngil(original: object, clusters: object) -> float:
    """Loss of nominal attributes in super-nodes: share of cells in whose cluster the attribute has several values.

    Parameters
    ----------
    original
        Category codes, nodes × attributes.
    clusters
        Cluster of each node.

    Examples
    --------
    >>> ngil([[0, 0], [0, 1], [1, 1], [1, 1]], [0, 0, 1, 1])
    0.25
    """
    table = code_table(original, "original")
    found, count = dense(labels(clusters, len(table), "clusters"))
    order = np.argsort(found, kind="stable")
    starts = np.searchsorted(found[order], np.arange(count))
    mixed = np.maximum.reduceat(table[order], starts) != np.minimum.reduceat(table[order], starts)
    return float((mixed * np.bincount(found)[:, None]).sum() / table.size)
