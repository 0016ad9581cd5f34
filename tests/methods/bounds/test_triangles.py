"""Triangle inequalities hold for every partition; the kernel finds what plain Python finds; costs are shifted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.methods.bounds._triangles import NEAR, Triangles, most_violated, shift_costs, violations


def symmetric(seed: int, n: int) -> NDArray[np.float64]:
    Z = np.random.default_rng(seed).random((n, n))
    return (Z + Z.T) / n


def all_of(n: int) -> NDArray[np.int64]:
    return np.array([(i, j, l) for i in range(n) for j, l in combinations([j for j in range(n) if j != i], 2)])


def partition(labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Matrix of the shares of a partition."""
    same = labels[:, None] == labels
    return same / same.sum(axis=1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 9))
def test_every_partition_satisfies_them(seed: int, n: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 3, n)
    assert violations(partition(labels), all_of(n)).max() <= 1e-15


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 9), st.integers(1, 30), st.sampled_from([-0.05, 0.0, 0.05]))
def test_the_most_violated_are_found(seed: int, n: int, per_record: int, least: float) -> None:
    Z = symmetric(seed, n)
    every = all_of(n)
    by = violations(Z, every)
    np.testing.assert_allclose(by, [Z[i, j] + Z[i, l] - Z[i, i] - Z[j, l] for i, j, l in every], atol=1e-15)
    wanted = set()
    for i in range(n):
        mine = [
            (by[t], tuple(every[t].tolist()))
            for t in np.flatnonzero((every[:, 0] == i) & (by > least))
            if Z[i, every[t, 1]] > NEAR * Z[i, i] and Z[i, every[t, 2]] > NEAR * Z[i, i]
        ]
        wanted |= {triple for _, triple in sorted(mine, reverse=True)[:per_record]}
    assert set(map(tuple, most_violated(Z, least, per_record).tolist())) == wanted


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 8))
def test_costs_are_shifted_by_the_violations(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    C, Z, by = rng.random((n, n)), symmetric(seed + 1, n), rng.normal(size=len(all_of(n)))
    shifted = C.copy()
    shift_costs(shifted, all_of(n), by)
    assert float((shifted * Z).sum()) == pytest.approx(float((C * Z).sum() + by @ violations(Z, all_of(n))))


def test_multipliers_stay_positive_and_useless_inequalities_go() -> None:
    n = 8
    Z, C = symmetric(1, n), np.zeros((n, n))
    triangles = Triangles(n)
    triangles.renew(Z, 0.02, 5)
    first = triangles.records.copy()
    assert len(first) > 5
    triangles.step(Z, C, 2.0)
    assert triangles.multipliers == pytest.approx(2.0 * violations(Z, first))
    before = C.copy()
    triangles.renew(Z, 0.02, 5)  # nothing new: none twice
    assert triangles.records.tolist() == first.tolist()
    holds = partition(np.arange(n) // 4)
    for _ in range(200):
        triangles.step(holds, C, 2.0)
    assert triangles.multipliers.min() >= 0.0
    assert not np.array_equal(C, before)
    slack = violations(holds, first) < 0
    triangles.renew(holds, 0.02, 5)
    assert triangles.records.tolist() == first[~slack].tolist()
    assert len(triangles.records) < len(first)
