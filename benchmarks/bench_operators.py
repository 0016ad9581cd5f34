"""A problem's own operators beside pymoo's for whole numbers: the share of the front that NSGA-II finds with each.

    python benchmarks/bench_operators.py [--seeds 5] [--budget long] [--instances pbg-people-k-glm …]

Both have 100 solutions and the same budget; the own ones are `problem.operators()`, which measure nothing twice, the
others IntegerRandomSampling, SBX and PM, rounded (`NSGA2-integer` of `sdc benchmark`). Per instance of the suite: the
mean share of the front's points found (where the front is not proven, the share of its hypervolume), how often the own
ones are better (A12, ties counting half). At the end the instances where they are worse by a Mann-Whitney test, with
p < 0.05 adjusted over all instances (Holm): that is a failure, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from sdc_problems.studies.benchmark.algorithms import run_algorithm
from sdc_problems.suite import Recorder, assess, instance, instances
from sdc_problems.suite._statistics import pairs_by_instance

OWN, INTEGER = "NSGA2", "NSGA2-integer"


def missing(found, algorithm: str, budget: str | int, seed: int) -> float:
    recorder = Recorder(found, budget, seed=seed, algorithm=algorithm)
    run_algorithm(algorithm, recorder, found.task, seed)
    row = assess(recorder.record(), found).iloc[0]
    return float(1.0 - row["found"] if found.known == "exact" else row["gap"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=lambda text: int(text) if text.isdecimal() else text, default="long")
    parser.add_argument("--instances", nargs="*", default=[])
    options = parser.parse_args()
    chosen = [instance(name) for name in options.instances] or instances(suite="core")
    samples: dict[str, dict[str, list[float]]] = {}
    print(f"{'instance':34}{'own':>7}{'integer':>9}{'A12':>6}{'CPU s a run':>13}")
    for found in chosen:
        begin = time.process_time()
        values = {
            name: [missing(found, name, options.budget, s) for s in range(1, options.seeds + 1)]
            for name in (OWN, INTEGER)
        }
        samples[found.id] = values
        own, integer = (1.0 - np.array(values[name]) for name in (OWN, INTEGER))
        better = float(((own[:, None] > integer) + 0.5 * (own[:, None] == integer)).mean())
        seconds = (time.process_time() - begin) / (2 * options.seeds)
        print(f"{found.id:34}{own.mean():7.3f}{integer.mean():9.3f}{better:6.2f}{seconds:13.1f}", flush=True)
    worse = [pair for pair in pairs_by_instance(samples) if pair.p_holm < 0.05 and pair.effect < 0.5]
    print(f"{options.seeds} seeds, budget {options.budget}; own ones worse, p < 0.05 (Holm): {len(worse)} instances")
    for pair in worse:
        print(f"  {pair.instance}: A12 {pair.effect:.2f}, p {pair.p_holm:.2g}")
    sys.exit(len(worse) > 0)


if __name__ == "__main__":
    main()
