"""Additive noise and rank shuffling: the figures of the reference file, and what stays exact."""

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
from sdc_problems.methods import add_noise, rank_shuffle


@pytest.fixture
def census(public: Callable[[str], Path]) -> np.ndarray:
    return pd.read_csv(public("census.csv")).to_numpy(float)


def figures(X: np.ndarray, protect: Callable[[np.random.Generator], np.ndarray], seeds: int) -> np.ndarray:
    rows = []
    for seed in range(seeds):
        Y = protect(np.random.default_rng(seed))
        spread = np.mean([interval_disclosure_rank(X, Y, percent=percent) for percent in range(1, 11)])
        rows.append((pil(X, Y), spread, distance_linkage(X, Y, direction="to_original", ties="any")))
    return np.mean(rows, axis=0)


@pytest.mark.parametrize(
    ("structure", "amplitude", "wanted"),
    [
        ("independent", 0.1, (17.9, 75.8, 99.4)),
        ("independent", 0.5, (64.0, 33.7, 38.5)),
        ("correlated", 0.5, (62.4, 33.4, 25.6)),
    ],
)
def test_noise_on_the_census(
    census: np.ndarray, structure: str, amplitude: float, wanted: tuple[float, float, float]
) -> None:
    found = figures(census, lambda rng: add_noise(census, amplitude=amplitude, structure=structure, rng=rng), 5)
    # The loss varies by about 3.5 from seed to seed where noise is correlated, the rest by less than 1.
    assert (np.abs(found - wanted) <= [4.5 if structure == "correlated" else 1.8, 0.8, 1.5]).all()


def test_moments_stay(census: np.ndarray) -> None:
    Y = add_noise(census, amplitude=0.25, structure="moments", rng=np.random.default_rng(1))
    assert Y.std(axis=0) / census.std(axis=0) == pytest.approx(np.ones(13), abs=0.03)
    change = np.corrcoef(Y, rowvar=False) - np.corrcoef(census, rowvar=False)
    assert np.abs(change).max() < 0.04


def test_sums_among_attributes_stay_sums(census: np.ndarray) -> None:
    """PTOTVAL = PEARNVAL + POTHVAL in all records: the covariance matrix is singular, and noise keeps the sum."""
    Y = add_noise(census, amplitude=0.5, structure="correlated", rng=np.random.default_rng(1), decimals=3)
    assert Y[:, 9] + Y[:, 7] == pytest.approx(Y[:, 4], abs=0.01)


@pytest.mark.parametrize("bounds", ["clip", "reflect"])
def test_bounds_hold(bounds: str) -> None:
    x = np.random.default_rng(1).integers(0, 10, 500).astype(float)
    y = add_noise(x, amplitude=3, bounds=bounds, rng=np.random.default_rng(2))
    assert (y.min(), y.max()) == (0, 9)
    assert (y == np.round(y)).all(), "whole numbers stay whole"
    free = add_noise(x, amplitude=3, rng=np.random.default_rng(2))
    assert free.min() < 0


def test_noise_leaves_constants_zeros_and_one_record() -> None:
    X = np.array([[7.0, 0.0], [7.0, 5.0], [7.0, 0.0], [7.0, 2.5]])
    Y = add_noise(X, amplitude=1, keep_zero=True, rng=np.random.default_rng(1))
    assert (Y[:, 0] == 7).all()
    assert (Y[[0, 2], 1] == 0).all()
    assert (Y[[1, 3], 1] != X[[1, 3], 1]).all()
    assert (np.round(Y, 1) == Y).all()
    assert add_noise([[1.0, 2.0]], amplitude=9, rng=np.random.default_rng(1)).tolist() == [[1.0, 2.0]]


def test_shuffle_of_the_census(census: np.ndarray) -> None:
    found = figures(census, lambda rng: rank_shuffle(census, rng=rng), 10)
    assert (np.abs(found - (7.6, 10.8, 0.07)) <= (4 * 1.0, 4 * 0.4, 4 * 0.1)).all()


@pytest.mark.parametrize("target", ["pearson", "spearman"])
def test_shuffle_keeps_values_and_correlations(census: np.ndarray, target: str) -> None:
    Y = rank_shuffle(census, target=target, rng=np.random.default_rng(1))
    assert (np.sort(Y, axis=0) == np.sort(census, axis=0)).all()
    method = {"pearson": "pearson", "spearman": "spearman"}[target]
    off = pd.DataFrame(Y).corr(method) - pd.DataFrame(census).corr(method)
    assert np.abs(off.to_numpy()).max() < 0.06


@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 99))
def test_shuffle_keeps_each_column(n: int, p: int, seed: int) -> None:
    X = np.random.default_rng(seed).integers(0, 4, (n, p)).astype(float)
    Y = rank_shuffle(X, rng=np.random.default_rng(seed))
    assert (np.sort(Y, axis=0) == np.sort(X, axis=0)).all()


def test_arguments_stay(unchanged: Callable[..., None], rng: np.random.Generator) -> None:
    unchanged(add_noise, rng.random((9, 2)), amplitude=1, rng=rng)
    unchanged(rank_shuffle, rng.random((9, 2)), rng=rng)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"amplitude": -1}, "amplitude must be in"),
        ({"amplitude": 2, "structure": "moments"}, r"amplitude must be in \[0, 1\]"),
        ({"amplitude": 1, "structure": "additive"}, "structure must be one of"),
        ({"amplitude": 1, "bounds": "cut"}, "bounds must be one of"),
        ({"amplitude": 1, "rng": 3}, "rng must be a numpy Generator"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        add_noise([1.0, 2.0, 3.0], **{"rng": np.random.default_rng(1), **options})
    with pytest.raises(SDCError, match="target must be one of"):
        rank_shuffle([1.0, 2.0], target="kendall", rng=np.random.default_rng(1))
