from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems import Microdata, PRAMEquationProblem, SDCError
from sdc_problems.algorithms import SteadyStateGP
from sdc_problems.operators.duplicates import row_keys
from sdc_problems.operators.tree import repaired


def problem(**options: Any) -> PRAMEquationProblem:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "health": rng.choice(4, size=90, p=[0.5, 0.3, 0.15, 0.05]).astype(str),
            "town": rng.choice(["O", "R"], size=90),
        }
    )
    given = {"objectives": ("score_max",), "evaluation": "expected", "depth": 4, **options}
    return PRAMEquationProblem(Microdata.from_frame(frame), columns=["health", "town"], **given)


class Trace(Callback):
    def __init__(self) -> None:
        super().__init__()
        self.pops: list[np.ndarray] = []
        self.F: list[np.ndarray] = []

    def notify(self, algorithm: Any) -> None:
        self.pops.append(algorithm.pop.get("X").copy())
        self.F.append(algorithm.pop.get("F")[:, 0].copy())


def run(algorithm: SteadyStateGP, n_gen: int = 60, seed: int = 1, **options: Any) -> tuple[Any, Trace]:
    trace = Trace()
    return minimize(problem(**options), algorithm, ("n_gen", n_gen), seed=seed, callback=trace), trace


def test_members_are_replaced_by_better_ones_only() -> None:
    result, trace = run(SteadyStateGP())
    for before, after in zip(trace.F, trace.F[1:], strict=False):
        assert len(before) == 6
        changed = before != after
        assert (after[changed] < before[changed]).all()
        assert changed.sum() <= 2, "at most the losers of a tournament of four"
        assert before.min() in after or after.min() < before.min(), "the best is kept"
    assert result.F[0] == trace.F[-1].min()


def test_no_equation_is_in_the_population_twice_and_all_are_valid() -> None:
    _, trace = run(SteadyStateGP(**problem().operators()))
    grammar = problem().grammar
    for X in trace.pops:
        assert len(set(row_keys(X))) == len(X)
        for row in X:
            np.testing.assert_array_equal(grammar.row(repaired(row, grammar)), row)


def test_same_seed_same_bytes() -> None:
    one, two = (run(SteadyStateGP(pop_size=8, tournament=6), n_gen=30, seed=4)[0] for _ in range(2))
    assert one.pop.get("X").tobytes() == two.pop.get("X").tobytes()


def test_tiny_grammars_do_not_loop_for_ever() -> None:
    """Five equations of one level exist: fewer than the population asks for."""
    result, trace = run(SteadyStateGP(), n_gen=5, depth=1)
    assert len(trace.pops[0]) == 5
    assert np.isfinite(result.F).all()


def test_bad_input_is_refused() -> None:
    with pytest.raises(SDCError, match="2 objectives"):
        run(SteadyStateGP(), objectives=("il_categorical", "dr_categorical"))
    for tournament in (3, 8):
        with pytest.raises(SDCError, match="even number"):
            SteadyStateGP(tournament=tournament)
    with pytest.raises(SDCError, match="pop_size"):
        SteadyStateGP(pop_size=1)
