"""MemeticMicroaggregation: limits, guarantees, the same bytes from the same seed, and what it refuses."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, Microdata
from sdc_problems._slices import listening
from sdc_problems.algorithms import MemeticMicroaggregation
from sdc_problems.algorithms.microaggregation import memetic as module
from sdc_problems.algorithms.microaggregation.memetic import memetic
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.information_loss import sse


def problem(n: int = 120, k: int = 3, *, seed: int = 5, **options: Any) -> MicroaggregationProblem:
    values = np.random.default_rng(seed).lognormal(size=(n, 3))
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    return MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=list(frame)), k=k, **options)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_better_than_every_heuristic_and_within_the_limits(k: int) -> None:
    task = problem(k=k)
    result = minimize(task, MemeticMicroaggregation(move_limit=2_000_000), seed=1)
    baselines = task.evaluate(np.array(list(task.baselines().values())))
    assert result.F[0] < baselines.min()
    sizes = np.bincount(result.X)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert result.F[0] == pytest.approx(sse(task.engine.V, result.X))
    assert result.X.dtype == task.dtype


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_workers() -> None:
    task = problem()
    runs = [
        minimize(task, MemeticMicroaggregation(move_limit=500_000, workers=workers), seed=7) for workers in (1, 2, 4)
    ]
    assert len({run.X.tobytes() for run in runs}) == 1
    assert len({tuple((m.moves, m.sse) for m in run.algorithm.trajectory) for run in runs}) == 1
    other = minimize(task, MemeticMicroaggregation(move_limit=500_000), seed=8)
    assert [m.sse for m in other.algorithm.trajectory] != [m.sse for m in runs[0].algorithm.trajectory]


def test_the_trajectory_never_rises_and_says_what_was_spent() -> None:
    result = minimize(problem(), MemeticMicroaggregation(move_limit=400_000), seed=1)
    line = result.algorithm.trajectory
    assert line[0].moves == 0
    assert line[-1].moves >= 400_000
    assert line[-1].sse == pytest.approx(result.F[0])
    for earlier, later in itertools.pairwise(line):
        assert later.moves > earlier.moves
        assert later.seconds >= earlier.seconds
        assert later.sse <= earlier.sse


def test_a_limit_of_time_ends_the_search() -> None:
    result = minimize(problem(), MemeticMicroaggregation(time_limit=0.2, workers=2), seed=1)
    assert result.algorithm.trajectory[-1].seconds >= 0.2
    assert result.algorithm.progress == 1.0
    at_once = minimize(problem(), MemeticMicroaggregation(time_limit=0.0), seed=1)
    assert len(at_once.algorithm.trajectory) == 1


def test_the_first_limit_that_is_reached_counts() -> None:
    result = minimize(problem(), MemeticMicroaggregation(time_limit=1e6, move_limit=100_000), seed=1)
    assert result.algorithm.trajectory[-1].moves < 10_000_000


def test_generations_may_be_limited_too() -> None:
    result = minimize(problem(), MemeticMicroaggregation(move_limit=10**9), ("n_gen", 3), seed=1)
    assert len(result.algorithm.trajectory) == 3


def test_information_loss_may_be_the_objective() -> None:
    task = problem(objectives=("il_sse",))
    result = minimize(task, MemeticMicroaggregation(move_limit=200_000), seed=1)
    assert result.F[0] == pytest.approx(100 * sse(task.engine.V, result.X) / task.engine.sst)


def test_nothing_is_lost_where_records_are_equal() -> None:
    frame = pd.DataFrame({"a": [1.0, 5.0] * 6, "b": [2.0, 7.0] * 6})
    task = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), k=3)
    result = minimize(task, MemeticMicroaggregation(move_limit=100_000), seed=1)
    assert result.F[0] == 0.0
    assert np.bincount(result.X).min() >= 3


def test_the_fewest_records() -> None:
    task = problem(n=4, k=2)
    result = minimize(task, MemeticMicroaggregation(move_limit=100_000), seed=1)
    assert sorted(np.bincount(result.X)) == [2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1}, "time_limit must be in"),
        ({"time_limit": float("nan")}, "time_limit must be in"),
        ({"move_limit": 0}, "move_limit must be a whole number ≥ 1"),
        ({"pop_size": 3}, "pop_size must be 1, 2 or 4"),
        ({"workers": 0}, "workers must be a whole number ≥ 1"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SDCError, match=message):
        MemeticMicroaggregation(**options)


def test_categories_and_several_objectives_are_refused() -> None:
    with pytest.raises(SDCError, match="compares one number"):
        minimize(problem(objectives=("sse", "dbrl")), MemeticMicroaggregation(move_limit=1000), seed=1)
    with pytest.raises(SDCError, match="the objective of MemeticMicroaggregation must be one of"):
        minimize(problem(objectives=("dbrl",)), MemeticMicroaggregation(move_limit=1000), seed=1)
    frame = pd.DataFrame({"a": np.arange(12.0), "b": list("xxyyzzxxyyzz")})
    data = Microdata.from_frame(frame, quasi_identifiers=["a", "b"], kinds={"b": "nominal"})
    with pytest.raises(SDCError, match="needs numeric quasi-identifiers"):
        minimize(MicroaggregationProblem(data, k=3), MemeticMicroaggregation(move_limit=1000), seed=1)


def test_large_tables_are_searched_in_blocks_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEURISTIC_UP_TO", 100)
    found = memetic(problem(120), rng=np.random.default_rng(1), moves=60_000)
    assert found.sentences[0].startswith("Grouped in blocks")
    timed = memetic(problem(120), rng=np.random.default_rng(1), seconds=0.0)
    assert timed.sentences == ()
    small = memetic(problem(90), rng=np.random.default_rng(1), moves=1_000)
    assert small.sentences == ()


@pytest.mark.parametrize(("n", "bounded"), [(40, 5_000), (120, 100)])
def test_the_distance_from_the_best_there_can_be(n: int, bounded: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BOUNDED", bounded)
    monkeypatch.setattr(module, "BOUND_ROUNDS", 2)
    task = problem(n)
    found = memetic(task, rng=np.random.default_rng(1), moves=300_000, bound=True)
    (said,) = found.sentences
    lost = 100 * sse(task.engine.V, found.labels) / task.engine.sst
    assert f"Of the variation {lost:.4g} % is lost" in said
    if "no groups of at least 3 lose less than" in said:
        least = float(said.split("lose less than ")[1].split(" %")[0])
        assert (0.9 if n < bounded else 0.3) * lost < least <= lost
    else:
        assert said.endswith("and no groups of at least 3 lose less.")
        assert n < bounded


def test_records_that_are_all_alike_lose_nothing() -> None:
    _, said = module.bounded(np.zeros((9, 2)), 3, np.repeat([0, 1, 2], 3))
    assert "nan" not in said
    assert "no groups of at least 3 lose less" in said


def test_progress_of_the_search_and_of_its_bound_is_told() -> None:
    frame = pd.DataFrame(np.random.default_rng(4).normal(size=(120, 2)), columns=["a", "b"])
    task = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["a", "b"]), k=3)
    told: list[tuple[str, int, int]] = []
    with listening(lambda *step: told.append(step)):
        memetic(task, rng=np.random.default_rng(1), moves=300_000, bound=True)
    for what in ("parts of the search", "regions and bound"):
        done = [step[1] for step in told if step[0] == what]
        assert len(done) > 1
        assert done == sorted(done)
        assert done[-1] == next(total for said, _, total in told if said == what)
