"""``require=`` in the constructor of every problem, and what enumerations and our own searches make of it."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.optimize import minimize

import sdc_problems
from sdc_problems import (
    GOMMProblem,
    Hierarchy,
    MaskingProblem,
    MicroaggregationProblem,
    Microdata,
    PBGProblem,
    PRAMEquationProblem,
    PRAMProblem,
    SDCError,
    SDCProblem,
)
from sdc_problems.algorithms import GOMM, PBGEA, ElitistEA, MemeticMicroaggregation, PBGSearch, SteadyStateGP
from sdc_problems.front import minimal

RNG = np.random.default_rng(4)
NUMBERS = Microdata.from_frame(
    pd.DataFrame(RNG.normal(size=(40, 4)).round(2), columns=list("abcd")), quasi_identifiers=list("abcd")
)
FEW = Microdata.from_frame(NUMBERS.frame().iloc[:8], quasi_identifiers=list("abcd"))
WORDS = Microdata.from_frame(
    pd.DataFrame(
        {
            "sex": RNG.choice(["f", "m"], 40),
            "town": RNG.choice(["Olot", "Reus", "Vic"], 40),
            "flu": RNG.choice(["yes", "no"], 40),
        }
    ),
    quasi_identifiers=["sex", "town"],
    sensitive=["flu"],
)
TREES = {name: Hierarchy.suppression(WORDS.categories(name)) for name in ("sex", "town")}

MADE: list[tuple[Any, dict[str, float]]] = [
    (lambda **options: PBGProblem(WORDS, TREES, max_suppression=0, **options), {"l": 2, "glm_percent": 60}),
    (lambda **options: GOMMProblem(NUMBERS, 3, **options), {"n_groups": 3, "dld": 30}),
    (lambda **options: MicroaggregationProblem(NUMBERS, 3, **options), {"il_sse": 40, "dbrl": 50}),
    (lambda **options: MaskingProblem(WORDS, **options), {"dbil": 40, "id_rank": 60}),
    (lambda **options: PRAMProblem(WORDS, columns=["sex"], **options), {"entropy": 20, "dbil": 40}),
    (lambda **options: PRAMEquationProblem(WORDS, columns=["sex", "town"], **options), {"entropy": 20, "dbil": 40}),
]


@pytest.mark.parametrize(("make", "require"), MADE)
def test_every_constructor_takes_requirements_of_what_is_not_optimised(make: Any, require: dict[str, float]) -> None:
    plain, problem = make(), make(require=require)
    assert problem.n_ieq_constr == len(require) == 2
    assert [o.name for o in problem.objectives] == [o.name for o in plain.objectives]
    assert [str(r) for r in problem.requirements] == [
        f"{name} {'>=' if problem.catalogue[name].sense == 'max' else '<='} {bound}" for name, bound in require.items()
    ]
    X = problem.operators()["sampling"](problem, 12, random_state=np.random.default_rng(1)).get("X")
    F, G = problem.evaluate(X, return_values_of=["F", "G"])
    assert F.tobytes() == plain.evaluate(X).tobytes()
    for x, row in zip(X, G, strict=True):
        figures = problem.figures(x)
        signs = [-1.0 if problem.catalogue[name].sense == "max" else 1.0 for name in require]
        wanted = [s * (figures[name] - bound) for s, (name, bound) in zip(signs, require.items(), strict=True)]
        np.testing.assert_allclose(row, wanted, atol=1e-9)


def test_every_problem_of_the_package_takes_it() -> None:
    problems = [getattr(sdc_problems, name) for name in sdc_problems.__all__ if name.endswith("Problem")]
    assert {type(make()) for make, _ in MADE} | {SDCProblem} <= set(problems)
    for problem in problems:
        parameter = inspect.signature(problem.__init__).parameters["require"]
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default is None


@pytest.mark.parametrize(
    ("make", "require"),
    [
        (lambda **options: PBGProblem(WORDS, TREES, max_suppression=0, **options), {"glm_percent": 60}),
        (lambda **options: GOMMProblem(NUMBERS, 3, **options), {"dld": 20}),
        (lambda **options: MicroaggregationProblem(FEW, 2, k_max=3, objectives=("sse", "k"), **options), {"dbrl": 40}),
    ],
)
def test_an_enumeration_keeps_to_the_requirements(make: Any, require: dict[str, float]) -> None:
    plain, problem = make(), make(require=require)
    parts = []
    for X in problem._candidates():
        F, G = problem.evaluate(X, return_values_of=["F", "G"])
        parts.append((X, F, G[:, 0] <= 0))
    front = problem.enumerate_front()
    assert front.F.tolist() == minimal(parts).F.tolist()
    assert 0 < len(front.F)
    assert front.F.tolist() != plain.enumerate_front().F.tolist()
    assert front.n_candidates == plain.enumerate_front().n_candidates


def test_nothing_meets_what_nothing_can_meet() -> None:
    problem = PBGProblem(WORDS, TREES, max_suppression=0, require={"k": 41})
    assert len(problem.enumerate_front().X) == 0
    assert "nothing generalised" in problem.baselines()


@pytest.mark.parametrize(
    ("algorithm", "make"),
    [
        (PBGEA(), MADE[0][0]),
        (PBGSearch(10), MADE[0][0]),
        (GOMM(pop_size=4), MADE[1][0]),
        (MemeticMicroaggregation(), MADE[2][0]),
        (ElitistEA(), lambda **options: PRAMProblem(WORDS, columns=["sex"], objectives=("score_max",), **options)),
        (
            SteadyStateGP(),
            lambda **options: PRAMEquationProblem(WORDS, columns=["sex"], objectives=("score_max",), **options),
        ),
    ],
)
def test_searches_that_cannot_keep_to_requirements_say_so(algorithm: Any, make: Any) -> None:
    problem = make(require={make().objectives[0].name: 1})
    with pytest.raises(SDCError, match=r"searches problems without constraints: .*require=.*NSGA-II"):
        minimize(problem, algorithm, ("n_gen", 1), seed=1)
