"""Bounds hold for every partition and are near the best one; partitions come near their bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import load
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.evaluators.information_loss import sse, z_scores
from sdc_problems.methods import (
    BoundedPartition,
    LowerBound,
    bounded_partition,
    exhaustive,
    lower_bound,
    mdav,
    nearest_bound,
)
from sdc_problems.methods.bounds._relaxation import Relaxation


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


def test_regions_are_solved_before_the_whole_table() -> None:
    X = np.random.default_rng(5).normal(size=(150, 2))
    told: list[BoundedPartition] = []
    found = bounded_partition(X, 3, rounds=2, progress=told.append)
    values = [step.sse for step in told]
    assert values == sorted(values, reverse=True)
    assert [step.bound.rounds for step in told if step.bound.rounds] == [1, 2]
    assert told[0].bound == LowerBound(0.0, False, 0.0, 0, 0, 0)
    start = sse(z_scores(X), mdav(X, 3))
    regions = [step for step in told if not step.bound.rounds]
    assert regions[-1].sse < 0.95 * start
    for step in told:
        assert step.sse == pytest.approx(sse(z_scores(X), step.labels))
    assert found.bound.sse <= found.sse <= values[-1]
    again = bounded_partition(X, 3, rounds=2)
    assert again.labels.tolist() == found.labels.tolist()


def test_a_region_whose_program_fails_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(5).normal(size=(150, 2))
    solve = Relaxation.solve

    def fails_for_regions(self: Relaxation) -> float:
        if len(self.Z) < 150:
            raise SDCFailure("the linear program could not be solved: unknown")
        return solve(self)

    monkeypatch.setattr(Relaxation, "solve", fails_for_regions)
    told: list[BoundedPartition] = []
    found = bounded_partition(X, 3, rounds=1, progress=told.append)
    start = sse(z_scores(X), mdav(X, 3))
    assert [step.sse for step in told if not step.bound.rounds] == pytest.approx([start] * (len(told) - 1))
    assert found.bound.sse <= found.sse < told[0].sse


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
