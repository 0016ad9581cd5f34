"""Copying crossover, for algorithms that only mutate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover


class CopyCrossover(Crossover):
    """Crossover that copies one parent to one child; pymoo's ``NoCrossover`` would pass on the parents themselves."""

    def __init__(self) -> None:
        super().__init__(n_parents=1, n_offsprings=1, prob=1.0)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return X.copy()
