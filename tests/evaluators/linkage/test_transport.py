from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sdc_problems._slices import listening
from sdc_problems.evaluators.linkage import _transport
from sdc_problems.evaluators.linkage._transport import transport


@given(st.integers(1, 7), st.integers(1, 7), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_cheapest_flow_is_the_assignment_of_the_single_items(n: int, m: int, items: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cost = rng.integers(-6, 7, size=(n, m)).astype(np.int64)
    supply, demand = rng.multinomial(items, np.ones(n) / n), rng.multinomial(items, np.ones(m) / m)
    flow = transport(cost, supply, demand)
    assert (flow >= 0).all()
    np.testing.assert_array_equal(flow.sum(axis=1), supply)
    np.testing.assert_array_equal(flow.sum(axis=0), demand)
    single = np.repeat(np.repeat(cost, supply, axis=0), demand, axis=1)
    assert (flow * cost).sum() == single[linear_sum_assignment(single)].sum()


def test_a_path_at_a_time_gives_the_same_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    cost = rng.integers(0, 9, size=(40, 50))
    supply, demand = rng.multinomial(300, np.ones(40) / 40), rng.multinomial(300, np.ones(50) / 50)
    whole = transport(cost, supply, demand)
    told: list[int] = []
    monkeypatch.setattr(_transport, "shortest_paths", _transport.shortest_paths.outer)
    monkeypatch.setattr(_transport, "SLICE", 1)
    with listening(lambda what, done, total: told.append(done)):
        np.testing.assert_array_equal(transport(cost, supply, demand), whole)
    assert len(told) > 40
    assert told == sorted(told)


def test_large_costs_and_a_full_assignment() -> None:
    rng = np.random.default_rng(4)
    cost = rng.integers(-(2**40), 2**40, size=(60, 60))
    one = np.ones(60, dtype=np.int64)
    flow = transport(cost, one, one)
    assert (flow * cost).sum() == cost[linear_sum_assignment(cost)].sum()
