"""Engine of categorical files: equal to the public functions after any sequence of moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.evaluators import ctbil, dbil, distance_linkage, ebil, guess, interval_disclosure_rank
from sdc_problems.evaluators.cells import CategoricalCells, CategoricalState, _state, categorical


def public_measures(engine: CategoricalCells, Y: np.ndarray, K: int) -> dict[str, float]:
    X, kinds, sizes = engine.X, engine.kinds, engine.sizes
    return {
        "ctbil": ctbil(X, Y, K=K),
        "dbil": dbil(X, Y, kinds=kinds, n_categories=sizes),
        "ebil": ebil(X, Y, n_categories=sizes),
        "id_rank": interval_disclosure_rank(X, Y, percent=engine.percent, kinds=kinds),
        "guess": guess(X, Y),
        "dbrl": distance_linkage(X, Y, direction="to_original", kinds=kinds, n_categories=sizes),
    }


def check(state: CategoricalState, K: int = 2) -> None:
    assert state.measures == pytest.approx(public_measures(state.engine, state.codes, K), rel=1e-9, abs=1e-9)


@st.composite
def opened(draw: st.DrawFn) -> tuple[CategoricalState, np.random.Generator, int]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p, K = draw(st.integers(1, 40)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    sizes = np.array(draw(st.lists(st.integers(1, 7), min_size=p, max_size=p)))
    kinds = draw(st.lists(st.sampled_from(["ordinal", "nominal"]), min_size=p, max_size=p))
    X = rng.integers(0, sizes, size=(n, p))
    percent = draw(st.sampled_from([0, 3, 10, 30]))
    engine = CategoricalCells(X, kinds=kinds, n_categories=sizes, K=K, percent=percent)
    return engine.open(X if draw(st.booleans()) else rng.integers(0, sizes, size=(n, p))), rng, K


@pytest.fixture(params=[True, False], ids=["table", "scan"])
def table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.param:
        monkeypatch.setattr(categorical, "MOST_COMBINATIONS", 0)


@pytest.mark.usefixtures("table")
@given(opened(), st.lists(st.sampled_from(["cell", "swap", "block", "row"]), min_size=1, max_size=8))
def test_measures_equal_the_public_functions_after_any_moves(
    drawn: tuple[CategoricalState, np.random.Generator, int], kinds: list[str]
) -> None:
    state, rng, K = drawn
    n, p = state.shape
    check(state, K)
    for kind in kinds:
        before, codes = state.measures, state.codes
        j = int(rng.integers(p))
        if kind == "cell":
            cells = np.array([[rng.integers(n), j]])
        elif kind == "swap":
            cells = np.column_stack([rng.choice(n, size=min(n, 2), replace=False), np.full(min(n, 2), j)])
        elif kind == "row":
            cells = np.column_stack([np.full(p, rng.integers(n)), np.arange(p)])
        else:
            cells = np.argwhere(rng.random((n, p)) < 0.6)
        values = rng.integers(0, state.engine.sizes[cells[:, 1]])
        if kind == "swap":
            values = codes[cells[::-1, 0], j]
        said = state.propose(cells, values)
        assert state.measures == before
        np.testing.assert_array_equal(state.codes, codes)
        assert state.propose(cells, values) == said
        if rng.random() < 0.7:
            codes[cells[:, 0], cells[:, 1]] = values
            assert state.commit() == said
            np.testing.assert_array_equal(state.codes, codes)
        check(state, K)


@given(opened())
def test_many_moves_measure_as_one_by_one(drawn: tuple[CategoricalState, np.random.Generator, int]) -> None:
    state, rng, K = drawn
    n, p = state.shape
    cells = np.column_stack([rng.integers(n, size=12), rng.integers(p, size=12)])
    values = rng.integers(0, state.engine.sizes[cells[:, 1]])
    before, codes = state.measures, state.codes
    together = state.measure_moves(cells, values)
    assert state.measures == before
    np.testing.assert_array_equal(state.codes, codes)
    for e in range(12):
        assert {name: column[e] for name, column in together.items()} == pytest.approx(
            state.propose(cells[e], values[e]), rel=1e-12, abs=1e-12
        )
    check(state, K)


def test_domains_whose_distances_have_no_common_unit(rng: np.random.Generator) -> None:
    sizes = [64, 81, 125, 49, 11, 13, 17, 19, 23, 29, 31, 37]
    X = rng.integers(0, sizes, size=(40, len(sizes)))
    engine = CategoricalCells(X, kinds=["ordinal"] * 11 + ["nominal"], n_categories=sizes)
    assert len(engine.fixed.combination) == 0
    state = engine.open(X)
    for _ in range(60):
        j = rng.integers(len(sizes))
        state.propose([[rng.integers(40), j]], [rng.integers(sizes[j])])
        state.commit()
    check(state)


def test_a_large_block_is_compiled_anew(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(categorical, "BLOCK", 3)
    X = rng.integers(0, 4, size=(30, 3))
    state = CategoricalCells(X, kinds="ordinal").open(X)
    cells = np.argwhere(rng.random(X.shape) < 0.3)
    before, values = state.measures, rng.integers(0, 4, size=len(cells))
    said = state.propose(cells, values)
    assert state.measures == before
    state.propose(cells, values)
    assert state.commit() == said
    check(state)


def test_running_sums_are_rebuilt(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(_state, "REBUILD", 2)
    X = rng.integers(0, 4, size=(30, 3))
    state = CategoricalCells(X).open(X)
    state.file.entropy[:] += 1.0  # as if they had drifted
    state.file.links[0] += 1.0
    for _ in range(2):
        state.propose([[rng.integers(30), rng.integers(3)]], [rng.integers(4)])
        state.commit()
    check(state)


@pytest.mark.parametrize(("larger", "guard"), [(0.0, False), (1.0, False), (1.0, True)])
def test_annealing_stays_at_the_best_file_it_met(larger: float, guard: bool, rng: np.random.Generator) -> None:
    X = rng.integers(0, [3, 4, 5], size=(80, 3))
    state = CategoricalCells(X, kinds=["ordinal", "nominal", "ordinal"]).open(X)

    def score() -> float:
        m = state.measures
        loss = (m["ctbil"] + m["dbil"] + m["ebil"]) / 3
        risk = (max(m["id_rank"], m["guess"]) if guard else m["id_rank"]) + max(m["dbrl"], 2.5)
        return max(loss, risk / 2) if larger else 0.5 * loss + 0.25 * risk

    weights = [1.0, 1.0] if larger else [0.5, 0.5]
    before = score()
    found = state.walk(
        20_000, aim=np.array([*weights, larger, 2.5]), guard=guard, hot=0.1, cold=0.001,
        seed=np.array([3], dtype=np.uint64),
    )  # fmt: skip
    check(state)
    assert found == pytest.approx(score(), abs=1e-9)
    assert found < before - 1.0


def test_without_temperature_no_score_rises(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, size=(50, 2))
    state = CategoricalCells(X).open(X)
    arguments = {"aim": np.array([0.5, 0.5, 0.0, 0.0]), "guard": True, "hot": 0.0, "cold": 0.0}
    scores = [
        state.walk(100, seed=np.array([seed], dtype=np.uint64), **arguments)  # type: ignore[arg-type]
        for seed in range(1, 6)
    ]
    assert scores == sorted(scores, reverse=True)
