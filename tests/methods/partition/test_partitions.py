"""Partition methods against plain twins, their optima, and what they refuse."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss import sse
from sdc_problems.methods import (
    exhaustive,
    mdav,
    mhm,
    microaggregate,
    microaggregate_univariate,
    one_step,
    two_step,
    v_mdav,
)
from sdc_problems.methods._kernels import cut, mdav_tree, walk
from sdc_problems.methods._kernels.walk import nearest_next, path_of_groups

METHODS = {
    "mdav": lambda X, k: mdav(X, k),
    "v_mdav": lambda X, k: v_mdav(X, k),
    "v_mdav, greedy": lambda X, k: v_mdav(X, k, gamma=1.1),
    "mhm": lambda X, k: mhm(X, k),
    "mhm, nearest": lambda X, k: mhm(X, k, order="nearest"),
    "univariate": lambda X, k: microaggregate_univariate(np.asarray(X)[:, 0], k),
}


def partitions(items: list[int], k: int):
    """Every partition into sets of at least k, written down naively."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [i for i in rest if i not in others]
            for parts in partitions(left, k):
                yield [[first, *others], *parts]


def as_labels(parts: list[list[int]], n: int) -> NDArray[np.int32]:
    labels = np.empty(n, dtype=np.int32)
    for group, part in enumerate(parts):
        labels[part] = group
    return labels


def plain_univariate(x: NDArray[np.float64], k: int) -> float:
    """Smallest SSE over all cuts of the sorted values into runs of at least k (no upper limit)."""
    ordered = np.sort(x)
    best = [0.0, *[np.inf] * len(x)]
    for end in range(k, len(x) + 1):
        for start in range(end - k + 1):
            run = ordered[start:end]
            best[end] = min(best[end], best[start] + float(((run - run.mean()) ** 2).sum()))
    return best[-1]


def plain_v_mdav(P: NDArray[np.float64], k: int, gamma: float) -> NDArray[np.int64]:
    n = len(P)
    D = np.array([[float(((a - b) ** 2).sum()) for b in P] for a in P])
    out = ((P - P.mean(axis=0)) ** 2).sum(axis=1)
    left, groups = list(range(n)), []
    while len(left) >= k:
        seed = max(left, key=lambda i: (out[i], -i))
        left.remove(seed)
        group = [seed]
        for i in sorted(left, key=lambda i: (D[i, seed], i))[: k - 1]:
            left.remove(i)
            group.append(i)
        while len(left) > k and len(group) < 2 * k - 1:
            near = min(left, key=lambda i: (min(D[i, g] for g in group), i))
            inside = min(D[near, g] for g in group)
            if not inside < gamma**2 * min(D[near, i] for i in left if i != near):
                break
            left.remove(near)
            group.append(near)
        groups.append(group)
    centroids = [P[group].mean(axis=0) for group in groups]
    for i in left:
        room = [g for g in range(len(groups)) if len(groups[g]) < 2 * k - 1]
        groups[min(room, key=lambda g: ((P[i] - centroids[g]) ** 2).sum())].append(i)
    return as_labels(groups, n)


def plain_path(P: NDArray[np.float64], groups: NDArray[np.integer]) -> list[int]:
    """Nearest record next, group by group; the first is the one farthest out."""

    def away(i: int, point: NDArray[np.float64]) -> float:
        return float(((P[i] - point) ** 2).sum())

    n_groups = int(groups.max()) + 1
    centroids = [P[groups == g].mean(axis=0) for g in range(n_groups)]
    here, path, left = P.mean(axis=0), [], list(range(n_groups))
    while left:
        apart = [float(((centroids[g] - here) ** 2).sum()) for g in left]
        g = left[int(np.argmin(apart) if path else np.argmax(apart))]
        left.remove(g)
        members = np.flatnonzero(groups == g).tolist()
        while members:
            i = (
                min(members, key=lambda i: (away(i, here), i))
                if path
                else max(members, key=lambda i: (away(i, here), -i))
            )
            members.remove(i)
            path.append(i)
            here = P[i]
        if n_groups > 1:
            here = centroids[g]
    return path


