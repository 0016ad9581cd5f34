"""Bounds hold for every partition and are near the best one; what they are made of is found completely."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import load
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.evaluators.information_loss import sse, z_scores
from sdc_problems.methods import LowerBound, bounded_partition, exhaustive, lower_bound, mdav, nearest_bound
from sdc_problems.methods import bounds as module
from sdc_problems.methods._kernels.pricing import PER_RECORD, cheap_groups, searched_groups
from sdc_problems.methods.bounds import _half_to_nearest, _neighbours


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 3), st.booleans())
def test_all_cheap_groups_are_found(seed: int, k: int, p: int, doubles: bool) -> None:
    rng = np.random.default_rng(seed)
    n, n_cuts = 12, 4
    Z = rng.normal(size=(n, p))
    if doubles:
        Z[3] = Z[4] = Z[5]
    prices = rng.uniform(0.0, 2.0 / k, n)
    sets = [rng.choice(n, 5, replace=False) for _ in range(n_cuts)]
    d, cut_price = rng.integers(2, 4, n_cuts), rng.uniform(0.0, 0.5, n_cuts)
    cuts_of = np.full((n, n_cuts + 1), -1)
    for i in range(n):
        mine = [q for q in range(n_cuts) if i in sets[q]]
        cuts_of[i, : len(mine)] = mine

    def plain(group: tuple[int, ...]) -> float:
        cuts = sum(cut_price[q] * (len(set(group) & set(sets[q].tolist())) // d[q]) for q in range(n_cuts))
        return float(sse(Z[list(group)], np.zeros(len(group), dtype=int)) - prices[list(group)].sum() + cuts)

    cheap = {
        group: value for m in range(k, 2 * k) for group in combinations(range(n), m) if (value := plain(group)) < -1e-7
    }
    dearest = np.argsort(np.argsort(-prices))
    wanted = set()
    for root in range(n):
        mine = [group for group in cheap if min(group, key=lambda i: dearest[i]) == root]
        wanted |= set(sorted(mine, key=lambda group: cheap[group])[:PER_RECORD])
    arguments = (prices, cuts_of, d, cut_price, 1e-7)
    found, undercut, left = cheap_groups(Z, k, _half_to_nearest(Z, k), *arguments, 10**7)
    assert left > 0
    by_root = {min(group, key=lambda i: dearest[i]): 0.0 for group in cheap}
    for group, value in cheap.items():
        root = min(group, key=lambda i: dearest[i])
        by_root[root] = min(by_root[root], value)
    assert undercut == pytest.approx(-sum(by_root.values()))
    assert {tuple(sorted(row[row >= 0].tolist())) for row in found} == wanted
    searched = searched_groups(Z, k, _neighbours(Z, k), *arguments)
    assert {tuple(sorted(row[row >= 0].tolist())) for row in searched} <= set(cheap)


def test_going_through_all_groups_is_given_up_when_told() -> None:
    Z = np.random.default_rng(1).normal(size=(40, 2))
    no_cuts = (np.full((40, 1), -1), np.ones(1, dtype=np.int64), np.zeros(1))
    *_, left = cheap_groups(Z, 3, _half_to_nearest(Z, 3), np.full(40, 5.0), *no_cuts, 1e-7, 100)
    assert left == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_the_bound_is_at_most_the_optimum_and_near_it(seed: int, k: int) -> None:
    X = np.random.default_rng(seed).normal(size=(12, 2))
    optimum = sse(X, exhaustive(X, k, standardize=False))
    for scale in (1.0, 1e-6):
        bound = lower_bound(X * scale, k, standardize=False)
        assert bound.proven
        assert 0.97 * optimum <= bound.sse / scale**2 <= optimum


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_the_best_choice_of_groups_is_the_optimum_of_few_records(seed: int, k: int) -> None:
    X = np.random.default_rng(seed).normal(size=(12, 2))
    found = bounded_partition(X, k, standardize=False)
    assert np.bincount(found.labels).min() >= k
    assert found.sse == pytest.approx(sse(X, found.labels), rel=1e-9)
    optimum = sse(X, exhaustive(X, k, standardize=False))
    assert found.bound.sse <= optimum * (1 + 1e-9)
    assert optimum * (1 - 1e-9) <= found.sse <= 1.03 * optimum


def test_a_poor_partition_is_improved_to_near_its_bound_and_a_good_one_is_kept() -> None:
    X = np.random.default_rng(5).normal(size=(120, 2))
    found = bounded_partition(X, 3, labels=np.arange(120) // 3, rounds=3)
    assert found.bound.proven
    assert found.bound.sse <= found.sse < 1.005 * found.bound.sse
    again = bounded_partition(X, 3, labels=found.labels, rounds=1)
    assert again.sse <= found.sse
    in_no_time = bounded_partition(X, 3, labels=found.labels, time_limit=0.0)
    assert in_no_time.labels.tolist() == found.labels.tolist()
    assert in_no_time.bound.sse == pytest.approx(nearest_bound(X, 3))
    assert in_no_time.bound.proven


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


def test_bounds_rise_with_the_rounds_and_do_not_depend_on_the_start() -> None:
    X = np.random.default_rng(5).normal(size=(120, 2))
    told: list[LowerBound] = []
    bound = lower_bound(X, 3, rounds=4, progress=told.append)
    assert [step.rounds for step in told] == list(range(1, len(told) + 1))
    values = [step.sse for step in told]
    assert values == sorted(values)
    assert bound == told[-1]
    assert bound.cuts > 0
    one, other = (lower_bound(X, 3, rounds=1, labels=start, tolerance=1e-6) for start in (None, np.arange(120) // 3))
    assert one.sse == pytest.approx(other.sse, rel=1e-3)
    assert sse(z_scores(X), mdav(X, 3)) > bound.sse


def test_an_estimate_is_not_called_proven() -> None:
    X = np.random.default_rng(5).normal(size=(60, 2))
    estimate, proven = lower_bound(X, 3, rounds=1, steps=0), lower_bound(X, 3, rounds=1)
    assert not estimate.proven
    assert proven.proven
    assert estimate.sse == pytest.approx(proven.sse, rel=1e-2)


def test_records_without_spread() -> None:
    assert lower_bound(np.ones((9, 2)), 3, standardize=False) == LowerBound(0.0, True, 0.0, 0, 0, 0)
    assert lower_bound(np.repeat([[0.0], [1.0], [5.0]], 3, axis=0), 3).sse == 0.0


def test_bad_input() -> None:
    X = np.random.default_rng(1).normal(size=(30, 2))
    with pytest.raises(SDCError, match=r"at most 15|k must"):
        lower_bound(X, 16)
    with pytest.raises(SDCError, match="one group number for each of the 30 records"):
        lower_bound(X, 3, labels=[0, 1])
    with pytest.raises(SDCError, match="group 9 has 2 records"):
        lower_bound(X, 3, labels=[*np.repeat(np.arange(9), 3), 0, 9, 9])
    with pytest.raises(SDCError, match="tolerance must be in"):
        lower_bound(X, 3, tolerance=0.9)
    with pytest.raises(SDCFailure, match="no bound within 0 seconds"):
        lower_bound(X, 3, time_limit=0)


@pytest.mark.slow
def test_no_partition_of_census_is_far_below_what_the_search_finds(public: Callable[[str], object]) -> None:
    public("census.csv")
    data = load("census").data
    Z = z_scores(data.values(data.quasi_identifiers))
    bound = lower_bound(Z, 3, standardize=False, rounds=1)
    assert bound.proven
    assert 0.98 * 4.685 < 100 * bound.sse / Z.size < 4.685
