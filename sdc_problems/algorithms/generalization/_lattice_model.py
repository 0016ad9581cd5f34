"""Model of a lattice's unmeasured nodes: a Gaussian process per objective, extended with each measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.spatial.distance import cdist

FloatArray = NDArray[np.float64]

# How fast the covariance of two nodes falls off, per step in the lattice; which one is chosen by prediction.
DECAYS = (1 / 64, 1 / 16, 1 / 4, 1.0)
NUGGET = 1e-3  # keeps the equations solvable; the share of an objective's variance that is not explained
GROWTH = 1.5  # the shape of the model is chosen again whenever the number of nodes has grown by this factor


@dataclass(frozen=True)
class Shape:
    """Shape of the model of one objective."""

    decay: float
    logarithm: bool


def to_scale(values: FloatArray, logarithm: bool) -> FloatArray:
    """Values, or the logarithm of 1 + their absolute value, with their sign."""
    return np.sign(values) * np.log1p(np.abs(values)) if logarithm else values


class LatticeModel:
    """Model that predicts objectives of nodes from those of measured nodes.

    The covariance of two nodes has a part that grows with the levels they share, so that effects of single levels add
    up, and a part that falls off exponentially with the steps between them. How fast it falls, and whether the
    objective or its logarithm is modeled, is chosen by which predicts each measured node best from all others.

    Parameters
    ----------
    top
        Highest level of each attribute.

    Attributes
    ----------
    surprise
        Largest error of a prediction so far, in standard deviations, per objective.

    Notes
    -----
    With *n* measured nodes, learning *b* more takes O(n²b), and predicting *p* nodes O(nbp) if they were predicted
    before and O(n²p) if not: no equations are solved again until the shapes are chosen again.
    """

    def __init__(self, top: NDArray[np.integer]) -> None:
        self._unit = 1.0 + float(np.sum(top)) / 2  # shared levels are counted relative to those of a middle node
        self.X: FloatArray = np.zeros((0, len(top)))
        self.F: FloatArray = np.zeros((0, 0))
        self.shapes: list[Shape] = []
        self.surprise: FloatArray = np.ones(0)
        self._factors: dict[float, _Factor] = {}
        self._choose_at = 0.0
        self._slots: dict[int, int] = {}  # of watched nodes, by their numbers
        self._watched: FloatArray = np.zeros((0, len(top)))

    def add(self, X: NDArray[np.integer], F: FloatArray) -> None:
        """Learn measured nodes, and the errors of their predictions in standard deviations."""
        new = X.astype(float)
        if not len(self.X):
            self.F, self.surprise = np.zeros((0, F.shape[1])), np.ones(F.shape[1])
        for j, shape in enumerate(self.shapes):
            factor = self._factors[shape.decay]
            one = factor.explained(self._covariance(self.X, new, shape.decay))
            means, deviations = self._expected(j, one.sums, one.squares, self._variance(new))
            error = np.abs(to_scale(F[:, j], shape.logarithm) - means)
            self.surprise[j] = max(self.surprise[j], float((error / deviations).max()))
        for decay, factor in self._factors.items():
            factor.append(
                self._covariance(self.X, new, decay),
                self._covariance(new, new, decay),
                self._covariance(new, self._watched, decay),
                _columns(F),
            )
        self.X, self.F = np.concatenate([self.X, new]), np.concatenate([self.F, F])
        if len(self.X) >= self._choose_at:
            self.shapes = []

    def keep(self, rows: NDArray[np.integer]) -> None:
        """Forget all measured nodes except some rows of X."""
        self.X, self.F = self.X[rows], self.F[rows]
        self._factors, self.shapes = {}, []

    def predict(self, U: NDArray[np.integer], numbers: NDArray[np.integer]) -> tuple[FloatArray, FloatArray]:
        """Expected values and standard deviations of other nodes, on the scale of each objective's model.

        Parameters
        ----------
        U
            Nodes × attributes.
        numbers
            A unique number for each node, the same in each call, by which the node is recognized.
        """
        if not self.shapes:
            self._choose_shapes()
            self._choose_at = GROWTH * len(self.X)
        slots = self._watch(U.astype(float), numbers.tolist())
        variance = self._variance(self._watched[slots])
        means, deviations = np.empty((2, len(U), self.F.shape[1]))
        for j, shape in enumerate(self.shapes):
            watched = self._factors[shape.decay].watched
            means[:, j], deviations[:, j] = self._expected(j, watched.sums[:, slots], watched.squares[slots], variance)
        return means, deviations

    def _watch(self, U: FloatArray, numbers: list[int]) -> NDArray[np.int64]:
        """Slots of nodes; new nodes get the slots of those that are no longer watched."""
        wanted = set(numbers)
        free = [slot for number, slot in self._slots.items() if number not in wanted]
        self._slots = {number: slot for number, slot in self._slots.items() if number in wanted}
        fresh = [i for i, number in enumerate(numbers) if number not in self._slots]
        n_slots = len(self._watched)
        free += range(n_slots, n_slots + len(fresh) - len(free))
        taken = np.array(free[: len(fresh)], dtype=np.int64)
        self._slots.update(zip((numbers[i] for i in fresh), taken.tolist(), strict=True))
        if len(taken):
            new = U[fresh]
            room = max(n_slots, int(taken.max()) + 1)
            self._watched = np.concatenate([self._watched, np.zeros((room - n_slots, U.shape[1]))])
            self._watched[taken] = new
            for decay, factor in self._factors.items():
                factor.watch(taken, self._covariance(self.X, new, decay))
        return np.array([self._slots[number] for number in numbers], dtype=np.int64)

    def _expected(
        self, j: int, sums: FloatArray, squares: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of an objective, given the part of it that is explained."""
        shape = self.shapes[j]
        column = 1 + j + (self.F.shape[1] if shape.logarithm else 0)
        solved = self._factors[shape.decay].solved
        centre, spread = _centre_and_spread(to_scale(self.F[:, j], shape.logarithm))
        weights = (solved[:, column] - centre * solved[:, 0]) / spread
        scale = spread * np.sqrt(max(float(weights @ weights) / len(weights), NUGGET**2))
        means: FloatArray = centre + sums[column] - centre * sums[0]
        deviations: FloatArray = scale * np.sqrt(np.maximum(variance - squares, NUGGET**2))
        return means, deviations

    def _covariance(self, X: FloatArray, Y: FloatArray, decay: float) -> FloatArray:
        """Covariance by shared levels, Σ min(x, y) = (Σ x + Σ y - steps between them) / 2, and by nearness."""
        steps = cdist(X, Y, "cityblock")
        shared = (1 + (X.sum(axis=1)[:, None] + Y.sum(axis=1) - steps) / 2) / self._unit
        covariance: FloatArray = shared + np.exp(-decay * steps)
        return covariance

    def _variance(self, X: FloatArray) -> FloatArray:
        variance: FloatArray = (1 + X.sum(axis=1)) / self._unit + 1
        return variance

    def _choose_shapes(self) -> None:
        """Choose, per objective, the shape that predicts each node best from all others (by log density)."""
        n, n_obj = self.F.shape
        best, chosen = [np.inf] * n_obj, [Shape(DECAYS[0], False)] * n_obj
        factors = {decay: self._factors.get(decay) or self._factor(decay) for decay in DECAYS}
        for decay, factor in factors.items():
            variance = 1 / np.einsum("ij,ij->j", factor.inverse, factor.inverse)
            for j in range(n_obj):
                one_sign = self.F[:, j].min() >= 0 or self.F[:, j].max() <= 0
                for logarithm in (False, True) if one_sign else (False,):
                    values = to_scale(self.F[:, j], logarithm)
                    centre, spread = _centre_and_spread(values)
                    weights = factor.solved[:, 1 + j + n_obj * logarithm] - centre * factor.solved[:, 0]
                    error = (weights / spread) @ factor.inverse * variance
                    surprise = 0.5 * n * np.log(max(float(np.mean(error**2 / variance)), 1e-12))
                    surprise += 0.5 * float(np.log(variance).sum()) + n * np.log(spread)
                    if logarithm:  # the density of the logarithm is converted to that of the value
                        surprise += float(np.log1p(np.abs(self.F[:, j])).sum())
                    if surprise < best[j]:
                        best[j], chosen[j] = surprise, Shape(decay, logarithm)
        self.shapes = chosen
        for decay in {shape.decay: None for shape in chosen}:
            if decay not in self._factors and len(self._watched):
                factors[decay].watch(np.arange(len(self._watched)), self._covariance(self.X, self._watched, decay))
        self._factors = {decay: factors[decay] for decay in {shape.decay: None for shape in chosen}}

    def _factor(self, decay: float) -> _Factor:
        """Factor of all measured nodes, computed from scratch."""
        return _Factor(self._covariance(self.X, self.X, decay), _columns(self.F))


