"""Losses at the level of records."""

from __future__ import annotations

import numpy as np
import pytest

from sdc_problems.evaluators import pil, record_change, regression_change
from sdc_problems.methods import rank_shuffle


def test_record_change_is_the_mean_distance_in_deviations(rng: np.random.Generator) -> None:
    X = rng.normal(size=(50, 3)) * [1, 10, 100]
    Y = X + rng.normal(size=X.shape)
    assert record_change(X, Y) == pytest.approx(100 * np.mean(np.abs(Y - X) / X.std(axis=0)))
    assert record_change(X, X) == 0.0


def test_a_constant_attribute_is_lost_or_not(rng: np.random.Generator) -> None:
    X = np.column_stack([rng.normal(size=20), np.full(20, 0.1)])
    Y = X.copy()
    assert record_change(X, Y) == 0.0
    Y[0, 1] = 0.2
    assert record_change(X, Y) == pytest.approx(100 / 40)
    assert regression_change(X, Y) == 0.0


def test_regression_change_is_the_variance_that_predictions_lose(rng: np.random.Generator) -> None:
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=500)])
    assert regression_change(X, X) == 0.0
    assert regression_change(X, X[::-1]) == pytest.approx(0.0, abs=1e-9)  # the order of the rows tells nothing
    broken = np.column_stack([X[:, 0], rng.permutation(X[:, 1])])
    assert regression_change(X, broken) > 90


def test_twin_of_the_regression(rng: np.random.Generator) -> None:
    X = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3))
    Y = X + 0.5 * rng.normal(size=X.shape)
    expected = []
    for j in range(3):
        others = [l for l in range(3) if l != j]
        design = lambda t: np.column_stack([np.ones(60), t[:, others]])  # noqa: B023, E731
        best, found = (np.linalg.lstsq(design(t), t[:, j], rcond=None)[0] for t in (X, Y))
        error = [np.square(X[:, j] - design(X) @ b).mean() / X[:, j].var() for b in (best, found)]
        expected.append(min(error[1] - error[0], 1))
    assert regression_change(X, Y) == pytest.approx(100 * np.mean(expected))


def test_a_synthetic_file_keeps_the_statistics_and_loses_the_records(rng: np.random.Generator) -> None:
    X = rng.multivariate_normal(np.zeros(3), np.eye(3) + 0.6, size=400)
    Y = rank_shuffle(X, target="pearson", rng=rng)
    assert pil(X, Y) < 10
    assert record_change(X, Y) > 90
