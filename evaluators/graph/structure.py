"""Structure of a graph in numbers: degrees, triangles, paths and components."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._slices import slices, watched
from sdc_problems._validation import whole
from sdc_problems.evaluators.graph._links import Arcs, arcs, pairs_of_links, sorted_arcs

SAMPLED_ABOVE = 5_000  # nodes of the largest component; above that, paths are measured from a sample of so many nodes


@dataclass(frozen=True)
class Structure:
    """Structure of a graph; directions are ignored except in ``links``.

    Attributes
    ----------
    nodes, links
        Number of nodes and number of links.
    degrees
        Number of nodes of each degree, from 0 on.
    triangles
        Number of triples of nodes that are all linked.
    transitivity
        Share of the pairs of links at a node that are closed by a third link.
    clustering
        Mean over the nodes of the share of pairs of neighbors that are linked.
    degree_assortativity
        Correlation of the degrees at both ends of links; 0 if all degrees are equal.
    components
        Sizes of the connected components, the largest first.
    mean_path, diameter
        Mean and largest number of steps between two nodes of the largest component; estimated if `sampled`.
    sampled
        Whether paths were measured from a sample of the nodes.
    """

    nodes: int
    links: int
    degrees: tuple[int, ...]
    triangles: int
    transitivity: float
    clustering: float
    degree_assortativity: float
    components: tuple[int, ...]
    mean_path: float
    diameter: int
    sampled: bool


@kernel()
def _among(pointer: NDArray[np.int64], near: NDArray[np.int32], flag: NDArray[np.int64]) -> NDArray[np.int64]:
    """Arcs among the neighbors of each node; ``near`` is sorted within each node."""
    n = len(pointer) - 1
    mark = np.full(n, -1, dtype=np.int64)
    out = np.zeros(n, dtype=np.int64)
    flag[2] = n
    for v in range(n):
        flag[1] = v
        if flag[0]:
            break
        for a in range(pointer[v], pointer[v + 1]):
            mark[near[a]] = v
        for a in range(pointer[v], pointer[v + 1]):
            w = near[a]
            for b in range(pointer[w], pointer[w + 1]):
                out[v] += mark[near[b]] == v
    return out


@kernel()
def _steps(pointer: NDArray[np.int64], near: NDArray[np.int32], root: int) -> tuple[int, int, int]:
    """Number of nodes reached from a root, sum of the steps to all of them, and steps to the farthest."""
    n = len(pointer) - 1
    distance = np.full(n, -1, dtype=np.int32)
    queue = np.empty(n, dtype=np.int32)
    queue[0], distance[root] = root, 0
    count, done, total = 1, 0, 0
    while done < count:
        v = queue[done]
        done += 1
        total += distance[v]
        for a in range(pointer[v], pointer[v + 1]):
            w = near[a]
            if distance[w] < 0:
                distance[w] = distance[v] + 1
                queue[count] = w
                count += 1
    return count, total, int(distance[queue[count - 1]])


def links_among_neighbours(links: Arcs) -> NDArray[np.int64]:
    """Number of links (or of arcs, if links are directed) among the neighbors of each node."""
    pointer, near = _both_ways(links)
    if not links.directed:
        out: NDArray[np.int64] = _triangles(pointer, near) // 2
        return out
    return watched(
        lambda flag: _directed_among(pointer, near, links.out_ptr, links.out, flag), "triangles",
        steps=pairs_of_links(pointer),
    )  # fmt: skip


def _triangles(pointer: NDArray[np.int64], near: NDArray[np.int32]) -> NDArray[np.int64]:
    return watched(lambda flag: _among(pointer, near, flag), "triangles", steps=pairs_of_links(pointer))


@kernel()
def _directed_among(
    pointer: NDArray[np.int64],
    near: NDArray[np.int32],
    out_ptr: NDArray[np.int64],
    out: NDArray[np.int32],
    flag: NDArray[np.int64],
) -> NDArray[np.int64]:
    n = len(pointer) - 1
    mark = np.full(n, -1, dtype=np.int64)
    found = np.zeros(n, dtype=np.int64)
    flag[2] = n
    for v in range(n):
        flag[1] = v
        if flag[0]:
            break
        for a in range(pointer[v], pointer[v + 1]):
            mark[near[a]] = v
        for a in range(pointer[v], pointer[v + 1]):
            for b in range(out_ptr[near[a]], out_ptr[near[a] + 1]):
                found[v] += mark[out[b]] == v
    return found


def _both_ways(links: Arcs) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    if not links.directed:
        return links.out_ptr, links.out
    source = np.repeat(np.arange(links.n), np.diff(links.out_ptr))
    target = links.out.astype(np.int64)
    keys = np.unique(np.concatenate([source * links.n + target, target * links.n + source]))
    return sorted_arcs(keys // links.n, keys % links.n, links.n)


def structure(edges: object, n: object, *, directed: bool = False, rng: np.random.Generator | None = None) -> Structure:
    """Structure of a graph: degrees, triangles, clustering, components and paths.

    Parameters
    ----------
    edges
        Links × 2 positions of nodes, an undirected link once.
    n
        Number of nodes.
    directed
        Whether links are directed; everything but the number of links is measured without directions.
    rng
        Draws the nodes from which paths are measured if the largest component has more than 5,000; by default, nodes
        are taken at even intervals of the file.

    Returns
    -------
    Structure

    Notes
    -----
    O(Σ degree²) for the triangles, O(links) per node for the paths.

    Examples
    --------
    >>> found = structure([[0, 1], [1, 2], [2, 0], [2, 3]], 5)
    >>> found.triangles, found.components, found.diameter, found.degrees
    (1, (4, 1), 2, (1, 1, 2, 1))
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    links = arcs(edges, whole(n, "n", least=1), directed=directed)
    pointer, near = _both_ways(links)
    degree = np.diff(pointer)
    among = _triangles(pointer, near)
    pairs = degree * (degree - 1)
    closed = np.divide(among, pairs, out=np.zeros(links.n), where=pairs > 0)
    A = csr_array((np.ones(len(near), dtype=np.int8), near, pointer), shape=(links.n, links.n))
    parts = connected_components(A, directed=False)[1]
    sizes = np.bincount(parts)
    largest = np.flatnonzero(parts == np.argmax(sizes))
    sampled = len(largest) > SAMPLED_ABOVE
    roots = largest
    if sampled and rng is None:
        roots = largest[np.linspace(0, len(largest) - 1, SAMPLED_ABOVE).astype(np.int64)]
    elif sampled:
        assert rng is not None
        roots = rng.choice(largest, SAMPLED_ABOVE, replace=False)
    each = (
        _steps(pointer, near, int(v))
        for low, high in slices(len(roots), steps=len(near) + links.n, what="nodes whose paths are measured")
        for v in roots[low:high]
    )
    walked = np.array(list(each))
    steps = len(roots) * (len(largest) - 1)
    return Structure(
        nodes=links.n,
        links=links.n_arcs if directed else links.n_arcs // 2,
        degrees=tuple(np.bincount(degree).tolist()),
        triangles=int(among.sum()) // 6,
        transitivity=float(among.sum() / pairs.sum()) if pairs.sum() else 0.0,
        clustering=float(closed.mean()),
        degree_assortativity=_correlation(degree[np.repeat(np.arange(links.n), degree)], degree[near]),
        components=tuple(sorted(sizes.tolist(), reverse=True)),
        mean_path=float(walked[:, 1].sum() / steps) if steps else 0.0,
        diameter=int(walked[:, 2].max()),
        sampled=sampled,
    )


