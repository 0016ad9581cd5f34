"""Each compiled loop against its plain twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.algorithms.generalization._lattice_kernels import (
    learn_extremes,
    most_promising,
    nearest,
    no_extremes,
    reaches,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(0, 12), st.integers(1, 9))
def test_extremes(seed: int, n_nodes: int, n_measured: int) -> None:
    rng = np.random.default_rng(seed)
    U, X = rng.integers(0, 3, (n_nodes, 3)), rng.integers(0, 3, (n_measured, 3))
    F = rng.normal(size=(n_measured, 2))
    found = no_extremes(n_nodes, 2)
    learn_extremes(U, X[:4], F[:4], found)  # in two parts
    learn_extremes(U, X[4:], F[4:], found)
    for i, u in enumerate(U):
        finer, coarser = F[(X <= u).all(axis=1)], F[(X >= u).all(axis=1)]
        expected = [
            finer.max(axis=0, initial=-np.inf), finer.min(axis=0, initial=np.inf),
            coarser.max(axis=0, initial=-np.inf), coarser.min(axis=0, initial=np.inf),
        ]  # fmt: skip
        np.testing.assert_array_equal(found[:, i], expected)


@given(seeds, st.integers(0, 12), st.integers(1, 9))
def test_nearest(seed: int, n_nodes: int, n_members: int) -> None:
    rng = np.random.default_rng(seed)
    U, X = rng.integers(0, 4, (n_nodes, 3)), rng.integers(0, 4, (n_members, 3))
    steps, which = nearest(U, X)
    every = np.abs(U[:, None] - X).sum(axis=2)
    np.testing.assert_array_equal(steps, every.min(axis=1))
    np.testing.assert_array_equal(which, every.argmin(axis=1))


@given(seeds, st.integers(1, 12), st.integers(1, 9))
def test_reaches(seed: int, n_nodes: int, n_members: int) -> None:
    rng = np.random.default_rng(seed)
    low, F = rng.integers(0, 4, (n_nodes, 2)).astype(float), rng.integers(0, 4, (n_members, 2)).astype(float)
    low[rng.random(low.shape) < 0.2] = -np.inf
    np.testing.assert_array_equal(reaches(low, F), np.any(low[:, None] < F, axis=2).all(axis=1))


@given(seeds, st.integers(1, 30), st.integers(1, 9), st.integers(1, 8), st.sampled_from([0, 6]))
def test_most_promising(seed: int, n_nodes: int, n_members: int, count: int, decimals: int) -> None:
    rng = np.random.default_rng(seed)
    means, needed = rng.normal(size=(n_nodes, 3)), rng.normal(size=(n_members, 3))
    deviations = rng.random((n_nodes, 3)) + 0.1
    found = most_promising(means, deviations, needed, count, 10.0**decimals)
    missed = ((means[:, None] - needed) / deviations[:, None]).min(axis=2).max(axis=1)
    order = np.argsort(np.round(missed * 10.0**decimals), kind="stable")  # equal ones in their order
    np.testing.assert_array_equal(found, order[:count])
