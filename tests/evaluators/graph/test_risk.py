"""Risks of social graphs against networkx, plain twins and published graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.evaluators import graph as g
from sdc_problems.evaluators.graph._egos import ego_classes, egos
from sdc_problems.evaluators.graph._links import arcs
from tests.evaluators.graph.conftest import Graph, blocks, modes
from tests.evaluators.graph.test_loss import graphs

networkx = pytest.importorskip("networkx")


def ego(v: int, labels: np.ndarray, edges: np.ndarray, directed: bool) -> tuple[int, list[int], set[tuple[int, int]]]:
    pairs = {(int(a), int(b)) for a, b in edges}
    if not directed:
        pairs |= {(b, a) for a, b in pairs}
    near = sorted({a for a, b in pairs if b == v} | {b for a, b in pairs if a == v})
    inside = {v, *near}
    return v, near, {(a, b) for a, b in pairs if a in inside and b in inside}


def plain_same(v: int, a: np.ndarray, u: int, b: np.ndarray, edges: np.ndarray, directed: bool) -> bool:
    """Every map of one ego onto the other is tried."""
    root, near, links = ego(v, a, edges, directed)
    other, far, others = ego(u, b, edges, directed)
    if len(near) != len(far) or len(links) != len(others) or a[root] != b[other]:
        return False
    for image in permutations(far):
        to = {root: other, **dict(zip(near, image, strict=True))}
        if all(a[x] == b[to[x]] for x in near) and all((to[x], to[y]) in others for x, y in links):
            return True
    return False


@given(graphs().filter(lambda case: len(case[0]) <= 6))
def test_egos_are_those_of_the_plain_twin(case: tuple) -> None:
    o, m, edges, _, directed = case
    found = g.ego_matches(o, m, edges, directed=directed)
    key = {row: i for i, row in enumerate(sorted({tuple(r) for r in [*o.tolist(), *m.tolist()]}))}
    before, after = (np.array([key[tuple(r)] for r in t.tolist()]) for t in (o, m))
    n = len(o)
    matched = [[u for u in range(n) if plain_same(v, before, u, after, edges, directed)] for v in range(n)]
    assert found.found.tolist() == [len(us) for us in matched]
    assert found.right.tolist() == pytest.approx([(v in us) / max(len(us), 1) for v, us in enumerate(matched)])
    assert found.risk_right <= found.risk == g.ego_risk(o, m, edges, directed=directed)


@given(st.integers(3, 9), st.integers(0, 10**6))
def test_classes_of_egos_are_those_of_networkx(n: int, seed: int) -> None:
    """Neighborhoods that refinement cannot tell apart: a hub over rings of several lengths."""
    rng = np.random.default_rng(seed)
    links, hubs, at = [], [], 0
    for _ in range(4):
        hub, at = at, at + 1
        hubs.append(hub)
        left = 2 * n
        while left:
            size = left if left < 6 else int(rng.integers(3, left - 2))
            ring = list(range(at, at + size))
            at, left = at + size, left - size
            links += [(hub, r) for r in ring]
            links += [(ring[i], ring[(i + 1) % size]) for i in range(size if size > 2 else size - 1)]
    place = rng.permutation(at)
    edges = place[np.array(links)]
    classes = ego_classes(egos(arcs(edges, at)), np.zeros(at, dtype=np.int64))
    G = networkx.Graph(edges.tolist())
    for a in hubs:
        for b in hubs:
            one, two = (networkx.ego_graph(G, int(place[h]), center=False) for h in (a, b))
            assert (classes[place[a]] == classes[place[b]]) == networkx.is_isomorphic(one, two)


@given(graphs())
def test_an_ego_without_a_changed_cell_is_found(case: tuple) -> None:
    o, m, edges, _, directed = case
    found = g.ego_matches(o, m, edges, directed=directed)
    for v in range(len(o)):
        _, near, _ = ego(v, o, edges, directed)
        if (o[[v, *near]] == m[[v, *near]]).all():
            assert found.found[v] > 0
            assert found.right[v] > 0


@given(graphs())
def test_degree_risk_counts_pairs_that_differ(case: tuple) -> None:
    o, _, edges, _, directed = case
    degree = Counter(edges.ravel().tolist())
    pairs = {(tuple(row), degree[v]) for v, row in enumerate(o.tolist())}
    assert g.degree_risk(o, edges, directed=directed) == len(pairs) / len(o)


@given(graphs(), st.integers(2, 4))
def test_exposure_counts_rare_nodes(case: tuple, k: int) -> None:
    o, _, edges, _, directed = case
    n = len(o)
    found = g.exposure(edges, n, k, directed=directed)
    degree = Counter(edges.ravel().tolist())
    among = [sum(a != v != b for a, b in ego(v, o, edges, directed)[2]) for v in range(n)]
    same = Counter(degree[v] for v in range(n))
    both = Counter((degree[v], among[v]) for v in range(n))
    assert found.degree == sum(same[degree[v]] < k for v in range(n))
    assert found.links == sum(both[degree[v], among[v]] < k for v in range(n))
    assert found.degree <= found.links <= found.ego <= n


def test_a_graph_of_formulas(formula: Callable[[int], Graph]) -> None:
    codes, edges = formula(12)
    released = modes(codes, blocks(12, 3))
    assert g.degree_risk(released, edges) == pytest.approx(11 / 12)
    found = [g.ego_matches(codes[:, j], released[:, j], edges) for j in range(3)]
    assert [round(12 * one.risk) for one in found] == [0, 3, 0]
    assert found[1].risk_right == pytest.approx(11 / 72)
    assert g.ego_risk(codes, released, edges) == 0


@pytest.mark.parametrize(("name", "hit", "exposed"), [("lazega", 69, (8, 54, 69)), ("caltech36", 734, (27, 630, 678))])
def test_published_graphs(
    name: str, hit: int, exposed: tuple[int, int, int], published: Callable[[str], Graph]
) -> None:
    codes, edges = published(name)
    n = len(codes)
    assert g.degree_risk(modes(codes, blocks(n, 3)), edges) == pytest.approx(hit / n)
    found = g.exposure(edges, n, 2)
    assert found == exposed
    G = networkx.Graph(edges.tolist())
    classes = ego_classes(egos(arcs(edges, n)), np.zeros(n, dtype=np.int64))
    first: dict[int, int] = {}
    for v, c in enumerate(classes.tolist()):
        if first.setdefault(c, v) != v:  # every node that shares its class has the same neighborhood, says networkx
            one, two = (networkx.ego_graph(G, int(x), center=False) for x in (v, first[c]))
            assert networkx.is_isomorphic(one, two)
