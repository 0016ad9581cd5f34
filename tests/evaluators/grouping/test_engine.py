"""The grouping engine against the definition: microaggregate each group, protect the table, measure it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.datasets import people
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.disclosure_risk import dr_linkage, interval_disclosure_value
from sdc_problems.evaluators.grouping import TIE, GroupingEngine
from sdc_problems.evaluators.grouping import engine as module
from sdc_problems.evaluators.information_loss import il_sse
from sdc_problems.methods import mdav

N_GROUPINGS = 500


def z_scores(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0))


def protect(Z: np.ndarray, row: np.ndarray, k: int) -> np.ndarray:
    """Replace each group's values by the means of its clusters."""
    Y = np.empty_like(Z)
    for group in np.unique(row):
        columns = np.flatnonzero(row == group)
        labels = mdav(Z[:, columns], k, standardize=False)
        for cluster in np.unique(labels):
            inside = np.ix_(labels == cluster, columns)
            Y[inside] = Z[inside].mean(axis=0)
    return Y


def definition(Z: np.ndarray, row: np.ndarray, k: int) -> tuple[float, float, float]:
    """IL, ID and DLD on the z-scored protected table, with all distances of all records."""
    Y = protect(Z, row, k)
    il = 100 * ((Z - Y) ** 2).sum() / ((Z - Z.mean(axis=0)) ** 2).sum()
    disclosed = 100 * (100 * np.abs(Y - Z) <= 10 * np.abs(Z)).mean()
    distance = np.sqrt(np.maximum(((Z[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2), 0))
    own = np.diag(distance).copy()
    np.fill_diagonal(distance, np.inf)
    return il, disclosed, 100 * (distance.min(axis=1) > own + TIE * (1 + own)).mean()


def random_rows(rng: np.random.Generator, p: int, n: int) -> np.ndarray:
    """Groupings from one group to p, so that few and many groups are all there."""
    return np.array([rng.integers(0, rng.integers(1, p, endpoint=True), size=p) for _ in range(n)])


def continuous(rng: np.random.Generator) -> np.ndarray:
    base = rng.normal(size=(90, 3))
    return np.column_stack([base, base @ rng.normal(size=(3, 4)) + 0.3 * rng.normal(size=(90, 4))])


def tied(rng: np.random.Generator) -> np.ndarray:
    """Few distinct values, most of them the same: equal records, equal centroids and equal distances everywhere."""
    return np.maximum(rng.integers(-3, 4, size=(80, 6)), 0).astype(float)


def incomes(rng: np.random.Generator) -> np.ndarray:
    return people(120).data.values(["age", "hours", "wage", "savings"])


@pytest.mark.parametrize("table", [continuous, tied, incomes])
def test_engine_equals_the_definition(table: Callable[[np.random.Generator], np.ndarray]) -> None:
    rng = np.random.default_rng(7)
    Z = z_scores(table(rng))
    for k in (2, 5):
        rows = random_rows(rng, Z.shape[1], N_GROUPINGS // 2)
        measured = GroupingEngine(Z, k).measure(rows)
        expected = np.array([definition(Z, row, k) for row in rows])
        np.testing.assert_allclose(measured, expected, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["census", "water_treatment", "tarragona"])
def test_engine_equals_the_definition_on_public_files(name: str, public: Callable[[str], Path]) -> None:
    frame = pd.read_csv(public(f"{name}.csv")).select_dtypes("number").dropna()
    Z = z_scores(frame.to_numpy(float))
    rng = np.random.default_rng(11)
    for k, n in ((3, 100), (10, 100), (25, 200), (100, 100)):
        rows = random_rows(rng, Z.shape[1], n)
        measured = GroupingEngine(Z, k).measure(rows)
        expected = np.array([definition(Z, row, k) for row in rows])
        np.testing.assert_allclose(measured, expected, rtol=0, atol=1e-9)


def test_engine_equals_the_public_measures() -> None:
    rng = np.random.default_rng(3)
    X = continuous(rng) * [1, 10, 100, 1, 5, 7, 0.1] + 50
    Z = z_scores(X)
    rows = random_rows(rng, 7, 60)
    for (il, disclosed, linked), row in zip(GroupingEngine(Z, 4).measure(rows), rows, strict=True):
        Y = protect(Z, row, 4)
        released = Y * X.std(axis=0) + X.mean(axis=0)
        assert 100 * ((Z - Y) ** 2).sum() / Z.size == pytest.approx(il, abs=1e-9)
        if len(set(row)) == 1:
            assert il_sse(X, mdav(X, 4)) == pytest.approx(il, abs=1e-9)
        assert disclosed == pytest.approx(interval_disclosure_value(Z, Y), abs=1e-9)
        assert 0.5 * disclosed + 0.5 * linked == pytest.approx(dr_linkage(X, released), abs=1e-9)


@given(st.integers(0, 10_000), st.integers(4, 30), st.integers(1, 5), st.integers(1, 3))
@settings(max_examples=60)
def test_engine_equals_the_definition_on_anything(seed: int, n: int, p: int, distinct: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, distinct + 1, size=(n, p)).astype(float)
    X[0], X[1] = 0.0, 1.0  # no constant column
    Z = z_scores(X)
    k = int(rng.integers(2, n // 2, endpoint=True))
    rows = random_rows(rng, p, 4)
    expected = np.array([definition(Z, row, k) for row in rows])
    for memory in (1 << 20, 1):
        measured = GroupingEngine(Z, k, memory=memory, threads=1).measure(rows)
        np.testing.assert_allclose(measured, expected, rtol=0, atol=1e-9)


# -- the same bytes, however it is done -------------------------------------------------------------------------------


def test_same_bytes_for_any_threads_memory_and_order() -> None:
    rng = np.random.default_rng(5)
    Z = z_scores(continuous(rng))
    rows = random_rows(rng, 7, 80)
    expected = GroupingEngine(Z, 3, threads=1).measure(rows)
    block = 8 * 90 * 30 + 16 * 90
    for threads in (1, 2, 5):
        for memory in (1, 8 * block, 1 << 26):  # no blocks, eight blocks, plenty
            engine = GroupingEngine(Z, 3, threads=threads, memory=memory)
            assert engine.measure(rows).tobytes() == expected.tobytes()
            assert engine.measure(rows[::-1])[::-1].tobytes() == expected.tobytes()
    one_by_one = GroupingEngine(Z, 3)
    assert np.concatenate([one_by_one.measure(row[None, :]) for row in rows]).tobytes() == expected.tobytes()


def test_clones_have_the_same_bytes() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    engine = GroupingEngine(Z, 3)
    measured = engine.measure([[0, 0, 1, 1, 2, 2, 0], [3, 3, 0, 0, 5, 5, 3]])
    assert measured[0].tobytes() == measured[1].tobytes()
    assert engine.stats.groups == 3


def test_several_threads_may_use_one_engine() -> None:
    """A problem is one object; two searches in two threads may share it."""
    rng = np.random.default_rng(6)
    Z = z_scores(continuous(rng))
    rows = random_rows(rng, 7, 60)
    expected = GroupingEngine(Z, 3).measure(rows)
    shared = GroupingEngine(Z, 3, threads=2, memory=9 * (8 * 90 * 30 + 16 * 90))
    with ThreadPoolExecutor(4) as pool:
        for measured in pool.map(lambda _: shared.measure(rows), range(8)):
            assert measured.tobytes() == expected.tobytes()


# -- what is remembered -----------------------------------------------------------------------------------------------


def test_a_group_is_microaggregated_once() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    engine = GroupingEngine(Z, 3)
    engine.measure([[0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 2, 2]])
    assert (engine.stats.groups, engine.stats.groups_found) == (5, 1)
    engine.measure([[0, 0, 0, 1, 1, 1, 1]])
    assert (engine.stats.rows, engine.stats.rows_found) == (3, 1)
    assert engine.stats.groups == 5
    engine.measure([[0, 0, 0, 1, 2, 1, 2]])
    assert engine.stats.groups_found == 2
    assert "1 of 4 found (25.0 %)" in str(engine.stats)
    assert str(GroupingEngine(Z, 3).stats).count("0 of 0 found (-)") == 3


def test_linkage_is_measured_when_it_is_asked_for() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    engine = GroupingEngine(Z, 3)
    rows = [[0, 1, 2, 3, 4, 5, 6]]
    assert engine.measure(rows, ("id_value", "il_sse")).shape == (1, 2)
    assert engine.stats.blocks == 0
    assert engine.measure(rows)[0, 2] > 0
    assert engine.measure(rows, ("id_value", "il_sse")).tolist() == engine.measure(rows)[:, [1, 0]].tolist()


def test_one_group_hides_everybody() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    engine = GroupingEngine(Z, 3)
    assert engine.measure(np.zeros((1, 7), dtype=int))[0, 2] == 0
    assert engine.stats.blocks == 0


def test_groups_of_a_row() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    engine = GroupingEngine(Z, 3)
    row = np.array([4, 4, 1, 1, 1, 0, 0])
    parts = engine.groups(row)
    assert [part.columns.tolist() for part in parts] == [[0, 1], [2, 3, 4], [5, 6]]
    assert sum(part.sse for part in parts) == pytest.approx(engine.measure(row[None, :])[0, 0] * engine.sst / 100)
    for part in parts:
        np.testing.assert_array_equal(part.labels, mdav(Z[:, part.columns], 3, standardize=False))


def test_arguments_are_not_changed(unchanged: Callable[..., None]) -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    unchanged(lambda Z, rows: GroupingEngine(Z, 3).measure(rows), Z, np.array([[5, 5, 1, 1, 2, 2, 5]]))
    engine = GroupingEngine(Z, 3)
    before = engine.measure([[0, 1, 0, 1, 0, 1, 0]])
    Z[:] = 0  # the engine has its own copy
    assert GroupingEngine(engine.Z, 3).measure([[0, 1, 0, 1, 0, 1, 0]]).tobytes() == before.tobytes()


def test_bad_input_is_refused() -> None:
    Z = z_scores(continuous(np.random.default_rng(5)))
    with pytest.raises(SDCError, match="k = 46 is too large for 90 records: at most 45"):
        GroupingEngine(Z, 46)
    with pytest.raises(SDCError, match="k must be a whole number ≥ 2"):
        GroupingEngine(Z, 1)
    with pytest.raises(SDCError, match="constant"):
        GroupingEngine(np.zeros((10, 2)), 2)
    with pytest.raises(SDCError, match="non-finite"):
        GroupingEngine(np.where(Z > 2, np.nan, Z), 3)
    engine = GroupingEngine(Z, 3)
    for bad in ([[0, 1]], [[0.5] * 7], [0] * 7):
        with pytest.raises(SDCError, match="groupings × 7 attributes"):
            engine.measure(bad)
    for bad in ([[7] * 7], [[-1] * 7]):
        with pytest.raises(SDCError, match="between 0 and 6"):
            engine.measure(bad)


@pytest.mark.parametrize("memory", [1, 2**28])
def test_small_slices_count_the_same_links(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    """A slice is bounded by its steps; how the records are cut does not show."""
    rng = np.random.default_rng(3)
    Z, rows = z_scores(rng.normal(size=(60, 4))), [[0, 0, 1, 1], [0, 1, 2, 2], [0, 1, 0, 1]]
    whole = GroupingEngine(Z, 3, memory=memory, threads=1)
    before, pieces = whole.measure(rows), whole._pieces(60, 10)
    monkeypatch.setattr(module, "SLICE", 50)
    cut = GroupingEngine(Z, 3, memory=memory, threads=1)
    np.testing.assert_array_equal(cut.measure(rows), before)
    small = cut._pieces(60, 10)
    assert max(piece.stop - piece.start for piece in small) == 5 < max(piece.stop - piece.start for piece in pieces)
