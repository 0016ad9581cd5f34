"""Bounds of a corner against every way of spending the budget on the records of the worst classes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.evaluators.lattice import LatticeEngine

CLASSES = st.lists(st.tuples(*[st.integers(0, 3)] * 3).filter(any), min_size=1, max_size=3)
"""Counts of three sensitive values in each class."""


def t_of(counts: np.ndarray, whole: np.ndarray) -> float:
    return float(np.abs(counts / counts.sum() - whole / whole.sum()).sum() / 2)


def entropy_of(counts: np.ndarray, whole: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def distinct_of(counts: np.ndarray, whole: np.ndarray) -> float:
    return float((counts > 0).sum())


def left_over(classes: np.ndarray, budget: int, limit: int) -> Iterator[np.ndarray]:
    """What may be left of the classes: up to a size they are gone, and of the others some records of any values."""
    ways = [
        [np.zeros(3, dtype=int)]
        if counts.sum() <= limit
        else [np.array(left) for left in itertools.product(*(range(n + 1) for n in counts))]
        for counts in classes
    ]
    for left in itertools.product(*ways):
        if sum(map(np.sum, left)) >= classes.sum() - budget and any(map(np.any, left)):
            yield np.array(left)


@given(CLASSES, st.integers(1, 4))
@settings(max_examples=60)
@pytest.mark.parametrize(("name", "measure"), [("t", t_of), ("entropy_l", entropy_of), ("l", distinct_of)])
def test_no_way_to_spend_the_budget_is_better_than_the_bound(
    name: str, measure: object, classes: list[tuple[int, ...]], budget: int
) -> None:
    assert callable(measure)
    counts = np.array(classes)
    codes = np.repeat(np.arange(len(counts)), counts.sum(axis=1))
    secret = np.concatenate([np.repeat(np.arange(3), row) for row in counts])
    if budget >= len(codes):
        return
    engine = LatticeEngine(
        codes[:, None], [[range(len(counts))]], sensitive=secret, max_suppressed=budget, measures=(name,), threads=1
    )
    (corner,) = engine.corners([[0]])
    worse = max if name == "t" else min
    for threshold, bound in zip(corner.thresholds, corner.finer[:, 0], strict=True):
        reached = [
            worse(measure(row, counts.sum(axis=0)) for row in left if row.any())
            for left in left_over(counts, budget, threshold - 1)
        ]
        if name == "t":
            assert bound <= min(reached) + 1e-12
        else:
            assert bound >= max(reached) - 1e-9


def test_a_bound_is_not_just_the_best_there_is() -> None:
    """Two records of forty cannot make classes of one value even, nor bring a class of the others near."""
    codes, secret = np.repeat([0, 1], 20)[:, None], np.repeat([0, 1], 20)
    engine = LatticeEngine(codes, [[[0, 1]]], sensitive=secret, max_suppressed=2, measures=("t", "entropy_l"))
    assert engine.corners([[0]])[0].finer[0].tolist() == pytest.approx([0.5, 1.0])
    mixed = np.tile([0, 0, 0, 1], 10)
    engine = LatticeEngine(codes, [[[0, 1]]], sensitive=mixed, max_suppressed=2, measures=("t", "entropy_l"))
    t, evenness = engine.corners([[0]])[0].finer[0]
    assert t == 0.0
    assert 1.75 < evenness < 1.9
