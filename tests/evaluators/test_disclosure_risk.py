from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sdc_problems import SDCError
from sdc_problems.evaluators.disclosure_risk import (
    classical_score,
    dr_categorical,
    dr_linkage,
    expectation_ratio,
    interval_disclosure_rank,
    interval_disclosure_value,
    mean_expectation_ratio,
    score_max,
    score_mean,
)
from sdc_problems.evaluators.information_loss import il_statistics, z_scores
from sdc_problems.evaluators.linkage import distance_linkage, probabilistic_linkage

DEGREE = np.array([98, 173, 251, 195, 170, 80])
GRIDS = arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=st.integers(-20, 20).map(float))


def maximum_entropy(size: int, diagonal: float) -> np.ndarray:
    P = np.full((size, size), (1 - diagonal) / (size - 1))
    np.fill_diagonal(P, diagonal)
    return P


def test_expectation_ratios_of_the_published_table() -> None:
    """Marés (2013), Table 4.8, first row: DEGREE with diagonal 0.6 and equal chances elsewhere."""
    ratios = expectation_ratio(maximum_entropy(6, 0.6), DEGREE)
    np.testing.assert_allclose(ratios, [0.846, 1.634, 2.629, 1.894, 1.60, 0.676], atol=6e-4)


def test_mean_expectation_ratio_of_the_published_table() -> None:
    """Marés (2013), Tables 4.10 and 4.11, initial matrix."""
    assert mean_expectation_ratio(maximum_entropy(6, 0.6), DEGREE) == pytest.approx(1.780, abs=5e-4)


@given(st.integers(0, 2**32 - 1))
def test_expectation_ratio_is_the_plain_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = rng.random((5, 5)) * (rng.random((5, 5)) < 0.6) + np.diag(rng.integers(0, 2, 5))
    P[P.sum(axis=1) == 0] = 0.2
    P /= P.sum(axis=1, keepdims=True)
    f = rng.integers(0, 4, size=5)
    f[0] += 1
    ratios = expectation_ratio(P, f)
    for k in range(5):
        stay, arrive = f[k] * P[k, k], sum(f[i] * P[i, k] for i in range(5) if i != k)
        expected = 0.0 if stay == 0 else (stay / arrive if arrive else np.inf)
        assert ratios[k] == pytest.approx(expected)
    mean = sum(f[k] * ratios[k] for k in range(5) if f[k]) / f.sum()
    assert mean_expectation_ratio(P, f) == pytest.approx(mean)


def test_the_identity_keeps_everything() -> None:
    assert np.isinf(expectation_ratio(np.eye(3), [1, 2, 3])).all()
    assert expectation_ratio(np.eye(3), [1, 0, 3])[1] == 0.0
    assert mean_expectation_ratio(np.eye(3), [1, 0, 3]) == np.inf


def test_matrices_that_are_not_transitions_are_refused() -> None:
    with pytest.raises(SDCError, match="square"):
        expectation_ratio(np.ones((2, 3)) / 3, [1, 1])
    with pytest.raises(SDCError, match="summing to 1"):
        expectation_ratio([[0.5, 0.4], [0.5, 0.5]], [1, 1])
    with pytest.raises(SDCError, match="frequencies must be"):
        expectation_ratio(np.eye(2), [0, 0])
    with pytest.raises(SDCError, match="frequencies has 3 entries where 2"):
        expectation_ratio(np.eye(2), [1, 1, 1])


@given(GRIDS, st.sampled_from([0.0, 5.0, 10.0, 100.0]))
def test_interval_disclosure_of_values_is_the_plain_share(X: np.ndarray, percent: float) -> None:
    Y = np.round(X * 1.1)[::-1]
    n, p = X.shape
    inside = sum(100 * abs(Y[i, j] - X[i, j]) <= percent * abs(X[i, j]) for i in range(n) for j in range(p))
    assert interval_disclosure_value(X, Y, percent=percent) == pytest.approx(100 * inside / (n * p))
    assert interval_disclosure_value(X, X, percent=percent) == 100.0


def test_the_ends_of_the_interval_belong_to_it() -> None:
    x = np.arange(10.0, 400.0, 10.0)
    assert interval_disclosure_value(x, x + x / 10) == 100.0
    assert interval_disclosure_value(x, x - x / 10) == 100.0
    assert interval_disclosure_value(-x, -x * 1.11) == 0.0


def plain_rank(column: np.ndarray) -> list[float]:
    return [float((column < v).sum() + ((column == v).sum() + 1) / 2) for v in column]


