"""Both PRAM problems keep every promise of the package, in each way of scoring and with each limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sdc_problems import Microdata, PRAMEquationProblem, PRAMProblem
from sdc_problems.testing import ProblemContract


def table() -> Microdata:
    rng = np.random.default_rng(5)
    health = rng.choice(4, size=90, p=[0.5, 0.3, 0.15, 0.05])
    frame = pd.DataFrame(
        {
            "health": np.array(["good", "fair", "poor", "bad"])[health],
            "town": rng.choice(["Olot", "Reus", "Vic"], size=90, p=[0.6, 0.3, 0.1]),
            "job": np.array(["yes", "no"])[(health + rng.integers(0, 2, size=90)) % 2],
            "age": rng.integers(18, 90, size=90),
        }
    )
    return Microdata.from_frame(frame, orders={"health": ["good", "fair", "poor", "bad"]})


class PRAMContract(ProblemContract):
    attributes = ("health", "town")
    alike = "other matrices may move the same cells of a small table"

    def solution(self, problem: Any, x: NDArray[Any]) -> object:
        """The row itself: matrices that are normalized and limited, and equations, may come to the same."""
        return x.tobytes()

    def check_release(self, problem: Any, x: NDArray[Any], released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        original = problem.data.frame()
        assert (released.dtypes == original.dtypes).all()
        for name, P in problem.decode(x).items():
            np.testing.assert_allclose(P.to_numpy().sum(axis=1), 1.0)
            assert (P.to_numpy() >= 0).all()
            moved = pd.crosstab(original[name], released[name])
            for i in moved.index:
                for j in moved.columns:
                    assert moved.loc[i, j] == 0 or P.loc[i, j] > 0, "a move with probability 0 happened"
        others = [name for name in original if name not in self.attributes]
        pd.testing.assert_frame_equal(released[others], original[others])


class TestSampled(PRAMContract):
    def make(self) -> PRAMProblem:
        return PRAMProblem(table(), columns=self.attributes)


class TestExpected(PRAMContract):
    def make(self) -> PRAMProblem:
        objectives = ("il_categorical", "dr_categorical", "entropy")
        return PRAMProblem(table(), columns=self.attributes, objectives=objectives, evaluation="expected")


class TestInvariant(PRAMContract):
    def make(self) -> PRAMProblem:
        return PRAMProblem(
            table(),
            columns=self.attributes,
            objectives=("bivariate", "chi2", "expectation_ratio"),
            invariant=True,
            diagonal=(0.55, 0.75),
            against="job",
            replicates=2,
        )

    def check_release(self, problem: Any, x: NDArray[Any], released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        for P, t in zip(problem.matrices(x), problem.frequencies, strict=True):
            np.testing.assert_allclose(t @ P, t, rtol=1e-12)


class TestLimited(PRAMContract):
    attributes = ("health",)  # type: ignore[assignment]

    def make(self) -> PRAMProblem:
        return PRAMProblem(table(), columns=self.attributes, objectives=("score_mean",), diagonal=(0.4, 0.8), band=1)

    def check_release(self, problem: Any, x: NDArray[Any], released: pd.DataFrame) -> None:
        super().check_release(problem, x, released)
        (P,) = problem.matrices(x)
        assert (np.diag(P) >= 0.4 - 1e-12).all()
        assert (np.diag(P) <= 0.8 + 1e-12).all()
        assert (P[np.abs(np.subtract.outer(range(4), range(4))) > 1] == 0).all()


class TestEquations(PRAMContract):
    def make(self) -> PRAMEquationProblem:
        return PRAMEquationProblem(table(), columns=self.attributes, depth=4)


class TestEquationsForOneScore(PRAMContract):
    def make(self) -> PRAMEquationProblem:
        return PRAMEquationProblem(
            table(), columns=self.attributes, objectives=("score_max",), depth=3, evaluation="expected", invariant=True
        )
