"""Different genomes that measuring tells to be one solution are stored once, in the form the problem gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.operators.sampling.rnd import FloatRandomSampling

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.algorithms import BoxArchive
from sdc_problems.parallel import ProcessPool, Serial
from sdc_problems.studies.run.evaluation_log import Diverged, EvaluationLog
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.store.reader import Run

Content = Callable[[Path], dict[str, Any]]


@pytest.fixture(scope="module")
def free() -> PBGProblem:
    people = load("people")
    return PBGProblem(people.data, people.hierarchies, max_suppression=20, threads=1)


def facts(problem: Any) -> dict[str, Any]:
    return {"n_var": problem.n_var, "dtype": str(problem.dtype)}


@pytest.fixture
def work(free: PBGProblem, workshop: Any) -> Callable[..., Path]:
    def run(name: str, *steps: int | None, **options: Any) -> Path:
        folder: Path = workshop.create(name, problem=facts(free))
        for stop_after in steps:
            algorithm = NSGA2(pop_size=20, archive=BoxArchive(1e-6), **free.operators())
            workshop.work(
                folder, problem=free, algorithm=options.get("algorithm", algorithm), limits=Limits(generations=8),
                stop_after=stop_after, rounded=options.get("rounded", False),
            )  # fmt: skip
        return folder

    return run


def test_a_run_holds_effective_thresholds_each_solution_once_and_goes_on(
    free: PBGProblem, work: Callable[..., Path], content: Content
) -> None:
    whole = work("whole", None)
    with Run(whole) as run:
        run.verify()
        X = run.solutions(genomes=True).X
        assert X is not None
        np.testing.assert_array_equal(free.effective(X), X)
        assert len(np.unique(X, axis=0)) == len(X) > 50
        for some in (run.population(1, genomes=True), run.archive(1, genomes=True), run.front(genomes=True)):
            assert some.X is not None
            np.testing.assert_array_equal(free.minimized(some.values), free.evaluate(some.X))
            np.testing.assert_array_equal(free.effective(some.X), some.X)
        evaluated = run.progress()[0].evaluated
    assert len(X) < evaluated
    assert content(work("pieces", 1, 3, None)) == content(whole)


def test_searches_over_real_numbers_go_on_with_theirs(
    free: PBGProblem, work: Callable[..., Path], content: Content
) -> None:
    folders = []
    for name, steps in (("whole", (None,)), ("pieces", (2, None))):
        folders.append(work(name, *steps, algorithm=NSGA2(pop_size=20, sampling=FloatRandomSampling()), rounded=True))
    with Run(folders[0]) as run:
        X = run.solutions(genomes=True).X
        assert X is not None
        np.testing.assert_array_equal(free.effective(X), X)
    assert content(folders[0]) == content(folders[1])


def test_every_backend_gives_the_form_and_nothing_is_measured_twice(free: PBGProblem) -> None:
    X = np.column_stack([np.zeros((30, free.n_var - 1)), 1 + np.arange(30) % 21]).astype(free.dtype)
    expected = {**free.evaluate(X, return_values_of=["F"], return_as_dictionary=True)}
    np.testing.assert_array_equal(expected["X"], free.effective(X))
    assert expected["X"].dtype == free.dtype
    with ProcessPool(free, workers=2) as pool:
        found = pool.evaluate(X)
        assert {key: v.tobytes() for key, v in found.items()} == {key: v.tobytes() for key, v in expected.items()}
        assert found["X"].dtype == free.dtype
    asked: list[int] = []

    class Counting(Serial):
        def evaluate(self, X: Any) -> Any:
            asked.append(len(X))
            return super().evaluate(X)

    log = EvaluationLog(free, Counting(free))
    numbers = log.numbers(X)
    np.testing.assert_array_equal(log.numbers(expected["X"]), numbers)
    np.testing.assert_array_equal(log.numbers(X[::-1]), numbers[::-1])
    assert asked == [21]
    assert len(log) == len(np.unique(expected["X"], axis=0)) == len(np.unique(numbers)) < 21
    np.testing.assert_array_equal(log.measures(numbers)["X"], expected["X"])


@pytest.mark.parametrize("harm", ["asked", "became"])
def test_a_stored_generation_that_does_not_fit_together_is_refused(free: PBGProblem, harm: str) -> None:
    X = np.column_stack([np.zeros((3, free.n_var - 1)), [1, 2, 21]]).astype(free.dtype)
    log = EvaluationLog(free, Serial(free))
    log.evaluate(X)
    stored = {name: array.copy() for name, array in log.arrays().items()}
    again = EvaluationLog(free, Serial(free))
    again.begin(stored)
    again.evaluate(X)
    assert {k: v.tobytes() for k, v in again.arrays().items()} == {k: v.tobytes() for k, v in stored.items()}
    stored[harm] = stored[harm] + 1 if harm == "asked" else stored[harm] + 1_000
    other = EvaluationLog(free, Serial(free))
    other.begin(stored)
    with pytest.raises(Diverged):
        other.evaluate(X)
    assert issubclass(Diverged, SDCError)
