"""Engine of node clusters, and its exact changes under moves, against plain twins."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import graph as g
from sdc_problems.evaluators.graph._links import arcs
from sdc_problems.evaluators.node_clusters import MEASURES, Column, NodeClusterEngine, _moves
from sdc_problems.evaluators.node_clusters._moves import anneal, exchange, fill, new_state, terms

TERMS = ("aamil", "cdil", "dbil_graph", "nsil", "dr_degree")

# A tree of places: 0-3 quarters, 4-5 towns, 6 the country. A node may be as coarse as a town.
BRANCHES = np.array([[0, 1, 2, 3, 4, 5, 6], [4, 4, 5, 5, 4, 5, 6], [6, 6, 6, 6, 6, 6, 6]], dtype=np.int32)
LEVELS = np.array([0, 0, 0, 0, 1, 1, 2], dtype=np.int32)


def columns(rng: np.random.Generator, n: int, kinds: str) -> list[Column]:
    out: list[Column] = []
    for kind in kinds:
        if kind in "nm":  # m: the mode of ordered values
            out.append(Column(rng.integers(0, 4, n).astype(np.int32), 4, "nominal" if kind == "n" else "ordinal"))
        elif kind == "o":
            out.append(Column(rng.integers(0, 5, n).astype(np.int32), 5, "ordinal", "median"))
        elif kind == "v":
            out.append(Column(np.empty(n, np.int32), 0, "numeric", "mean", np.repeat(rng.normal(size=n), 2)[:n]))
        elif kind in "pq":  # q: the mode of places
            rule = "generalize" if kind == "p" else "mode"
            codes = rng.integers(0, 6, n).astype(np.int32)
            out.append(Column(codes, 7, "placed", rule, branches=BRANCHES, levels=LEVELS))
        elif kind == "r":
            ranks = np.array([rng.permutation(5)[:3] for _ in range(n)])
            ranks[rng.random(n) < 0.3, 2] = 5  # no third choice
            out += [Column(ranks[:, r].astype(np.int32), 6, rule="borda", width=3, rank=r, missing=5) for r in range(3)]
    return out


# -- plain twins ------------------------------------------------------------------------------------------------------


def plain_values(cols: list[Column], nodes: list[int]) -> list[Any]:
    """Common values of some nodes; numbers as they are, others as codes."""
    out: list[Any] = []
    for column in cols:
        cells = [int(column.codes[v]) for v in nodes] if column.values is None else []
        if column.rule == "mode":
            counts = Counter(cells)
            out.append(min(counts, key=lambda c: (-counts[c], c)))
        elif column.rule == "median":
            out.append(sorted(cells)[(len(cells) - 1) // 2])
        elif column.rule == "mean":
            assert column.values is not None
            cells = [float(column.values[v]) for v in nodes]
            # To the bit: the mean of the two nodes in the middle is the decile that they lie beside.
            out.append(cells[0] + sum(cell - cells[0] for cell in cells) / len(cells))
        elif column.rule == "generalize":
            assert column.branches is not None
            out.append(next(row[cells[0]] for row in column.branches if len({int(row[c]) for c in cells}) == 1))
        elif column.rank == 0:
            at = cols.index(column)
            group = cols[at : at + column.width]
            places = {}
            for r, one in enumerate(group):
                for v in nodes:
                    if one.codes[v] != column.missing:
                        places.setdefault(int(one.codes[v]), [0] * column.width)[r] += 1
            points = {c: sum(m * (column.width - r) for r, m in enumerate(p)) for c, p in places.items()}
            ordered = sorted(places, key=lambda c: (-points[c], [-m for m in places[c]], c))
            out += (ordered + [column.missing] * column.width)[: column.width]
    return out


def plain_distance(column: Column, a: Any, b: Any) -> float:
    if column.values is not None:
        return abs(a - b) / (np.ptp(column.values) or 1.0)
    if a == b:
        return 0.0
    if column.kind == "ordinal":
        return (abs(a - b) + 1) / column.n_categories
    if column.kind == "placed":
        low, high = sorted((a, b), key=lambda c: LEVELS[c])
        if BRANCHES[LEVELS[high], low] == high:
            return (LEVELS[high] - LEVELS[low]) / 2
    return 1.0


def plain_release(cols: list[Column], labels: np.ndarray) -> list[list[Any]]:
    rows: list[list[Any]] = [[]] * len(labels)
    for c in np.unique(labels):
        nodes = np.flatnonzero(labels == c).tolist()
        values = plain_values(cols, nodes)
        for v in nodes:
            rows[v] = values
    return rows


def plain_classes(cols: list[Column], rows: list[list[Any]]) -> np.ndarray:
    """Categories, numbers by the original's deciles."""
    out = np.empty((len(rows), len(cols)), dtype=np.int64)
    for j, column in enumerate(cols):
        if column.values is None:
            out[:, j] = [row[j] for row in rows]
        else:
            cuts = np.quantile(column.values, np.arange(1, 10) / 10)
            out[:, j] = [(cuts <= row[j]).sum() for row in rows]
    return out