def same_partition(a: NDArray[np.integer], b: NDArray[np.integer]) -> bool:
    return bool(((a[:, None] == a[None, :]) == (b[:, None] == b[None, :])).all())


@st.composite
def tables(draw: st.DrawFn, largest: int = 40):
    """Random tables, with ties and constant columns among them."""
    k = draw(st.integers(2, 5))
    n = draw(st.integers(2 * k, max(2 * k, largest)))
    p = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.normal(size=(n, p)) if draw(st.booleans()) else rng.integers(0, 4, size=(n, p)).astype(float)
    return X, k


@given(st.integers(0, 2**32), st.integers(6, 150), st.integers(3, 9), st.booleans())
def test_paths_as_told_by_plain_lists(seed: int, n: int, n_groups: int, ties: bool) -> None:
    rng = np.random.default_rng(seed)
    P = rng.integers(0, 4, (n, 2)).astype(float) if ties else rng.normal(size=(n, 3))
    assert nearest_next(P, P.mean(axis=0)).tolist() == plain_path(P, np.zeros(n, dtype=int))
    if not ties:  # sums of the centroids may be rounded otherwise
        groups = np.arange(n, dtype=np.int32) % min(n_groups, n // 2)
        assert path_of_groups(P, groups).tolist() == plain_path(P, groups)


@given(
    st.integers(0, 2**32), st.integers(2, 40), st.floats(1.0, 9.0), st.sampled_from(["normal", "ties", "skewed", "far"])
)
def test_minima_of_blocks_cost_what_the_plain_dynamic_program_costs(
    seed: int, k: int, times: float, shape: str
) -> None:
    rng = np.random.default_rng(seed)
    n = max(2 * k, int(k * times))
    x = {
        "normal": lambda: rng.normal(size=n),
        "ties": lambda: rng.integers(0, 5, n).astype(float),
        "skewed": lambda: np.exp(4 * rng.normal(size=n)),
        "far": lambda: 1e9 + rng.normal(size=n),
    }[shape]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cut, "ROWS_FROM", 0)
        patch.setattr(cut, "SLICE", int(rng.choice([1, 10**9])))
        blocks = microaggregate_univariate(x, k)
        patch.setattr(cut, "ROWS_FROM", k + 1)
        plain = microaggregate_univariate(x, k)
    sizes = np.bincount(blocks)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    centred = x - x.mean()
    assert sse(centred, blocks) == pytest.approx(sse(centred, plain), rel=1e-11, abs=1e-300)


def test_the_univariate_optimum_takes_no_longer_for_a_large_k() -> None:
    x = np.sort(np.random.default_rng(1).normal(size=200_000))

    def seconds(k: int) -> float:
        times = []
        for _ in range(3):
            started = time.process_time()
            microaggregate_univariate(x, k)
            times.append(time.process_time() - started)
        return min(times)

    seconds(20)
    assert seconds(5000) < 3 * seconds(20) + 0.02


