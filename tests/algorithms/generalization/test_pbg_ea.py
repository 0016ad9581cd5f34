from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.algorithms import PBGEA
from sdc_problems.algorithms.archives.box import BoxArchive
from sdc_problems.algorithms.generalization.pbg_ea import dominance_fitness
from sdc_problems.parallel.memo import MemoEvaluator


@pytest.fixture(scope="module")
def problem() -> PBGProblem:
    dataset = load("people")
    return PBGProblem(dataset.data, dataset.hierarchies, objectives=("k", "l", "glm"), suppression="budget")


@pytest.fixture(scope="module")
def free() -> PBGProblem:
    dataset = load("people")
    return PBGProblem(dataset.data, dataset.hierarchies, objectives=("k", "l", "glm"))


@given(
    st.integers(1, 3).flatmap(
        lambda m: arrays(np.float64, st.tuples(st.integers(1, 12), st.just(m)), elements=st.integers(0, 4))
    )
)
def test_fitness_is_the_papers_double_sum(F: np.ndarray) -> None:
    def dominates(p: np.ndarray, q: np.ndarray) -> bool:
        return bool((p <= q).all() and (p < q).any())

    counts = [sum(dominates(p, q) for q in F) for p in F]
    expected = [sum(counts[i] for i, p in enumerate(F) if dominates(p, q)) for q in F]
    assert dominance_fitness(F).tolist() == expected


def test_the_run_of_the_paper(problem: PBGProblem) -> None:
    populations: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    archives: list[int] = []

    def watch(algorithm: Any) -> None:
        populations.append(algorithm.pop.get("X").copy())
        seen.append(algorithm.pop.get("F").copy())
        archives.append(len(algorithm.archive))
        everything = np.concatenate(seen)
        for f in algorithm.archive.F:  # current in callbacks: nothing that was measured dominates a member
            assert not ((everything <= f).all(axis=1) & (everything < f).any(axis=1)).any()

    result = minimize(problem, PBGEA(), seed=2, callback=watch)
    assert len(populations) == 100
    assert all(X.shape == (25, 8) and X.dtype == np.int16 for X in populations)
    assert populations[0][0].tolist() == [0] * 8
    assert populations[0][1].tolist() == problem.xu.tolist()
    evaluator = result.algorithm.evaluator
    assert evaluator.n_eval == 2500
    assert result.algorithm.n_nodes == evaluator.n_unique
    assert evaluator.n_unique == len(np.unique(np.concatenate(populations), axis=0)) < 2000
    archive = result.algorithm.archive
    assert archives[-1] == len(archive)
    np.testing.assert_array_equal(result.F, archive.F)
    np.testing.assert_array_equal(result.X, archive.X)
    np.testing.assert_array_equal(problem.evaluate(archive.X), archive.F)


def test_it_finds_most_of_the_front(problem: PBGProblem) -> None:
    from sdc_problems.evaluators.indicators import representation_ratio

    front = problem.enumerate_front().F
    found = [minimize(problem, PBGEA(), seed=seed).F for seed in (1, 2, 3)]
    assert np.mean([representation_ratio(F, front, 1) for F in found]) > 0.6


def test_same_seed_same_bytes(problem: PBGProblem) -> None:
    one, two, other = (minimize(problem, PBGEA(), ("n_gen", 15), seed=seed).X for seed in (5, 5, 6))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


def test_without_variation_only_what_was_sampled_is_ever_seen(problem: PBGProblem) -> None:
    algorithm = PBGEA(crossover_prob=0, mutation_prob=0, pop_size=10)
    result = minimize(problem, algorithm, ("n_gen", 20), seed=1)
    assert result.algorithm.evaluator.n_unique == 10


def test_boxes_thin_the_archive_out(problem: PBGProblem) -> None:
    fine = minimize(problem, PBGEA(), ("n_gen", 40), seed=1).F
    coarse = minimize(problem, PBGEA(epsilon=[50, 4, 10_000]), ("n_gen", 40), seed=1).F
    assert len(coarse) < len(fine) / 2


def test_a_lattice_of_two_nodes_and_an_odd_population() -> None:
    import pandas as pd

    from sdc_problems import Hierarchy, Microdata

    data = Microdata.from_frame(pd.DataFrame({"sex": ["f", "m", "f"]}), quasi_identifiers=["sex"])
    problem = PBGProblem(data, {"sex": Hierarchy.suppression(["f", "m"])}, max_suppression=0)
    result = minimize(problem, PBGEA(pop_size=3), ("n_gen", 5), seed=1)
    assert sorted(result.X.tolist()) == [[0, 1], [1, 1]]
    assert result.algorithm.evaluator.n_unique == result.algorithm.n_nodes == 2


def test_free_thresholds_are_effective_evaluated_and_all_that_its_nodes_offer(free: PBGProblem) -> None:
    populations: list[np.ndarray] = []
    evaluated: list[np.ndarray] = []

    class Watched(MemoEvaluator):
        def _eval(self, problem: Any, pop: Any, *args: Any, **kwargs: Any) -> None:
            evaluated.append(pop.get("X").copy())
            super()._eval(problem, pop, *args, **kwargs)

    algorithm = PBGEA(evaluator=Watched())
    result = minimize(free, algorithm, ("n_gen", 12), seed=2, callback=lambda a: populations.append(a.pop.get("X")))
    assert all(len(X) == 25 for X in populations)
    X = np.concatenate(evaluated)
    np.testing.assert_array_equal(free.effective(X), X)
    nodes = np.unique(X[:, :-1], axis=0)
    assert result.algorithm.n_nodes == len(nodes) <= 300
    # The archive is what Algorithm 1 makes of every threshold of every node measured.
    lowest = np.ones((len(nodes), 1), dtype=X.dtype)
    rows = free.with_thresholds(np.column_stack([nodes, lowest]))
    archive = BoxArchive(1.0)
    archive.update(free.evaluate(rows), rows)
    assert {tuple(box) for box in result.algorithm.archive.boxes} == {tuple(box) for box in archive.boxes}
    keys = {tuple(x) for x in X.tolist()}
    assert all(tuple(x) in keys for x in result.X.tolist())
    np.testing.assert_array_equal(free.evaluate(result.X), result.F)
    again = minimize(free, PBGEA(), ("n_gen", 12), seed=2)
    assert again.X.tobytes() == result.X.tobytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: PBGEA(pop_size=1),
        lambda: PBGEA(crossover_prob=1.5),
        lambda: PBGEA(mutation_prob=-0.1),
        lambda: PBGEA(epsilon=0),
    ],
)
def test_bad_parameters(make: Callable[[], PBGEA]) -> None:
    with pytest.raises(SDCError):
        make()
