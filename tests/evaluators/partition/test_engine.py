"""The partition engine against the measures it stands for, one partition at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.disclosure_risk import interval_disclosure_value
from sdc_problems.evaluators.information_loss import il_sse, sse, z_scores
from sdc_problems.evaluators.linkage import distance_linkage
from sdc_problems.evaluators.partition import MEASURES, PartitionEngine
from sdc_problems.methods import microaggregate


@st.composite
def cases(draw: st.DrawFn):
    n, p = draw(st.integers(2, 30)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(n, p)) * 50 + 100 if draw(st.booleans()) else rng.integers(0, 3, size=(n, p)).astype(float)
    rows = rng.integers(0, draw(st.integers(1, n)), size=(draw(st.integers(1, 6)), n))
    return X, rows.astype(draw(st.sampled_from([np.int16, np.int64])))


@given(case=cases())
def test_agrees_with_the_measures(case):
    X, rows = case
    measured = PartitionEngine(X).measure(rows)
    Z = z_scores(X)
    for row, found in zip(rows, measured, strict=True):
        Y = microaggregate(X, row)
        assert found[0] == pytest.approx(sse(Z, row), rel=1e-9, abs=1e-9)
        assert found[1] == pytest.approx(il_sse(X, row), rel=1e-9, abs=1e-9)
        assert found[4] == np.unique(row, return_counts=True)[1].min()
        if len(np.unique(X)) > 3:  # on a grid, centroids may tie in one scaling and miss by a rounding in another
            assert found[2] == pytest.approx(distance_linkage(X, Y), abs=1e-9)
            near = interval_disclosure_value(Z, z_scores(Y, reference=X))
            assert found[3] == pytest.approx(near, abs=1e-9)


@given(case=cases())
def test_ties_are_counted_on_the_engines_own_scale(case):
    X, rows = case
    engine = PartitionEngine(X)
    for row in rows:
        expected = distance_linkage(engine.V, microaggregate(engine.V, row), standardize=False, engine="brute")
        assert engine.measure(row[None, :], ("dbrl",))[0, 0] == pytest.approx(expected, abs=1e-9)


@given(case=cases(), seed=st.integers(0, 99))
def test_kinds(case, seed):
    X, rows = case
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=X.shape).astype(float)
    kinds = [str(kind) for kind in rng.choice(["numeric", "ordinal", "nominal"], X.shape[1])]
    engine = PartitionEngine(codes, kinds=kinds)
    size = codes.max(axis=0) + 1
    for row, found in zip(rows, engine.measure(rows, ("sse", "id_value", "il_sse")), strict=True):
        total, near = 0.0, 0
        for group in set(row.tolist()):
            for j, kind in enumerate(kinds):
                values = engine.V[row == group, j]
                center = microaggregate(values, np.zeros(len(values), dtype=int), kinds=[kind])[0, 0]
                for v in values:
                    if kind == "numeric":
                        total += (v - center) ** 2
                        near += 100 * abs(v - center) <= 10 * abs(v)
                    else:
                        step = (abs(v - center) + 1) / size[j] if kind == "ordinal" else 1
                        total += step**2 if v != center else 0
                        near += v == center
        assert found[0] == pytest.approx(total, rel=1e-9, abs=1e-9)
        assert found[1] == pytest.approx(100 * near / X.size)
        assert 0 <= found[2] <= 100


def test_any_number_of_threads_and_any_selection_of_measures(rng):
    X, rows = rng.normal(size=(600, 6)), rng.integers(0, 100, size=(400, 600)).astype(np.int16)
    one, many = PartitionEngine(X, threads=1), PartitionEngine(X, threads=4)
    names = ("sse", "il_sse", "id_value", "k")
    expected = one.measure(rows, names)
    assert many.measure(rows, names).tobytes() == expected.tobytes()
    for j, name in enumerate(names):
        assert many.measure(rows[:5], (name,)).tobytes() == expected[:5, j].tobytes()
    assert many.measure(rows[:3], ("dbrl",)).tobytes() == one.measure(rows[:3], ("dbrl",)).tobytes()


def test_neighbours_are_the_nearest_others(rng):
    X = rng.normal(size=(40, 3))
    Z = z_scores(X)
    near = PartitionEngine(X).neighbours
    for i in range(40):
        away = ((Z - Z[i]) ** 2).sum(axis=1)
        away[i] = np.inf
        np.testing.assert_array_equal(near[i], np.argsort(away)[:16])
    duplicates = PartitionEngine(np.ones((40, 2))).neighbours
    assert duplicates.shape == (40, 16)
    assert (duplicates != np.arange(40)[:, None]).all()
    assert PartitionEngine(X[:4]).neighbours.shape == (4, 3)


def test_constant_data_has_nothing_to_lose():
    engine = PartitionEngine(np.full((6, 2), 3.0))
    names = ("sse", "il_sse", "dbrl", "id_value", "k")
    assert engine.measure([[0, 0, 0, 1, 1, 1]], names).tolist() == [[0.0, 0.0, pytest.approx(100 / 6), 100.0, 3.0]]


def test_what_is_refused():
    engine = PartitionEngine([[0.0], [1.0], [2.0]])
    with pytest.raises(SDCError, match="a measure must be one of"):
        engine.measure([[0, 0, 0]], ("loss",))
    with pytest.raises(SDCError, match="between 0 and 2"):
        engine.measure([[0, 0, 3]])
    with pytest.raises(SDCError, match="partitions × 3 records"):
        engine.measure([[0, 0]])
    with pytest.raises(SDCError, match="partitions × 3 records"):
        engine.measure([[0.0, 0.0, 0.0]])
    with pytest.raises(SDCError, match="non-finite"):
        PartitionEngine([[np.nan]])
    assert engine.measure(np.empty((0, 3), dtype=np.int16)).shape == (0, len(MEASURES))
