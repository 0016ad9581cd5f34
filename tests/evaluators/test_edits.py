"""Sums that hold in every record: found, read, counted when broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.edits import Edit, broken_edits, find_edits, parse_edit

NAMES = ("a", "b", "c", "d")


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.lists(st.sampled_from([1, -1]), min_size=4, max_size=4))
def test_a_sum_is_found_wherever_it_stands(seed: int, terms: int, signs: list[int]) -> None:
    rng = np.random.default_rng(seed)
    parts = np.round(rng.lognormal(5, 1, size=(40, terms)), 2)
    others = rng.normal(size=(40, 2))
    total = parts @ np.array(signs[:terms], dtype=float)
    order = rng.permutation(terms + 3)
    X = np.column_stack([total, parts, others])[:, order]
    (edit,) = find_edits(X)
    assert {edit.left, *edit.right} == {int(np.flatnonzero(order == j)[0]) for j in range(terms + 1)}
    assert broken_edits(X, [edit]) == 0.0


def test_nothing_is_found_where_nothing_holds(rng: np.random.Generator) -> None:
    X = rng.normal(size=(40, 4))
    assert find_edits(X) == ()
    assert find_edits(np.column_stack([X, X.sum(axis=1) * 0.5])) == ()
    assert find_edits(X[:4]) == ()
    assert find_edits(np.ones((9, 2))) == ()
    nearly = np.column_stack([X, X.sum(axis=1)])
    nearly[7, 4] += 1.0
    assert find_edits(nearly) == ()


def test_two_sums_and_a_constant_attribute(rng: np.random.Generator) -> None:
    a, b, c, d = rng.integers(0, 1000, size=(4, 50))
    X = np.column_stack([a, b, a + b, np.full(50, 7), c, d, c - d])
    assert find_edits(X) == (Edit(2, (0, 1), (1, 1)), Edit(4, (5, 6), (1, 1)))


def test_the_sum_of_the_census_file(public: Callable[[str], Path]) -> None:
    frame = pd.read_csv(public("census.csv"))
    (edit,) = find_edits(frame.to_numpy(float))
    assert edit.text(list(frame.columns)) == "PTOTVAL = POTHVAL + PEARNVAL"
    protected = frame.to_numpy(float).copy()
    protected[:, edit.left] = np.roll(protected[:, edit.left], 1)
    assert broken_edits(protected, [edit]) > 99


def test_broken_sums_are_counted_by_record() -> None:
    Y = np.array([[3.0, 1.0, 2.0], [4.0, 1.0, 2.0], [0.3, 0.1, 0.2]])
    assert broken_edits(Y, [Edit(0, (1, 2), (1, 1))]) == pytest.approx(100 / 3)
    assert broken_edits(Y, []) == 0.0
    with pytest.raises(SDCError, match="beyond"):
        broken_edits(Y, [Edit(0, (1, 3), (1, 1))])


def test_edits_read_back_what_they_say() -> None:
    for text in ("a = b + c - d", "d = a - b", "b = a"):
        assert parse_edit(text, NAMES).text(NAMES) == text
    assert parse_edit("a = - b + c", NAMES) == Edit(0, (1, 2), (-1, 1))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a", "must read"),
        ("a = ", "must read"),
        (" = b", "must read"),
        ("a = b +", "must read"),
        ("a = b c", "must read"),
        ("a = b + x", "'x' is not among"),
        ("a = a + b", "twice"),
    ],
)
def test_edits_that_cannot_be_read_are_refused(text: str, says: str) -> None:
    with pytest.raises(SDCError, match=says):
        parse_edit(text, NAMES)
