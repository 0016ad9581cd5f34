"""A problem of your own in one screen: which quasi-identifiers to blank out entirely.

Run it: ``python examples/column_suppression.py``. ``tests/contract`` runs the contract suite on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.repair import NoRepair
from pymoo.core.sampling import Sampling
from pymoo.operators.crossover.ux import UniformCrossover

from sdc_problems import Microdata, Objective, SDCProblem

OBJECTIVES = (
    Objective(
        "k", "smallest class", "max", (1, np.inf), "records",
        meaning="Number of records in the smallest class of records that look alike.",
        formula="min over classes of |class|",
    ),
    Objective(
        "blanked", "blanked columns", "min",
        meaning="Number of quasi-identifiers that are blanked out.",
        formula="sum of x",
    ),
)  # fmt: skip
CATALOGUE = {objective.name: objective for objective in OBJECTIVES}


class RandomBits(Sampling):
    def _do(self, problem: Any, n_samples: int, *args: Any, random_state: Any, **kwargs: Any) -> NDArray[Any]:
        return random_state.integers(0, 2, size=(n_samples, problem.n_var), dtype=problem.dtype)


class FlipOne(Mutation):
    """Flip one bit of each row (pymoo's own bit flip is for booleans)."""

    def _do(self, problem: Any, X: NDArray[Any], *args: Any, random_state: Any, **kwargs: Any) -> NDArray[Any]:
        out = X.copy()
        rows, columns = np.arange(len(X)), random_state.integers(0, problem.n_var, size=len(X))
        out[rows, columns] = 1 - out[rows, columns]
        return out


class ColumnSuppressionProblem(SDCProblem):
    """``x[i] == 1`` blanks quasi-identifier ``i``."""

    def __init__(
        self,
        data: Microdata,
        *,
        objectives: Sequence[str | Objective] = ("k", "blanked"),
        require: Mapping[str, float | Mapping[str, float]] | None = None,
    ) -> None:
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=CATALOGUE,
            require=require,
            n_var=len(data.quasi_identifiers),
            xl=0,
            xu=1,
            dtype=np.int8,
        )

    def _compile(self) -> NDArray[Any]:
        return self.data.codes()

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        values = np.empty((len(X), len(names)))
        for row, x in enumerate(X):
            sizes = np.unique(self.engine * (x == 0), axis=0, return_counts=True)[1]
            known = {"k": sizes.min(), "blanked": x.sum()}
            values[row] = [known[name] for name in names]
        return values

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        original = self.data.codes()
        yield np.where(x == 1, -1, original), original

    def _operators(self) -> dict[str, Any]:
        return {
            "sampling": RandomBits(),
            "crossover": UniformCrossover(),
            "mutation": FlipOne(),
            "repair": NoRepair(),  # every bit string is its own canonical form
        }

    def decode(self, x: ArrayLike) -> tuple[str, ...]:
        return tuple(name for name, bit in zip(self.data.quasi_identifiers, self.genome(x), strict=True) if bit)

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        blanked = self.decode(x)
        return (f"blank out {', '.join(blanked)}",) if blanked else ("change nothing",)

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        return self._publishable().assign(**dict.fromkeys(self.decode(x), "*"))  # a star is a suppressed cell

    def baselines(self) -> dict[str, NDArray[Any]]:
        return {"nothing": np.zeros(self.n_var, self.dtype), "everything": np.ones(self.n_var, self.dtype)}


if __name__ == "__main__":
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.optimize import minimize

    from sdc_problems import load

    problem = ColumnSuppressionProblem(load("people").data)
    result = minimize(problem, NSGA2(pop_size=40, **problem.operators()), ("n_gen", 20), seed=1)
    for x, (k, blanked) in sorted(zip(result.X, problem.natural(result.F), strict=True), key=lambda p: p[1][1]):
        print(f"k = {k:5.0f} with {blanked:.0f} columns blanked: {'; '.join(problem.describe(x))}")
