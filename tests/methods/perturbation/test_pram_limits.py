from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.methods import band, limit_diagonal, make_dominant, make_invariant, normalize_rows
from sdc_problems.methods.perturbation._pram import transition_matrix
from sdc_problems.methods.perturbation._pram_limits import band_mask, lower_diagonal

seeds = st.integers(0, 2**32 - 1)


def random_matrix(rng: np.random.Generator, n: int) -> np.ndarray:
    """Rows of all kinds: spread, sparse, deterministic."""
    return normalize_rows(rng.random((n, n)) ** 3 * (rng.random((n, n)) < rng.uniform(0.2, 1)))


@given(st.integers(2, 8), seeds)
def test_invariance_is_exact(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    P = random_matrix(rng, n)
    t = rng.integers(0, 200, size=n) + np.eye(n, dtype=int)[0]  # zero frequencies occur
    R = make_invariant(P, t)
    transition_matrix(R, n)
    v = t / t.sum()
    np.testing.assert_allclose(v @ R, v, atol=1e-12)
    assert (R[:, t == 0][np.ix_(t > 0)] <= 1e-15).all(), "no one moves to a category without records"


def plain_invariant(P: np.ndarray, v: np.ndarray) -> np.ndarray:
    n = len(v)
    R = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                reached = sum(P[l, k] * v[l] for l in range(n))
                back = P[j, k] * v[j] / reached if reached > 0 else float(j == k)
                R[i, j] += P[i, k] * back
    return R


@given(st.integers(2, 5), seeds)
def test_invariance_is_the_two_stage_formula(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, t = random_matrix(rng, n), rng.integers(1, 50, size=n)
    np.testing.assert_allclose(make_invariant(P, t), plain_invariant(P, t / t.sum()), atol=1e-12)


@given(st.integers(2, 8), seeds, st.floats(0.501, 1))
def test_dominance(n: int, seed: int, least: float) -> None:
    P = random_matrix(np.random.default_rng(seed), n)
    D = make_dominant(P, least=least)
    transition_matrix(D, n)
    stay = np.diag(D)
    assert (stay >= least - 1e-12).all()
    assert (stay > D.sum(axis=1) - stay).all()
    dominant = np.diag(P) >= least
    np.testing.assert_array_equal(D[dominant], P[dominant])
    assert abs(np.linalg.det(D)) > 0
    # Off the diagonal, a raised row keeps its proportions.
    for before, after, i in zip(P, D, range(n), strict=True):
        a, b = np.delete(before, i), np.delete(after, i)
        np.testing.assert_allclose(a * b.sum(), b * a.sum(), atol=1e-12)


@given(st.integers(2, 8), seeds, st.floats(0, 1), st.floats(0, 1))
def test_diagonal_limits(n: int, seed: int, one: float, two: float) -> None:
    low, high = min(one, two), max(one, two)
    P = random_matrix(np.random.default_rng(seed), n)
    L = limit_diagonal(P, low=low, high=high)
    transition_matrix(L, n)
    assert (np.diag(L) >= low - 1e-12).all()
    assert (np.diag(L) <= high + 1e-12).all()
    within = (np.diag(P) >= low) & (np.diag(P) <= high)
    np.testing.assert_array_equal(L[within], P[within])


def test_equations_4_6_and_4_7() -> None:
    """One row raised by mixing with the identity, one lowered by scaling and spreading what is freed."""
    P = np.array([[0.2, 0.5, 0.3], [0.04, 0.9, 0.06], [0.2, 0.2, 0.6]])
    L = limit_diagonal(P, low=0.55, high=0.75)
    alpha = 0.45 / 0.8
    np.testing.assert_allclose(L[0], alpha * P[0] + (1 - alpha) * np.eye(3)[0])
    beta = 0.75 / 0.9
    np.testing.assert_allclose(L[1], [beta * 0.04 + (1 - beta) / 2, 0.75, beta * 0.06 + (1 - beta) / 2])
    np.testing.assert_array_equal(L[2], P[2])


@given(st.integers(2, 9), st.integers(0, 9), seeds)
def test_bands(n: int, width: int, seed: int) -> None:
    P = random_matrix(np.random.default_rng(seed), n)
    B = band(P, width)
    transition_matrix(B, n)
    assert (B[~band_mask(n, width)] == 0).all()
    kept = P * band_mask(n, width)
    some = kept.sum(axis=1) > 0
    np.testing.assert_allclose(B[some], kept[some] / kept[some].sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(B[~some], np.eye(n)[~some])


def test_two_moves_within_a_band_stay_within_twice_the_band() -> None:
    P = band(np.full((9, 9), 1 / 9), 2)
    R = make_invariant(P, np.arange(1, 10))
    assert (R[~band_mask(9, 4)] <= 1e-15).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: limit_diagonal(np.eye(3), low=0.8, high=0.2), "cannot be met"),
        (lambda: limit_diagonal(np.eye(3), low=-0.1, high=0.2), "low must be in"),
        (lambda: limit_diagonal(np.eye(3), low=0.5, high=1.2), "high must be in"),
        (lambda: limit_diagonal(2 * np.eye(3)), "sums to 2"),
        (lambda: make_dominant(np.eye(3), least=0.5), "above 0.5"),
        (lambda: make_invariant(np.eye(3), [1, 2]), "2 entries where 3 are expected"),
        (lambda: make_invariant([[0.5, 0.4], [0, 1]], [1, 2]), "row 0"),
        (lambda: band(np.eye(3), -1), "width"),
        (lambda: lower_diagonal(np.eye(3), 0.5, np.eye(3, dtype=bool)), "cannot be met"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()
