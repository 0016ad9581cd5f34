"""Losses of social graphs against plain twins, the source's example and published graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import graph as g
from tests.evaluators.graph.conftest import Graph, blocks, modes

# -- plain twins: matrices of categories as dictionaries --------------------------------------------------------------


def arcs_of(edges: np.ndarray, directed: bool) -> list[tuple[int, int]]:
    pairs = [(int(a), int(b)) for a, b in edges]
    return pairs if directed else pairs + [(b, a) for a, b in pairs]


def adjacency_loss(before: Counter, after: Counter) -> float:
    return sum(abs(before[c] - after[c]) for c in set(before) | set(after)) / (2 * sum(before.values()))


def plain_aamil(o: np.ndarray, m: np.ndarray, edges: np.ndarray, directed: bool) -> float:
    arcs = arcs_of(edges, directed)
    return float(
        np.mean(
            [
                adjacency_loss(
                    Counter((o[u, j], o[v, j]) for u, v in arcs), Counter((o[u, j], m[v, j]) for u, v in arcs)
                )
                for j in range(o.shape[1])
            ]
        )
    )


def plain_mixing(o: np.ndarray, m: np.ndarray, edges: np.ndarray, directed: bool) -> float:
    arcs = arcs_of(edges, directed)
    return float(
        np.mean(
            [
                adjacency_loss(
                    Counter((o[u, j], o[v, j]) for u, v in arcs), Counter((m[u, j], m[v, j]) for u, v in arcs)
                )
                for j in range(o.shape[1])
            ]
        )
    )


def plain_cdil(o: np.ndarray, m: np.ndarray) -> float:
    parts = []
    for j in range(o.shape[1]):
        before, after = Counter(o[:, j]), Counter(m[:, j])
        parts.append(sum(abs(before[c] - after[c]) for c in set(before) | set(after)) / (2 * len(o)))
    return float(np.mean(parts))


def plain_nsil(labels: np.ndarray, edges: np.ndarray, directed: bool) -> float:
    n, size = len(labels), Counter(labels)
    total = 0.0
    for a in size:
        inner = sum(labels[u] == a == labels[v] for u, v in edges)
        pairs = size[a] * (size[a] - 1) / (1 if directed else 2)
        total += 2 * inner * (1 - inner / pairs) if inner else 0.0
    for a, b in combinations(size, 2):
        there = sum((labels[u], labels[v]) == (a, b) for u, v in edges)
        back = sum((labels[u], labels[v]) == (b, a) for u, v in edges)
        for e in (there, back) if directed else (there + back,):
            total += 2 * e * (1 - e / (size[a] * size[b]))
    return total / (n * (n - 1) / (2 if directed else 4))


def plain_assortativity(codes: np.ndarray, edges: np.ndarray, directed: bool) -> float:
    arcs = arcs_of(edges, directed)
    e = Counter((codes[u], codes[v]) for u, v in arcs)
    a, b = Counter(codes[u] for u, _ in arcs), Counter(codes[v] for _, v in arcs)
    by_chance = sum(a[c] * b[c] for c in a) / len(arcs) ** 2
    if by_chance == 1:
        return 0.0
    return (sum(e[c, c] for c in a) / len(arcs) - by_chance) / (1 - by_chance)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, bool]:
    n = draw(st.integers(2, 12))
    directed = draw(st.booleans())
    every = [(a, b) for a in range(n) for b in range(n) if (a != b if directed else a < b)]
    edges = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    p = draw(st.integers(1, 3))
    cells = st.lists(st.lists(st.integers(0, 4), min_size=p, max_size=p), min_size=n, max_size=n)
    labels = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return np.array(draw(cells)), np.array(draw(cells)), np.array(edges), labels, directed


@given(graphs())
def test_measures_are_those_of_their_plain_twins(case: tuple) -> None:
    o, m, edges, labels, directed = case
    assert g.aamil(o, m, edges, directed=directed) == pytest.approx(plain_aamil(o, m, edges, directed))
    assert g.mixing(o, m, edges, directed=directed) == pytest.approx(plain_mixing(o, m, edges, directed))
    assert g.cdil(o, m) == pytest.approx(plain_cdil(o, m))
    assert g.dbil_graph(o, m) == pytest.approx(np.mean(o != m))
    assert g.nsil(labels, edges, directed=directed) == pytest.approx(plain_nsil(labels, edges, directed))
    found = g.assortativity(o, edges, directed=directed)
    assert found.tolist() == pytest.approx([plain_assortativity(c, edges, directed) for c in o.T])
    size = Counter(labels)
    mixed = sum(size[c] * (len(set(o[labels == c, j])) > 1) for c in size for j in range(o.shape[1]))
    assert g.ngil(o, labels) == pytest.approx(mixed / o.size)


@given(graphs())
def test_losses_are_bounded_by_each_other(case: tuple) -> None:
    o, m, edges, _, directed = case
    options = {"directed": directed}
    for measure in (g.aamil, g.mixing, g.homophily, g.il_graph):
        assert measure(o, o, edges, **options) == 0
    assert 0 <= g.cdil(o, m) <= g.dbil_graph(o, m) <= 1
    into = np.bincount(np.array(arcs_of(edges, directed))[:, 1], minlength=len(o)) / len(arcs_of(edges, directed))
    for j in range(o.shape[1]):
        one, both = (f(o[:, j], m[:, j], edges, **options) for f in (g.aamil, g.mixing))
        changed = into[o[:, j] != m[:, j]].sum()
        weighted = sum(abs(into[o[:, j] == c].sum() - into[m[:, j] == c].sum()) for c in range(5)) / 2
        assert weighted - 1e-12 <= one <= changed + 1e-12
        assert weighted - 1e-12 <= both <= 1


@given(graphs(), st.randoms(use_true_random=False))
def test_names_of_nodes_and_categories_do_not_matter(case: tuple, random: object) -> None:
    o, m, edges, labels, directed = case
    order = np.array(random.sample(range(len(o)), len(o)))  # type: ignore[attr-defined]
    place = np.argsort(order)
    names = np.array(random.sample(range(1000), 5))  # type: ignore[attr-defined]
    options = {"directed": directed}
    for measure in (g.aamil, g.mixing, g.homophily, g.il_graph):
        assert measure(names[o][order], names[m][order], place[edges], **options) == pytest.approx(
            measure(o, m, edges, **options)
        )
    assert g.nsil(names[labels][order], place[edges], **options) == pytest.approx(g.nsil(labels, edges, **options))


# -- the source's example ---------------------------------------------------------------------------------------------


def test_the_figures_of_the_source() -> None:
    # location: 0 United States, 1 Washington DC, 2 New York City
    # topics: 0 Technology, 1 Politics, 2 Sports, 3 Religion, 4 Culture, 5 Weather
    original = np.array([[1, 0, 1, 4], [0, 0, 2, 3], [2, 1, 2, 5]])
    released = np.array([[0, 0, 1, 2]] * 3)
    links = np.array([[0, 1], [1, 2]])
    assert g.aamil_by_attribute(original, released, links).tolist() == [0.5, 0.25, 0.75, 1.0]
    assert g.aamil(original, released, links) == 0.625
    assert g.mixing_by_attribute(original, released, links).tolist() == [1.0, 0.5, 1.0, 1.0]
    assert g.cdil_by_attribute(original, released).tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3, 1.0])
    assert g.cdil(original, released) == pytest.approx(2 / 3)
    assert g.dbil_graph(original[1:2], released[1:2]) == 0.5


def test_distances_of_places() -> None:
    # Brooklyn (level 0), New York City (1), Washington DC (1), United States (5), World (7)
    rows = [[0, 1, 2, 3, 4], [1, 1, 2, 3, 4], *[[3, 3, 3, 3, 4]] * 4, *[[4, 4, 4, 4, 4]] * 2]
    levels = [0, 1, 1, 5, 7]
    found = g.place_distance([0, 3, 1, 0, 2], [3, 0, 2, 1, 2], rows, levels)
    assert found.tolist() == pytest.approx([5 / 7, 5 / 7, 1.0, 1 / 7, 0.0])


def test_a_graph_of_formulas(formula: Callable[[int], Graph]) -> None:
    codes, edges = formula(12)
    assert len(edges) == 26
    assert len(formula(10)[1]) == 16
    labels = blocks(12, 3)
    released = modes(codes, labels)
    assert g.aamil(codes, released, edges) == pytest.approx(0.134615, abs=1e-6)
    assert g.mixing(codes, released, edges) == pytest.approx(0.192308, abs=1e-6)
    assert g.cdil(codes, released) == pytest.approx(0.111111, abs=1e-6)
    assert g.dbil_graph(codes, released) == pytest.approx(0.361111, abs=1e-6)
    assert g.il_graph(codes, released, edges) == pytest.approx(0.202279, abs=1e-6)
    assert g.nsil(labels, edges) == pytest.approx(0.915825, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lazega", (0.179894, 0.264928, 0.134809, 0.295775, 0.203493, 0.422231)),
        ("caltech36", (0.332600, 0.449954, 0.284228, 0.436745, 0.351191, 0.185626)),
    ],
)
def test_blocks_of_published_graphs(name: str, values: tuple[float, ...], published: Callable[[str], Graph]) -> None:
    codes, edges = published(name)
    labels = blocks(len(codes), 3)
    released = modes(codes, labels)
    found = (
        g.aamil(codes, released, edges),
        g.mixing(codes, released, edges),
        g.cdil(codes, released),
        g.dbil_graph(codes, released),
        g.il_graph(codes, released, edges),
        g.nsil(labels, edges),
    )
    assert found == pytest.approx(values, abs=1e-6)


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        ([[0, 9]], "1 link.s. with an end that is not a node .0 to 2., the first in row 0"),
        ([[1, 1]], "from a node to itself"),
        ([], "edges is empty"),
        ([[0, 1, 2]], "two columns"),
        ([[0, 0.5]], "whole numbers"),
    ],
)
def test_links_that_cannot_be_measured(edges: list, sentence: str) -> None:
    with pytest.raises(SDCError, match=sentence):
        g.aamil([0, 1, 2], [0, 0, 0], edges)


def test_repeated_links_are_refused_where_pairs_are_counted() -> None:
    with pytest.raises(SDCError, match="more than once"):
        g.nsil([0, 0, 1, 1], [[0, 1], [1, 0]])