def _correlation(a: NDArray[np.int64], b: NDArray[np.int64]) -> float:
    x, y = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / spread) if spread > 0 else 0.0


def structure_report(before: Structure, after: Structure) -> dict[str, tuple[float, float]]:
    """Structure of two graphs side by side: each number before and after.

    Parameters
    ----------
    before, after
        Results of `structure`.

    Examples
    --------
    >>> one, two = structure([[0, 1], [1, 2]], 3), structure([[0, 1], [1, 2], [0, 2]], 3)
    >>> structure_report(one, two)["triangles"]
    (0, 1)
    """
    names = (
        "nodes",
        "links",
        "triangles",
        "transitivity",
        "clustering",
        "degree_assortativity",
        "mean_path",
        "diameter",
    )
    out: dict[str, tuple[float, float]] = {name: (getattr(before, name), getattr(after, name)) for name in names}
    out["components"] = (len(before.components), len(after.components))
    out["largest_component"] = (before.components[0], after.components[0])
    out["degrees_moved"] = (0.0, _moved(before.degrees, after.degrees))
    return out


def _moved(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Largest difference between two cumulative degree distributions."""
    size = max(len(first), len(second))
    one, two = (np.cumsum(np.pad(d, (0, size - len(d)))) / max(sum(d), 1) for d in (first, second))
    return float(np.abs(one - two).max())
