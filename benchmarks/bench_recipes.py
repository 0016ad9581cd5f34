"""Recipes: candidates per second, beside the plain definition; and fronts beside the sweeps of single methods.

    SDC_DATA_HOME=… python benchmarks/bench_recipes.py                  # speed
    SDC_DATA_HOME=… python benchmarks/bench_recipes.py --fronts [--generations 60] [--seeds 3] [--files people census]

Speed: the candidates of a search that has been run before, so that what it masks is known (`again`), those of its first
run, and one candidate after the other by the plain definition: every method applied anew and the public measures taken
of the file. Fronts: hypervolume to (100, 100) in percent of that square, of all sweeps of one method together, of the
best single method, and of the searches that start from the sweeps; and whether a front covers every sweep point.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import Microdata, RecipeProblem, load
from sdc_problems.evaluators import hypervolume, il_mixed, interval_disclosure_rank
from sdc_problems.evaluators.mixed.measures import dr_mixed

FILES = {
    "people": ("age", "hours", "education", "marital_status", "income"),
    "census": None,
    "tarragona": None,
    "german_credit": ("checking_status", "duration", "savings_status", "employment", "age", "housing"),
    "adult": (
        "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week",
    ),
}  # fmt: skip
POP, GENERATIONS = 50, 8


def table(name: str) -> Microdata:
    """Return a table with the columns to protect as quasi-identifiers."""
    found = load(name)
    columns = FILES[name]
    return found.data if columns is None else found.data.with_roles(quasi_identifiers=columns)


def searched(problem: RecipeProblem, generations: int, seed: int = 1, start: np.ndarray | None = None) -> np.ndarray:
    """Front of NSGA-II with the problem's own operators."""
    operators = problem.operators()
    if start is not None:
        operators["sampling"] = start
    size = POP if start is None else max(POP, len(start))
    algorithm = NSGA2(pop_size=size, n_offsprings=POP, **operators)
    front: np.ndarray = minimize(problem, algorithm, ("n_gen", generations), seed=seed).F
    return front


def plainly(problem: RecipeProblem, x: np.ndarray, *, linkage: bool) -> None:
    """Apply every step and take the measures of the file, from scratch."""
    fresh = RecipeProblem(problem.data, columns=problem.attributes, threads=1)
    file = fresh.engine.file(fresh.decode(x).steps)
    X, Y = fresh.engine.mixed.X, np.column_stack([column.values for column in file])
    kinds, sizes = fresh.engine.mixed.kinds, list(fresh.engine.mixed.sizes)
    il_mixed(X, Y, kinds=kinds, n_categories=sizes)
    if linkage:
        dr_mixed(X, Y, kinds=kinds, n_categories=sizes)
    else:
        interval_disclosure_rank(X, Y, kinds=kinds)


def speed(name: str) -> None:
    """Print candidates per second, with and without linkage."""
    data = table(name)
    for linkage in (False, True):
        problem = RecipeProblem(data, objectives=("il_mixed", "dr_mixed" if linkage else "id_rank"))
        first, again = (_seconds(partial(searched, problem, GENERATIONS)) for _ in range(2))
        rows = problem.operators()["sampling"](problem, 8, random_state=np.random.default_rng(1)).get("X")
        plain = sum(_seconds(partial(plainly, problem, x, linkage=linkage)) for x in rows) / len(rows)
        n, what = POP * GENERATIONS, "with linkage" if linkage else "without linkage"
        print(
            f"{name:14} {len(data):>6} x {len(problem.attributes):<3} {what:16}"
            f" first {n / first:8.1f}/s   again {n / again:8.1f}/s   plain {1 / plain:7.2f}/s   again : plain"
            f" {n / again * plain:8.1f}",
            flush=True,
        )


def fronts(name: str, generations: int, seeds: int) -> None:
    """Print hypervolumes of sweeps and searches."""
    problem = RecipeProblem(table(name))
    named = problem.baselines()
    start = np.array(list(named.values()))
    F = problem.evaluate(start)
    methods = [key.split(" ")[0] for key in named]
    single = {m: _area(F[[each == m for each in methods]]) for m in dict.fromkeys(methods)}
    best = max(single, key=lambda m: single[m])
    print(f"{name:14} all sweeps {_area(F):6.2f}   best single method {best} {single[best]:6.2f}", end="")
    for seed in range(1, seeds + 1):
        front = searched(problem, generations, seed, start)
        covered = all((front <= f + 1e-9).all(axis=1).any() for f in F)
        print(f"   seed {seed}: {_area(front):6.2f}{'' if covered else ' (a sweep point is not covered)'}", end="")
    print(flush=True)


def _area(F: np.ndarray) -> float:
    return 100.0 * float(hypervolume(np.minimum(F, 100.0) / 100.0, np.ones(2)))


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    """Read the arguments, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--files", nargs="+", choices=FILES, default=["census", "adult"])
    given = parser.parse_args()
    for name in given.files:
        if given.fronts:
            fronts(name, given.generations, given.seeds)
        else:
            speed(name)


if __name__ == "__main__":
    main()
