"""PBGSearch against looking at every node, in one run: what it costs, and what it finds of the exact front.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_lattice_search.py          Adult, 17,920 nodes, the paper's objectives
    SDC_DATA_HOME=… python benchmarks/tasks/bench_lattice_search.py --large  Adult with 11 attributes, 2,688,000 nodes

All times are CPU seconds of this process and its threads.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, load
from sdc_problems.algorithms import PBGSearch
from sdc_problems.evaluators.indicators import representation_ratio
from sdc_problems.hierarchy import suggest

SETS = (("k", "glm"), ("k", "l", "glm"), ("spread_k", "glm"), ("spread_k", "spread_l", "glm"))
MORE = ("occupation", "hours-per-week", "relationship")  # attributes of the large lattice beside the usual ones
T = TypeVar("T")


def cpu(call: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def measured_again(problem: PBGProblem, X: np.ndarray, batch: int) -> float:
    """CPU seconds of measuring these nodes in batches, and nothing else."""
    fresh = PBGProblem(
        problem.data, problem.hierarchies, objectives=[o.name for o in problem.objectives],
        sensitive=problem.sensitive, suppression="budget",
    )  # fmt: skip
    fresh.evaluate(X[:1])
    return cpu(lambda: [fresh.evaluate(X[i : i + batch]) for i in range(0, len(X), batch)])[0]


def searched(problem: PBGProblem, budget: int, seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    """CPU seconds of a search, the nodes that it measured, and F of its archive."""
    nodes: list[Any] = []
    search = PBGSearch(budget)
    seconds, result = cpu(lambda: minimize(problem, search, seed=seed, callback=lambda a: nodes.append(a.pop.get("X"))))
    return seconds, np.concatenate(nodes), result.F


def compare(problem: PBGProblem, budgets: Sequence[int], seeds: int) -> None:
    names = ", ".join(o.name for o in problem.objectives)
    everything, front = cpu(lambda: problem.enumerate_front(ties=True, limit=problem.n_nodes))
    print(f"{names}: {problem.n_nodes:,} nodes, {len(front.F)} of the front; all measured in {everything:.2f} CPU s")
    searched(problem, 100, 1)  # compiles
    for budget in budgets:
        runs = [searched(problem, budget, seed) for seed in range(1, seeds + 1)]
        took = np.mean([seconds for seconds, _, _ in runs])
        ratios = [representation_ratio(F, front.F, 1) for _, _, F in runs]
        alone = measured_again(problem, runs[-1][1], 16)
        print(
            f"  {budget:6,} nodes ({budget / problem.n_nodes:.1%}): {took:6.2f} CPU s, {alone:5.2f} of them"
            f" for measuring; {1000 * (took - alone) / budget:.2f} ms of model per node; share of the front"
            f" {np.mean(ratios):.4f}, least {min(ratios):.4f} of {seeds} seeds",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    adult = load("adult", download=False)
    if chosen.large:
        data = adult.data.with_roles(quasi_identifiers=[*adult.hierarchies, *MORE])
        hierarchies = {**adult.hierarchies, **{name: suggest(data, name).hierarchy for name in MORE}}
        compare(PBGProblem(data, hierarchies, objectives=SETS[0], suppression="budget"), (1000, 3000, 6000), 1)
    else:
        for objectives in SETS:
            problem = PBGProblem(
                adult.data, adult.hierarchies, objectives=objectives, sensitive="occupation", suppression="budget"
            )
            compare(problem, (537, 896), chosen.seeds)
