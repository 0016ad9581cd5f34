"""Rank swapping: the figures of the reference file, and what holds for every file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.errors import SDCError
from sdc_problems.evaluators import distance_linkage, interval_disclosure_rank, pil
from sdc_problems.methods import rank_swap
from sdc_problems.methods._kernels.rank_swap import partners_kernel


def figures(X: np.ndarray, Y: np.ndarray) -> tuple[float, float, float, float]:
    """PIL, ID at 10 %, mean ID of 1 … 10 %, and DBRL to the original."""
    spread = [interval_disclosure_rank(X, Y, percent=percent) for percent in range(1, 11)]
    linked = distance_linkage(X, Y, direction="to_original", ties="any")
    return pil(X, Y), spread[-1], float(np.mean(spread)), linked


@pytest.fixture
def census(public: Callable[[str], Path]) -> pd.DataFrame:
    return pd.read_csv(public("census.csv")).astype(float)


def test_neighbours_of_the_census_exchanged(census: pd.DataFrame) -> None:
    X = census.to_numpy()
    Y = rank_swap(X, window=1, ties="record", rng=np.random.default_rng(1))
    moved = pd.DataFrame(np.abs(Y - X), columns=census.columns).sum()
    assert (X != Y).sum() == 10_410
    assert moved[["AFNLWGT", "AGI", "EMCONTRB"]].tolist() == [802_030, 89_102, 7_024]
    assert figures(X, Y) == pytest.approx((1.6502, 100, 99.9416, 100), abs=5e-5)


@pytest.mark.parametrize(
    ("percent", "wanted"),
    [
        (5, ((15.6, 0.9), (100, 0), (77.1, 0.1), (90.6, 1.1))),
        (10, ((27.7, 0.8), (98.95, 0.14), (50.8, 0.3), (67.2, 1.6))),
        (15, ((33.2, 0.8), (62.3, 0.5), (33.3, 0.3), (40.8, 1.1))),
    ],
)
def test_figures_of_the_census(census: pd.DataFrame, percent: float, wanted: tuple[tuple[float, float], ...]) -> None:
    X = census.to_numpy()
    found = figures(X, rank_swap(X, percent=percent, rng=np.random.default_rng(percent)))
    for figure, (mean, sd) in zip(found, wanted, strict=True):
        assert abs(figure - mean) <= 4 * sd + 0.05


MARES = """8 9 1 10 10 3;6 7 10 5 5 8;10 3 4 8 4 2;7 1 2 9 2 4;9 4 6 7 3 5;2 2 8 4 1 10;1 10 3 3 9 1;4 8 7 2 6 9;
5 5 5 6 7 6;3 6 9 1 8 7"""


def test_table_2_1_swaps_within_two_ranks() -> None:
    """Marés (2013), Table 2.1: p = 2 is a number of records, and no value stays."""
    both = np.array([row.split() for row in MARES.split(";")], dtype=int)
    X, Y = both[:, :3], both[:, 3:]
    assert (np.sort(X, axis=0) == np.sort(Y, axis=0)).all()
    assert (np.abs(X - Y) <= 2).all()
    assert (X != Y).all()


def plain_partners(m: int, window: int, uniforms: np.ndarray) -> list[int]:
    """The same walk with a plain list of the free ranks ahead; a hole is filled by the last."""
    partner, free = list(range(m)), []

    def take(rank: int) -> None:
        free[free.index(rank)] = free[-1]
        free.pop()

    reached = 0
    for i in range(m):
        while reached + 1 <= min(i + window, m - 1):
            reached += 1
            free.append(reached)
        if partner[i] != i:
            continue
        if i in free:
            take(i)
        if free:
            other = free[min(int(uniforms[i] * len(free)), len(free) - 1)]
            take(other)
            partner[i], partner[other] = other, i
    return partner


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 999))
def test_kernel_agrees_with_the_plain_walk(m: int, window: int, seed: int) -> None:
    uniforms = np.random.default_rng(seed).random(m)
    partner = partners_kernel(m, window, uniforms)
    assert partner.tolist() == plain_partners(m, window, uniforms)
    ranks = np.arange(m)
    assert (partner[partner] == ranks).all()
    assert (np.abs(partner - ranks) <= window).all()
    for stayed in np.flatnonzero(partner == ranks):
        later = ranks[(ranks > stayed) & (ranks <= stayed + window)]
        assert (partner[later] < stayed).all() | (len(later) == 0), "whoever stays has no free partner"


def test_every_free_partner_is_drawn_equally_often() -> None:
    drawn = [partners_kernel(6, 5, np.random.default_rng(seed).random(6))[0] for seed in range(3000)]
    assert np.bincount(drawn, minlength=6)[1:] == pytest.approx(np.full(5, 600), abs=110)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.integers(0, 12), st.sampled_from(["random", "record"]))
def test_a_column_keeps_its_values_and_ranks_move_little(values: list[int], window: int, ties: str) -> None:
    x = np.array(values, dtype=float)
    y = rank_swap(x, window=window, ties=ties, rng=np.random.default_rng(7))
    assert sorted(y) == sorted(x)
    ordered = np.sort(x)
    rank = np.empty(len(x), dtype=int)
    rank[np.argsort(x, kind="stable")] = np.arange(len(x))
    near = [
        ordered[max(r - window, 0) : r + window + 1] for r in rank
    ]  # with ties by record the new value stood within the window
    if ties == "record":
        assert all(value in others for value, others in zip(y, near, strict=True))
    if window == 0:
        assert (x == y).all()


def test_attributes_do_not_depend_on_each_other(rng: np.random.Generator) -> None:
    X = rng.random((50, 3))
    Z = X.copy()
    Z[:, 0] = 1.0
    first, second = (rank_swap(V, percent=20, rng=np.random.default_rng(3)) for V in (X, Z))
    np.testing.assert_array_equal(first[:, 1:], second[:, 1:])
    assert (second[:, 0] == 1.0).all()


def test_tails_become_their_mean_and_stay() -> None:
    x = np.arange(100.0)
    y = rank_swap(x, percent=5, tails=5, rng=np.random.default_rng(1))
    assert y[:5].tolist() == [2.0] * 5
    assert y[-5:].tolist() == [97.0] * 5
    assert sorted(y[5:-5]) == sorted(x[5:-5])
    whole = rank_swap([1.0, 2, 2, 9], window=0, tails=50, ties="record", rng=np.random.default_rng(1))
    assert whole.tolist() == [2, 2, 6, 6]


def test_missing_values_stay_unless_they_are_values() -> None:
    codes = np.array([0, 1, 2, 3, 4, 4, 4, 0, 1, 2])
    for seed in range(20):
        swapped = rank_swap(codes, window=9, kinds="ordinal", missing_codes=4, rng=np.random.default_rng(seed))
        assert ((swapped == 4) == (codes == 4)).all()
    moved = [
        rank_swap(codes, window=9, kinds="ordinal", missing_codes=4, missing="value", rng=np.random.default_rng(seed))
        for seed in range(20)
    ]
    assert any(((codes == 4) != (m == 4)).any() for m in moved)


def test_one_record_and_arguments(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    assert rank_swap([[5.0, 6.0]], percent=50, rng=rng).tolist() == [[5.0, 6.0]]
    unchanged(rank_swap, rng.random((20, 2)), percent=20, rng=rng)


def test_a_share_meant_as_percent_is_said_once() -> None:
    with pytest.warns(UserWarning, match=r"0\.05 % of the records; for the share 0\.05 give 5"):
        rank_swap(np.arange(9.0), percent=0.05, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of percent, window; none"),
        ({"percent": 5, "window": 2}, "percent and window was given"),
        ({"window": -1}, "window must be a whole number"),
        ({"percent": 101}, r"percent must be in \[0, 100\]"),
        ({"percent": 5, "ties": "first"}, "ties must be one of"),
        ({"percent": 5, "kinds": "nominal"}, "column 0 of X is nominal"),
        ({"percent": 5, "kinds": ["ordinal", "numeric"]}, "column 0 of X must hold whole"),
        ({"percent": 5, "rng": None}, "rng must be a numpy Generator"),
        ({"percent": 5, "missing": "drop"}, "missing must be one of"),
        ({"percent": 5, "missing_codes": [1]}, "for each of 2"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        rank_swap([[0.5, 1], [1.5, 2]], **{"rng": np.random.default_rng(1), **options})
