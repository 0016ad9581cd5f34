"""The genetic algorithm for partitions, as pymoo runs it and compiled, and the hybrid: never worse than its start."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymoo.core.population import Population
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, Microdata, SDCError
from sdc_problems.algorithms import HybridMicroaggregation, SolanasGA
from sdc_problems.algorithms.microaggregation.solanas_ga import PenalisedSurvival, evolve
from sdc_problems.evaluators.information_loss import sse, z_scores
from sdc_problems.methods import exhaustive, mdav, v_mdav


def random_table(n: int, d: int, seed: int) -> np.ndarray:
    """Values from -10000 to 10000 by simple random sampling, as in the paper."""
    return np.random.default_rng(seed).integers(-10_000, 10_001, size=(n, d)).astype(float)


def problem_of(X: np.ndarray, k: int = 3, **options: object) -> MicroaggregationProblem:
    names = [f"v{j}" for j in range(X.shape[1])]
    data = Microdata.from_frame(pd.DataFrame(X, columns=names), quasi_identifiers=names)
    return MicroaggregationProblem(data, k, **options)


# -- compiled ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 10])
def test_the_optimum_of_eleven_records_in_100_seeds(d: int) -> None:
    X = random_table(11, d, seed=d)
    best = sse(z_scores(X), exhaustive(X, 3))
    runs = [evolve(X, 3, rng=np.random.default_rng(seed), epochs=600, pop_size=30) for seed in range(100)]
    assert sum(abs(run.sse - best) < 1e-9 for run in runs) >= 95


@pytest.mark.parametrize(("n", "epochs"), [(20, 2_000), (35, 10_000), (50, 20_000)])
def test_better_than_mdav_at_the_papers_sizes(n: int, epochs: int) -> None:
    X = random_table(n, 2, seed=n)
    found = evolve(X, 3, rng=np.random.default_rng(1), epochs=epochs, pop_size=30)
    assert found.sse < sse(z_scores(X), mdav(X, 3))
    assert 0 < found.epoch <= epochs


@given(seed=st.integers(0, 10**6), n=st.integers(6, 30), k=st.integers(2, 3), mutation=st.sampled_from([0.0, 0.1, 1.0]))
def test_what_it_says_is_what_it_found(seed: int, n: int, k: int, mutation: float) -> None:
    X = random_table(n, 2, seed)
    start = mdav(X, k)
    Z = z_scores(X)
    options = {"epochs": 30, "pop_size": 6, "mutation_prob": mutation}
    found = evolve(X, k, rng=np.random.default_rng(seed), start=start, **options)
    again = evolve(X, k, rng=np.random.default_rng(seed), start=start, **options)
    assert found.labels.tobytes() == again.labels.tobytes()
    assert found.sse == pytest.approx(sse(Z, found.labels), rel=1e-9)
    assert found.sse <= sse(Z, start) * (1 + 1e-12)
    assert k <= np.bincount(found.labels).min() <= np.bincount(found.labels).max() <= 2 * k - 1


def test_start_must_be_valid() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(SDCError, match="start has a group outside 3 to 5"):
        evolve(random_table(9, 2, 1), 3, rng=rng, start=[0] * 9)
    with pytest.raises(SDCError, match="start has 3 entries"):
        evolve(random_table(9, 2, 1), 3, rng=rng, start=[0] * 3)
    with pytest.raises(SDCError, match="mutation_prob"):
        evolve(random_table(9, 2, 1), 3, rng=rng, mutation_prob=2.0)


# -- pymoo ------------------------------------------------------------------------------------------------------------


def test_pymoos_ga_finds_the_optimum_of_eleven_records() -> None:
    X = random_table(11, 2, seed=2)
    problem = problem_of(X)
    best = sse(z_scores(X), exhaustive(X, 3))
    found = [minimize(problem, SolanasGA(pop_size=50), ("n_gen", 80), seed=seed).F[0] for seed in range(5)]
    assert sum(abs(f - best) < 1e-9 for f in found) >= 4


@pytest.mark.slow
def test_pymoos_ga_finds_the_optimum_of_eleven_records_in_100_seeds() -> None:
    X = random_table(11, 2, seed=2)
    problem = problem_of(X)
    best = sse(z_scores(X), exhaustive(X, 3))
    found = [minimize(problem, SolanasGA(), ("n_gen", 100), seed=seed).F[0] for seed in range(100)]
    assert sum(abs(f - best) < 1e-9 for f in found) >= 95


def test_rows_outside_the_limits_have_no_fitness() -> None:
    problem = problem_of(random_table(9, 2, 1))
    X = np.array(
        [[0, 0, 0, 0, 0, 0, 1, 1, 1], [0, 1, 2] * 3, [2, 0, 1] * 3, [0, 0, 0, 1, 1, 1, 2, 2, 2]], dtype=np.int16
    )
    pop = Population.new("X", X)
    pop.set("F", np.array([[0.0], [2.0], [2.0], [5.0]]))
    kept = PenalisedSurvival().do(problem, pop, n_survive=3)
    assert kept.get("X").tolist() == X[[1, 3, 0]].tolist()  # the clone of the second row comes last
    assert kept.get("sdc_fitness").tolist() == [1 / 3, 1 / 6, 0.0]


def test_one_objective_only() -> None:
    problem = problem_of(random_table(12, 2, 1), objectives=("il_sse", "dbrl"))
    for algorithm in (SolanasGA(pop_size=10), HybridMicroaggregation(K=6)):
        with pytest.raises(SDCError, match="2 objectives"):
            minimize(problem, algorithm, ("n_gen", 2), seed=1)


# -- the hybrid -------------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 80),
    k=st.integers(2, 4),
    times=st.integers(2, 5),
    heuristic=st.sampled_from([None, lambda Z, k: v_mdav(Z, k, standardize=False)]),
)
def test_lemma_1_the_two_step_hybrid_is_never_worse_than_its_heuristic(seed, n, k, times, heuristic) -> None:
    X = random_table(n, 2, seed)
    problem = problem_of(X, k)
    options = {} if heuristic is None else {"heuristic": heuristic}
    hybrid = HybridMicroaggregation(K=times * k, epochs=20, **options)
    result = minimize(problem, hybrid, seed=seed)
    plain = (heuristic or (lambda Z, k: mdav(Z, k, standardize=False)))(z_scores(X), k)
    assert result.F[0] <= sse(z_scores(X), plain) * (1 + 1e-12)
    assert k <= np.bincount(result.X).min() <= np.bincount(result.X).max() <= 2 * k - 1


def test_macrogroups_are_searched_alike_by_any_number_of_workers() -> None:
    problem = problem_of(random_table(120, 3, 5))
    runs = [
        minimize(problem, HybridMicroaggregation(K=15, epochs=300, workers=workers), ("n_gen", 3), seed=4)
        for workers in (1, 3)
    ]
    assert runs[0].X.tobytes() == runs[1].X.tobytes()
    assert runs[0].F[0] < 0.98 * problem.evaluate(problem.baselines()["MDAV"])[0]


def test_more_generations_go_on_from_the_best() -> None:
    problem = problem_of(random_table(90, 2, 6))
    hybrid = HybridMicroaggregation(K=30, epochs=3000)
    loss = [minimize(problem, hybrid, ("n_gen", n), seed=2).F[0] for n in (1, 2, 3)]
    assert loss[2] < loss[1] < loss[0] == problem.evaluate(problem.baselines()["MDAV"])[0]


def test_one_step_cuts_the_records_directly() -> None:
    problem = problem_of(random_table(60, 2, 7))
    result = minimize(problem, HybridMicroaggregation(K=12, steps=1, epochs=500), seed=1)
    assert 3 <= np.bincount(result.X).min() <= np.bincount(result.X).max() <= 5


def test_what_the_hybrid_refuses() -> None:
    with pytest.raises(SDCError, match="steps must be 1 or 2"):
        HybridMicroaggregation(steps=3)
    with pytest.raises(SDCError, match="objective of HybridMicroaggregation"):
        minimize(problem_of(random_table(12, 2, 1), objectives=("dbrl",)), HybridMicroaggregation(), seed=1)
    frame = pd.DataFrame({"town": list("abc") * 4, "age": range(12)})
    mixed = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["town", "age"]), 3)
    with pytest.raises(SDCError, match="numeric quasi-identifiers"):
        minimize(mixed, HybridMicroaggregation(), seed=1)
