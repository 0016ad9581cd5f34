"""A problem travels with every task: with 100,000 records behind it, it stays under 100 kB."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sdc_problems import GOMMProblem, MicroaggregationProblem, PBGProblem, PRAMProblem
from sdc_problems.datasets import Dataset, people
from sdc_problems.testing.problem import PICKLE_LIMIT

NUMBERS = ["age", "hours", "wage", "savings"]


@pytest.fixture(scope="module")
def crowd() -> Dataset:
    return people(100_000)


@pytest.mark.parametrize(
    "make",
    [
        lambda d: PBGProblem(d.data, d.hierarchies),
        lambda d: GOMMProblem(d.data.with_roles(quasi_identifiers=NUMBERS), k=25),
        lambda d: MicroaggregationProblem(d.data.with_roles(quasi_identifiers=NUMBERS), k=10),
        lambda d: PRAMProblem(d.data, columns=["workclass", "education"]),
    ],
    ids=["pbg", "gomm", "microaggregation", "pram"],
)
def test_pickles_small_with_a_hundred_thousand_records(make: Callable[[Dataset], Any], crowd: Dataset) -> None:
    problem = make(crowd)
    data = pickle.dumps(problem)
    assert len(data) < PICKLE_LIMIT
    again = pickle.loads(data)
    assert len(again.data) == 100_000
    assert (again.n_var, again.objectives, again.dtype) == (problem.n_var, problem.objectives, problem.dtype)
    for side in ("xl", "xu"):
        np.testing.assert_array_equal(getattr(again, side), getattr(problem, side))
        assert getattr(again, side).dtype == float
        assert getattr(again, side).flags.writeable
