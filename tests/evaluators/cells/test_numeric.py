"""Engine of numeric files: equal to the public functions after any sequence of moves."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import copies, distance_linkage, mean_interval_disclosure, pil
from sdc_problems.evaluators.cells import NumericCells, NumericState, _state
from sdc_problems.evaluators.cells._numeric import erf
from sdc_problems.evaluators.cells.numeric import decimals_of


def public_measures(X: np.ndarray, Y: np.ndarray) -> dict[str, float]:
    return {
        "pil": pil(X, Y),
        "id_rank": mean_interval_disclosure(X, Y),
        "dbrl": distance_linkage(X, Y, direction="to_original"),
    }


def check(state: NumericState) -> None:
    engine = state.engine
    Y = engine.values(state.codes)
    np.testing.assert_array_equal(state.values, Y)
    assert state.measures == pytest.approx(public_measures(engine.X, Y), rel=1e-9, abs=1e-9)
    assert state.copies() == pytest.approx(copies(engine.X, Y), abs=1e-9)


@st.composite
def opened(draw: st.DrawFn) -> tuple[NumericState, np.random.Generator, int]:
    """A file of few different values (ties everywhere), of many, with decimals, or with a constant column."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    top = draw(st.sampled_from([1, 3, 40, 100_000]))
    decimals = draw(st.lists(st.integers(0, 3), min_size=p, max_size=p))
    low = draw(st.lists(st.integers(-500, 500), min_size=p, max_size=p))
    codes = rng.integers(0, top + 1, size=(n, p))
    if draw(st.booleans()):
        codes[:, 0] = codes[0, 0]
    X = (codes + np.array(low)) / 10.0 ** np.array(decimals)
    start = codes if draw(st.booleans()) else rng.integers(0, top + 1, size=(n, p))
    return NumericCells(X, low=low, decimals=decimals).open(start), rng, top


@given(opened(), st.lists(st.sampled_from(["cell", "swap", "block", "row"]), min_size=1, max_size=8))
def test_measures_equal_the_public_functions_after_any_moves(
    drawn: tuple[NumericState, np.random.Generator, int], kinds: list[str]
) -> None:
    state, rng, top = drawn
    n, p = state.shape
    check(state)
    for kind in kinds:
        before, codes = state.measures, state.codes
        j = int(rng.integers(p))
        if kind == "cell":
            cells, values = np.array([[rng.integers(n), j]]), rng.integers(0, top + 1, size=1)
        elif kind == "swap":
            i, k = rng.choice(n, size=2, replace=False)
            cells, values = np.array([[i, j], [k, j]]), codes[[k, i], j]
        elif kind == "row":
            i = int(rng.integers(n))
            cells, values = np.column_stack([np.full(p, i), np.arange(p)]), rng.integers(0, top + 1, size=p)
        else:
            cells = np.argwhere(rng.random((n, p)) < 0.6)
            values = rng.integers(0, top + 1, size=len(cells))
        said = state.propose(cells, values)
        assert state.measures == before
        np.testing.assert_array_equal(state.codes, codes)
        assert state.propose(cells, values) == said
        if rng.random() < 0.7:
            codes[cells[:, 0], cells[:, 1]] = values
            assert state.commit() == said
            np.testing.assert_array_equal(state.codes, codes)
        check(state)


@given(opened())
def test_many_moves_measure_as_one_by_one(drawn: tuple[NumericState, np.random.Generator, int]) -> None:
    state, rng, top = drawn
    n, p = state.shape
    cells = np.column_stack([rng.integers(n, size=12), rng.integers(p, size=12)])
    values = rng.integers(0, top + 1, size=12)
    before, codes = state.measures, state.codes
    together = state.measure_moves(cells, values)
    assert state.measures == before
    np.testing.assert_array_equal(state.codes, codes)
    for e in range(12):
        single = state.propose(cells[e], values[e])
        assert {name: column[e] for name, column in together.items()} == pytest.approx(single, rel=1e-12, abs=1e-12)
    check(state)


def test_the_error_function_is_exact_to_rounding() -> None:
    x = np.linspace(0, 7, 20_001)
    np.testing.assert_allclose([erf(float(v)) for v in x], [math.erf(v) for v in x], rtol=0, atol=1e-13)


