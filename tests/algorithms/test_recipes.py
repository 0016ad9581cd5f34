"""Search for recipes: it begins with all sweeps, and nothing that it measured is better than its front."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, RecipeProblem, SDCError
from sdc_problems.algorithms import recipes
from sdc_problems.algorithms.recipes import RecipeFront, search_recipes, search_table, slow_methods

METHODS = ["mdav", "mondrian", "rank-swap", "add-noise", "recode-rare", "pram"]


def table(n: int = 60) -> Microdata:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, n)
    frame = pd.DataFrame({
        "age": age,
        "wage": (30 + age / 4 + rng.normal(0, 5, n)).round(),
        "town": rng.choice(["Olot", "Reus", "Vic", "Tona"], n, p=[0.5, 0.3, 0.15, 0.05]),
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=list(frame))


@pytest.fixture(scope="module")
def problem() -> RecipeProblem:
    return RecipeProblem(table(), methods=METHODS)


def searched(problem: RecipeProblem, seed: int = 1, generations: int = 4) -> RecipeFront:
    return search_recipes(problem, rng=np.random.default_rng(seed), generations=generations)


def area(F: np.ndarray) -> float:
    from sdc_problems.evaluators import hypervolume

    return float(hypervolume(F, np.full(2, 101.0)))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_front_covers_every_point_of_every_sweep(problem: RecipeProblem, seed: int) -> None:
    front = searched(problem, seed)
    sweeps = problem.evaluate(np.array(list(problem.baselines().values())), return_values_of=["F"])
    assert front.sweeps == len(sweeps)
    assert all((front.F <= point).all(axis=1).any() for point in sweeps)
    assert area(front.F) > area(sweeps), "and has more than all of them together"


def test_the_front_is_sorted_measured_and_free_of_what_is_worse(problem: RecipeProblem) -> None:
    front = searched(problem)
    assert (np.diff(front.F[:, 0]) > 0).all()
    assert (np.diff(front.F[:, 1]) < 0).all()
    assert np.array_equal(problem.evaluate(front.X, return_values_of=["F"]), front.F)
    assert len(front) == len(front.X)
    assert front.measured == front.sweeps + 4 * 50
    assert front.generations == 4


def test_the_same_seed_finds_the_same_front(problem: RecipeProblem) -> None:
    first, again = searched(problem), searched(problem)
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, searched(problem, 2).X)


def test_more_starts_compete_as_well(problem: RecipeProblem) -> None:
    best = searched(problem)
    front = search_recipes(problem, rng=np.random.default_rng(5), generations=0, starts={"known": best.X[best.knee]})
    assert front.sweeps == len(problem.baselines()) + 1
    assert (front.F == best.F[best.knee]).all(axis=1).any()


def test_knee_and_neighbors_are_told_apart(problem: RecipeProblem) -> None:
    F = np.array([[0.0, 90.0], [10.0, 50.0], [14.0, 45.0], [20.0, 20.0], [22.0, 18.0], [60.0, 12.0], [90.0, 0.0]])
    front = RecipeFront(problem, np.zeros((7, problem.n_var), dtype=np.int64), F, 7, 0, 0)
    assert front.knee == 3
    assert front.neighbors() == {"safer": 5, "more useful": 2}
    flat = np.array([[20.0, 20.0], [21.0, 19.0], [22.0, 17.9]])
    near = RecipeFront(problem, front.X[:3], flat, 3, 0, 0)
    assert near.knee == 0, "nothing is more useful, and what is safer is the next point"
    assert near.neighbors() == {"safer": 1}
    assert RecipeFront(problem, front.X[:1], F[:1], 1, 0, 0).neighbors() == {}


def test_what_is_required_is_met_by_every_point() -> None:
    problem = RecipeProblem(table(), methods=METHODS, require={"k": 3})
    front = searched(problem)
    assert min(problem.figures(x)["k"] for x in front.X) >= 3
    impossible = RecipeProblem(table(), methods=["add-noise"], require={"k": 30})
    with pytest.raises(SDCError, match=r"none of the .* recipes measured meets what is required"):
        searched(impossible, generations=1)


@pytest.mark.parametrize("at", [1, 15])
def test_an_interruption_keeps_the_best_so_far(problem: RecipeProblem, at: int) -> None:
    calls = 0

    def tell(front: RecipeFront | None, measured: int, seconds: float) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt

    front = search_recipes(problem, rng=np.random.default_rng(1), generations=50, tell=tell)
    assert front.interrupted
    assert calls == at
    assert len(front) > 0
    assert not searched(problem).interrupted


def test_a_search_by_time_ends(problem: RecipeProblem) -> None:
    front = search_recipes(problem, rng=np.random.default_rng(1), seconds=0.01)
    assert front.measured > 0


def test_methods_that_take_too_long_are_found(problem: RecipeProblem) -> None:
    assert set(slow_methods(problem, -1.0)) == set(METHODS)
    assert slow_methods(problem, 1e9) == {}


def test_methods_that_take_too_long_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = iter([{}, {"mdav": 9.0}, {"mdav": 9.0, "pram": 8.0}])
    monkeypatch.setattr(recipes, "slow_methods", lambda problem, most: next(slow))
    front, left_out = search_table(table(), seconds=0.1, seed=3, methods=["mdav", "pram"], k=2)
    assert [offer.name for offer in front.problem.offers[1:]] == ["mdav", "pram"]
    assert left_out == {}
    front, left_out = search_table(table(), seconds=0.1, seed=3, methods=["mdav", "pram"])
    assert [offer.name for offer in front.problem.offers[1:]] == ["pram"]
    assert left_out == {"mdav": 9.0}
    assert front.problem.seed == 3
    front, left_out = search_table(table(), seconds=0.1, seed=3, methods=["mdav", "pram"])
    assert [offer.name for offer in front.problem.offers[1:]] == ["pram"], "the fastest is better than none"
    assert left_out == {"mdav": 9.0}


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "give one of them"),
        ({"seconds": 1, "generations": 1}, "give one of them"),
        ({"seconds": -1}, "seconds"),
        ({"generations": -1}, "generations"),
        ({"generations": 1, "pop_size": 1}, "pop_size"),
    ],
)
def test_what_makes_no_sense_is_refused(problem: RecipeProblem, how: dict[str, int], words: str) -> None:
    with pytest.raises(SDCError, match=words):
        search_recipes(problem, rng=np.random.default_rng(1), **how)
    with pytest.raises(SDCError, match="at least two objectives"):
        search_recipes(RecipeProblem(table(), objectives=["il_mixed"]), rng=np.random.default_rng(1), generations=1)
