"""Data swapping: pairs agree on some attributes, differ on others, and tables of both stay exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.methods import swap_records


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 100), st.integers(0, 999), st.booleans())
def test_pairs_are_what_they_must_be(n: int, values: int, percent: int, seed: int, targeted: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, values, (n, 4))
    found = swap_records(codes, [2, 3], within=[0], percent=percent or 0, rng=rng, targeted=targeted)
    partner, Y = found.partner, found.values
    assert (partner[partner] == np.arange(n)).all()
    moved = partner != np.arange(n)
    assert moved.sum() <= percent * n / 100
    assert (codes[moved, 0] == codes[partner[moved], 0]).all()
    assert (codes[moved][:, 2:] != codes[partner[moved]][:, 2:]).any(axis=1).all()
    assert (Y[:, 2:] == codes[partner][:, 2:]).all()
    assert (Y[:, :2] == codes[:, :2]).all()
    rows = lambda T: sorted(map(tuple, T[:, [0, 2, 3]].tolist()))  # noqa: E731
    assert rows(Y) == rows(codes)
    if percent == 100:  # whoever is left has nobody among the others left
        left = np.flatnonzero(~moved)
        for cell in np.unique(codes[left, 0]):
            here = codes[left][codes[left, 0] == cell]
            assert len(np.unique(here[:, 2:], axis=0)) == 1 or len(left) < 2
        assert found.without_partner == len(left) or n - moved.sum() < 2


def test_rare_records_first() -> None:
    codes = np.array([[0, 0, v] for v in [0, 1] * 50] + [[0, 1, 0], [0, 2, 1]])
    for seed in range(10):
        found = swap_records(
            codes,
            [2],
            within=[0],
            percent=4,
            targeted=True,
            quasi_identifiers=[0, 1],
            rng=np.random.default_rng(seed),
        )
        assert (found.partner[-2:] != [100, 101]).all()
        assert (found.partner != np.arange(102)).sum() in (2, 4)


def test_one_different_record_among_many_is_found() -> None:
    codes = np.zeros((5000, 1), dtype=int)
    codes[4321] = 1
    found = swap_records(codes, [0], percent=100, rng=np.random.default_rng(1))
    assert (found.partner != np.arange(5000)).sum() == 2
    assert found.without_partner == 4998


def test_missing_values_are_not_exchanged() -> None:
    codes = np.array([[0], [1], [2], [2], [0], [1]])
    found = swap_records(codes, [0], percent=100, missing_codes=2, rng=np.random.default_rng(1))
    assert ((found.values == 2) == (codes == 2)).all()
    assert (found.values != codes).sum() == 4


def test_arguments_stay(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    unchanged(swap_records, rng.integers(0, 3, (30, 3)), [0], percent=50, rng=rng)


@pytest.mark.parametrize(
    ("attributes", "options", "message"),
    [
        ([], {}, "names no column"),
        ([3], {}, "has columns 0 to 1"),
        ([0, 0], {}, "twice"),
        ([0], {"within": [0]}, "column 0 stands in attributes and in within"),
        ([0], {"percent": 200}, "percent must be in"),
        ([0], {"rng": None}, "rng must be"),
    ],
)
def test_what_is_refused(attributes: list[int], options: dict[str, object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        swap_records([[0, 1], [1, 0]], attributes, **{"percent": 50, "rng": np.random.default_rng(1), **options})
