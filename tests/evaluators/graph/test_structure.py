"""Structure of graphs against networkx and published figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from sdc_problems.evaluators.graph import structure, structure_report
from tests.evaluators.graph.conftest import Graph
from tests.evaluators.graph.test_loss import graphs

networkx = pytest.importorskip("networkx")


@given(graphs())
def test_structure_is_that_of_networkx(case: tuple) -> None:
    o, _, edges, _, directed = case
    found = structure(edges, len(o), directed=directed)
    G = networkx.Graph(edges.tolist())
    G.add_nodes_from(range(len(o)))
    assert found.links == len(edges)
    assert list(found.degrees) == networkx.degree_histogram(G)
    assert found.triangles == sum(networkx.triangles(G).values()) // 3
    assert found.transitivity == pytest.approx(networkx.transitivity(G))
    assert found.clustering == pytest.approx(networkx.average_clustering(G))
    parts = sorted(networkx.connected_components(G), key=len, reverse=True)
    assert found.components == tuple(map(len, parts))
    same = [p for p in parts if len(p) == len(parts[0])]
    assert found.diameter in [networkx.diameter(G.subgraph(p)) for p in same]
    assert min(abs(found.mean_path - networkx.average_shortest_path_length(G.subgraph(p))) for p in same) < 1e-12


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("lazega", (378, 493, 0.306974, 0.385269, -0.175474, 70, 2.103520, 4)),
        ("caltech36", (16656, 119563, 0.291283, 0.409294, -0.065273, 762, 2.337848, 6)),
    ],
)
def test_published_graphs(name: str, values: tuple[float, ...], published: Callable[[str], Graph]) -> None:
    codes, edges = published(name)
    s = structure(edges, len(codes))
    found = (s.links, s.triangles, s.transitivity, s.clustering, s.degree_assortativity)
    assert (*found, s.components[0], s.mean_path, s.diameter) == pytest.approx(values, abs=1e-6)
    assert not s.sampled


def test_paths_of_large_graphs_are_sampled() -> None:
    n = 6_000
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    found = structure(ring, n)
    assert found.sampled
    assert found.diameter == n // 2
    assert found.mean_path == pytest.approx(n * n / 4 / (n - 1))
    assert structure(ring, n, rng=np.random.default_rng(1)).mean_path == found.mean_path


def test_a_report_of_two_graphs() -> None:
    report = structure_report(structure([[0, 1], [1, 2]], 4), structure([[0, 1], [1, 2], [0, 2]], 4))
    assert report["links"] == (2, 3)
    assert report["triangles"] == (0, 1)
    assert report["components"] == (2, 2)
    assert report["largest_component"] == (3, 3)
    assert report["degrees_moved"] == (0.0, 0.5)
