from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from sdc_problems.evaluators.information_loss import (
    il_components,
    il_sse,
    il_statistics,
    pil,
    pil_components,
    sse,
    z_scores,
)
from sdc_problems.evaluators.information_loss.numeric import location_and_scale, sst

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(1, 20), st.integers(1, 4)),
    elements=st.one_of(st.integers(-50, 50).map(float), st.floats(-1e3, 1e3, width=32)),
)


def plain_sse(X: np.ndarray, labels: np.ndarray) -> float:
    total = 0.0
    for label in set(labels.tolist()):
        members = X[labels == label]
        centroid = members.mean(axis=0)
        for record in members:
            total += float(((record - centroid) ** 2).sum())
    return total


def plain_z(X: np.ndarray) -> np.ndarray:
    columns = []
    for column in X.T:
        mean = sum(column) / len(column)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in column) / len(column))
        flat = all(v == column[0] for v in column)
        columns.append([0.0 if flat else (v - mean) / deviation for v in column])
    return np.array(columns).T


@given(TABLES, st.randoms(use_true_random=False))
def test_sse_is_the_plain_sum(X: np.ndarray, random: object) -> None:
    labels = np.array([random.randrange(4) for _ in X])  # type: ignore[attr-defined]
    assert sse(X, labels) == pytest.approx(plain_sse(X, labels), rel=1e-9, abs=1e-9)


@given(TABLES)
def test_il_sse_lies_between_each_its_own_and_all_together(X: np.ndarray) -> None:
    n = len(X)
    assert il_sse(X, np.arange(n)) == 0.0
    together = il_sse(X, np.zeros(n, dtype=int))
    varied = (X.max(axis=0) > X.min(axis=0)).any()
    assert together == pytest.approx(100.0 if varied else 0.0)
    halves = il_sse(X, np.arange(n) // 2)
    assert 0.0 <= halves <= 100.0


@given(TABLES)
def test_il_sse_is_the_plain_ratio_on_z_scores(X: np.ndarray) -> None:
    spread = X.max(axis=0) - X.min(axis=0)
    X = X[:, (spread == 0) | (spread > 1e-3)]  # z-scores of a hair's breadth are rounding
    if X.shape[1] == 0:
        return
    labels = np.arange(len(X)) // 3
    z = plain_z(X)
    total = plain_sse(z, np.zeros(len(X), dtype=int))
    expected = 100.0 * plain_sse(z, labels) / total if total else 0.0
    assert il_sse(X, labels) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(z_scores(X), z, rtol=1e-6, atol=1e-9)


def test_il_sse_by_hand() -> None:
    """Two columns; groups {0, 1} and {2, 3}: deviations 1 of sd sqrt(26) and 0, and a constant column."""
    X = np.array([[0.0, 1.0, 7.0], [2.0, 1.0, 7.0], [10.0, 3.0, 7.0], [12.0, 3.0, 7.0]])
    expected = 100 * (4 / 26 + 0) / (4 + 4)
    assert il_sse(X, np.array([0, 0, 1, 1])) == pytest.approx(expected, rel=1e-12)
    assert il_sse(X * [10.0, 0.1, 1.0] + 5.0, [3, 3, 9, 9]) == pytest.approx(expected, rel=1e-12)


def test_labels_may_have_gaps_and_be_large() -> None:
    X = [[1.0], [3.0], [10.0]]
    assert sse(X, [10**12, 10**12, 5]) == sse(X, [0, 0, 1]) == 2.0


def test_a_constant_column_of_inexact_numbers_contributes_nothing() -> None:
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    assert (z_scores(X)[:, 0] == 0).all()
    assert il_sse(X, np.arange(7) // 3) == pytest.approx(il_sse(X[:, 1:], np.arange(7) // 3))


def test_sst_is_the_sse_of_one_cluster(rng: np.random.Generator) -> None:
    X = rng.normal(size=(20, 3))
    assert sst(X) == pytest.approx(sse(X, np.zeros(20, dtype=int)))


def plain_components(X: np.ndarray, Y: np.ndarray) -> list[float]:
    """IL1-IL5 written out; for tables without zero statistics."""
    n, p = X.shape
    mean = [np.mean([abs(Y[i, j] - X[i, j]) / abs(X[i, j]) for i in range(n) for j in range(p)])]
    mean.append(np.mean([abs(Y[:, j].mean() - X[:, j].mean()) / abs(X[:, j].mean()) for j in range(p)]))
    cx, cy = np.cov(X.T, bias=True).reshape(p, p), np.cov(Y.T, bias=True).reshape(p, p)
    mean.append(np.mean([abs(cy[i, j] - cx[i, j]) / abs(cx[i, j]) for i in range(p) for j in range(i, p)]))
    mean.append(np.mean([abs(cy[j, j] - cx[j, j]) / cx[j, j] for j in range(p)]))
    rx, ry = np.corrcoef(X.T).reshape(p, p), np.corrcoef(Y.T).reshape(p, p)
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p)]
    mean.append(np.mean([abs(ry[e] - rx[e]) / abs(rx[e]) for e in pairs]) if pairs else 0.0)
    return [float(v) for v in mean]


