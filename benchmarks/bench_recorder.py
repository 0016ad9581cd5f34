"""Recorded runs beside the same runs unrecorded: CPU seconds of NSGA-II on every core instance.

    python benchmarks/bench_recorder.py [--budget long] [--repeats 3]

Bar: recording costs at most a tenth of a run. The least of the repeats counts, of either. A recorder also measures no
solution twice, which may save more than recording costs: the share of what it does itself is printed apart.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from typing import Any

from pymoo.algorithms.moo.nsga2 import NSGA2

from sdc_problems.studies.benchmark.algorithms import search_with
from sdc_problems.suite import BudgetSpent, Recorder, instances

BAR = 1.10


def searched(problem: Any, budget: int) -> float:
    begin = time.process_time()
    with contextlib.suppress(BudgetSpent):
        search_with(NSGA2(pop_size=100, **problem.operators()), problem, budget, 1)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", default="long", choices=["short", "long"])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    plain_sum = recorded_sum = own_sum = 0.0
    for found in instances("core"):
        if not found.available:
            continue
        problem = found.problem(threads=1)
        searched(problem, 100)  # compiled, and every table made
        plain, recorded = [], []
        for _ in range(given.repeats):
            plain.append(searched(problem, found.budgets[given.budget]))
            recorder = Recorder(problem, found.budgets[given.budget])
            seconds = searched(recorder.problem, recorder.budget)
            recorded.append((seconds, recorder.seconds_recording))
        best = min(recorded)
        plain_sum, recorded_sum, own_sum = plain_sum + min(plain), recorded_sum + best[0], own_sum + best[1]
        print(
            f"{found.id:32} unrecorded {min(plain):6.2f} s, recorded {best[0]:6.2f} s ({best[0] / min(plain):.2f}),"
            f" recording itself {best[1] / best[0]:.1%}",
            flush=True,
        )
    ratio = recorded_sum / plain_sum
    print(f"all: {ratio:.2f} of the unrecorded runs, recording itself {own_sum / recorded_sum:.1%} (bar: {BAR})")
    raise SystemExit(ratio > BAR)


if __name__ == "__main__":
    main()
