"""Risk by what is known of the population, against its definition summed term by term."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import household_risk, individual_risk, population_counts


def plain_risk(f: int, stands_for: float) -> float:
    """E[1/F | f] of the negative binomial distribution, summed."""
    p = f / stands_for
    return sum(comb(h - 1, f - 1) * p**f * (1 - p) ** (h - f) / h for h in range(f, 4000))


@pytest.mark.parametrize(("f", "stands_for"), [(1, 1.0), (1, 3.0), (1, 50.0), (2, 2.5), (3, 30.0), (7, 60.0)])
def test_individual_risk_is_the_mean_of_one_by_the_population_count(f: int, stands_for: float) -> None:
    risk = individual_risk([0] * f, [stands_for / f] * f)
    assert risk == pytest.approx([plain_risk(f, stands_for)] * f, rel=1e-9)


def test_individual_risk_of_a_sample_unique_has_a_closed_form() -> None:
    p = 1 / 20
    assert individual_risk([0], [20.0])[0] == pytest.approx(p / (1 - p) * log(1 / p))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(1, 500)), min_size=1, max_size=40))
def test_risks_lie_between_the_naive_ones(records: list[tuple[int, float]]) -> None:
    classes, weights = [c for c, _ in records], [w for _, w in records]
    sizes = np.array([classes.count(c) for c in classes])
    stands_for = population_counts(classes, weights)
    assert stands_for == pytest.approx([sum(w for c, w in records if c == mine) for mine in classes])
    risk = individual_risk(classes, weights)
    assert (risk <= 1 / sizes + 1e-12).all()
    assert (risk >= 1 / stands_for - 1e-12).all()  # the mean of 1/F is above 1 by the mean of F


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), min_size=1, max_size=30))
def test_a_household_is_found_if_anybody_is(records: list[tuple[int, float]]) -> None:
    found = household_risk([r for _, r in records], [h for h, _ in records])
    for (home, _), value in zip(records, found, strict=True):
        safe = np.prod([1 - r for h, r in records if h == home])
        assert value == pytest.approx(1 - safe)


def test_wrong_weights_and_risks_are_refused() -> None:
    with pytest.raises(SDCError, match=r"1 weight\(s\) are below 1"):
        individual_risk([0, 1], [0.5, 2.0])
    with pytest.raises(SDCError, match="weights has 1 entries for 2 records"):
        population_counts([0, 1], [2.0])
    with pytest.raises(SDCError, match="probabilities"):
        household_risk([1.5], [0])
