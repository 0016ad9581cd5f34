"""Operators for settings: a few integers with their own bounds, such as a method, k and a number of groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

Canonical = Callable[[NDArray[Any]], NDArray[Any]]


def _drawn(problem: Any, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    low, high = np.asarray(problem.xl, dtype=np.int64), np.asarray(problem.xu, dtype=np.int64)
    return np.asarray(rng.integers(low, high, size=(n, len(low)), endpoint=True))


class SettingsSampling(Sampling):
    """Sampling of settings, uniformly within their bounds."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return _drawn(problem, n_samples, random_state).astype(getattr(problem, "dtype", np.int16))


class SettingsCrossover(Crossover):
    """Crossover of two parents to two children, which exchange each setting with probability one half.

    Parameters
    ----------
    prob
        Probability that two parents exchange anything.
    """

    def __init__(self, prob: float = 0.9) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        own = random_state.random(X.shape[1:]) < 0.5
        return np.stack([np.where(own, X[0], X[1]), np.where(own, X[1], X[0])])


class SettingsMutation(Mutation):
    """Mutation that, with a small probability, moves a setting one step up or down or draws it again, equally often.

    Parameters
    ----------
    prob
        Probability that a row is mutated at all.
    prob_var
        Probability per setting; by default, one divided by their number.
    """

    def __init__(self, prob: float = 1.0, *, prob_var: float | None = None) -> None:
        super().__init__(prob=prob, prob_var=prob_var)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        chance = self.prob_var.value if self.prob_var is not None else 1.0 / problem.n_var
        changed = random_state.random(X.shape) < chance
        anew = random_state.random(X.shape) < 0.5
        steps = X + random_state.integers(0, 2, size=X.shape) * 2 - 1
        moved = np.where(anew, _drawn(problem, len(X), random_state), steps)
        bounded = np.clip(np.where(changed, moved, X), problem.xl, problem.xu)
        children: NDArray[Any] = bounded.astype(X.dtype)
        return children


class SettingsRepair(Repair):
    """Repair to whole numbers within bounds, in canonical form.

    Parameters
    ----------
    canonical
        Function that maps rows with the same meaning to the same row; by default, rows stay as they are.
    """

    def __init__(self, canonical: Canonical | None = None) -> None:
        super().__init__()
        self.canonical = canonical

    def _do(self, problem: Any, X: NDArray[Any], **kwargs: object) -> NDArray[Any]:
        rows: NDArray[Any] = np.clip(np.rint(X), problem.xl, problem.xu).astype(problem.dtype)
        return rows if self.canonical is None else self.canonical(rows)
