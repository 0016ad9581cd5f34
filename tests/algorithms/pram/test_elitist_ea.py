from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems import Microdata, PRAMProblem, SDCError
from sdc_problems.algorithms import ElitistEA
from sdc_problems.operators.matrix import gray_encode


def problem(**options: Any) -> PRAMProblem:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "health": rng.choice(4, size=90, p=[0.5, 0.3, 0.15, 0.05]).astype(str),
            "town": rng.choice(["O", "R"], size=90),
        }
    )
    return PRAMProblem(
        Microdata.from_frame(frame), columns=["health", "town"], **{"objectives": ("score_mean",), **options}
    )


class Trace(Callback):
    """Current candidate and its score after every generation."""

    def __init__(self) -> None:
        super().__init__()
        self.X: list[np.ndarray] = []
        self.F: list[float] = []

    def notify(self, algorithm: Any) -> None:
        self.X.append(algorithm.pop[0].X.copy())
        self.F.append(float(algorithm.pop[0].F[0]))


def run(algorithm: ElitistEA, n_gen: int = 120, seed: int = 1, **options: Any) -> tuple[Any, Trace]:
    trace = Trace()
    return minimize(problem(**options), algorithm, ("n_gen", n_gen), seed=seed, callback=trace), trace


def test_keeps_one_candidate_that_only_gets_better() -> None:
    result, trace = run(ElitistEA())
    assert len(result.pop) == 1
    assert result.algorithm.evaluator.n_eval == 120, "one evaluation per generation"
    assert (np.diff(trace.F) <= 0).all()
    changes = sum((a != b).any() for a, b in zip(trace.X, trace.X[1:], strict=False))
    assert changes == result.algorithm.accepted > 0
    assert result.F[0] == trace.F[-1] == problem().evaluate(result.X)[0]


def test_starts_from_the_frequency_based_matrices() -> None:
    _, trace = run(ElitistEA(), n_gen=1)
    np.testing.assert_array_equal(trace.X[0], problem().baselines()["frequency-based, p = 0.5"])
    other = problem().baselines()["identity"]
    _, trace = run(ElitistEA(start=other), n_gen=1)
    np.testing.assert_array_equal(trace.X[0], other)


def test_steps_are_single_bits_or_swaps() -> None:
    _, trace = run(ElitistEA(crossover_prob=0.0), n_gen=300)
    for before, after in zip(trace.X, trace.X[1:], strict=False):
        (changed,) = np.nonzero(before != after)
        assert len(changed) <= 1
        for gene in changed:
            assert (int(gray_encode(before[gene])) ^ int(gray_encode(after[gene]))).bit_count() == 1
    _, trace = run(ElitistEA(crossover_prob=1.0))
    for before, after in zip(trace.X, trace.X[1:], strict=False):
        np.testing.assert_array_equal(np.sort(before), np.sort(after))


def test_same_seed_same_bytes_and_the_problems_operators_work() -> None:
    for make in (ElitistEA, lambda: ElitistEA(**problem().operators())):
        one, two = (run(make(), n_gen=40, seed=6)[0] for _ in range(2))
        assert one.X.tobytes() == two.X.tobytes()
        assert one.X.dtype == np.int16
        assert one.F.tobytes() == two.F.tobytes()
    assert run(ElitistEA(), seed=7)[0].X.tobytes() != run(ElitistEA(), seed=8)[0].X.tobytes()


def test_ends_by_itself_after_the_papers_generations() -> None:
    result = minimize(problem(evaluation="expected"), ElitistEA(), seed=1)
    assert result.algorithm.evaluator.n_eval == 1125


def test_bad_input_is_refused() -> None:
    with pytest.raises(SDCError, match="2 objectives"):
        run(ElitistEA(), objectives=("il_categorical", "dr_categorical"))
    with pytest.raises(SDCError, match="crossover_prob"):
        ElitistEA(crossover_prob=1.5)
    with pytest.raises(SDCError, match="not both"):
        ElitistEA(start=[0], sampling=problem().operators()["sampling"])
    with pytest.raises(SDCError, match="expected one row"):
        run(ElitistEA(start=np.zeros((2, 20))))