def plain_figures(cols: list[Column], edges: np.ndarray, labels: np.ndarray, directed: bool) -> dict[str, float]:
    n = len(labels)
    original = [[c.codes[v] if c.values is None else c.values[v] for c in cols] for v in range(n)]
    released = plain_release(cols, labels)
    o, m = plain_classes(cols, original), plain_classes(cols, released)
    options = {"directed": directed}
    away = [plain_distance(c, original[v][j], released[v][j]) for v in range(n) for j, c in enumerate(cols)]
    number = {}

    def coded(rows: list[list[Any]]) -> np.ndarray:
        return np.array([[number.setdefault((j, x), len(number)) for j, x in enumerate(row)] for row in rows])

    before, after = coded(original), coded(released)
    found = g.ego_matches(before, after, edges, **options)
    out = {
        "aamil": g.aamil(o, m, edges, **options),
        "mixing": g.mixing(o, m, edges, **options),
        "cdil": g.cdil(o, m),
        "dbil_graph": float(np.mean(away)),
        "homophily": g.homophily(o, m, edges, **options),
        "ego_risk": found.risk,
        "ego_risk_right": found.risk_right,
        "ego_risk_single": np.mean([g.ego_risk(before[:, j], after[:, j], edges, **options) for j in range(len(cols))]),
        "dr_degree": g.degree_risk(after, edges, **options),
        "nsil": g.nsil(labels, edges, **options),
        "k": min(Counter(labels.tolist()).values()),
    }
    out["il_graph"] = (out["aamil"] + out["cdil"] + out["dbil_graph"]) / 3
    out["score_mean"] = (out["il_graph"] + out["ego_risk"]) / 2
    out["score_max"] = max(out["il_graph"], out["ego_risk"])
    lost = 0.0
    for j, column in enumerate(cols):
        for c in np.unique(labels):
            nodes = np.flatnonzero(labels == c)
            if len({original[v][j] for v in nodes}) > 1:
                weight = LEVELS[released[nodes[0]][j]] / 2 if column.rule == "generalize" else 1.0
                lost += weight * len(nodes)
    out["ngil"] = lost / (n * len(cols))
    return out


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Column], np.ndarray, np.ndarray, bool]:
    n = draw(st.integers(4, 14))
    directed = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kinds = draw(st.sampled_from(["n", "nn", "o", "v", "p", "r", "nov", "mq", "nrp", "vvn", "orpv"]))
    every = np.array([(a, b) for a in range(n) for b in range(n) if (a != b if directed else a < b)])
    edges = every[rng.random(len(every)) < draw(st.sampled_from([0.2, 0.5]))]
    if not len(edges):
        edges = every[:1]
    labels = np.minimum(rng.permutation(n) // draw(st.integers(2, 3)), n // 3 if n > 5 else 1)
    return columns(rng, n, kinds), edges, np.unique(labels, return_inverse=True)[1], directed


@given(cases())
def test_the_engine_measures_what_its_plain_twin_does(case: tuple) -> None:
    cols, edges, labels, directed = case
    engine = NodeClusterEngine(cols, arcs(edges, len(labels), directed=directed))
    names = [name for name in MEASURES if name != "l"]
    expected = plain_figures(cols, edges, labels, directed)
    assert set(expected) == set(names)
    found = engine.measure(labels[None, :], names)[0]
    assert dict(zip(names, found, strict=True)) == pytest.approx(expected, abs=1e-12)
    for name, value in zip(names, found, strict=True):
        assert engine.measure(labels[None, :], (name,))[0, 0] == value


def test_diversity_is_that_of_the_poorest_cluster() -> None:
    rng = np.random.default_rng(1)
    links = arcs([[0, 1], [2, 3]], 6)
    engine = NodeClusterEngine(columns(rng, 6, "n"), links, sensitive=np.array([[0, 0, 1, 1, 2, 2]]).T)
    assert engine.measure([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]], ("l",)).ravel().tolist() == [
        2,
        1,
        3,
    ]
    with pytest.raises(SDCError, match="l needs a sensitive attribute"):
        NodeClusterEngine(columns(rng, 6, "n"), links).measure([[0] * 6], ("l",))


