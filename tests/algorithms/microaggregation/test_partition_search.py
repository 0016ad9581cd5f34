"""The memetic search's kernels against plain twins; what a round promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.algorithms.microaggregation._partition_search import (
    TASKS,
    PartitionSearch,
    blocked_mdav,
    kd_blocks,
    starting_points,
)
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss import sse
from sdc_problems.methods import exhaustive, mdav
from sdc_problems.methods._kernels.anneal import anneal
from sdc_problems.methods._kernels.crossing import best_parts_kernel
from sdc_problems.methods._kernels.mdav import mdav_kernel
from sdc_problems.methods._kernels.window import windows_kernel

SEED = np.uint64(20)


def nearest(Z: NDArray[np.float64], count: int) -> NDArray[np.int32]:
    D = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(D, np.inf)
    return np.ascontiguousarray(np.argsort(D, axis=1, kind="stable")[:, :count].astype(np.int32))


def sizes(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    counts = np.bincount(labels)
    return counts[counts > 0]


def points(seed: int, n: int, p: int, whole: bool) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, p)).astype(float) if whole else rng.standard_normal((n, p))


def plain_best_parts(Z: NDArray[np.float64], a: NDArray[np.int32], b: NDArray[np.int32]) -> float:
    """Smallest SSE over every choice of parts, by growing each part record by record."""
    left, total = set(range(len(Z))), 0.0
    while left:
        part = {left.pop()}
        while True:
            groups_a, groups_b = {a[i] for i in part}, {b[i] for i in part}
            grown = {i for i in range(len(Z)) if a[i] in groups_a or b[i] in groups_b}
            if grown == part:
                break
            part = grown
        left -= part
        inside = sorted(part)
        total += min(sse(Z[inside], a[inside]), sse(Z[inside], b[inside]))
    return total


cases = st.tuples(st.integers(0, 10**6), st.integers(8, 60), st.integers(1, 4), st.integers(2, 4), st.booleans())


@given(cases, st.sampled_from([1e-6, 0.1, 10.0]))
def test_annealing_keeps_every_group_within_its_limits(case: tuple[int, int, int, int, bool], heat: float) -> None:
    seed, n, p, k, whole = case
    Z = points(seed, n, p, whole)
    labels = mdav_kernel(Z, k)
    anneal(Z, labels, k, nearest(Z, 5), heat, 3_000, np.uint64(seed))
    assert sizes(labels).min() >= k
    assert sizes(labels).max() <= 2 * k - 1 if n >= 2 * k else True
    assert labels.max() < n // k


@given(cases)
def test_windows_never_lose_and_stay_within_the_limits(case: tuple[int, int, int, int, bool]) -> None:
    seed, n, p, k, whole = case
    Z = points(seed, n, p, whole)
    labels = mdav_kernel(Z, k)
    before = sse(Z, labels)
    order = np.arange(n, dtype=np.int32)
    spent, _, following = windows_kernel(Z, labels, k, order, 0, 5_000, np.uint64(seed))
    assert sse(Z, labels) <= before * (1 + 1e-9)
    assert sizes(labels).min() >= k
    assert sizes(labels).max() <= 2 * k - 1
    assert labels.max() < n // k
    assert 0 <= following < n
    assert spent >= 5_000 or before == 0 or len(sizes(labels)) < 2


@given(cases, st.integers(0, 10**6))
def test_the_crossover_takes_the_best_of_every_choice_of_parts(
    case: tuple[int, int, int, int, bool], other: int
) -> None:
    seed, n, p, k, whole = case
    Z = points(seed, n, p, whole)
    first = mdav_kernel(Z, k)
    second = first.copy()
    windows_kernel(Z, second, k, np.arange(n, dtype=np.int32), 0, 1_000, np.uint64(other))
    second = mdav_kernel(Z[::-1].copy(), k)[::-1].copy() if other % 2 else second
    child, gain = best_parts_kernel(Z, first, second)
    assert sse(Z, child) == pytest.approx(plain_best_parts(Z, first, second), abs=1e-9)
    assert gain == pytest.approx(sse(Z, first) - sse(Z, child), abs=1e-9)
    assert sizes(child).min() >= min(sizes(first).min(), sizes(second).min())
    groups = {tuple(np.flatnonzero(first == g)) for g in set(first)} | {
        tuple(np.flatnonzero(second == g)) for g in set(second)
    }
    assert {tuple(np.flatnonzero(child == g)) for g in set(child)} <= groups


def search(Z: NDArray[np.float64], k: int, *, seed: int = 1, pop_size: int = 4, workers: int = 1) -> PartitionSearch:
    return PartitionSearch(
        Z,
        k,
        near=nearest(Z, 5),
        rng=np.random.default_rng(seed),
        starts=starting_points(Z, k),
        pop_size=pop_size,
        workers=workers,
    )


@pytest.mark.parametrize("pop_size", [1, 2, 4])
def test_workers_change_nothing(pop_size: int) -> None:
    Z = points(3, 90, 2, False)
    found = []
    for workers in (1, 3):
        one = search(Z, 3, pop_size=pop_size, workers=workers)
        for progress in (0.0, 0.1, 0.3, 0.6, 0.8, 0.9):
            one.step(progress, 5_000)
        found.append((one.best.tobytes(), one.best_sse, one.moves))
    assert found[0] == found[1]
    assert found[0][1] == sse(Z, np.frombuffer(found[0][0], dtype=np.int32))


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_of_eleven_records_is_found(seed: int) -> None:
    Z = points(seed, 11, 2, False)
    one = search(Z, 3, seed=seed)
    for progress in np.linspace(0.0, 1.0, 12):
        one.step(float(progress), 5_000)
    assert one.best_sse == pytest.approx(sse(Z, exhaustive(Z, 3, standardize=False)))


def test_equal_records_end_at_once() -> None:
    one = search(np.zeros((12, 2)), 3)
    one.step(0.5, 1_000)
    assert one.best_sse == 0.0
    assert one.moves == TASKS * 1_000


@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(1, 3), st.integers(1, 50))
def test_blocks_hold_every_record_once(seed: int, n: int, p: int, largest: int) -> None:
    blocks = kd_blocks(points(seed, n, p, True), largest)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(n))
    assert max(len(block) for block in blocks) <= largest


def test_blocked_mdav_keeps_k_and_is_mdav_where_one_block_suffices(rng: np.random.Generator) -> None:
    Z = rng.standard_normal((500, 3))
    labels = blocked_mdav(Z, 4, block=60)
    assert sizes(labels).min() >= 4
    assert sizes(labels).max() <= 7
    np.testing.assert_array_equal(blocked_mdav(Z, 4, block=500), mdav(Z, 4, standardize=False))


def test_a_population_is_1_2_or_4() -> None:
    with pytest.raises(SDCError, match="pop_size must be 1, 2 or 4, not 3"):
        search(points(1, 20, 2, False), 3, pop_size=3)
