"""Indicators and statistics of records, against plain accounts of the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.suite import Record, anytime, assess, expected_runtimes, runtimes
from sdc_problems.suite._statistics import (
    a12,
    alike,
    holm,
    mean_ranks,
    pairs_by_instance,
    pairs_over_instances,
)


class Corner:
    """An instance whose front is a diagonal of five points, in a box from 10 to 20."""

    id, digest, known = "corner@1", "0" * 64, "exact"
    bound: Any = None

    @property
    def front(self) -> np.ndarray:
        return 10.0 + 10.0 * np.column_stack([np.linspace(0, 1, 5), np.linspace(1, 0, 5)])

    def scaled(self, F: Any) -> np.ndarray:
        return (np.asarray(F, dtype=float) - 10.0) / 10.0


class Bracketed(Corner):
    known = "bracketed"

    @property
    def bound(self) -> np.ndarray:
        return self.front - 1.0


def record(F: Any, at: Any, budget: int = 10, **said: Any) -> Record:
    F = np.asarray(F, dtype=float).reshape(-1, 2)
    at = np.asarray(at, dtype=np.int64)
    made = Record(
        "corner@1", "0" * 64, "mine", 1, budget, ("a", "b"), budget, budget, 1.0, 2.0, {}, at, at.copy(), F, F.copy()
    )
    return replace(made, **said)


def volume(points: np.ndarray) -> float:
    """Area up to (1.1, 1.1), strip by strip."""
    total, top = 0.0, 1.1
    for x, y in sorted(map(tuple, points)):
        if x < 1.1 and y < top:
            total += (1.1 - x) * (top - y)
            top = y
    return total


point = st.tuples(st.integers(0, 30), st.integers(0, 30))


@given(st.lists(point, min_size=1, max_size=12))
def test_gap_is_the_missing_share_of_the_volume_after_each_solution(points: list[tuple[int, int]]) -> None:
    F = 10.0 + np.array(points) / 2.0
    run = record(F, np.arange(1, len(F) + 1), budget=20)
    curve = anytime(run, Corner())
    whole = volume(Corner().scaled(Corner().front))
    S = Corner().scaled(F)
    expected = [1.0 - volume(S[: i + 1]) / whole for i in range(len(S))]
    assert curve.gap == pytest.approx(expected, abs=1e-9)
    assert (np.diff(curve.gap) <= 1e-12).all()
    mean = np.mean([1.0 if t < 1 else expected[min(t, len(S)) - 1] for t in range(1, 21)])
    assert assess(run, Corner())["area"][0] == pytest.approx(mean)


def test_table_says_how_near_the_front_a_run_was() -> None:
    front = Corner().front
    run = record(front[:3], [2, 4, 9])
    table = assess([run], Corner(), at=[1, 4, 10])
    assert table["found"].tolist() == [0.0, 0.4, 0.6]
    assert table["gap"][0] == 1.0
    assert np.isnan(table["epsilon"][0])
    assert table["epsilon"][2] == pytest.approx(0.5)  # from (0.5, 0.5) to (1, 0)
    assert table["igd_plus"][2] == pytest.approx((0.25 + 0.5) / 5)
    assert table["gap_bound"].tolist() == table["gap"].tolist()
    assert table["evaluations"].tolist() == [1, 4, 10]
    assert table["different"].isna().tolist() == [True, True, False]


def test_whole_front_is_the_last_target() -> None:
    front = Corner().front
    times = runtimes(record(front, [1, 2, 3, 4, 7]), Corner())
    assert len(times) == 51
    assert times[-1] == 7
    assert (np.diff(times) >= 0).all()
    assert assess(record(front, [1, 2, 3, 4, 7]), Corner())["targets"][0] == 51
    almost = front.copy()
    almost[2] += 1e-5
    times = runtimes(record(almost, [1, 2, 3, 4, 7]), Corner())
    assert np.isinf(times[-1])
    assert times[-2] == 7  # a gap of 10^-5


def test_bracketed_front_leaves_an_interval_open() -> None:
    table = assess(record(Bracketed().front, [1, 2, 3, 4, 5]), Bracketed())
    inside, outside = volume(Bracketed().scaled(Bracketed().front)), volume(Bracketed().scaled(Bracketed().bound))
    assert table["gap"][0] == 0.0
    assert table["gap_bound"][0] == pytest.approx(1 - inside / outside)
    assert np.isnan(table["found"][0])
    better = assess(record([[10.0, 10.0]], [3]), Bracketed())
    assert better["gap"][0] < 0
    assert runtimes(record([[10.0, 10.0]], [3]), Bracketed())[-1] == 3


def test_run_that_found_nothing_has_the_whole_gap() -> None:
    table = assess(record([], []), Corner())
    assert table["gap"][0] == table["area"][0] == 1.0
    assert table["found"][0] == table["targets"][0] == 0


@pytest.mark.parametrize("said", [{"instance": "other@1"}, {"digest": "1" * 64}])
def test_record_of_another_instance_is_refused(said: dict[str, str]) -> None:
    with pytest.raises(SDCError, match="record is of"):
        assess(record([], [], **said), Corner())


def test_expected_runtime_counts_the_runs_that_failed() -> None:
    times = np.array([[5.0, np.inf, np.inf], [7.0, 40.0, np.inf]])
    assert expected_runtimes(times, [50, 50]).tolist() == [6.0, 90.0, np.inf]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_step_by_step_what_it_says(p: list[float]) -> None:
    order = sorted(range(len(p)), key=lambda i: p[i])
    expected, so_far = [0.0] * len(p), 0.0
    for place, i in enumerate(order):
        so_far = max(so_far, min(1.0, (len(p) - place) * p[i]))
        expected[i] = so_far
    assert holm(p).tolist() == pytest.approx(expected)


def test_effect_size_counts_pairs() -> None:
    assert a12([1, 1, 5], [2, 1]) == pytest.approx((1 + 0.5 + 1 + 0.5 + 0 + 0) / 6)


def test_pairs_are_adjusted_over_all_instances_together() -> None:
    low, high = [0.1, 0.11, 0.12, 0.13, 0.14], [0.5, 0.51, 0.52, 0.53, 0.54]
    samples = {"one": {"a": low, "b": high}, "two": {"a": low, "b": low}, "three": {"a": low[:2], "b": high}}
    one, two = pairs_by_instance(samples)
    assert (one.instance, two.instance) == ("one", "two")  # two seeds are too few
    assert one.p == pytest.approx(2 / 252)
    assert one.p_holm == pytest.approx(4 / 252)
    assert (one.effect, two.effect, two.p_holm) == (1.0, 0.5, 1.0)
    constant = pairs_by_instance({"one": {"a": [0.0] * 5, "b": [0.0] * 5}})
    assert constant[0].p == 1.0


def test_medians_are_compared_over_the_instances_that_all_have_run_on() -> None:
    samples = {f"i{i}": {"a": [0.1 + i / 100], "b": [0.2 + i / 50], "c": [0.2 + i / 50]} for i in range(8)}
    samples["only a"] = {"a": [0.5]}
    pairs = {(pair.first, pair.second): pair for pair in pairs_over_instances(samples)}
    assert pairs["a", "b"].p == pytest.approx(2 / 2**8)
    assert pairs["a", "b"].p_holm == pytest.approx(3 * 2 / 2**8)
    assert pairs["b", "c"].p == 1.0
    ranks = mean_ranks(samples)
    assert ranks == {"a": 1.0, "b": 2.5, "c": 2.5}
    assert alike(ranks, list(pairs.values())) == [("b", "c")]
