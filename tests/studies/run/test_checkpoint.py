"""Searches that say their own state are restored, not replayed, and go on with the same bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population

from sdc_problems import MicroaggregationProblem, SDCError, datasets
from sdc_problems.algorithms import BoxArchive, MemeticMicroaggregation
from sdc_problems.studies.run.limits import Limits

Content = Callable[[Path], dict[str, Any]]


class Drift(Algorithm):
    """Four walkers with momentum; the momentum is state that nobody but the algorithm knows."""

    def __init__(self) -> None:
        super().__init__()
        self.momentum: NDArray[np.float64] = np.zeros(0)
        self.worked = 0

    def _initialize_infill(self) -> Population:
        assert self.problem is not None
        assert self.random_state is not None
        self.momentum = self.random_state.normal(size=(4, self.problem.n_var))
        X = self.random_state.integers(0, 7, size=(4, self.problem.n_var)).astype(np.int16)
        return Population.new("X", X)

    def _infill(self) -> Population:
        assert self.random_state is not None
        self.worked += 1
        self.momentum = 0.9 * self.momentum + self.random_state.normal(size=self.momentum.shape)
        X = np.clip(np.rint(self.pop.get("X") + self.momentum), 0, 6).astype(np.int16)  # type: ignore[union-attr]
        return Population.new("X", X)

    def _advance(self, infills: Any = None, **kwargs: Any) -> None:
        assert self.pop is not None
        better = infills.get("F").sum(axis=1) < self.pop.get("F").sum(axis=1)
        self.pop = Population.create(
            *[new if b else old for new, old, b in zip(infills, self.pop, better, strict=True)]
        )

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        return {"momentum": self.momentum}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        self.momentum = state["momentum"]


class Forgetful(Drift):
    """Says too little of itself."""

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        return {"momentum": np.zeros_like(self.momentum)}


def archived(epsilon: float | None) -> Drift:
    algorithm = Drift()
    if epsilon is not None:
        algorithm.archive = BoxArchive([epsilon, epsilon])
    return algorithm


@pytest.mark.parametrize("epsilon", [None, 0.5])
@pytest.mark.parametrize("limits", [Limits(generations=14), Limits(evaluations=50), Limits(stalled=4)])
def test_a_restored_search_goes_on_with_the_same_bytes(
    epsilon: float | None, limits: Limits, workshop: Any, content: Content
) -> None:
    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    ending = workshop.work(whole, algorithm=archived(epsilon), limits=limits)
    for generations in (1, 3, 7):
        done = workshop.stored(pieces, 1)
        workshop.work(pieces, algorithm=archived(epsilon), limits=limits, stop_after=generations - done)
    last = workshop.work(pieces, algorithm=archived(epsilon), limits=limits)
    assert (last.replayed, last.reason, last.generations) == (7, ending.reason, ending.generations)
    assert content(pieces) == content(whole)
    assert len(content(whole)["states"]) == 1, "only the last state is kept"


def test_a_restored_search_works_nothing_again(workshop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = workshop.create("run")
    workshop.work(folder, algorithm=Drift(), stop_after=9)
    worked = []
    infill = Drift._infill
    monkeypatch.setattr(Drift, "_infill", lambda self: (worked.append(1), infill(self))[1])
    workshop.work(folder, algorithm=Drift(), stop_after=2)
    assert len(worked) == 2


def test_a_search_that_says_too_little_differs(workshop: Any, content: Content) -> None:
    """This is what the test of a new algorithm's two methods looks like when they are wrong."""
    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    workshop.work(whole, algorithm=Forgetful())
    workshop.work(pieces, algorithm=Forgetful(), stop_after=5)
    workshop.work(pieces, algorithm=Forgetful())
    assert content(pieces)["generations"][:5] == content(whole)["generations"][:5]
    assert content(pieces) != content(whole)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE states SET digest = ''",
        "UPDATE states SET generation = 1",
        "UPDATE states SET arrays = (SELECT arrays FROM generations WHERE generation = 1)",
        "DELETE FROM states",
        "UPDATE generations SET evaluated = 1 WHERE generation = 2",
    ],
)
def test_a_changed_state_is_refused(statement: str, workshop: Any) -> None:
    folder = workshop.create("run")
    workshop.work(folder, algorithm=Drift(), stop_after=4)
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute(statement)
    db.commit()
    db.close()
    with pytest.raises(SDCError, match=r"changed or damaged|not stored"):
        workshop.work(folder, algorithm=Drift())


@pytest.mark.parametrize("move_limit", [2_600_000, 1_500_000])  # with annealing of whole partitions, and without
def test_the_memetic_search_in_pieces_is_the_search_in_one(move_limit: int, workshop: Any, content: Content) -> None:
    people = datasets.people(60)
    data = people.data.with_roles(quasi_identifiers=["age", "hours", "wage", "savings"])
    problem = MicroaggregationProblem(data, 3)

    def work(folder: Path, **options: Any) -> Any:
        algorithm = MemeticMicroaggregation(move_limit=move_limit, pop_size=4)
        limits = Limits(generations=1000)
        return workshop.work(folder, problem=problem, algorithm=algorithm, limits=limits, ends=True, **options)

    whole, pieces = workshop.create("whole"), workshop.create("pieces")
    ending = work(whole)
    assert ending.reason == "limit reached"
    assert 6 <= ending.generations < 1000
    for _ in range(5):
        work(pieces, stop_after=max(1, ending.generations // 6))
    assert work(pieces).replayed > ending.generations // 2
    assert content(pieces) == content(whole)
