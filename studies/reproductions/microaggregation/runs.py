"""Runs for the reproduction of the two papers on genetic microaggregation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, Microdata, load
from sdc_problems.algorithms import HybridMicroaggregation
from sdc_problems.algorithms.microaggregation.solanas_ga import evolve
from sdc_problems.methods import one_step, two_step
from sdc_problems.parallel import processors

K_MIN = 3
TENTHS = tuple(i / 10 for i in range(11))


@dataclass(frozen=True)
class Scale:
    """Scale of the runs, full or quick.

    Attributes
    ----------
    rates, pop_sizes, runs, epochs
        Grid of the sensitivity analysis: rates of mutation and of crossover, sizes, runs of each setting, epochs
        (five times as many for 50 and 100 records).
    long_runs, long_epochs
        Number of runs of the best setting for each data set, and their epochs (ten times as many for 50 records).
    sizes
        Numbers of records of the larger data sets.
    files, hybrid_epochs
        Files and number of epochs of the hybrid.
    cells
        Reference files and smallest groups for the memetic search.
    cell_seconds, cell_moves
        Its time limit, or its limit of moves.
    bound_seconds
        Time limit for proving a lower bound of the loss of any partition.
    """

    rates: tuple[float, ...] = TENTHS
    pop_sizes: tuple[int, ...] = (10, 40, 70, 100)
    runs: int = 3
    epochs: int = 2_000
    long_runs: int = 10
    long_epochs: int = 10_000
    sizes: tuple[int, ...] = (20, 35, 50, 100)
    files: tuple[str, ...] = ("Scattered", "Clustered", "Census", "EIA")
    hybrid_epochs: int = 10_000
    cells: tuple[tuple[str, int], ...] = tuple(product(("census", "tarragona", "eia"), (3, 5, 10)))
    cell_seconds: float | None = 60.0
    cell_moves: int | None = None
    bound_seconds: float = 60.0


FULL = Scale()
QUICK = Scale(
    rates=(0.0, 0.1, 0.3, 1.0),
    pop_sizes=(10, 50, 100),
    runs=2,
    epochs=300,
    long_runs=3,
    long_epochs=3_000,
    sizes=(20, 35),
    files=("Scattered", "Clustered", "Census"),
    hybrid_epochs=1_000,
    cells=tuple(product(("census", "tarragona"), (3, 10))),
    cell_seconds=None,
    cell_moves=20_000_000,
    bound_seconds=0.0,
)


def random_records(n: int, d: int) -> NDArray[np.float64]:
    """Whole numbers from −10000 to 10000 by simple random sampling, as in the papers."""
    rng = np.random.default_rng([n, d])
    return np.asarray(rng.integers(-10_000, 10_001, size=(n, d)), dtype=np.float64)


def clustered_records(n: int = 1000) -> NDArray[np.float64]:
    """Two attributes; groups of 3 to 5 records around random places, within 400 of each other."""
    rng = np.random.default_rng([n, 2, 7])
    parts: list[NDArray[np.float64]] = []
    left = n
    while left:
        size = min(left, int(rng.integers(3, 6)))
        size = left if left - size in (1, 2) else size
        parts.append(rng.uniform(-10_000, 10_000, size=2) + rng.uniform(-200, 200, size=(size, 2)))
        left -= size
    return rng.permutation(np.concatenate(parts))


def records(name: str) -> NDArray[np.float64]:
    """One of the four files of the hybrid."""
    if name == "Scattered":
        return random_records(1000, 2)
    if name == "Clustered":
        return clustered_records()
    return load(name.lower()).data.values()


def sensitivity_runs(n: int, d: int, scale: Scale) -> pd.DataFrame:
    """One row per run of the grid: mutation, crossover, population, sse, epoch."""
    X = random_records(n, d)
    epochs = scale.epochs * (5 if n >= 50 else 1)
    settings = list(product(scale.rates, scale.rates, scale.pop_sizes, range(scale.runs)))

    def run(job: tuple[int, tuple[float, float, int, int]]) -> dict[str, float]:
        number, (mutation, crossover, size, _) = job
        found = evolve(
            X,
            K_MIN,
            rng=np.random.default_rng([n, d, number]),
            epochs=epochs,
            pop_size=size,
            mutation_prob=mutation,
            crossover_prob=crossover,
        )
        return {
            "mutation": mutation,
            "crossover": crossover,
            "population": size,
            "sse": round(found.sse, 9),
            "epoch": found.epoch,
        }

    return pd.DataFrame(in_threads(run, list(enumerate(settings))))


def long_runs(n: int, d: int, scale: Scale, mutation: float, crossover: float, size: int) -> pd.DataFrame:
    """Runs of one setting with the paper's number of epochs."""
    X = random_records(n, d)
    epochs = scale.long_epochs * (10 if n == 50 else 1)

    def run(number: int) -> dict[str, float]:
        found = evolve(
            X,
            K_MIN,
            rng=np.random.default_rng([n, d, 10**6 + number]),
            epochs=epochs,
            pop_size=size,
            mutation_prob=mutation,
            crossover_prob=crossover,
        )
        return {"sse": round(found.sse, 9), "epoch": found.epoch}

    return pd.DataFrame(in_threads(run, list(range(scale.long_runs))))


def problem_of(X: NDArray[np.float64], *objectives: str) -> MicroaggregationProblem:
    """Problem of a numeric table; if no objectives are named, the one that the papers optimize."""
    names = [f"v{j}" for j in range(X.shape[1])]
    data = Microdata.from_frame(pd.DataFrame(X, columns=names), quasi_identifiers=names)
    return MicroaggregationProblem(data, K_MIN, objectives=objectives or ("sse",))


def hybrid(X: NDArray[np.float64], K: int, steps: Literal[1, 2], epochs: int) -> tuple[int, float, float]:
    """Macrogroups, SSE of MDAV, and SSE of the hybrid."""
    problem = problem_of(X)
    pieces = two_step(X, K_MIN, K).macrogroups if steps == 2 else one_step(X, K)
    algorithm = HybridMicroaggregation(K=K, steps=steps, epochs=epochs, workers=processors())
    found = minimize(problem, algorithm, seed=1).F[0]
    return int(pieces.max()) + 1, float(problem.evaluate(problem.baselines()["MDAV"])[0]), float(found)


def in_threads(function: Any, jobs: list[Any]) -> list[Any]:
    """Results in the order of the jobs; each job has its own random numbers, so threads do not affect them."""
    with ThreadPoolExecutor(processors()) as pool:
        return list(pool.map(function, jobs))
