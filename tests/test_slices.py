"""Slices of long computations: bounded, told, and ended by what the listener raises."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems._kernel import SLICE
from sdc_problems._slices import Pace, listening, slices, tell, telling, watched


@given(st.integers(0, 5000), st.floats(0.0, 10 * SLICE))
def test_slices_cover_everything_once_and_are_bounded(n: int, steps: float) -> None:
    told: list[tuple[str, int, int]] = []
    with listening(lambda *said: told.append(said)):
        found = list(slices(n, steps=steps, what="records")) if n * steps < 1e4 * SLICE else []
    if not found:
        return
    assert [i for low, high in found for i in range(low, high)] == list(range(n))
    assert all(high - low == 1 or (high - low) * steps <= SLICE for low, high in found)
    assert told == ([("records", high, n) for _, high in found] if len(found) > 1 else [])


def test_short_work_is_one_slice_and_is_not_told() -> None:
    with listening(lambda *said: pytest.fail("told")):
        assert list(slices(10, steps=SLICE / 10, what="records")) == [(0, 10)]
        assert list(slices(0, steps=1, what="records")) == []


def test_what_a_listener_raises_ends_the_work() -> None:
    done = []

    def stop(what: str, high: int, total: int) -> None:
        if high >= 3:
            raise KeyboardInterrupt

    def work() -> None:
        for low, high in slices(10, steps=SLICE, what="records"):
            done.append((low, high))

    with listening(stop), pytest.raises(KeyboardInterrupt):
        work()
    assert done == [(0, 1), (1, 2), (2, 3)]
    tell("records", 3, 10)  # nobody listens any more


def test_listeners_are_of_a_block_and_of_a_thread() -> None:
    told: list[str] = []
    with listening(lambda what, done, total: told.append(what)):
        telling("outer")(1, 2)
        with listening(None):
            tell("silenced", 1, 2)
        other = threading.Thread(target=tell, args=("thread", 1, 2))
        other.start()
        other.join()
        tell("outer again", 1, 2)
    tell("after", 1, 2)
    assert told == ["outer", "outer again"]


def test_a_watched_kernel_is_told_of_and_ends_by_its_flag() -> None:
    told: list[tuple[str, int, int]] = []
    stopped = []

    def work(flag: Any) -> str:
        """Work without end."""
        flag[1], flag[2] = 3, 10
        while not flag[0]:
            pass
        stopped.append(True)
        return "nothing"

    def stop(*said: Any) -> None:
        told.append(said)
        raise KeyboardInterrupt

    with listening(stop), pytest.raises(KeyboardInterrupt):
        watched(work, "rows")
    assert told == [("rows", 3, 10)]
    assert stopped == [True], "it is not left behind"
    with listening(stop), pytest.raises(KeyboardInterrupt):
        watched(work, "rows", part=(10, 60, 100))  # a part of more
    assert told[-1] == ("rows", 10 + 18, 100)
    assert watched(lambda flag: "done", "rows") == "done"
    with pytest.raises(TimeoutError, match="own"):
        watched(lambda flag: (_ for _ in ()).throw(TimeoutError("its own")), "rows")


def test_little_work_is_watched_without_a_thread() -> None:
    assert watched(lambda flag: threading.current_thread(), "rows", steps=SLICE) is threading.current_thread()
    assert watched(lambda flag: threading.current_thread(), "rows", steps=SLICE + 1) is not threading.current_thread()


def test_pace_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    pace = Pace(1000)
    now[0] += 0.4
    assert pace.next(1000) == 500  # it took twice as long as it should
    now[0] += 2.0
    assert pace.next(500) == 62  # at most eight times less at once
    now[0] += 0.1
    assert pace.next(62) == 123
    now[0] += 0.0001
    assert pace.next(123) == 1000
    assert pace.next(0) == 1000  # a slice in which nothing was done tells nothing
