"""Gain of workers, cost of storing, time of a replay: ratios measured side by side in one run.

Run it: ``python benchmarks/bench_parallel.py``. The gain needs as many idle processors as workers.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sdc_problems import load
from sdc_problems.parallel import ProcessPool, Serial
from sdc_problems.problems.generalization import PBGProblem
from sdc_problems.problems.pram import PRAMProblem
from sdc_problems.studies.run.runner import start
from sdc_problems.studies.run.seed import search
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.writer import RunWriter
from sdc_problems.studies.study.schema import Study

ROUNDS = 3


def best_of(action: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Shortest of several times: what the machine can do when nobody else uses it."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def processor_seconds(pool: ProcessPool) -> list[float]:
    """Processor time that each worker has used so far (Linux)."""
    ticks = os.sysconf("SC_CLK_TCK")
    used = []
    for pid in sorted(pool.processes()):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used.append((int(fields[11]) + int(fields[12])) / ticks)
    return used


def measured(pool: ProcessPool, X: np.ndarray) -> tuple[float, float]:
    """Seconds on the clock, and seconds on the longest way: this process and its busiest worker."""
    before, own, begin = processor_seconds(pool), time.process_time(), time.perf_counter()
    pool.evaluate(X)
    wall, own = time.perf_counter() - begin, time.process_time() - own
    return wall, own + max(b - a for a, b in zip(before, processor_seconds(pool), strict=True))


def workers() -> None:
    """The same candidates on one process and on two; the order alternates, so that both meet the same machine."""
    people = load("people")
    coded = ["education", "marital_status", "occupation"]
    problems: dict[str, tuple[Any, int]] = {
        "PRAM, five files a candidate, both linkages": (
            PRAMProblem(
                people.data.with_roles(quasi_identifiers=coded),
                columns=coded,
                objectives=("il_categorical", "dr_categorical"),
            ),
            40,
        ),
        "PBG, k and GLM": (PBGProblem(people.data, people.hierarchies, threads=1), 4000),
    }
    print("workers: the same candidates on one worker process and on two, best of three")
    print("clock: what it took; processors: this process and its busiest worker, whatever else the machine does")
    print(f"{'':45s} {'':>10s} {'clock':>23s} {'processors':>28s}")
    heads = f"{'1':>9s} {'2':>6s} {'ratio':>6s} {'1':>14s} {'2':>6s} {'ratio':>6s}"
    print(f"{'problem':45s} {'candidates':>10s} {heads}")
    for name, (problem, n) in problems.items():
        rng = np.random.default_rng(1)
        X = rng.integers(problem.xl.astype(int), problem.xu.astype(int) + 1, (n, problem.n_var)).astype(problem.dtype)
        with ProcessPool(problem, workers=1) as one, ProcessPool(problem, workers=2) as two:
            expected = Serial(problem).evaluate(X[:8])["F"].tobytes()
            for pool in (one, two):  # processes start and compile outside the measurement
                assert pool.evaluate(X)["F"][:8].tobytes() == expected
            rounds = [(measured(one, X), measured(two, X)) for _ in range(ROUNDS)]
        (clock_1, way_1), (clock_2, way_2) = (
            (min(r[i][0] for r in rounds), min(r[i][1] for r in rounds)) for i in (0, 1)
        )
        print(
            f"{name:45s} {n:10d} {clock_1:9.2f} {clock_2:6.2f} {clock_1 / clock_2:6.2f} {way_1:14.2f} {way_2:6.2f}"
            f" {way_1 / way_2:6.2f}"
        )


STUDY = """
[data]
name = "people"
[problem]
{problem}
[algorithm]
name = "{algorithm}"
pop_size = {size}
[termination]
generations = {generations}
"""

STUDIES = {
    "PBG by NSGA-II, cheap measures": ('task = "pbg"\nobjectives = ["k", "l", "glm"]', "NSGA2", 50, 100),
    "PRAM by NSGA-II, costly measures": (
        'task = "pram"\ncolumns = ["education", "marital_status"]', "NSGA2", 40, 20,
    ),
}  # fmt: skip


def storing() -> None:
    """The same search without a store, with one, and replayed from it."""
    print("\nstoring and replaying: seconds of one seed")
    print(f"{'study':35s} {'plain':>8s} {'stored':>8s} {'ratio':>7s} {'replay':>8s} {'of the run':>10s} {'kB':>7s}")
    for name, (problem, algorithm, size, generations) in STUDIES.items():
        text = STUDY.format(problem=problem, algorithm=algorithm, size=size, generations=generations)
        study = Study.from_text(text, folder=Path())
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "run"
            built = start(study, text, folder)
            Serial(built.problem).evaluate(built.problem.genomes(list(built.problem.baselines().values())))
            plain = best_of(lambda: plain_search(study, built), 2)  # noqa: B023 -- called at once
            stored = best_of(lambda: session(study, built, folder), 1)  # noqa: B023
            replay = best_of(lambda: session(study, built, folder), 2)  # noqa: B023
            kilobytes = (folder / "run.sqlite").stat().st_size / 1000
        print(
            f"{name:35s} {plain:8.2f} {stored:8.2f} {stored / plain:7.2f} {replay:8.2f} {100 * replay / stored:8.0f} %"
            f" {kilobytes:8.0f}"
        )


def plain_search(study: Study, built: Any) -> None:
    """pymoo's own loop."""
    from pymoo.optimize import minimize

    plan = study.plan(built.problem)
    minimize(built.problem, plan.algorithm, ("n_gen", plan.limits.generations), seed=1)


def session(study: Study, built: Any, folder: Path) -> None:
    """One session: the whole search the first time, a replay of all of it afterwards."""
    plan = study.plan(built.problem)
    with RunLock(folder) as lock, RunWriter.take(folder, lock, versions={}, workers="1") as writer:
        search(
            writer,
            seed=1,
            problem=plan.problem,
            algorithm=plan.algorithm,
            limits=plan.limits,
            backend=Serial(plan.problem),
        )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    workers()
    storing()
