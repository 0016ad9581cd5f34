"""Grid of protections after clustering beside one call per setting that clusters anew; and clusters of larger files.

    python benchmarks/bench_precluster.py

CPU seconds, in one run. The data are the first thousand embedded people, and more of them drawn with replacement. Of
the plain calls a sample is timed, and counted up.
"""

from __future__ import annotations

import time

import numpy as np

from sdc_problems.evaluators import dr_categorical, il_categorical
from sdc_problems.methods import precluster
from sdc_problems.studies.reproductions.precluster.runs import PEOPLE, run_large

KS, CLUSTERS, SAMPLE = range(2, 51, 4), range(2, 51, 4), 40
STARTS = 20
LARGE = (30_162, 1_000_000)


def grid() -> None:
    """Every method and joining rule, each fourth k and number of clusters, with 20 starts of c-median."""
    problem = PEOPLE.problem(STARTS).with_objectives(("il_categorical", "dr_categorical"))
    rows = np.array([(m, r, k, c) for m in (0, 1) for r in (0, 1) for k in KS for c in CLUSTERS])
    problem.evaluate(np.array([(0, 0, 5, 2), (1, 1, 5, 2)]))  # compile
    started = time.process_time()
    values = problem.evaluate(rows)
    whole = time.process_time() - started
    codes, options = problem.original(), {"kinds": problem.kinds, "n_categories": problem.engine.cells.sizes}
    chosen = np.random.default_rng(1).choice(len(rows), SAMPLE, replace=False)
    started = time.process_time()
    found = []
    for m, r, k, c in rows[chosen].tolist():
        done = precluster(
            codes, k, clusters=c, method=("mdav", "global_median")[m], merge=("smallest", "nearest")[r],
            restarts=STARTS, rng=np.random.default_rng([0, c]), **options,
        ).values.astype(int)  # fmt: skip
        found.append((il_categorical(codes, done, **options), dr_categorical(codes, done, **options)))
    plain = (time.process_time() - started) / SAMPLE * len(rows)
    same = np.allclose(found, values[chosen], atol=1e-9)
    print(
        f"{len(rows):,} settings, {len(codes):,} records, {len(problem.engine.rows)} distinct: {whole:.1f} s;", end=" "
    )
    print(f"anew each time {plain:.0f} s, {plain / whole:.1f} times as long; same figures: {same}")


def larger() -> None:
    """Microaggregation of larger files, without clusters and with them."""
    for n in LARGE:
        alone = run_large(n, "mdav", n // 1000, 1)
        for clusters in (50, 200):
            parts = run_large(n, "mdav", n // 1000, clusters)
            print(
                f"{n:,} records, k = {n // 1000}: {alone.seconds:.2f} s without clusters, IL {alone.loss:.2f}; in"
                f" {clusters} clusters {parts.seconds:.2f} s, {alone.seconds / parts.seconds:.1f} times as fast,"
                f" IL {parts.loss:.2f}"
            )


if __name__ == "__main__":
    grid()
    larger()
