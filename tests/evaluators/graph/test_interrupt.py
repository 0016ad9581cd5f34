"""Long measures of graphs: Ctrl-C is heard in the midst of them, and slices change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sdc_problems import _slices
from sdc_problems.evaluators.graph import _egos, exposure
from sdc_problems.evaluators.graph import structure as structure_of
from sdc_problems.evaluators.graph._links import Arcs, arcs, pairs_of_links
from sdc_problems.evaluators.graph.structure import _among, _directed_among
from sdc_problems.evaluators.node_clusters import Column
from sdc_problems.evaluators.node_clusters._moves import anneal, fill, new_state
from sdc_problems.evaluators.node_clusters.engine import NodeClusterEngine

N = 30


@pytest.fixture
def edges(rng: np.random.Generator) -> np.ndarray:
    pairs = np.sort(rng.integers(0, N, (80, 2)), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def engine_of(links: Arcs) -> NodeClusterEngine:
    return NodeClusterEngine([Column(np.arange(N, dtype=np.int32) % 5, 5)], links)


@pytest.mark.parametrize("directed", [False, True])
def test_slices_and_threads_change_nothing(edges: np.ndarray, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured() -> list[Any]:
        near = engine_of(arcs(edges, N, directed=directed)).neighbours
        return [structure_of(edges, N, directed=directed), exposure(edges, N, 2, directed=directed), near.tolist()]

    told: list[str] = []
    before = measured()
    monkeypatch.setattr(_slices, "SLICE", 0)
    with _slices.listening(lambda what, *_: told.append(what)):
        assert measured() == before
    assert {"nodes whose paths are measured", "nodes near to each"} <= set(told)


def test_kernels_end_by_the_flag(edges: np.ndarray) -> None:
    links = arcs(edges, N)
    found = _egos.egos(links)
    engine = engine_of(links)
    weights = np.ones(5)
    state = new_state(engine.table, engine.links, n_clusters=N // 2, largest=3)
    fill(engine.table, engine.links, state, weights != 0, np.arange(N) // 2)
    calls: list[Any] = [
        lambda flag: _among(links.out_ptr, links.out, flag),
        lambda flag: _directed_among(links.out_ptr, links.out, links.out_ptr, links.out, flag),
        lambda flag: _egos._inner_links(
            links.out_ptr, links.out, np.zeros(len(links.out), dtype=np.int8), found.start, found.links.copy(),
            np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int8), flag,
        ),
        lambda flag: _egos._refine(found.start, found.links, found.end, found.way, found.color, found.key, flag),
        lambda flag: _egos._classes(
            *found[:6], np.zeros((1, N), dtype=np.int64), found.key, np.argsort(found.key), True, flag
        ),
        lambda flag: anneal(
            engine.table, engine.links, state, weights, engine.neighbours, 2, 0.1, 0.001, 1 << 40, np.uint64(1),
            np.empty(N, dtype=np.int64), flag,
        ),
    ]  # fmt: skip
    for call in calls:  # the last one would take days
        flag = np.array([1, 0, 0], dtype=np.int64)
        call(flag)
        assert flag[2] > 0, "it says how much there is"
        assert flag[1] <= 64, "it ends at once"


def test_pairs_of_links() -> None:
    star = arcs([[0, v] for v in range(1, 5)], 5)
    assert pairs_of_links(star.out_ptr) == 4**2 + 4
