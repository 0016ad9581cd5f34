"""(α, k), β-likeness and δ-disclosure against loops over classes and values."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.evaluators import alpha, beta_likeness, delta_disclosure

RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def shares(records: list[tuple[int, int]]) -> list[tuple[float, float]]:
    """Share of each value that occurs in a class, there and in all."""
    n = len(records)
    found = []
    for group in {g for g, _ in records}:
        inside = [s for g, s in records if g == group]
        found += [(inside.count(s) / len(inside), sum(v == s for _, v in records) / n) for s in set(inside)]
    return found


@given(RECORDS)
def test_equal_to_the_definitions(records: list[tuple[int, int]]) -> None:
    classes, values = [g for g, _ in records], [s for _, s in records]
    pairs = shares(records)
    assert alpha(classes, values) == pytest.approx(max(p for p, _ in pairs))
    assert beta_likeness(classes, values) == pytest.approx(max(0.0, *((p - q) / q for p, q in pairs)))
    assert delta_disclosure(classes, values) == pytest.approx(max(abs(log(p / q)) for p, q in pairs))


def test_one_class_gives_nothing_away() -> None:
    assert beta_likeness([0, 0, 0], [1, 2, 2]) == 0
    assert delta_disclosure([0, 0, 0], [1, 2, 2]) == 0
