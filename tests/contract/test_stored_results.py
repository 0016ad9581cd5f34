"""Pickled results and checkpoints of pymoo, loaded when the process that made them, and its data, are gone."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import (
    GOMMProblem,
    MaskingProblem,
    MicroaggregationProblem,
    Microdata,
    PBGProblem,
    PRAMEquationProblem,
    PRAMProblem,
    PreclusterProblem,
    SDCError,
    SDCProblem,
    SocialGraphProblem,
)
from sdc_problems.datasets import crawl, people

FIRST = f"""
import pickle, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_stored_results import NSGA2, minimize, problem

result = minimize(problem(), NSGA2(pop_size=10, **problem().operators()), ("n_gen", 3), seed=1, save_history=True)
algorithm = NSGA2(pop_size=10, **problem().operators()).setup(problem(), termination=("n_gen", 6), seed=1)
for _ in range(3):
    algorithm.next()
with open(sys.argv[1], "wb") as file:
    pickle.dump((result, result.X, result.F.tolist(), algorithm), file)
"""


def problem() -> SDCProblem:
    made = people(300, seed=11)
    return PBGProblem(made.data, made.hierarchies, objectives=("k", "glm"))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("stored") / "result.pickle"
    subprocess.run([sys.executable, "-c", FIRST, str(file)], check=True, timeout=120)
    return file.read_bytes()


def test_a_result_is_readable_and_measures_again_once_its_table_is_read(stored: bytes) -> None:
    gc.collect()
    result, X, F, _ = pickle.loads(stored)
    assert result.F.tolist() == F
    np.testing.assert_array_equal(result.X, X)
    assert len(result.pop) == 10
    assert [len(entry.pop) for entry in result.history] == [10, 10, 10]
    assert repr(result.problem) == "<PBGProblem: 9 variables, objectives (k, glm)>"
    assert repr(result.problem.data) == "Microdata(not here)"
    for use in (
        lambda: result.problem.evaluate(X),
        lambda: result.problem.data.frame(),
        lambda: result.problem.describe(X[0]),
    ):
        with pytest.raises(
            SDCError, match=r"is gone.*read the same table here first. X and F of a stored result need no"
        ):
            use()
    again: Any = pickle.loads(pickle.dumps(result))
    assert again.F.tolist() == F

    same = problem()
    assert result.problem.evaluate(X).tolist() == F
    assert result.problem.data == same.data
    assert result.problem.describe(X[0]) == same.describe(X[0])


def test_another_table_is_not_taken_for_it(stored: bytes) -> None:
    gc.collect()
    result = pickle.loads(stored)[0]
    other = people(299, seed=11)
    assert isinstance(other.data, Microdata)
    with pytest.raises(SDCError, match="is gone"):
        result.problem.data.frame()


def test_a_checkpoint_goes_on_as_if_it_had_never_stopped(stored: bytes) -> None:
    whole = minimize(problem(), NSGA2(pop_size=10, **problem().operators()), ("n_gen", 6), seed=1)
    kept = problem()  # the table is read: the checkpoint finds it
    algorithm = pickle.loads(stored)[3]
    assert len(kept.data) == 300
    while algorithm.has_next():
        algorithm.next()
    assert algorithm.pop.get("X").tobytes() == whole.pop.get("X").tobytes()
    assert algorithm.evaluator.n_eval == whole.algorithm.evaluator.n_eval


CROWD_COLUMNS = ["age", "hours", "wage"]


@pytest.mark.parametrize(
    "make",
    [
        lambda d: PBGProblem(d.data, d.hierarchies),
        lambda d: GOMMProblem(d.data.with_roles(quasi_identifiers=CROWD_COLUMNS), k=5),
        lambda d: MicroaggregationProblem(d.data.with_roles(quasi_identifiers=CROWD_COLUMNS), k=5),
        lambda d: PRAMProblem(d.data, columns=["workclass", "education"]),
        lambda d: PRAMEquationProblem(d.data, columns=["workclass"]),
        lambda d: MaskingProblem(d.data, columns=["workclass", "education"]),
        lambda d: PreclusterProblem(d.data, columns=["workclass", "education"]),
        lambda d: SocialGraphProblem(crawl(40, seed=int(d.data.n_records)).graph, k=3),
    ],
    ids=["pbg", "gomm", "microaggregation", "pram", "equations", "masking", "preclustering", "social"],
)
def test_every_problem_loads_without_its_data_and_says_so(make: Any) -> None:
    stored = pickle.dumps(make(people(53, seed=7)))
    gc.collect()
    again = pickle.loads(stored)
    assert again.n_var == len(again.xl) == len(again.xu)
    x = again.xl.astype(again.dtype)
    with pytest.raises(SDCError, match="is gone"):
        again.evaluate(x)
