"""Workers of a large cluster, simulated from times measured here: what keeps them waiting, and what helps.

    python benchmarks/bench_cluster.py

Measured in this run: how long a candidate takes to measure (a sample of real candidates), what a task costs the
scheduler and the client, and what the search does between two generations. Then generations are played event by event:
the client hands out batches one after the other, each goes to the worker that is free first, and the next generation
starts when the last batch is back. Efficiency is the share of the workers' time in which they measure.
"""

from __future__ import annotations

import argparse
import heapq
import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sdc_problems import PRAMProblem, load
from sdc_problems.parallel.backend import BATCHES_PER_WORKER, cut_evenly

GENERATIONS = 5


@dataclass(frozen=True)
class Site:
    """Workers, and what is asked of them.

    Attributes
    ----------
    workers
        Number of workers.
    candidates
        Candidates of a generation.
    searches
        Searches (seeds) that use the workers at the same time, each from a client of its own.
    by_cost
        Whether batches are as large as `DaskCluster` makes them, knowing what a candidate and a task cost; else there
        are four for each worker.
    """

    workers: int
    candidates: int
    searches: int = 1
    by_cost: bool = True


def candidate_seconds(n: int) -> NDArray[np.float64]:
    """Processor seconds of measuring each of some candidates: PRAM with both linkages, five files each."""
    people = load("people")
    problem = PRAMProblem(
        people.data,
        columns=["education", "marital_status"],
        objectives=("il_categorical", "dr_categorical"),
    )
    rng = np.random.default_rng(1)
    X = rng.integers(problem.xl.astype(int), problem.xu.astype(int) + 1, (n + 1, problem.n_var)).astype(problem.dtype)
    problem.evaluate(X[:1])
    took = []
    for x in X[1:]:
        begin = time.process_time()
        problem.evaluate(x[None])
        took.append(time.process_time() - begin)
    return np.array(took)


def task_seconds(n: int = 300) -> float:
    """Processor seconds that a task costs the client and the scheduler, which run here; the worker is elsewhere."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        client.gather(client.map(abs, range(20), pure=False))
        begin = time.process_time()
        client.gather(client.map(abs, range(n), pure=False))
        return (time.process_time() - begin) / n


def search_seconds(candidates: int) -> float:
    """Processor seconds between two generations: selection, mating, ranks, for so many candidates."""
    from pymoo.algorithms.moo.nsga2 import NSGA2

    people = load("people")
    problem = PRAMProblem(people.data, columns=["education", "marital_status"])
    algorithm = NSGA2(pop_size=candidates, **problem.operators())
    algorithm.setup(problem, seed=1, termination=("n_gen", 5))
    spent = 0.0
    for _ in range(3):
        begin = time.process_time()
        asked = algorithm.ask()
        spent += time.process_time() - begin
        asked.set("F", np.random.default_rng(0).random((len(asked), problem.n_obj)))
        asked.set("G", np.zeros((len(asked), 0)))
        asked.set("H", np.zeros((len(asked), 0)))
        begin = time.process_time()
        algorithm.tell(infills=asked)
        spent += time.process_time() - begin
    return spent / 3


def efficiency(site: Site, row: NDArray[np.float64], task: float, between: float) -> float:
    """Share of the workers' time in which they measure, over some generations.

    The scheduler is one process: its tasks follow one another, whichever search they are of. Workers serve whoever
    comes first. Each search waits for all its batches, then thinks.
    """
    rng = np.random.default_rng(7)
    free = [0.0] * site.workers
    heapq.heapify(free)
    scheduler, busy = 0.0, 0.0
    ready = [(0.0, search, 0) for search in range(site.searches)]
    heapq.heapify(ready)
    end, most = 0.0, site.workers * BATCHES_PER_WORKER
    if site.by_cost and task > 0:
        most = min(most, math.ceil(math.sqrt(site.candidates * row.mean() / task)))
    while ready:
        at, search, generation = heapq.heappop(ready)
        last = at
        cuts = cut_evenly(site.candidates, most)
        of_batch = np.add.reduceat(rng.choice(row, site.candidates), [cut.start for cut in cuts])
        for work in of_batch.tolist():
            scheduler = max(scheduler, at) + task
            start = max(heapq.heappop(free), scheduler)
            busy += work
            heapq.heappush(free, start + work)
            last = max(last, start + work)
        end = max(end, last)
        if generation + 1 < GENERATIONS:
            heapq.heappush(ready, (last + between, search, generation + 1))
    return busy / (end * site.workers)


def main(candidates: int, sample: int) -> None:
    row, task = candidate_seconds(sample), task_seconds()
    between = {n: search_seconds(n) for n in (candidates, 10 * candidates)}
    spread = ", ".join(f"{q:.0%} {np.quantile(row, q) * 1e3:.1f} ms" for q in (0.05, 0.5, 0.95))
    print(
        f"measured here: a candidate {row.mean() * 1e3:.1f} ms ({spread}); a task {task * 1e3:.2f} ms of scheduler and"
    )
    print(", ".join(f"client; between generations of {n:,} {s * 1e3:.0f} ms" for n, s in between.items()))
    many = 10 * candidates
    kinds = {
        f"one search, {candidates:,} candidates, four batches for each worker": lambda w: Site(
            w, candidates, by_cost=False
        ),
        f"the same {candidates:,}, batches by cost": lambda w: Site(w, candidates),
        f"one search, {many:,} candidates, four batches for each worker": lambda w: Site(w, many, by_cost=False),
        f"the same {many:,}, batches by cost": lambda w: Site(w, many),
        f"ten searches of {many:,} on one scheduler, batches by cost": lambda w: Site(w, many, searches=10),
        "each of them on a scheduler of its own, with a tenth of the workers": lambda w: Site(w // 10, many),
    }
    counts = (1, 16, 64, 250, 1000)
    print("\n| share of the workers' time that measures | " + " | ".join(f"{w:,} workers" for w in counts) + " |")
    print("| --- |" + " --- |" * len(counts))
    for name, site in kinds.items():
        shares = [
            efficiency(site(w), row, task, between[site(w).candidates]) if site(w).workers else None for w in counts
        ]
        print(f"| {name} | " + " | ".join("" if share is None else f"{share:.0%}" for share in shares) + " |")
    site, pause = Site(1000, many, searches=10), between[many]
    print("\nten searches on 1,000 workers of one scheduler, what each change alone would give:")
    for what, share in {
        "as it is": efficiency(site, row, task, pause),
        "four batches for each worker": efficiency(replace(site, by_cost=False), row, task, pause),
        "a scheduler that costs nothing": efficiency(site, row, 0.0, pause),
        "a search that takes no time between generations": efficiency(site, row, task, 0.0),
        "candidates that take a hundred times as long": efficiency(site, 100 * row, task, pause),
        "ten schedulers": efficiency(Site(100, many), row, task, pause),
        "ten schedulers, and candidates that take ten times as long": efficiency(
            Site(100, many), 10 * row, task, pause
        ),
    }.items():
        print(f"  {what}: {share:.0%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--sample", type=int, default=60)
    chosen = parser.parse_args()
    main(chosen.candidates, chosen.sample)
