"""The fast bound holds for every partition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.evaluators.information_loss import sse, z_scores
from sdc_problems.methods import exhaustive, mdav, nearest_bound
from sdc_problems.methods.bounds import _nearest as module


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 3), st.booleans())
def test_the_simple_bound_is_below_every_partition(seed: int, k: int, p: int, doubles: bool) -> None:
    X = np.random.default_rng(seed).lognormal(sigma=2.0, size=(10, p))
    if doubles:
        X[3] = X[4] = X[5]
    optimum = sse(X, exhaustive(X, k, standardize=False))
    bounds = [nearest_bound(X, k, standardize=False, rounds=rounds) for rounds in (0, 5, 20)]
    assert bounds == sorted(bounds)
    assert 0.0 <= bounds[-1] <= optimum * (1 + 1e-9)


def test_the_simple_bound_is_the_optimum_of_clusters_far_apart() -> None:
    X = np.repeat([[0.0], [100.0], [200.0]], 4, axis=0) + np.tile([[-1.0], [1.0]], (6, 1))
    Z = z_scores(X)
    assert nearest_bound(X, 4) == pytest.approx(sse(Z, np.arange(12) // 4), rel=1e-9)


def test_dividing_pairs_raises_the_simple_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(2).lognormal(sigma=1.5, size=(150, 3))
    simple, divided = (nearest_bound(X, 5, rounds=rounds) for rounds in (0, 60))
    assert 1.1 * simple < divided <= sse(z_scores(X), mdav(X, 5))
    monkeypatch.setattr(module, "ROWS", 40)
    assert nearest_bound(X, 5, rounds=60) == pytest.approx(divided, rel=1e-12)
    monkeypatch.setattr(module, "DIVIDED", 149)
    assert nearest_bound(X, 5, rounds=60) == pytest.approx(simple, rel=1e-8)