@pytest.mark.parametrize(
    "method",
    [
        lambda X, tell: v_mdav(X, 3, progress=tell),
        lambda X, tell: v_mdav(X, 3, gamma=1.1, progress=tell),
        lambda X, tell: mhm(X, 3, progress=tell),
        lambda X, tell: mhm(X, 3, order="nearest", progress=tell),
        lambda X, tell: microaggregate_univariate(X[:, 0], 3, progress=tell),
    ],
)
def test_slices_tell_progress_and_change_nothing(method, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(3).normal(size=(700, 2))
    once = method(X, None)
    told: list[tuple[int, int]] = []
    for module in (cut, walk, mdav_tree):
        monkeypatch.setattr(module, "SLICE", 1)
    np.testing.assert_array_equal(method(X, lambda *done: told.append(done)), once)
    assert told[-1] == (700, 700)
    assert len(told) > 100

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        method(X, interrupt)


@pytest.mark.parametrize("name", METHODS)
@given(case=tables())
def test_groups_have_k_to_2k_minus_1_records_and_labels_in_order_of_first_use(name, case):
    X, k = case
    before = X.copy()
    labels = METHODS[name](X, k)
    np.testing.assert_array_equal(X, before)
    sizes = np.bincount(labels)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
    first = [int(np.argmax(labels == g)) for g in range(labels.max() + 1)]
    assert first == sorted(first)
    np.testing.assert_array_equal(labels, METHODS[name](X, k))


@given(case=tables(largest=30))
def test_univariate_is_optimal(case):
    X, k = case
    x = X[:, 0]
    best = plain_univariate(x, k)
    assert sse(x, microaggregate_univariate(x, k)) == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_univariate_keeps_its_precision_in_a_long_file(rng):
    """Differences of prefix sums would lose errors this small beside squares this large."""
    gaps = np.tile([1.0, 1e-7, 1e-7], 4000)
    x = np.cumsum(gaps) + 1e6
    labels = microaggregate_univariate(rng.permutation(x), 3)
    assert np.bincount(labels).max() == 3
    assert sse(np.sort(x) - 1e6, microaggregate_univariate(np.sort(x), 3)) < 4000 * 3e-14


@pytest.mark.parametrize("scale", [1e300, 1.0, 1e-300])
def test_univariate_at_any_scale(scale):
    x = np.array([1.0, 7.0, 2.0, 8.0, 3.0, 9.0, 3.5]) * scale
    assert microaggregate_univariate(x, 3).tolist() == [0, 1, 0, 1, 0, 1, 0]


@given(case=tables(largest=9))
def test_exhaustive_is_the_best_of_all_partitions(case):
    X, k = case
    n = len(X)
    best = min(sse(X, as_labels(parts, n)) for parts in partitions(list(range(n)), k))
    labels = exhaustive(X, k, standardize=False)
    assert sse(X, labels) == pytest.approx(best, rel=1e-9, abs=1e-12)
    assert np.bincount(labels).min() >= k


@example(case=(np.array([[2], [1], [3], [1], [0], [1], [3], [1], [0], [3]], dtype=float), 2), gamma=0.2)
@given(case=tables(), gamma=st.sampled_from([0.0, 0.2, 1.1]))
def test_v_mdav_as_told_by_plain_lists(case, gamma):
    X, k = case
    X = np.round(X * 8) / 8  # whole eighths: every distance is exact, so ties are ties in both
    expected = plain_v_mdav(X, k, gamma)
    found = v_mdav(X, k, gamma=gamma, standardize=False)
    mean = X.mean(axis=0)
    if (mean * 8 == np.round(mean * 8)).all() or len(np.unique(((X - mean) ** 2).sum(axis=1).round(9))) == len(X):
        assert same_partition(found, expected)


@given(case=tables())
def test_cutting_mdavs_path_is_never_worse_than_mdav(case):
    X, k = case
    assert sse(X, mhm(X, k, standardize=False)) <= sse(X, mdav(X, k, standardize=False)) * (1 + 1e-12) + 1e-12


@given(case=tables(largest=12))
def test_no_method_beats_the_optimum(case):
    X, k = case
    best = sse(X, exhaustive(X, k, standardize=False))
    for labels in (mhm(X, k, standardize=False), v_mdav(X, k, standardize=False), mdav(X, k, standardize=False)):
        assert sse(X, labels) >= best - 1e-9


TIED = np.array([[2, 0], [0, 2], [2, 0], [3, 1], [0, 3], [0, 0], [3, 0], [1, 3]], dtype=float)


@example(case=(TIED, 2), times=2)  # the last bit of a z-score decides between equal distances
@given(case=tables(largest=60), times=st.integers(2, 4))
def test_two_step_keeps_groups_whole(case, times):
    X, k = case
    macrogroups, groups = two_step(X, k, times * k)
    np.testing.assert_array_equal(groups, mdav(X, k))
    for group in range(groups.max() + 1):
        assert len(set(macrogroups[groups == group])) == 1
    if macrogroups.max():
        assert np.bincount(macrogroups).min() >= times * k


def test_macrogroups_by_another_heuristic(rng):
    X = rng.normal(size=(50, 2))
    np.testing.assert_array_equal(
        one_step(X, 10, heuristic=lambda Z, k: v_mdav(Z, k, standardize=False)), v_mdav(X, 10)
    )
    assert one_step(X, 26).max() == 0
    with pytest.raises(SDCError, match="group of 1, smaller than 10"):
        one_step(X, 10, heuristic=lambda Z, k: np.arange(len(Z), dtype=np.int32))
    with pytest.raises(SDCError, match="K = 10 must be a multiple of k = 3, such as 9"):
        two_step(X, 3, 10)
    with pytest.raises(SDCError, match="K must be a whole number ≥ 6"):
        two_step(X, 3, 5)


@given(case=tables(), kind=st.sampled_from(["numeric", "ordinal", "nominal"]))
def test_centroids_by_kind(case, kind):
    X, k = case
    X = np.abs(np.round(X))
    labels = mdav(X, k) * 3 + 1
    protected = microaggregate(X, labels, kinds=[kind] * X.shape[1])
    for group in set(labels.tolist()):
        for j in range(X.shape[1]):
            column = np.sort(X[labels == group, j])
            if kind == "numeric":
                expected = column.mean()
            elif kind == "ordinal":
                expected = column[(len(column) - 1) // 2]
            else:
                values, counts = np.unique(column, return_counts=True)
                expected = values[counts.argmax()]
            np.testing.assert_allclose(protected[labels == group, j], expected, rtol=1e-12, atol=1e-12)
            assert len(set(protected[labels == group, j])) == 1


def test_means_of_equal_and_of_huge_values():
    x = np.array([[0.1], [0.1], [0.1], [1.7e308], [-1.7e308]])
    assert microaggregate(x, [0, 0, 0, 1, 1]).ravel().tolist() == [0.1, 0.1, 0.1, 0.0, 0.0]


@given(
    st.integers(0, 6),
    st.lists(st.tuples(st.integers(-(10**8), 10**8), st.integers(0, 2)), min_size=1, max_size=30),
)
def test_means_of_decimal_numbers_are_rounded_once(decimals: int, rows: list[tuple[int, int]]) -> None:
    x = np.array([[whole / 10**decimals] for whole, _ in rows])
    labels = np.array([label for _, label in rows])
    protected = microaggregate(x, labels).ravel()
    for label in set(labels.tolist()):
        group = [Fraction(whole, 10**decimals) for whole, other in rows if other == label]
        assert set(protected[labels == label].tolist()) == {float(sum(group) / len(group))}


@pytest.mark.parametrize("name", METHODS)
def test_what_is_refused(name):
    method = METHODS[name]
    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(SDCError, match="k must be a whole number ≥ 2"):
        method(X, 1)
    with pytest.raises(SDCError, match="k = 6 is too large for 10 records: at most 5"):
        method(X, 6)
    with pytest.raises(SDCError, match="empty"):
        method(np.empty((0, 2)), 3)
    X[3, 0] = np.nan
    with pytest.raises(SDCError, match="non-finite"):
        method(X, 3)
    with pytest.raises(SDCError, match="code its categories"):
        method(np.array([["a", "b"]] * 10), 3)


@pytest.mark.parametrize("name", METHODS)
def test_duplicates_only_and_constant_columns(name):
    assert np.bincount(METHODS[name](np.ones((10, 2)), 3)).tolist() in ([3, 3, 4], [4, 3, 3], [3, 4, 3], [5, 5])
    X = np.column_stack([np.arange(10.0), np.full(10, 7.0)])
    assert sse(X, METHODS[name](X, 5)) == 20.0


def test_exhaustive_refuses_what_it_cannot_try():
    with pytest.raises(SDCError, match=r"13 records are too many .* at most 12"):
        exhaustive(np.arange(13.0), 3)
    with pytest.raises(SDCError, match="overflow"):
        exhaustive([[1e200], [-1e200], [3e200], [4e200]], 2, standardize=False)
    with pytest.raises(SDCError, match="at most 2"):
        exhaustive(np.arange(4.0), 3)


def test_the_example_that_defeats_fixed_sizes():
    """Two natural groups of 5 and 3 and 3: groups of varying size find them, groups of three cannot."""
    X = np.array([[0, 0], [1, 0], [0, 1], [9, 9], [10, 9], [9, 10], [20, 0], [21, 0], [20, 1], [21, 1], [20.5, 0.5]])
    natural = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2])
    for labels in (exhaustive(X, 3), v_mdav(X, 3, gamma=1.1), mhm(X, 3)):
        assert same_partition(labels, natural)