@dataclass
class _Explained:
    """Part of other nodes that measured ones explain: sums (columns of `_columns` × nodes) and squares (per node)."""

    sums: FloatArray
    squares: FloatArray


class _Factor:
    """Inverse of the triangular factor of the covariances of measured nodes, and its products.

    Rows are appended as nodes are measured, and columns as nodes are watched; arrays have spare room.

    Attributes
    ----------
    solved
        The inverse times the columns of `_columns`: measured nodes × columns.
    watched
        Explained part of the watched nodes.
    """

    def __init__(self, covariance: FloatArray, columns: FloatArray) -> None:
        n = len(covariance)
        lower = np.linalg.cholesky(covariance + NUGGET * np.eye(n))
        self._n = n
        self._inverse: FloatArray = solve_triangular(lower, np.eye(n), lower=True, check_finite=False)
        self.solved: FloatArray = self.inverse @ columns
        self._of_watched: FloatArray = np.zeros((n, 0))  # inverse times their covariances
        self.watched = _Explained(np.zeros((columns.shape[1], 0)), np.zeros(0))

    @property
    def inverse(self) -> FloatArray:
        """Inverse of the triangular factor."""
        return self._inverse[: self._n, : self._n]

    def explained(self, covariance: FloatArray) -> _Explained:
        """Explained part of nodes with these covariances (measured × nodes)."""
        part = self.inverse @ covariance
        return _Explained(self.solved.T @ part, np.einsum("ij,ij->j", part, part))

    def watch(self, slots: NDArray[np.int64], covariance: FloatArray) -> None:
        """Put nodes into slots, with their covariances (measured × nodes)."""
        n_slots = max(int(slots.max()) + 1, len(self.watched.squares))
        if n_slots > self._of_watched.shape[1]:
            self._of_watched = _with_room(self._of_watched, (len(self._of_watched), n_slots + n_slots // 4))
        more = n_slots - len(self.watched.squares)
        self.watched.sums = np.pad(self.watched.sums, ((0, 0), (0, more)))
        self.watched.squares = np.pad(self.watched.squares, (0, more))
        part = self.inverse @ covariance
        self._of_watched[: self._n, slots] = part
        self.watched.sums[:, slots] = self.solved.T @ part
        self.watched.squares[slots] = np.einsum("ij,ij->j", part, part)

    def append(self, across: FloatArray, within: FloatArray, watched: FloatArray, columns: FloatArray) -> None:
        """Append measured nodes: their covariances with the others, each other and the watched, and their columns."""
        n, b = self._n, len(within)
        part = self.inverse @ across
        lower = np.linalg.cholesky(within + NUGGET * np.eye(b) - part.T @ part)
        corner = solve_triangular(lower, np.eye(b), lower=True, check_finite=False)
        if n + b > len(self._inverse):
            room = n + b + n // 2
            self._inverse = _with_room(self._inverse, (room, room))
        if n + b > len(self._of_watched):
            self._of_watched = _with_room(self._of_watched, (n + b + n // 2, self._of_watched.shape[1]))
        self._inverse[n : n + b, :n] = -corner @ (part.T @ self.inverse)
        self._inverse[n : n + b, n : n + b] = corner
        solved = corner @ (columns - part.T @ self.solved)
        self.solved = np.concatenate([self.solved, solved])
        n_slots = watched.shape[1]
        fresh = corner @ (watched - part.T @ self._of_watched[:n, :n_slots])
        self._of_watched[n : n + b, :n_slots] = fresh
        self.watched.sums += solved.T @ fresh
        self.watched.squares += np.einsum("ij,ij->j", fresh, fresh)
        self._n = n + b


def _columns(F: FloatArray) -> FloatArray:
    """Columns that are modeled for measured nodes: ones, each objective, and the logarithm of each."""
    return np.column_stack([np.ones(len(F)), F, to_scale(F, True)])


def _with_room(array: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """A larger array with this one in its first corner, and zeros elsewhere."""
    larger = np.zeros(shape)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger


def _centre_and_spread(values: FloatArray) -> tuple[float, float]:
    spread = float(values.std())
    return float(values.mean()), spread if spread > 0 else 1.0
