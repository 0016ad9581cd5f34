from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sdc_problems.evaluators import _codes
from sdc_problems.evaluators._codes import (
    column_labels,
    dense,
    first_records,
    pair_counts,
    row_labels,
    starts,
    unique_rows,
)

SMALL = arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(0, 5))
LARGE = arrays(
    np.int64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=st.sampled_from([0, 1, 10**6, 2**60])
)


@given(st.one_of(SMALL, LARGE))
def test_row_labels_number_the_distinct_rows_in_order(codes: np.ndarray) -> None:
    rows = sorted(set(map(tuple, codes.tolist())))
    expected = [rows.index(tuple(row)) for row in codes.tolist()]
    labels, m = row_labels(codes)
    assert labels.tolist() == expected
    assert m == len(rows)


@given(SMALL)
def test_pair_counts_count(codes: np.ndarray) -> None:
    a, _ = dense(codes[:, 0])
    b, _ = dense(codes[:, -1])
    table = pair_counts(a, b)
    expected: dict[tuple[int, int], int] = {}
    for pair in zip(a.tolist(), b.tolist(), strict=True):
        expected[pair] = expected.get(pair, 0) + 1
    found = dict(zip(zip(table.first.tolist(), table.second.tolist(), strict=True), table.n.tolist(), strict=True))
    assert found == expected
    assert list(found) == sorted(found)


def test_pair_counts_of_many_categories_need_no_dense_table(rng: np.random.Generator) -> None:
    a, b = rng.permutation(5000), rng.permutation(5000)
    table = pair_counts(a, b)
    assert (table.n == 1).all()
    np.testing.assert_array_equal(table.second[a], b)


def test_pair_counts_of_many_records_take_a_small_table(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = rng.integers(0, 50, 2000), rng.integers(0, 60, 2000)
    wide = pair_counts(a, b)
    monkeypatch.setattr(_codes, "_MANY", 1000)
    assert all(np.array_equal(x, y) for x, y in zip(wide, pair_counts(a, b), strict=True))


@given(SMALL)
def test_unique_rows_agree_with_numpy(codes: np.ndarray) -> None:
    rows, inverse, count = unique_rows(codes.astype(float))
    expected, expected_inverse, expected_count = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(inverse, expected_inverse.reshape(-1))
    np.testing.assert_array_equal(count, expected_count)


def test_the_two_zeros_are_one_row() -> None:
    rows, inverse, count = unique_rows(np.array([[0.0], [-0.0], [1.0]]))
    assert len(rows) == 2
    assert inverse.tolist() == [0, 0, 1]
    assert count.tolist() == [2, 1]


def test_starts() -> None:
    assert starts(np.array([3, 3, 4, 9, 9])).tolist() == [0, 2, 3]


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=30))
def test_labels_by_columns_are_labels_by_rows(rows: list[list[int]]) -> None:
    codes = np.array(rows)
    found, n = column_labels(column.astype(np.int32) for column in codes.T)
    expected, expected_n = row_labels(codes)
    assert found.tolist() == expected.tolist()
    assert n == expected_n
    first = first_records(found, n)
    assert [int(np.flatnonzero(found == i)[0]) for i in range(n)] == first.tolist()


def test_pairs_of_narrow_codes_do_not_wrap() -> None:
    a, b = np.full(3, 30_000, dtype=np.int16), np.array([30_000, 1, 30_000], dtype=np.int16)
    assert pair_counts(a, b).n.tolist() == [1, 2]
    assert pair_counts(a, b).first.tolist() == [30_000, 30_000]