def test_threads_do_not_change_the_result() -> None:
    rng = np.random.default_rng(2)
    n = 60
    edges = np.array([(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.2])
    cols = columns(rng, n, "nopvr")
    rows = np.array([np.unique(rng.integers(0, 15, n), return_inverse=True)[1] for _ in range(12)])
    names = [name for name in MEASURES if name != "l"]
    one, two = (NodeClusterEngine(cols, arcs(edges, n), threads=t).measure(rows, names) for t in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_neighbours_are_the_nearest() -> None:
    rng = np.random.default_rng(3)
    n = 40
    cols = columns(rng, n, "nopvr")
    engine = NodeClusterEngine(cols, arcs([[0, 1]], n))
    far = np.array([engine.distances(v) for v in range(n)])
    for u in range(n):
        for v in range(n):
            cells = [plain_distance(c, *(c.codes[[u, v]] if c.values is None else c.values[[u, v]])) for c in cols]
            assert far[u, v] == pytest.approx(np.mean(cells))
    np.fill_diagonal(far, np.inf)
    for v in range(n):
        assert v not in engine.neighbours[v]
        np.testing.assert_allclose(far[v, engine.neighbours[v]], np.sort(far[v])[:16])


# -- moves ------------------------------------------------------------------------------------------------------------


ALL = np.ones(5, dtype=np.bool_)


@settings(max_examples=80)
@given(cases(), st.integers(0, 10**6), st.booleans())
def test_sums_follow_any_moves(case: tuple, seed: int, hashed: bool) -> None:
    """Joins, exchanges, clusters that dissolve and that are made: as measured anew, to 1e-9."""
    cols, edges, labels, directed = case
    n = len(labels)
    engine = NodeClusterEngine(cols, arcs(edges, n, directed=directed))
    dense, _moves.DENSE = _moves.DENSE, 0 if hashed else _moves.DENSE
    try:
        state = new_state(engine.table, engine.links, n_clusters=n, largest=n)
    finally:
        _moves.DENSE = dense
    fill(engine.table, engine.links, state, ALL, labels.astype(np.int64))
    rng = np.random.default_rng(seed)
    for step in range(40):
        if step % 8 == 0:
            now = np.unique(state.labels, return_inverse=True)[1]
            expected = engine.measure(now[None, :], TERMS)[0]
            np.testing.assert_allclose(terms(engine.table, engine.links, state), expected, atol=1e-9)
        x, y = (int(v) for v in rng.integers(0, n, 2))
        if state.labels[x] == state.labels[y]:
            empty = np.flatnonzero(state.size == 0)
            if len(empty):
                exchange(engine.table, engine.links, state, ALL, x, -1 - int(empty[0]))
        elif rng.random() < 0.5:
            exchange(engine.table, engine.links, state, ALL, x, y)
        else:
            exchange(engine.table, engine.links, state, ALL, x, -1 - int(state.labels[y]))


@given(cases(), st.integers(0, 10**6))
def test_annealing_keeps_its_sums_and_its_limits(case: tuple, seed: int) -> None:
    cols, edges, labels, directed = case
    n = len(labels)
    labels = np.minimum(np.arange(n) // 2, n // 2 - 1)
    engine = NodeClusterEngine(cols, arcs(edges, n, directed=directed))
    rng = np.random.default_rng(seed)
    weights = np.where(rng.random(5) < 0.6, rng.random(5), 0.0)
    state = new_state(engine.table, engine.links, n_clusters=n // 2, largest=3)
    on = weights != 0
    fill(engine.table, engine.links, state, on, labels)
    best = np.empty(n, dtype=np.int64)
    anneal(engine.table, engine.links, state, weights, engine.neighbours, 2, 0.1, 0.001, 2_000, np.uint64(seed), best,
           np.zeros(3, dtype=np.int64))  # fmt: skip
    now, kept = (np.unique(row, return_inverse=True)[1] for row in (state.labels, best))
    for row in (now, kept):
        assert set(np.bincount(row)) <= {2, 3}
    measured = engine.measure(np.array([now, kept, labels]), TERMS)
    np.testing.assert_allclose(terms(engine.table, engine.links, state)[on], measured[0][on], atol=1e-9)
    costs = measured @ weights
    assert costs[1] <= min(costs[0], costs[2]) + 1e-9
