from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sdc_problems.algorithms.generalization._lattice_model import DECAYS, NUGGET, LatticeModel, to_scale

TOP = np.full(4, 4)


def plain(model: LatticeModel, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The textbook's prediction, by one solve of all equations."""
    unit = 1 + TOP.sum() / 2

    def covariance(X: np.ndarray, Y: np.ndarray, decay: float) -> np.ndarray:
        shared = 1 + np.minimum(X[:, None], Y[None]).sum(axis=2)
        return np.asarray(shared / unit + np.exp(-decay * cdist(X, Y, "cityblock")))

    means, deviations = np.empty((2, len(U), model.F.shape[1]))
    for j, shape in enumerate(model.shapes):
        K = covariance(model.X, model.X, shape.decay) + NUGGET * np.eye(len(model.X))
        across = covariance(model.X, U.astype(float), shape.decay)
        values = to_scale(model.F[:, j], shape.logarithm)
        z = (values - values.mean()) / values.std()
        weights = np.linalg.solve(K, z)
        own = (1 + U.sum(axis=1)) / unit + 1
        left = own - (across * np.linalg.solve(K, across)).sum(axis=0)
        means[:, j] = values.mean() + values.std() * across.T @ weights
        deviations[:, j] = values.std() * np.sqrt(np.maximum(left, NUGGET**2) * (z @ weights) / len(z))
    return means, deviations


@pytest.fixture
def lattice(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.permutation(np.indices((TOP + 1).tolist()).reshape(4, -1).T)
    F = np.column_stack([X @ [3.0, 1.0, 4.0, 1.5], -np.exp(0.4 * X.sum(axis=1)), np.sin(X[:, 0]) + X[:, 1]])
    return X, F


def test_rows_and_columns_that_are_appended_predict_what_one_solve_does(
    lattice: tuple[np.ndarray, np.ndarray], rng: np.random.Generator
) -> None:
    X, F = lattice
    model = LatticeModel(TOP)
    at, unmeasured = 0, np.arange(len(X))
    for size in (20, 3, 16, 1, 40, 16, 60, 16):  # the shapes are chosen anew now and then
        model.add(X[at : at + size], F[at : at + size])
        at += size
        unmeasured = unmeasured[unmeasured >= at]
        watched = rng.permutation(unmeasured)[: rng.integers(5, 120)]  # some of them for the first time, some again
        means, deviations = model.predict(X[watched], watched)
        expected = plain(model, X[watched])
        np.testing.assert_allclose(means, expected[0], rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(deviations, expected[1], rtol=1e-5, atol=1e-7)
    model.keep(np.arange(0, at, 2))
    assert len(model.X) == len(model.F) == (at + 1) // 2
    means, _ = model.predict(X[watched], watched)
    np.testing.assert_allclose(means, plain(model, X[watched])[0], rtol=1e-7, atol=1e-7)


def test_it_predicts_what_adds_up_and_knows_how_far_it_was_off(lattice: tuple[np.ndarray, np.ndarray]) -> None:
    X, F = lattice
    model = LatticeModel(TOP)
    model.add(X[:60], F[:60])
    means, deviations = model.predict(X[60:], np.arange(60, len(X)))
    np.testing.assert_allclose(means[:, 0], F[60:, 0], atol=0.2)
    assert (deviations > 0).all()
    assert {shape.decay for shape in model.shapes} <= set(DECAYS)
    assert (model.surprise == 1).all()
    model.add(X[60:70], F[60:70])
    means = model.predict(X[70:], np.arange(70, len(X)))[0]
    off = model.surprise.copy()
    F[70:, 1] *= 50  # nobody could know
    model.add(X[70:80], F[70:80])
    assert model.surprise[1] > max(5, off[1])
