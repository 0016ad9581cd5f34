"""GOMM's paper run beside evaluating the definition for each of its candidates, with the cache's hit rates.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_gomm.py [--k 25] [--every 20] [--seeds 10]

The paper's run is 200 + 100·100 = 10,200 evaluations; its time includes the whole search: operators, selection, log.
The definition is timed in the same run on every twentieth candidate of that search, and must give the same numbers
(records exactly as near to another protected record as to their own are ties for the engine and for the plain
definition; the compiled linkage compares without a tolerance, so that rounding decides there):

- plain: numpy as one writes it down; MDAV, the protected table, all distances of all records to all protected ones
  (what the bar of twenty times is about);
- compiled: the same steps by the package's compiled functions for one candidate at a time, which stop a record's
  search at the first protected record that is as near as its own.

At the end, NSGA-II on ten attributes, whose exact front is known from trying all 115,975 groupings.

Wall times depend on what else the machine does; CPU times less so.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from plain import plain_mdav
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems import GOMMProblem
from sdc_problems.algorithms import GOMM
from sdc_problems.datasets import load
from sdc_problems.evaluators.disclosure_risk import interval_disclosure_value
from sdc_problems.evaluators.grouping import TIE
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.methods import mdav
from sdc_problems.methods.partition._attribute_groups import CENSUS, WATER_TREATMENT

BAR = {"water_treatment": 15.0, "census": 30.0}
TIMES_FASTER = 20.0

Definition = Callable[[np.ndarray, np.ndarray, int], tuple[float, float, float]]


def protected(Z: np.ndarray, row: np.ndarray, cluster: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    Y = np.empty_like(Z)
    for group in range(row.max() + 1):
        columns = np.flatnonzero(row == group)
        labels = cluster(Z[:, columns])
        sizes = np.bincount(labels)
        for j in columns:
            Y[:, j] = (np.bincount(labels, weights=Z[:, j]) / sizes)[labels]
    return Y


def plain(Z: np.ndarray, row: np.ndarray, k: int) -> tuple[float, float, float]:
    Y = protected(Z, row, lambda part: plain_mdav(part, k))
    distances = np.sqrt(((Z[:, None, :] - Y[None, :, :]) ** 2).sum(axis=2))
    own = np.diag(distances).copy()
    np.fill_diagonal(distances, np.inf)
    linked = distances.min(axis=1) > own + TIE * (1 + own)
    il = 100 * ((Z - Y) ** 2).sum() / (Z**2).sum()
    return il, 100 * (100 * np.abs(Y - Z) <= 10 * np.abs(Z)).mean(), 100 * linked.mean()


def compiled(Z: np.ndarray, row: np.ndarray, k: int) -> tuple[float, float, float]:
    Y = protected(Z, row, lambda part: mdav(part, k, standardize=False))
    il = 100 * ((Z - Y) ** 2).sum() / (Z**2).sum()
    return il, interval_disclosure_value(Z, Y), distance_linkage(Z, Y, ties="strict", standardize=False)


class Candidates(Callback):
    """Everything that was evaluated, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[np.ndarray] = []

    def notify(self, algorithm: GOMM) -> None:
        self.rows.append(algorithm.off.get("X"))


def bench(name: str, columns: tuple[str, ...], k: int, every: int) -> None:
    data = load(name).data.with_roles(quasi_identifiers=columns)
    warm = GOMMProblem(data, k, objectives=("score_mean",))  # compiles the kernels
    minimize(warm, GOMM(pop_size=10, crossovers=1, mutations=1), ("n_gen", 1), seed=0)
    Z = warm.engine.Z
    compiled(Z, np.zeros(len(columns), dtype=int), k)

    problem = GOMMProblem(data, k, objectives=("score_mean",))
    wall, cpu = time.perf_counter(), time.process_time()
    result = minimize(problem, GOMM(), ("n_gen", 100), seed=1, callback=Candidates())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    rows = np.concatenate(result.algorithm.callback.rows)
    stats = str(problem.engine.stats).replace("; ", "\n    ")
    print(f"\n{name}: {Z.shape[0]} records × {Z.shape[1]} attributes, k = {k}, {len(rows)} evaluations")
    print(f"  GOMM, everything included: {wall:.1f} s wall, {cpu:.1f} s CPU (bar: {BAR[name]:.0f} s)")
    print(f"    {stats}")

    sample = rows[::every]
    measured = problem.engine.measure(sample)
    for definition in (plain, compiled):
        lasted, worked = time.perf_counter(), time.process_time()
        expected = np.array([definition(Z, row, k) for row in sample])
        scale = len(rows) / len(sample)
        lasted, worked = scale * (time.perf_counter() - lasted), scale * (time.process_time() - worked)
        bar = f" (bar: {TIMES_FASTER:.0f} ×)" if definition is plain else ""
        print(
            f"  definition, {definition.__name__}: {lasted:.1f} s wall, {worked:.1f} s CPU ({len(sample)} candidates);"
            f" {lasted / wall:.1f} × wall, {worked / cpu:.1f} × CPU{bar}"
        )
        apart = np.abs(measured - expected).max(axis=0)
        print(f"    largest difference of il {apart[0]:.0e}, id {apart[1]:.0e}, dld {apart[2]:.0e}")
    figures = problem.figures(result.X)
    print(f"  best score {figures['score_mean']:.2f} with {figures['n_groups']:.0f} groups")


def bench_front(k: int, seeds: int) -> None:
    """Share of the exact front of Census' first ten columns that NSGA-II finds within the paper's evaluations."""
    data = load("census").data
    problem = GOMMProblem(data.with_roles(quasi_identifiers=data.names[:10]), k)
    wall, cpu = time.perf_counter(), time.process_time()
    front = problem.enumerate_front().F
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"\ncensus, first 10 columns, k = {k}: {len(front)} points on the front, {wall:.1f} s wall, {cpu:.1f} s CPU")
    exact = {f.tobytes() for f in front}
    shares = []
    for seed in range(seeds):
        result = minimize(problem, NSGA2(pop_size=200, **problem.operators()), ("n_eval", 10_200), seed=seed)
        shares.append(len(exact & {f.tobytes() for f in result.F}) / len(exact))
    print(f"  NSGA-II, 10,200 evaluations: {', '.join(f'{share:.3f}' for share in shares)} of them (bar: 0.95)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, default=25)
    parser.add_argument("--every", type=int, default=20, help="time the definition on every n-th candidate")
    parser.add_argument("--seeds", type=int, default=10, help="runs of NSGA-II on the table whose front is known")
    options = parser.parse_args()
    bench("water_treatment", WATER_TREATMENT, options.k, options.every)
    bench("census", CENSUS, options.k, options.every)
    bench_front(options.k, options.seeds)


if __name__ == "__main__":
    main()
