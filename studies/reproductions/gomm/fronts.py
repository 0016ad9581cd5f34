"""Fronts beyond the thesis: its operators with several objectives, compared with pymoo's operators for integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems import GOMMProblem
from sdc_problems.studies.reproductions.gomm.runs import Case, Scale

POP_SIZE = 100
K = 25
OURS, PLAIN = "grouping operators", "integer operators"
STUDIES = {
    "NSGA-II on IL and DR": ("il_sse", "dr_linkage"),
    "NSGA-III on IL, ID and DLD": ("il_sse", "id_value", "dld"),
}


def plain_operators() -> dict[str, Any]:
    """Return pymoo's operators for integer variables, with the settings of its documentation."""
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling

    return {
        "sampling": IntegerRandomSampling(),
        "crossover": SBX(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        "mutation": PM(prob=1.0, eta=3.0, vtype=float, repair=RoundingRepair()),
        "eliminate_duplicates": True,
    }


def _algorithm(n_obj: int, operators: dict[str, Any], pop_size: int) -> Any:
    if n_obj == 2:
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(pop_size=pop_size, **operators)
    from pymoo.algorithms.moo.nsga3 import NSGA3
    from pymoo.util.ref_dirs import get_reference_directions

    directions = get_reference_directions("das-dennis", n_obj, n_partitions=12)
    return NSGA3(directions, pop_size=max(pop_size, len(directions)), **operators)


@dataclass(frozen=True)
class FrontRun:
    """Non-dominated solutions of a run, and the hypervolume by evaluations, in percent of its box."""

    front: NDArray[np.float64]
    evaluations: NDArray[np.int64]
    volumes: NDArray[np.float64]


def run_front(problem: GOMMProblem, operators: dict[str, Any], evaluations: int, seed: int) -> FrontRun:
    """Run NSGA-II or NSGA-III and keep an unbounded front beside the population."""
    import moocore
    from pymoo.core.callback import Callback
    from pymoo.optimize import minimize

    pop_size = min(POP_SIZE, evaluations // 4)
    corner = np.full(problem.n_obj, 100.0)

    class Watch(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.front = np.empty((0, problem.n_obj))
            self.counts: list[int] = []
            self.volumes: list[float] = []

        def notify(self, algorithm: Any) -> None:
            seen = np.unique(np.concatenate([self.front, algorithm.off.get("F")]), axis=0)
            self.front = seen[moocore.is_nondominated(seen)]
            self.counts.append(algorithm.evaluator.n_eval)
            self.volumes.append(100 * moocore.hypervolume(self.front, ref=corner) / float(corner.prod()))

    result = minimize(
        problem, _algorithm(problem.n_obj, operators, pop_size), ("n_eval", evaluations), seed=seed, callback=Watch()
    )
    watch = result.algorithm.callback
    grid = np.arange(pop_size, evaluations + 1, pop_size)
    last = np.searchsorted(watch.counts, grid, side="right") - 1
    return FrontRun(watch.front, grid, np.array(watch.volumes)[np.maximum(last, 0)])


def run_study(case: Case, scale: Scale, say: Callable[[str], None]) -> dict[str, dict[str, list[FrontRun]]]:
    """Run both sets of operators in both algorithms, with the same seeds."""
    found: dict[str, dict[str, list[FrontRun]]] = {}
    for title, objectives in STUDIES.items():
        problem = case.problem(K, objectives)
        found[title] = {}
        for name, make in ((OURS, problem.operators), (PLAIN, plain_operators)):
            say(f"{case.title}, k = {K}: {title}, {name}, {scale.study_seeds} seed(s)")
            seeds = range(1, scale.study_seeds + 1)
            found[title][name] = [run_front(problem, make(), scale.study_evaluations, seed) for seed in seeds]
    return found


def covered(front: NDArray[np.float64], point: NDArray[np.float64]) -> bool:
    """Whether a point of the front is at least as good in every objective."""
    return bool((front <= point).all(axis=1).any())