@pytest.mark.parametrize("p", [1, 2, 5])
def test_components_are_the_plain_ones(p: int, rng: np.random.Generator) -> None:
    X = rng.normal(loc=3.0, size=(30, p)) @ rng.normal(size=(p, p)) + 10.0
    Y = X + rng.normal(size=X.shape)
    np.testing.assert_allclose(il_components(X, Y), plain_components(X, Y), rtol=1e-9)
    assert il_statistics(X, Y) == pytest.approx(100 * np.mean(plain_components(X, Y)))


@given(TABLES)
def test_an_untouched_table_loses_nothing(X: np.ndarray) -> None:
    assert list(il_components(X, X)) == [0.0] * 5
    assert pil(X, X) == 0.0


def test_a_zero_reference_counts_one_if_it_changed() -> None:
    X, Y = np.array([[0.0], [0.0], [1.0], [-1.0]]), np.array([[0.0], [2.0], [1.0], [-1.0]])
    components = il_components(X, Y)
    assert components.values == pytest.approx(0.25)  # one zero of four became 2, the other cells are untouched
    assert components.means == 1.0  # the mean was 0 and is 0.5


def test_rounding_is_not_a_reference(rng: np.random.Generator) -> None:
    """z-scores have means of about 1e-17: a relative variation of that would be astronomical."""
    X = z_scores(rng.normal(size=(50, 3)))
    assert il_components(X, X + 0.01).means == 1.0
    orthogonal = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / 3
    moved = il_components(orthogonal, orthogonal + 0.1 * np.eye(4)[:, :1])
    assert moved.covariances <= 1.0
    assert moved.correlations == 1.0


def plain_pil_mean_variance(X: np.ndarray, Y: np.ndarray) -> tuple[float, float]:
    n = len(X)
    mean, variance = [], []
    for x, y in zip(X.T, Y.T, strict=True):
        m2, m4 = ((x - x.mean()) ** 2).mean(), ((x - x.mean()) ** 4).mean()
        mean.append(200 * (stats.norm.cdf(abs(y.mean() - x.mean()) / math.sqrt(m2 / n)) - 0.5))
        z = abs(y.var() - x.var()) / math.sqrt((m4 - m2**2) / n)
        variance.append(200 * (stats.norm.cdf(z) - 0.5))
    return float(np.mean(mean)), float(np.mean(variance))


def plain_pil_pairs(X: np.ndarray, Y: np.ndarray) -> tuple[float, float]:
    """Moments of the correlation written as in the textbook formula, not as an influence function."""
    n, p = X.shape
    covariance, correlation = [], []
    for i in range(p):
        for j in range(i + 1, p):
            a, b = X[:, i] - X[:, i].mean(), X[:, j] - X[:, j].mean()

            def mu(r: int, s: int, a: np.ndarray = a, b: np.ndarray = b) -> float:
                return float((a**r * b**s).mean())

            cx, cy = np.cov(X[:, i], X[:, j], bias=True)[0, 1], np.cov(Y[:, i], Y[:, j], bias=True)[0, 1]
            deviation = math.sqrt((mu(2, 2) - mu(1, 1) ** 2) / n)
            covariance.append(200 * (stats.norm.cdf(abs(cy - cx) / deviation) - 0.5))
            rx, ry = np.corrcoef(X[:, i], X[:, j])[0, 1], np.corrcoef(Y[:, i], Y[:, j])[0, 1]
            square = mu(2, 2) / mu(1, 1) ** 2
            square += 0.25 * (
                mu(4, 0) / mu(2, 0) ** 2 + mu(0, 4) / mu(0, 2) ** 2 + 2 * mu(2, 2) / (mu(2, 0) * mu(0, 2))
            )
            square -= mu(3, 1) / (mu(1, 1) * mu(2, 0)) + mu(1, 3) / (mu(1, 1) * mu(0, 2))
            correlation.append(200 * (stats.norm.cdf(abs(ry - rx) / math.sqrt(rx**2 * square / n)) - 0.5))
    return float(np.mean(covariance)), float(np.mean(correlation))


