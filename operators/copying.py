"""The crossover for algorithms that only mutate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover


class CopyCrossover(Crossover):
    """One parent, one child, a copy: pymoo's ``NoCrossover`` hands out the parents themselves to be mutated."""

    def __init__(self) -> None:
        super().__init__(n_parents=1, n_offsprings=1, prob=1.0)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return X.copy()
