"""Model of a lattice's unmeasured nodes: a Gaussian process per objective, within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.spatial.distance import cdist

FloatArray = NDArray[np.float64]

# How fast two nodes become unlike as they move apart, per step in the lattice; which of these is found by prediction.
DECAYS = (1 / 64, 1 / 16, 1 / 4, 1.0)
NUGGET = 1e-3  # keeps the equations solvable; the share of an objective's variance that is not explained
GROWTH = 1.5  # the way to model is chosen again whenever there are so many times as many nodes


@dataclass(frozen=True)
class Shape:
    """Shape of the model of one objective."""

    decay: float
    logarithm: bool


def to_scale(values: FloatArray, logarithm: bool) -> FloatArray:
    """The values, or the logarithm of 1 + their size with their sign."""
    return np.sign(values) * np.log1p(np.abs(values)) if logarithm else values


@dataclass(frozen=True)
class Prediction:
    """Expected values, standard deviations and bounds: nodes × objectives."""

    means: FloatArray
    deviations: FloatArray
    low: FloatArray
    high: FloatArray

    def widened(self, by: float | FloatArray = 1.0) -> tuple[FloatArray, FloatArray]:
        """Means and so many times the deviations, both within the bounds."""
        means = np.clip(self.means, self.low, self.high)
        return means, np.minimum(by * self.deviations, (self.high - self.low) / 2)


class LatticeModel:
    """Predicts objectives of nodes from those of nodes that were measured.

    The covariance of two nodes is a part that grows with the levels they share, so that effects of single levels add
    up, and a part that falls off exponentially with the steps between them. How fast it falls, and whether the
    objective or its logarithm is modelled, is what predicts the measured nodes best when each is left out in turn.
    Where an objective has only ever risen, or only ever fallen, from a node to a more general one, what was measured
    above and below a node bounds the prediction.

    Notes
    -----
    With *n* measured nodes, O(n³) for a fit and O(n²) for each prediction.
    """

    def __init__(self) -> None:
        self.X: FloatArray = np.zeros((0, 0))
        self.F: FloatArray = np.zeros((0, 0))
        self.shapes: list[Shape] = []
        self.surprise: FloatArray = np.ones(0)
        self._steps: FloatArray = np.zeros((0, 0))
        self._factors: dict[float, FloatArray] = {}
        self._choose_at = 0.0

    def add(self, X: NDArray[np.integer], F: FloatArray) -> None:
        """Learn measured nodes, and by how many standard deviations they were off at most, per objective."""
        new = X.astype(float)
        if not len(self.X):
            self.X, self.F, self._steps = new, F.astype(float), cdist(new, new, "cityblock")
            self.surprise = np.ones(F.shape[1])
            return
        if self.shapes:
            expected = self.predict(X)
            for j, shape in enumerate(self.shapes):
                error = np.abs(to_scale(F[:, j], shape.logarithm) - expected.means[:, j]) / expected.deviations[:, j]
                self.surprise[j] = max(self.surprise[j], float(error.max()))
        across, within = cdist(self.X, new, "cityblock"), cdist(new, new, "cityblock")
        self._steps = np.block([[self._steps, across], [across.T, within]])
        self.X, self.F = np.concatenate([self.X, new]), np.concatenate([self.F, F])
        self._factors = {}
        if len(self.X) >= self._choose_at:
            self.shapes = []

    def predict(self, U: NDArray[np.integer]) -> Prediction:
        """Predict the objectives of other nodes, each on the scale of its model."""
        if not self.shapes:
            self.shapes = self._chosen_shapes()
            self._choose_at = GROWTH * len(self.X)
        new = U.astype(float)
        steps = cdist(new, self.X, "cityblock")
        own, other = self.X.sum(axis=1), new.sum(axis=1)
        shared, unit = self._shared()
        shared_new = (1 + (other[:, None] + own - steps) / 2) / unit
        variance = (1 + other) / unit + 1
        parts: dict[float, tuple[FloatArray, FloatArray, FloatArray]] = {}
        for decay in {shape.decay: None for shape in self.shapes}:
            if decay not in self._factors:
                kernel = shared + np.exp(-decay * self._steps) + NUGGET * np.eye(len(self.X))
                self._factors[decay] = np.asarray(np.linalg.cholesky(kernel), dtype=float)
            factor = self._factors[decay]
            covariance: FloatArray = shared_new + np.exp(-decay * steps)
            explained = solve_triangular(factor, covariance.T, lower=True, check_finite=False)
            left: FloatArray = np.sqrt(np.maximum(variance - np.einsum("ij,ij->j", explained, explained), NUGGET**2))
            parts[decay] = factor, covariance, left
        means, deviations = np.empty((len(U), self.F.shape[1])), np.empty((len(U), self.F.shape[1]))
        for j, shape in enumerate(self.shapes):
            factor, covariance, left = parts[shape.decay]
            values, centre, spread = _standardized(to_scale(self.F[:, j], shape.logarithm))
            weights = cho_solve((factor, True), values, check_finite=False)
            means[:, j] = centre + spread * (covariance @ weights)
            deviations[:, j] = spread * left * np.sqrt(max(float(values @ weights) / len(values), NUGGET**2))
        return Prediction(means, deviations, *self._bounds(steps, own, other))

    def _shared(self) -> tuple[FloatArray, float]:
        """Levels that measured nodes share: Σ min(x, y) = (Σ x + Σ y - steps between them) / 2; one on average."""
        own = self.X.sum(axis=1)
        shared = 1 + (own[:, None] + own - self._steps) / 2
        unit = float(shared.diagonal().mean())
        return shared / unit, unit

    def _chosen_shapes(self) -> list[Shape]:
        """Per objective, the shape under which leaving out each node in turn surprises least (log density)."""
        n, n_obj = self.F.shape
        best, chosen = [np.inf] * n_obj, [Shape(DECAYS[0], False)] * n_obj
        shared, _ = self._shared()
        for decay in DECAYS:
            inverse = np.linalg.inv(shared + np.exp(-decay * self._steps) + NUGGET * np.eye(n))
            variance = 1 / inverse.diagonal()
            for j in range(n_obj):
                one_sign = self.F[:, j].min() >= 0 or self.F[:, j].max() <= 0
                for logarithm in (False, True) if one_sign else (False,):
                    values, _, spread = _standardized(to_scale(self.F[:, j], logarithm))
                    error = (inverse @ values) * variance
                    surprise = 0.5 * n * np.log(max(float(np.mean(error**2 / variance)), 1e-12))
                    surprise += 0.5 * float(np.log(variance).sum()) + n * np.log(spread)
                    if logarithm:  # the density of the logarithm is not that of the value
                        surprise += float(np.log1p(np.abs(self.F[:, j])).sum())
                    if surprise < best[j]:
                        best[j], chosen[j] = surprise, Shape(decay, logarithm)
        return chosen

    def _bounds(self, steps: FloatArray, own: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest values that other nodes can have, as far as objectives go one way only."""
        # One node generalises another exactly if as many steps are between them as their levels differ in sum.
        finer, coarser = other[:, None] - own == steps, own - other[:, None] == steps
        general = own[:, None] - own == self._steps
        low, high = np.full((2, len(other), self.F.shape[1]), -np.inf)
        high = -high
        for j, shape in enumerate(self.shapes):
            F = self.F[:, j]
            change = np.where(general, F[:, None] - F, 0.0)  # from a node (column) to a more general one (row)
            if change.min() < 0 < change.max():
                continue
            below, above = (finer, coarser) if change.max() > 0 else (coarser, finer)
            low[:, j] = to_scale(np.where(below, F, -np.inf).max(axis=1), shape.logarithm)
            high[:, j] = to_scale(np.where(above, F, np.inf).min(axis=1), shape.logarithm)
        return low, high


def _standardized(values: FloatArray) -> tuple[FloatArray, float, float]:
    centre, spread = float(values.mean()), float(values.std())
    spread = spread if spread > 0 else 1.0
    return (values - centre) / spread, centre, spread
