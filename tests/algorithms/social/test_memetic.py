"""Memetic search for clusters of nodes: it finds optima that enumeration knows, and the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import SDCError, SocialGraph, SocialGraphProblem
from sdc_problems.algorithms import MemeticSocialGraph
from sdc_problems.algorithms.social.memetic import memetic_social_graph
from sdc_problems.evaluators import hypervolume
from sdc_problems.operators.partition import RecordMutation


def formula(n: int, k: int, objectives: tuple[str, ...], **options: Any) -> SocialGraphProblem:
    """Graph that formulas give."""
    i = np.arange(n)
    people = pd.DataFrame({"id": i, "a": i * (i + 1) // 2 % 4, "b": (i * i % 5) // 2, "c": (3 * i // 2) % 3})
    links = [(a, b) for a in range(n) for b in range(a + 1, n) if (a * a + 3 * a * b + b * b) % 7 in (1, 2)]
    graph = SocialGraph.from_frames(
        people,
        pd.DataFrame(links, columns=["source", "target"]),
        quasi_identifiers=["a", "b", "c"],
        kinds=dict.fromkeys("abc", "nominal"),
    )
    return SocialGraphProblem(graph, k, objectives=objectives, threads=1, **options)


@pytest.mark.parametrize(
    ("n", "k", "objective", "value", "labels"),
    [
        (12, 4, "il_graph", 0.168091, [0, 1, 0, 2, 2, 2, 1, 0, 0, 1, 1, 2]),
        (12, 4, "nsil", 0.570707, None),
        (10, 2, "aamil", 0.052083, None),
        (12, 3, "il_graph", 0.078348, [0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3]),
    ],
)
def test_the_optimum_of_a_small_graph_is_found(
    n: int, k: int, objective: str, value: float, labels: list[int] | None
) -> None:
    problem = formula(n, k, (objective,))
    if k == 4 or objective == "aamil":
        front = problem.enumerate_front(ties=True)
        assert front.F[0, 0] == pytest.approx(value, abs=1e-6)
        if labels is not None:
            assert front.X.tolist() == [labels]
        if n == 10:
            assert front.n_candidates == 7_245
    found = [memetic_social_graph(problem, rng=np.random.default_rng(seed), moves=20_000) for seed in range(20)]
    losses = problem.evaluate(np.array(found))[:, 0]
    assert (losses < value + 1e-6).sum() >= 19
    if labels is not None:
        assert labels in [row.tolist() for row in found]


@pytest.mark.slow
def test_the_optimum_is_found_in_95_of_100_seeds() -> None:
    problem = formula(12, 3, ("il_graph",))
    found = [memetic_social_graph(problem, rng=np.random.default_rng(seed), moves=20_000) for seed in range(100)]
    assert (problem.evaluate(np.array(found))[:, 0] < 0.078349).sum() >= 95


@pytest.mark.slow
def test_all_optima_of_the_graph_of_formulas() -> None:
    problem = formula(12, 3, ("il_graph", "aamil", "mixing", "cdil", "dbil_graph"))
    rows = np.concatenate(list(problem._candidates()))
    assert len(rows) == problem.n_candidates == 48_895
    least = problem.engine.measure(rows, [o.name for o in problem.objectives]).min(axis=0)
    assert least == pytest.approx([0.078348, 0.012821, 0.038462, 0.027778, 0.194444], abs=1e-6)


def test_any_size_may_cost_less_along_links() -> None:
    """The cap on sizes costs nothing in single cells, but in links between categories it may."""
    problem = formula(10, 2, ("aamil",), k_max=5)
    assert problem.n_candidates == 17_721, "all but the one cluster of ten"
    assert problem.enumerate_front().F[0, 0] == pytest.approx(0.041667, abs=1e-6)


def test_the_same_seed_gives_the_same_result_and_its_checkpoint_goes_on() -> None:
    problem = formula(40, 3, ("il_graph",))
    one, two = (minimize(problem, MemeticSocialGraph(move_limit=4_000), seed=5) for _ in range(2))
    assert one.X.tobytes() == two.X.tobytes()
    trajectory = one.algorithm.trajectory
    assert trajectory[-1].moves == 4_000
    assert [m.loss for m in trajectory] == sorted((m.loss for m in trajectory), reverse=True)
    assert one.F[0] == pytest.approx(trajectory[-1].loss)
    assert one.F[0] < 0.95 * min(problem.evaluate(x)[0] for x in problem.baselines().values())
    algorithm = MemeticSocialGraph(move_limit=4_000).setup(problem, seed=5)
    for _ in range(78):
        algorithm.next()
    state = algorithm.checkpoint()
    other = MemeticSocialGraph(move_limit=4_000).setup(problem, seed=6)
    other.next()
    other.restore(state)
    again = other.checkpoint()
    assert all(np.array_equal(state[name], again[name]) for name in state)
    while other.has_next():
        other.next()
    assert other.trajectory[-1].loss <= algorithm.trajectory[-1].loss


def test_refinement_loses_nothing_and_improves_fronts() -> None:
    problem = formula(40, 3, ("il_graph", "nsil"))
    rng = np.random.default_rng(1)
    rows = problem.operators()["sampling"].do(problem, 10, random_state=rng).get("X")
    better = np.array([problem.refined(row, 2_000, rng) for row in rows])
    assert better.dtype == rows.dtype
    assert min(np.bincount(row).min() for row in better) >= 3
    before, after = problem.evaluate(rows), problem.evaluate(better)
    assert ((after < before - 1e-12).any(axis=1)).all()
    single = formula(40, 3, ("ego_risk",))
    np.testing.assert_array_less(
        single.engine.measure(single.refined(rows[0], 2_000, rng)[None, :], ("il_graph",)),
        single.engine.measure(rows[:1], ("il_graph",)),
    )
    volumes = []
    for refine in (0.0, 0.25):
        operators = {**problem.operators(), "mutation": RecordMutation(refine=refine)}
        result = minimize(problem, NSGA2(pop_size=20, **operators), ("n_gen", 15), seed=1)
        volumes.append(hypervolume(result.F, [1.0, 1.0]))
    assert volumes[1] > 1.02 * volumes[0]


def test_what_is_refused() -> None:
    with pytest.raises(SDCError, match="compares one number"):
        minimize(formula(12, 3, ("il_graph", "nsil")), MemeticSocialGraph(), seed=1)
    with pytest.raises(SDCError, match="the objective of MemeticSocialGraph must be one of"):
        minimize(formula(12, 3, ("mixing",)), MemeticSocialGraph(), seed=1)
    with pytest.raises(SDCError, match="move_limit"):
        MemeticSocialGraph(move_limit=0)