def test_pil_families_are_the_textbook_ones(rng: np.random.Generator) -> None:
    X = rng.gamma(2.0, size=(60, 3)) @ rng.normal(size=(3, 3))
    Y = X + 0.3 * rng.normal(size=X.shape)
    parts = pil_components(X, Y)
    mean, variance = plain_pil_mean_variance(X, Y)
    covariance, correlation = plain_pil_pairs(X, Y)
    np.testing.assert_allclose(parts[:4], [mean, variance, covariance, correlation], rtol=1e-8)
    families = [mean, variance, covariance, correlation, parts.quantiles]
    assert pil(X, Y) == pytest.approx(float(np.mean(families)))


def test_pil_quantiles_use_a_kernel_density(rng: np.random.Generator) -> None:
    x = rng.normal(size=200)
    y = x + 0.05
    low, high = np.quantile(x, [0.25, 0.75])
    width = 0.9 * min(x.std(), (high - low) / 1.349) * len(x) ** -0.2
    expected = []
    for q in range(5, 100, 5):
        at = np.quantile(x, q / 100)
        density = np.mean([stats.norm.pdf(at, loc=v, scale=width) for v in x])
        z = 0.05 * density / math.sqrt(q / 100 * (1 - q / 100) / len(x))
        expected.append(200 * (stats.norm.cdf(z) - 0.5))
    assert pil_components(x, y).quantiles == pytest.approx(float(np.mean(expected)))


@given(TABLES, st.floats(0.0, 10.0))
def test_pil_is_bounded(X: np.ndarray, shift: float) -> None:
    assert 0.0 <= pil(X, X + shift) <= 100.0
    assert 0.0 <= pil(X, X[::-1] * 1.5) <= 100.0


def test_pil_of_one_attribute_has_three_families() -> None:
    parts = pil_components([[1.0], [2.0], [4.0]], [[1.0], [2.5], [4.0]])
    assert parts.covariances is None
    assert parts.correlations is None
    assert parts.percent == pytest.approx((parts.means + parts.variances + parts.quantiles) / 3)


def test_a_constant_attribute_loses_everything_or_nothing() -> None:
    X = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    assert pil(X, X) == 0.0
    Y = X.copy()
    Y[:, 0] = 0.2
    assert pil_components(X, Y).means == pytest.approx(50.0)


def test_more_noise_loses_more(rng: np.random.Generator) -> None:
    X = rng.normal(size=(300, 3))
    noise = rng.normal(size=X.shape)
    losses = [pil(X, X + s * noise) for s in (0.0, 0.05, 0.3, 2.0)]
    assert losses == sorted(losses)
    assert losses[0] == 0.0


def test_pil_of_a_quantile_in_a_gap_of_the_data() -> None:
    """Between 1 and 47 the density vanishes: no division by zero, and the other statistics still count."""
    X = np.array([[1.0], [0.0], [0.0], [0.0], [47.0]])
    assert pil(X, X) == 0.0
    assert 0.0 < pil(X, X[::-1] + 5.0) <= 100.0


def test_scale_does_not_depend_on_the_layout_in_memory(rng: np.random.Generator) -> None:
    X = rng.normal(50.0, 17.0, size=(1000, 3))
    for mine, numpys in zip(location_and_scale(X), (X.mean(axis=0), X.std(axis=0)), strict=True):
        np.testing.assert_array_equal(mine, numpys)
    for rows, columns in zip(location_and_scale(X), location_and_scale(np.asfortranarray(X)), strict=True):
        np.testing.assert_array_equal(rows, columns)


def test_a_change_of_next_to_nothing_is_finite() -> None:
    X = np.array([[1e-320], [2.0], [4.0]])
    with np.errstate(over="raise"):
        assert il_components(X, X + np.array([[9e4], [0.0], [0.0]])).values == pytest.approx(1 / 3)
