"""Attribute groups from correlations and from the thesis' Appendix A."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.methods.partition._attribute_groups import (
    CENSUS,
    WATER_TREATMENT,
    anticorrelated_groups,
    correlated_groups,
    handmade_groups,
)

# Three pairs that go together: (0, 3), (1, 4), (2, 5).
PAIRED = np.eye(6) + np.kron([[0, 1], [1, 0]], np.diag([0.9, -0.8, 0.7]))


def test_correlated_attributes_are_together() -> None:
    assert correlated_groups(PAIRED, 2) == [[0, 3], [1, 4], [2, 5]]


def test_correlated_attributes_are_apart() -> None:
    groups = anticorrelated_groups(PAIRED, 3)
    assert sorted(map(sorted, groups)) == [[0, 1, 2], [3, 4, 5]]


@given(st.integers(2, 12), st.integers(1, 13), st.integers(0, 1000))
def test_both_are_partitions_with_groups_of_at_most_that_size(p: int, size: int, seed: int) -> None:
    R = np.corrcoef(np.random.default_rng(seed).normal(size=(p, 30)))
    for build in (correlated_groups, anticorrelated_groups):
        groups = build(R, size)
        assert sorted(chain.from_iterable(groups)) == list(range(p))
        assert max(map(len, groups)) <= size
        assert len(groups) == -(-p // size)


@given(st.integers(3, 10), st.integers(2, 5), st.integers(0, 1000))
def test_signs_do_not_matter(p: int, size: int, seed: int) -> None:
    R = np.corrcoef(np.random.default_rng(seed).normal(size=(p, 30)))
    for build in (correlated_groups, anticorrelated_groups):
        assert build(R, size) == build(np.abs(R), size)


def test_correlated_groups_hold_more_correlation() -> None:
    R = np.abs(np.corrcoef(np.random.default_rng(0).normal(size=(12, 8))))

    def inside(groups: list[list[int]]) -> float:
        return float(np.mean([R[a, b] for group in groups for a in group for b in group if a < b]))

    assert inside(correlated_groups(R, 3)) > inside(anticorrelated_groups(R, 3))


def test_bad_input_is_refused() -> None:
    with pytest.raises(SDCError, match="square"):
        correlated_groups(np.ones((2, 3)), 2)
    with pytest.raises(SDCError, match="size"):
        anticorrelated_groups(np.eye(3), 0)


@pytest.mark.parametrize(
    ("columns", "sizes"),
    [
        (CENSUS, {"Gc4": [4] * 3, "Gnc4": [4] * 3, "Gc3": [3] * 4, "Gnc3": [3] * 4}),
        (WATER_TREATMENT, {"Gc10": [10, 10, 10, 8], "Gnc10": [10, 10, 10, 8]}),
    ],
)
def test_handmade_groups_are_partitions(columns: tuple[str, ...], sizes: dict[str, list[int]]) -> None:
    groupings = handmade_groups(columns[::-1])  # the order of the columns does not matter
    for name, groups in groupings.items():
        assert sorted(chain.from_iterable(groups)) == sorted(columns), name
        if name in sizes:
            assert [len(group) for group in groups] == sizes[name]
    assert set(sizes) <= set(groupings)


def test_columns_are_those_of_the_files(public: Callable[[str], Path]) -> None:
    census = list(pd.read_csv(public("census.csv"), nrows=1).columns)
    assert [name for name in census if name != "INTVAL"] == list(CENSUS)
    water = list(pd.read_csv(public("water_treatment.csv"), nrows=1).columns)
    assert water[1:] == list(WATER_TREATMENT)
