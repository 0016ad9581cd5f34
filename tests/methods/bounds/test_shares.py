"""Rows of shares: nearest ones by a compiled search, beside the condition that characterizes them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.methods.bounds._shares import nearest_shares


def corners(n: int, i: int, sizes: range) -> NDArray[np.float64]:
    """Rows of groups of allowed size with record i: every row of shares is a mean of these."""
    found = []
    for m in sizes:
        for others in combinations([j for j in range(n) if j != i], m - 1):
            row = np.zeros(n)
            row[[i, *others]] = 1.0 / m
            found.append(row)
    return np.array(found)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 3), st.sampled_from([0.01, 0.3, 3.0]), st.booleans())
def test_no_row_of_shares_is_nearer(seed: int, k: int, spread: float, before: bool) -> None:
    rng = np.random.default_rng(seed)
    n = 7
    X, U, C = spread * rng.normal(size=(3, n, n))
    sizes = range(k, 2 * k)
    T, shifts = np.empty((n, n)), np.full(n, np.inf)
    if before:
        shifts = rng.normal(size=n)
    nearest_shares(X, U, C, 0.5, 1.0, 1.0 / sizes[-1], 1.0 / k, shifts, T)
    Z, wanted = T - U, X - U - 0.5 * C
    for i in range(n):
        assert Z[i].sum() == pytest.approx(1.0, abs=1e-9)
        assert Z[i].min() >= -1e-12
        assert Z[i].max() <= Z[i, i] + 1e-12
        assert 1.0 / sizes[-1] - 1e-12 <= Z[i, i] <= 1.0 / k + 1e-12
        # The nearest point of a convex set: no other lies ahead of it.
        assert ((corners(n, i, sizes) - Z[i]) @ (wanted[i] - Z[i])).max() <= 1e-8 * max(1.0, spread)


def test_relaxation_and_the_last_shift_change_what_they_should() -> None:
    rng = np.random.default_rng(3)
    X, U, C = rng.normal(size=(3, 30, 30))
    plain, ahead, again = (np.empty((30, 30)) for _ in range(3))
    shifts = np.full(30, np.inf)
    nearest_shares(X, U, C, 0.1, 1.0, 1 / 9, 1 / 5, shifts, plain)
    nearest_shares(X, U, C, 0.1, 1.8, 1 / 9, 1 / 5, np.full(30, np.inf), ahead)
    np.testing.assert_allclose(ahead, 1.8 * (plain - U) - 0.8 * X + U, atol=1e-12)
    kept = shifts.copy()
    nearest_shares(X, U, C, 0.1, 1.0, 1 / 9, 1 / 5, shifts, again)  # looks at few values of each row
    np.testing.assert_allclose(again, plain, atol=1e-12)
    np.testing.assert_allclose(shifts, kept, atol=1e-12)