def test_a_large_block_is_compiled_anew(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr("sdc_problems.evaluators.cells.numeric.BLOCK", 3)
    X = rng.integers(0, 50, size=(30, 3)).astype(float)
    state = NumericCells(X, low=[0] * 3, decimals=[0] * 3).open(X.astype(int))
    state.copies()
    cells = np.argwhere(rng.random(X.shape) < 0.3)
    before, values = state.measures, rng.integers(0, 50, size=len(cells))
    said = state.propose(cells, values)
    assert state.measures == before
    state.propose(cells, values)
    assert state.commit() == said
    check(state)


def test_running_sums_are_rebuilt(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setattr(_state, "REBUILD", 3)
    X = rng.integers(0, 50, size=(30, 3)).astype(float)
    state = NumericCells(X, low=[0] * 3, decimals=[0] * 3).open(X.astype(int))
    for _ in range(7):
        state.propose([[rng.integers(30), rng.integers(3)]], [rng.integers(50)])
        state.commit()
    state.file.total[:] += 1.0  # as if it had drifted
    for _ in range(2):
        state.propose([[rng.integers(30), rng.integers(3)]], [rng.integers(50)])
        state.commit()
    check(state)


def test_long_walks_stay_exact(rng: np.random.Generator) -> None:
    """Large numbers, whose sums of squares leave the whole doubles."""
    X = np.round(rng.lognormal(14, 2, size=(60, 4)), 2)
    low = np.rint(X.min(axis=0) * 100).astype(int)
    engine = NumericCells(X, low=low, decimals=[2] * 4)
    state = engine.open(engine.codes(X))
    top = state.codes.max(axis=0)
    for _ in range(3000):
        j = rng.integers(4)
        state.propose([[rng.integers(60), j]], [rng.integers(top[j] + 1)])
        if rng.random() < 0.5:
            state.commit()
    check(state)


@pytest.mark.parametrize("summed", [False, True])
def test_a_walk_of_exchanges_measures_as_the_public_functions(summed: bool, rng: np.random.Generator) -> None:
    X = rng.integers(0, 900, size=(60, 4)).astype(float)
    X[:, 3] = X[:, 0] - X[:, 1]
    engine = NumericCells(X, low=[0, 0, 0, -900], decimals=[0] * 4)
    start = rng.permuted(X, axis=0)
    start[:, 3] = start[:, 0] - start[:, 1]
    state = engine.open(engine.codes(start))
    state.copies()
    for smooth in (True, False):
        score = 0.5 * state.measures["pil"] + 0.25 * state.measures["id_rank"] + 0.125 * state.measures["dbrl"]
        taken = state.walk(
            4000,
            columns=np.array([0, 1, 2]),
            sums={0: (3, 1), 1: (3, -1)} if summed else {},
            aim=np.array([0.5, 0.5, 0.0, 0.0]),
            most_copies=0,
            smooth=smooth,
            temperature=0.0,
            seed=np.array([7], dtype=np.uint64),
        )
        assert taken > 0
        check(state)
        after = state.measures
        if not smooth:
            assert 0.5 * after["pil"] + 0.25 * after["id_rank"] + 0.125 * after["dbrl"] <= score + 1e-9
    for j in range(3):
        np.testing.assert_array_equal(np.sort(state.values[:, j]), np.sort(X[:, j]))
    if summed:
        np.testing.assert_array_equal(state.values[:, 3], state.values[:, 0] - state.values[:, 1])
    else:
        np.testing.assert_array_equal(state.values[:, 3], start[:, 3])


def test_a_walk_reduces_copies_first(rng: np.random.Generator) -> None:
    X = rng.integers(0, 900, size=(40, 3)).astype(float)
    engine = NumericCells(X, low=[0] * 3, decimals=[0] * 3)
    state = engine.open(engine.codes(np.roll(X, 20, axis=0)))  # the shifted file: no loss, no link, all copies
    assert state.copies() == 100.0
    state.walk(
        20_000, columns=np.arange(3), sums={}, aim=np.array([1.0, 0.0, 0.0, 0.0]), most_copies=1, smooth=False,
        temperature=0.0, seed=np.array([3], dtype=np.uint64),
    )  # fmt: skip
    assert state.copies() <= 100 / 40
    check(state)


def test_cells_that_are_not_there_are_refused() -> None:
    state = NumericCells([[1.0], [2.0]], low=[0], decimals=[0]).open(np.array([[1], [2]]))
    with pytest.raises(SDCError, match="outside the file"):
        state.propose([[2, 0]], [1])
    with pytest.raises(SDCError, match="one code per cell"):
        state.propose([[0, 0]], [1, 2])
    with pytest.raises(SDCError, match="nothing to commit"):
        state.commit()
    with pytest.raises(SDCError, match="one record"):
        NumericCells([[1.0]], low=[0], decimals=[0])


def test_decimals_are_those_of_the_numbers() -> None:
    assert decimals_of(np.array([1.0, -3.0])) == 0
    assert decimals_of(np.array([1.25, 7.5])) == 2
    assert decimals_of(np.array([0.1, 0.2])) == 1
    assert decimals_of(np.array([1 / 3, 1e6])) == 3  # as far as 31 bits go


def test_the_reference_file(public: Callable[[str], Path], rng: np.random.Generator) -> None:
    X = pd.read_csv(public("census.csv")).to_numpy(float)
    low = X.min(axis=0).astype(int)
    engine = NumericCells(X, low=low, decimals=[0] * 13)
    untouched = engine.open(engine.codes(X))
    assert untouched.measures == {"pil": 0.0, "id_rank": 100.0, "dbrl": 100.0}
    state = engine.open(engine.codes(rng.permuted(X, axis=0)))
    check(state)
    for _ in range(200):
        cell = [rng.integers(1080), rng.integers(13)]
        state.propose([cell], [rng.integers(int(X[:, cell[1]].max()) - low[cell[1]] + 1)])
        state.commit()
    check(state)
