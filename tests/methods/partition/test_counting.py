"""Shapes of k-partitions: the published table, and a count by hand."""

from __future__ import annotations

import itertools

import pytest

from sdc_problems.errors import SDCError
from sdc_problems.methods import chance_bound, representatives

TABLE_I = {
    10: (2, 2, 1),
    20: (6, 6, 5),
    30: (11, 14, 14),
    40: (18, 27, 29),
    50: (26, 45, 56),
    100: (94, 272, 520),
    500: (2134, 26477, 197549),
    1000: (8434, 205037, 2953389),
}


@pytest.mark.parametrize("n", TABLE_I)
def test_the_published_table(n: int) -> None:
    assert tuple(representatives(n, k) for k in (3, 4, 5)) == TABLE_I[n]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_counted_by_listing(k: int) -> None:
    for n in range(2 * k, 17):
        listed = {
            sizes
            for groups in range(1, n // k + 1)
            for sizes in itertools.combinations_with_replacement(range(k, 2 * k), groups)
            if sum(sizes) == n
        }
        assert representatives(n, k) == len(listed)


def test_the_published_example() -> None:
    assert chance_bound(30, 3) * 10**30 == 11 * 1208883745669600000
    with pytest.raises(SDCError, match="at most 5"):
        chance_bound(10, 6)
