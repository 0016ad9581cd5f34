"""k-degree anonymity of graphs: links are added until at least k nodes share every number of links."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems._validation import labels, whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.graph._links import arcs

WIDE = 6  # for an even sum, groups of up to so many times k are tried
_NEVER = np.iinfo(np.int64).max // 4


@kernel()
def _cuts(degree: NDArray[np.int64], k: int, most: int, longest: int) -> NDArray[np.int64]:
    """Smallest even and odd sum of increases of the degrees (in descending order), and the new degrees of each."""
    n = len(degree)
    cost = np.full((n + 1, 2), _NEVER, dtype=np.int64)
    start = np.full((n + 1, 2, 2), -1, dtype=np.int64)  # start of the last group, and whether it is raised by one more
    cost[0, 0] = 0
    total = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        total[i + 1] = total[i] + degree[i]
    for i in range(k, n + 1):
        for s in range(max(0, i - longest), i - k + 1):
            for raised in range(2):
                if degree[s] + raised > most:
                    continue
                more = (degree[s] + raised) * (i - s) - (total[i] - total[s])
                for odd in range(2):
                    if cost[s, odd] >= _NEVER:
                        continue
                    here = (odd + more) % 2
                    if cost[s, odd] + more < cost[i, here]:
                        cost[i, here] = cost[s, odd] + more
                        start[i, here, 0], start[i, here, 1] = s, raised
    out = np.full((2, n + 1), -1, dtype=np.int64)
    for odd in range(2):
        out[odd, n] = -1 if cost[n, odd] >= _NEVER else cost[n, odd]
        i, parity = n, odd
        while i > 0 and out[odd, n] >= 0:
            s, raised = start[i, parity]
            target = degree[s] + raised
            out[odd, s:i] = target
            parity = (parity + target * (i - s) - (total[i] - total[s])) % 2
            i = s
    return out


def k_degree_sequence(degrees: object, k: int, *, even: bool = False) -> NDArray[np.int64]:
    """Smallest increase of a degree sequence after which every degree is shared by at least k nodes.

    Parameters
    ----------
    degrees
        Number of links of each node.
    k
        Number of nodes that must share each degree, 2 … n.
    even
        Whether the sum of the increases must be even, as it is when links are added, because each adds two. In that
        case, whole groups may be raised by one more.

    Returns
    -------
    ndarray
        New degree of each node, at least its old degree and at most n − 1.

    Notes
    -----
    Dynamic programming over the sorted degrees; groups of k to 2k − 1 nodes get their largest degree (Liu and Terzi
    2008, "Towards identity anonymization on graphs"). O(nk). With ``even``, groups of up to 6k nodes are tried, each
    with its largest degree or one more.

    Examples
    --------
    >>> k_degree_sequence([4, 1, 3, 1, 1], 2)
    array([4, 1, 4, 1, 1])
    >>> k_degree_sequence([4, 1, 3, 1, 1], 2, even=True)
    array([4, 2, 4, 2, 2])
    """
    given = labels(degrees, None, "degrees")
    n = len(given)
    size = whole(k, "k", least=2)
    if size > n:
        raise SDCError(f"k = {size} is more than the {n} nodes there are")
    if given.max() >= n:
        raise SDCError(f"degrees has an entry above {n - 1}: a node links to each other node once at most")
    order = np.argsort(-given, kind="stable")
    # For an even sum, a group that could be split may be better than its parts, because splitting changes the parity.
    longest = min(n, WIDE * size) if even else 2 * size - 1
    found = _cuts(given[order], size, n - 1, longest)
    costs = found[:, n]
    if even and costs[0] < 0:
        raise SDCError(f"no even sum of increases makes these degrees common to {size} nodes each: raise k")
    parity = 0 if even or costs[1] < 0 or 0 <= costs[0] <= costs[1] else 1  # −1: no solution
    out = np.empty(n, dtype=np.int64)
    out[order] = found[parity, :n]
    return out


def _short_of_partners(near: list[set[int]], lack: NDArray[np.int64]) -> bool:
    """Whether, for some ℓ, the ℓ nodes that lack most links need more links than they can get.

    They can get one from each other that is not yet a neighbor, and from every other node at most as many as it lacks
    and as there are non-neighbors among them (Liu and Terzi 2008, a necessary condition).
    """
    order = np.argsort(-lack, kind="stable")
    inside = np.zeros(len(lack), dtype=np.int64)  # neighbors among the first ℓ
    needed, first = 0, np.zeros(len(lack), dtype=np.bool_)
    for size, v in enumerate(order[: int((lack > 0).sum())].tolist(), 1):
        needed += int(lack[v])
        first[v] = True
        inside[list(near[v])] += 1
        within = int((size - 1 - inside[first]).sum())
        without = int(np.minimum(size - inside[~first], lack[~first]).sum())
        if needed > within + without:
            return True
    return False


def k_degree(edges: object, n: int, k: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Links to add to an undirected graph so that at least k nodes share every number of links.

    Parameters
    ----------
    edges
        Links × 2 positions of nodes, each once.
    n
        Number of nodes.
    k
        Number of nodes that must share each degree.
    rng
        Decides between nodes that lack equally many links.

    Returns
    -------
    ndarray
        Links to add, links × 2 positions, sorted, smaller end first.

    Notes
    -----
    The degrees are those of `k_degree_sequence` with an even sum. Links are added from the node that lacks most links
    to those that lack most and are not its neighbors (the Supergraph algorithm of Liu and Terzi); if there are none, an
    added link is replaced by two. It is an error if no such graph exists, because nodes lack more links than others can
    take, or if none was found; other degrees are not tried.

    Examples
    --------
    >>> k_degree([[0, 1], [1, 2], [2, 3], [3, 4]], 5, 3, rng=np.random.default_rng(1))
    array([[0, 4]])
    """
    links = arcs(edges, n)
    target = k_degree_sequence(links.degrees, k, even=True)
    near = [set(links.out[links.out_ptr[v] : links.out_ptr[v + 1]].tolist()) for v in range(links.n)]
    lack = target - links.degrees
    if _short_of_partners(near, lack):
        raise SDCError(
            f"no graph in which {k} nodes share each number of links exists by adding links with the cheapest degrees: "
            "nodes of high degree lack more links than others can take; choose another k"
        )
    added: dict[tuple[int, int], None] = {}

    def join(u: int, v: int) -> None:
        near[u].add(v)
        near[v].add(u)
        lack[[u, v]] -= 1
        added[min(u, v), max(u, v)] = None

    def replaced(v: int, w: int) -> bool:
        """Replace an added link by one of v and one of w, which are neighbors or equal; returns whether it could."""
        known = list(added)
        for place in rng.permutation(len(known)).tolist():
            for a, b in (known[place], known[place][::-1]):
                if a not in near[v] and b not in near[w] and v != a and w != b and not (v == w and a == b):
                    near[a].discard(b)
                    near[b].discard(a)
                    lack[[a, b]] += 1
                    del added[known[place]]
                    join(v, a)
                    join(w, b)
                    return True
        return False

    while lack.any():
        order = np.lexsort((rng.random(links.n), -lack))
        v = int(order[0])
        fits = [u for u in order[lack[order] > 0].tolist() if u != v and u not in near[v]]
        if fits:
            for u in fits[: int(lack[v])]:
                join(v, u)
            continue
        w = v if lack[v] > 1 else int(order[1])
        if not replaced(v, w):
            raise SDCError(
                f"no graph in which {k} nodes share each number of links was found by adding links: choose another k"
            )
    return np.array(sorted(added), dtype=np.int64).reshape(-1, 2)
