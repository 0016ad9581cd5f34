from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.evaluators.clusterings import (
    clustering_loss,
    jaccard_index,
    pair_agreement,
    rand_index,
    wallace_index,
)

TWO = st.integers(1, 20).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


@given(TWO)
def test_the_indices_are_the_plain_counts_of_pairs(case: tuple[list[int], list[int]]) -> None:
    a, b = case
    r = s = t = u = 0
    for i, j in combinations(range(len(a)), 2):
        together, still = a[i] == a[j], b[i] == b[j]
        r += together and still
        s += together and not still
        t += still and not together
        u += not together and not still
    assert tuple(pair_agreement(a, b)) == (r, s, t, u)
    if r + s + t + u:
        assert rand_index(a, b) == pytest.approx((r + u) / (r + s + t + u))
    if r + s + t:
        assert jaccard_index(a, b) == pytest.approx(r / (r + s + t))
    if (r + s) * (r + t):
        assert wallace_index(a, b) == pytest.approx(r / math.sqrt((r + s) * (r + t)))
    loss = (1 - rand_index(a, b)) + (1 - jaccard_index(a, b)) + (1 - wallace_index(a, b))
    assert clustering_loss(a, b) == pytest.approx(100 * loss / 3)
    assert 0.0 <= clustering_loss(a, b) <= 100.0
    assert clustering_loss(b, a) == pytest.approx(clustering_loss(a, b))


@given(TWO)
def test_equal_partitions_lose_nothing_whatever_the_names(case: tuple[list[int], list[int]]) -> None:
    a, _ = case
    renamed = [7 - 2 * label + 6 for label in a]
    assert clustering_loss(a, renamed) == pytest.approx(0.0, abs=1e-12)


def test_partitions_without_pairs() -> None:
    apart, together = [0, 1, 2], [0, 0, 0]
    assert rand_index([0], [5]) == jaccard_index([0], [5]) == wallace_index([0], [5]) == 1.0
    assert wallace_index(apart, apart) == jaccard_index(apart, apart) == 1.0
    assert wallace_index(apart, together) == jaccard_index(apart, together) == rand_index(apart, together) == 0.0
    assert clustering_loss(apart, together) == 100.0


def test_a_million_records_do_not_overflow(rng: np.random.Generator) -> None:
    a = rng.integers(0, 3, size=10**6)
    assert sum(pair_agreement(a, a)) == 10**6 * (10**6 - 1) // 2
    assert wallace_index(a, a) == pytest.approx(1.0)
