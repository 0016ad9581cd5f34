"""The semidefinite bound holds for every partition, and is near the best of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.information_loss import sse, z_scores
from sdc_problems.methods import bounded_partition, exhaustive, mdav, nearest_bound, semidefinite_bound
from sdc_problems.methods.bounds import _lower
from sdc_problems.methods.bounds import _semidefinite as module


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 3), st.booleans(), st.sampled_from([4, 1250]))
def test_it_is_below_every_partition_and_near_the_best(seed: int, k: int, p: int, doubles: bool, block: int) -> None:
    X = np.random.default_rng(seed).lognormal(sigma=1.0, size=(11, p))
    if doubles:
        X[3] = X[4] = X[5]
    optimum = sse(X, exhaustive(X, k, standardize=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        for rounds in (1, 20, 300):
            bound = semidefinite_bound(X, k, standardize=False, rounds=rounds)
            assert 0.0 <= bound <= optimum * (1 + 1e-9)
    if block > 11:
        assert bound >= 0.75 * optimum


def test_it_is_the_optimum_of_clusters_far_apart() -> None:
    X = np.repeat([[0.0], [100.0], [200.0]], 4, axis=0) + np.tile([[-1.0], [1.0]], (6, 1))
    Z = z_scores(X)
    assert semidefinite_bound(X, 4) == pytest.approx(sse(Z, np.arange(12) // 4), rel=1e-5)
    assert semidefinite_bound(np.ones((12, 2)), 4, standardize=False) == 0.0


@pytest.mark.parametrize("k", [4, 10])
def test_it_leaves_less_open_than_distances_to_nearest_records(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(2).normal(size=(150, 3))
    weak, whole = nearest_bound(X, k), semidefinite_bound(X, k)
    assert 1.15 * weak < whole < sse(z_scores(X), mdav(X, k))
    told: list[tuple[float, int]] = []
    assert semidefinite_bound(X, k, labels=mdav(X, k), progress=lambda *step: told.append(step)) == whole
    assert told[-1][0] == whole
    assert [rounds for _, rounds in told] == list(range(10, 10 * len(told) + 1, 10))
    assert [bound for bound, _ in told] == sorted(bound for bound, _ in told)
    monkeypatch.setattr(module, "BLOCK", 40)
    assert weak < semidefinite_bound(X, k) < whole  # multipliers of four blocks


def test_a_partition_for_large_k_is_bounded_by_it(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(4).normal(size=(120, 3))
    monkeypatch.setattr(_lower, "SMALL_TABLE", 100)
    monkeypatch.setattr(_lower, "improved_by_regions", lambda *_: iter(()))
    told: list[float] = []
    found = bounded_partition(X, 10, time_limit=60.0, progress=lambda step: told.append(step.bound.sse))
    assert found.bound.proven
    assert found.bound.rounds > 0
    assert found.bound.sse == max(told) == pytest.approx(semidefinite_bound(X, 10, labels=found.labels))
    assert nearest_bound(X, 10) < found.bound.sse < found.sse
    monkeypatch.setattr(_lower, "MOST", 100)
    assert bounded_partition(X, 10, time_limit=60.0).bound.sse == pytest.approx(nearest_bound(X, 10))


def test_arguments() -> None:
    X = np.random.default_rng(1).normal(size=(20, 2))
    assert semidefinite_bound(X, 3, time_limit=0.0) == 0.0
    with pytest.raises(SDCError, match="at most 5,000 records"):
        semidefinite_bound(np.zeros((5_001, 1)), 3)
    with pytest.raises(SDCError, match="group 1 has 1 records, fewer than k = 3"):
        semidefinite_bound(X, 3, labels=np.arange(20) // 19)
    with pytest.raises(SDCError, match="rounds"):
        semidefinite_bound(X, 3, rounds=0)