@given(GRIDS, st.sampled_from([0.0, 7.0, 10.0, 50.0]), st.data())
def test_interval_disclosure_of_ranks_is_the_plain_share(X: np.ndarray, percent: float, data: st.DataObject) -> None:
    n, p = X.shape
    Y = np.round(X[::-1] / 3)
    kinds = data.draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=p, max_size=p))
    inside = 0
    for j in range(p):
        a, b = plain_rank(X[:, j]), plain_rank(Y[:, j])
        for i in range(n):
            near = X[i, j] == Y[i, j] if kinds[j] == "nominal" else abs(a[i] - b[i]) * 100 <= percent * n
            inside += int(near)
    assert interval_disclosure_rank(X, Y, percent=percent, kinds=kinds) == pytest.approx(100 * inside / (n * p))
    assert interval_disclosure_rank(X, X, percent=percent, kinds=kinds) == 100.0


def test_interval_of_29_percent_of_100_records_is_29_ranks() -> None:
    """0.29 · 100 is 28.999999999999996 in doubles."""
    x = np.arange(100.0)
    assert interval_disclosure_rank(x, np.roll(x, 29), percent=29.0) == pytest.approx(71.0)


def test_dr_linkage_is_half_and_half_on_z_scores(rng: np.random.Generator) -> None:
    X = rng.normal(loc=100.0, size=(40, 3))
    Y = np.repeat(X[::2], 2, axis=0)
    z = z_scores(X)
    masked = z_scores(Y, reference=X)
    interval = interval_disclosure_value(z, masked)
    assert dr_linkage(X, Y) == pytest.approx(0.5 * interval + 0.5 * distance_linkage(X, Y, ties="strict"))
    assert interval != interval_disclosure_value(X, Y)
    assert dr_linkage(X, X) == 100.0


def test_dr_categorical_takes_the_larger_linkage(rng: np.random.Generator) -> None:
    X = rng.integers(0, 5, size=(60, 3))
    Y = np.where(rng.random(X.shape) < 0.3, rng.integers(0, 5, size=X.shape), X)
    kinds = ["ordinal", "nominal", "ordinal"]
    interval = interval_disclosure_rank(X, Y, kinds=kinds)
    distance = distance_linkage(X, Y, direction="to_original", kinds=kinds)
    probability = probabilistic_linkage(X, Y)
    assert dr_categorical(X, Y, kinds=kinds) == pytest.approx((interval + max(distance, probability)) / 2)


def test_scores() -> None:
    assert score_mean(20, 40) == 30.0
    assert score_max(20, 40) == 40.0
    with pytest.raises(SDCError, match="loss must be in"):
        score_mean(-1.0, 2.0)
    with pytest.raises(SDCError, match="risk must be in"):
        score_max(1.0, float("nan"))


def test_the_classical_score_adds_up(rng: np.random.Generator) -> None:
    X = rng.normal(loc=5.0, size=(50, 4))
    Y = X + 0.2 * rng.normal(size=X.shape)
    found = classical_score(X, Y)
    assert found.il_statistics == pytest.approx(il_statistics(X, Y))
    assert found.interval == interval_disclosure_value(X, Y)
    assert found.distance == distance_linkage(X, Y, ties="strict")
    assert found.probabilistic == probabilistic_linkage(X, Y, kinds="numeric")
    assert found.dr_classical == pytest.approx(
        0.5 * found.interval + 0.25 * found.distance + 0.25 * found.probabilistic
    )
    assert found.score_classical == pytest.approx((found.il_statistics + found.dr_classical) / 2)


def test_the_classical_score_averages_over_what_intruders_know(rng: np.random.Generator) -> None:
    X = rng.normal(loc=5.0, size=(50, 4))
    Y = X + 0.5 * rng.normal(size=X.shape)
    found = classical_score(X, Y, attribute_sets=[[0, 1], [2, 3]])
    parts = [distance_linkage(X[:, s], Y[:, s], ties="strict") for s in ([0, 1], [2, 3])]
    assert found.distance == pytest.approx(np.mean(parts))
    for wrong in ([[0, 9]], [[]], [[1, 1]], []):
        with pytest.raises(SDCError, match="attribute_sets"):
            classical_score(X, Y, attribute_sets=wrong)


def test_interval_disclosure_by_value_of_the_largest_numbers() -> None:
    X, Y = [[1e308], [1e308], [1.0], [30.0]], [[1.05e308], [1.2e308], [1e308], [33.0]]
    assert interval_disclosure_value(X, Y) == 50.0
