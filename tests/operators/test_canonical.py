"""Restricted growth strings: the same partition, the same bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.operators.canonical import CanonicalLabels, restricted_growth

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16")


def plain(row: NDArray[np.integer]) -> list[int]:
    seen: dict[int, int] = {}
    return [seen.setdefault(int(label), len(seen)) for label in row]


@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(0, 40), st.integers(1, 30), st.sampled_from(DTYPES))
def test_every_dtype_as_told_by_a_dictionary(seed: int, rows: int, n: int, labels: int, dtype: str) -> None:
    X = np.random.default_rng(seed).integers(0, labels, (rows, n)).astype(dtype)
    found = restricted_growth(X)
    assert found.dtype == X.dtype
    assert found.shape == X.shape
    assert found.tolist() == [plain(row) for row in X]
    np.testing.assert_array_equal(restricted_growth(found), found)


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_renaming_the_groups_changes_nothing(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    row = rng.integers(0, n, n)
    assert restricted_growth(rng.permutation(n)[row]).tobytes() == restricted_growth(row).tobytes()


def test_views_and_the_repair(unchanged: Callable[..., None]) -> None:
    X = np.array([[2, 9, 2, 9], [1, 9, 0, 9]], dtype=np.int16)
    np.testing.assert_array_equal(restricted_growth(X[:, ::2]), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(CanonicalLabels()._do(None, X), [[0, 1, 0, 1], [0, 1, 2, 1]])
    unchanged(restricted_growth, X)


@pytest.mark.parametrize(("X", "message"), [([0.0, 1.0], "must be integers"), ([[-1, 0]], "must not be negative")])
def test_what_is_refused(X: object, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        restricted_growth(np.asarray(X))
