"""Operators for generalization lattices: random nodes, exchanged tails, single steps up or down.

A row holds one level per attribute, from 0. If the lower bound of its last entry is 1, this entry is a threshold:
classes with fewer records are suppressed. Thresholds may be large, but small ones matter most, so they are drawn
uniformly on a logarithmic scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling


def neighbours(node: NDArray[Any], top: NDArray[Any]) -> NDArray[Any]:
    """Nodes that differ from ``node`` by one level of one attribute, in levels from 0 to ``top``.

    Examples
    --------
    >>> neighbours(np.array([0, 1]), np.array([2, 1]))
    array([[1, 1],
           [0, 0]])
    """
    steps = np.eye(len(node), dtype=node.dtype)
    around = np.concatenate([node + steps, node - steps])
    return around[((around >= 0) & (around <= top)).all(axis=1)]


def has_threshold(problem: Any) -> bool:
    """Whether the last entry of a row is a threshold: its lower bound is 1, while that of a level is 0."""
    return bool(np.asarray(problem.xl)[-1] == 1)


def _thresholds(top: int, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw thresholds: with probability 1/2 the largest possible, else uniformly on a logarithmic scale from 1."""
    drawn = np.floor(np.exp(rng.random(n) * np.log(top + 1)))
    return np.where(rng.random(n) < 0.5, top, np.clip(drawn, 1, top)).astype(np.int64)


class LatticeSampling(Sampling):
    """Sampling of random nodes; the fully specialized and the fully generalized node are always among them.

    These two are trivially optimal: no node loses less than the first or protects more than the second (Dewri et al.
    2010, §6). A sample of a single node is random. Half of the thresholds are the largest possible; the others are
    drawn uniformly on a logarithmic scale.

    Parameters
    ----------
    extremes
        Whether to include the two extreme nodes.
    """

    def __init__(self, *, extremes: bool = True) -> None:
        super().__init__()
        self.extremes = extremes

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        bottom, top = np.asarray(problem.xl, dtype=np.int64), np.asarray(problem.xu, dtype=np.int64)
        X = np.array(random_state.integers(0, np.broadcast_to(top, (n_samples, problem.n_var)), endpoint=True))
        if has_threshold(problem):
            X[:, -1] = _thresholds(int(top[-1]), n_samples, random_state)
        if self.extremes and n_samples > 1:
            X[0], X[1] = bottom, top
        return X.astype(getattr(problem, "dtype", np.int16))


class LatticeCrossover(Crossover):
    """Crossover of two parents to two children, which exchange the attributes after a random point.

    Notes
    -----
    Dewri et al. (2010), §6, where the probability is 0.8. With one attribute, there is nothing to exchange.
    """

    def __init__(self, prob: float = 0.8) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        _, n_matings, n_var = X.shape
        if n_var < 2:
            return X.copy()
        point = np.asarray(random_state.integers(1, n_var, size=n_matings))
        own = np.arange(n_var) < point[:, None]
        return np.stack([np.where(own, X[0], X[1]), np.where(own, X[1], X[0])])


class LatticeMutation(Mutation):
    """Mutation that moves each attribute, with a small probability, one level up or down, within the lattice.

    A threshold suits its node, so if a level has changed, the threshold is drawn again with probability 1/2. A
    threshold that mutates by itself is drawn again, or increased or decreased by one.

    Parameters
    ----------
    prob_var
        Probability per variable; by default, one divided by their number.

    Notes
    -----
    Dewri et al. (2010), §6, without thresholds. Up and down are equally likely.
    """

    def __init__(self, prob: float = 1.0, *, prob_var: float | None = None) -> None:
        super().__init__(prob=prob, prob_var=prob_var)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        chance = self.prob_var.value if self.prob_var is not None else 1.0 / problem.n_var
        direction = random_state.integers(0, 2, size=X.shape) * 2 - 1
        step = np.where(random_state.random(X.shape) < chance, direction, 0)
        moved = np.clip(X + step, np.asarray(problem.xl, np.int64), np.asarray(problem.xu, np.int64))
        if has_threshold(problem):
            anew = ((step[:, -1] != 0) | (moved[:, :-1] != X[:, :-1]).any(axis=1)) & (random_state.random(len(X)) < 0.5)
            moved[anew, -1] = _thresholds(int(problem.xu[-1]), int(anew.sum()), random_state)
        children: NDArray[Any] = moved.astype(X.dtype)
        return children


class LatticeRepair(Repair):
    """Repair that makes levels and thresholds whole numbers within their bounds, for operators on real numbers."""

    def _do(self, problem: Any, X: NDArray[Any], **kwargs: object) -> NDArray[Any]:
        nodes: NDArray[Any] = np.clip(np.rint(X), problem.xl, problem.xu).astype(problem.dtype)
        return nodes
