"""Searches in small spaces: they end when nothing is left, ask() always gives a population, C-TAEA does not hang."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.ctaea import CTAEA
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.optimize import minimize
from pymoo.util.ref_dirs import get_reference_directions

from sdc_problems import GOMMProblem, Hierarchy, Microdata, PBGProblem, SDCError
from sdc_problems.operators import (
    LatticeCrossover,
    LatticeMutation,
    LatticeRepair,
    LatticeSampling,
    NeverTwice,
    SearchGuard,
)


def groupings(p: int) -> GOMMProblem:
    values = np.random.default_rng(0).normal(size=(40, p)).round(2)
    frame = pd.DataFrame(values, columns=[f"a{j}" for j in range(p)])
    return GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=list(frame)), k=4)


def lattice() -> PBGProblem:
    frame = pd.DataFrame({"sex": list("fmfm"), "town": list("oorr")})
    hierarchies = {name: Hierarchy.suppression(sorted(set(frame[name]))) for name in frame}
    return PBGProblem(Microdata.from_frame(frame, quasi_identifiers=list(frame)), hierarchies, max_suppression=0)


@pytest.mark.parametrize("problem", [groupings(2), groupings(3), groupings(4), groupings(6), lattice()])
def test_asking_and_telling_ends_when_nothing_is_left(problem: Any) -> None:
    algorithm = NSGA2(pop_size=20, **problem.operators()).setup(problem, termination=("n_gen", 500), seed=1)
    measured: list[bytes] = []
    generations = 0
    while algorithm.has_next():
        children = algorithm.ask()
        algorithm.evaluator.eval(problem, children)
        measured += [x.tobytes() for x in children.get("X")]
        algorithm.tell(infills=children)
        generations += 1
    assert generations < 100
    assert len(measured) - len(set(measured)) <= 1  # one known solution, when mating finds nothing new
    front = {tuple(f) for f in problem.evaluate(np.unique(np.array(algorithm.opt.get("X")), axis=0))}
    assert front == {tuple(f) for f in algorithm.opt.get("F")}
    assert len(algorithm.opt) == len({x.tobytes() for x in algorithm.opt.get("X")}), "a solution is there twice"
    assert algorithm.ask() is not None, "who does not look at has_next() gets something to measure, too"


def test_a_search_that_has_measured_everything_is_over_at_once() -> None:
    problem = groupings(3)
    result = minimize(problem, NSGA2(pop_size=50, **problem.operators()), ("n_gen", 100), seed=1)
    assert result.algorithm.evaluator.n_eval == 5
    assert result.algorithm.n_gen <= 2
    assert {tuple(f) for f in result.F} == {tuple(f) for f in problem.enumerate_front().F}


class Halves(Problem):
    """Six numbers from 0 to 3: 4,096 genomes, few of them on the front."""

    dtype = np.dtype(np.int16)

    def __init__(self) -> None:
        super().__init__(n_var=6, n_obj=2, xl=0, xu=3, vtype=int)

    def _evaluate(self, X: Any, out: dict[str, Any], *args: object, **kwargs: object) -> None:
        self.measured = getattr(self, "measured", []) + [x.tobytes() for x in X.astype(np.int16)]
        out["F"] = np.column_stack([X[:, :4].sum(axis=1), 9.0 - X[:, 2:].sum(axis=1)])


def test_generations_stay_whole_where_most_of_what_is_near_is_measured() -> None:
    def run() -> Halves:
        problem, memory = Halves(), NeverTwice()
        minimize(
            problem,
            NSGA2(
                pop_size=20,
                sampling=LatticeSampling(),
                crossover=LatticeCrossover(),
                mutation=LatticeMutation(),
                repair=SearchGuard(LatticeRepair(), memory),
                eliminate_duplicates=memory,
            ),
            ("n_gen", 100),
            seed=1,
        )
        return problem

    first = run().measured
    assert len(first) == len(set(first)) == 2000
    assert run().measured == first


@pytest.mark.parametrize("n", [5, 12, 15])
def test_ctaea_begins_with_different_solutions(n: int) -> None:
    problem = groupings(4)  # 15 groupings
    directions = get_reference_directions("das-dennis", 2, n_partitions=n - 1)
    result = minimize(problem, CTAEA(directions, **problem.operators()), ("n_gen", 6), seed=1)
    assert len(result.F)
    again = minimize(problem, CTAEA(directions, **problem.operators()), ("n_gen", 6), seed=1)
    assert result.pop.get("X").tobytes() == again.pop.get("X").tobytes()


def test_ctaea_says_when_there_are_more_directions_than_solutions() -> None:
    problem = groupings(4)
    directions = get_reference_directions("das-dennis", 2, n_partitions=15)
    with pytest.raises(SDCError, match=r"15 different solutions .* 16 directions: give fewer directions"):
        minimize(problem, CTAEA(directions, **problem.operators()), ("n_gen", 6), seed=1)
    few = Population.new("X", problem.genomes(np.zeros((3, 4), dtype=int)))
    with pytest.raises(SDCError, match="1 different"):
        minimize(problem, CTAEA(directions, **{**problem.operators(), "sampling": few}), ("n_gen", 6), seed=1)
