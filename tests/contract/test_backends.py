"""The contract suite on the package's own backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.core.problem import Problem

from sdc_problems.parallel import Backend, ProcessPool, Serial, open_backend
from sdc_problems.testing import BackendContract


class TestSerial(BackendContract):
    def make(self, problem: Problem) -> Backend:
        return Serial(problem)


class TestProcessPool(BackendContract):
    def make(self, problem: Problem) -> Backend:
        return ProcessPool(problem, workers=2)


class TestDaskCluster(BackendContract):
    def make(self, problem: Problem) -> Backend:
        return open_backend(problem, workers=1, scheduler="local")


def test_a_backend_that_changes_the_order_does_not_pass() -> None:
    class Backwards(Serial):
        def evaluate(self, X: NDArray[Any]) -> dict[str, NDArray[Any]]:
            return {name: np.ascontiguousarray(values[::-1]) for name, values in super().evaluate(X).items()}

    class Suite(BackendContract):
        def make(self, problem: Problem) -> Backend:
            return Backwards(problem)

    with pytest.raises(AssertionError):
        Suite().test_measures_are_those_of_this_process()
