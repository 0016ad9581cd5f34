"""Grid of protections after clustering beside one call per setting that clusters anew; and clusters of larger files.

    python benchmarks/tasks/bench_precluster.py [--only grid larger searches] [--records 30162 1000000]

CPU seconds, in one run. The data are the first thousand embedded people, and more of them drawn with replacement. Of
the plain calls a sample is timed, and counted up. Searches (`ClusteredSearch`) say where they are after each
generation; their seconds are those of one process, `--moves` the changes that are tried for each cell.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, load
from sdc_problems.algorithms import ClusteredSearch
from sdc_problems.evaluators import dr_categorical, il_categorical
from sdc_problems.methods import precluster
from sdc_problems.studies.reproductions.precluster.runs import PEOPLE, ordered_people, run_large

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


def larger(records: list[int]) -> None:
    """Microaggregation of larger files, without clusters and with them."""
    for n in records:
        alone = run_large(n, "mdav", n // 1000, 1)
        for clusters in (50, 200):
            parts = run_large(n, "mdav", n // 1000, clusters)
            print(
                f"{n:,} records, k = {n // 1000}: {alone.seconds:.2f} s without clusters, IL {alone.loss:.2f}; in"
                f" {clusters} clusters {parts.seconds:.2f} s, {alone.seconds / parts.seconds:.1f} times as fast,"
                f" IL {parts.loss:.2f}"
            )


class Told(Callback):
    """Says on stderr how far a search is."""

    def notify(self, algorithm: Any) -> None:
        """Tell the share that is done, and the score of the file as it is."""
        score = algorithm.pop.get("F")[0, 0]
        print(f"  {100 * algorithm.progress:3.0f} %, score {score:.2f}", file=sys.stderr, flush=True)


def searches(records: list[int], per_cell: int) -> None:
    """Searches of large files by clusters: seconds by records, and the score of the whole file."""
    table = load("people").data
    for n in records:
        data = ordered_people(table, np.random.default_rng(1).integers(0, len(table), n))
        problem = MaskingProblem(data, objectives=("score_max",))
        moves = per_cell * n * len(problem.attributes)
        before = float(problem.evaluate(problem.untouched)[0])
        started = time.process_time()
        result = minimize(problem, ClusteredSearch(move_limit=moves, workers=1), seed=1, callback=Told())
        seconds = time.process_time() - started
        parts = int(result.algorithm.labels.max()) + 1
        print(
            f"{n:,} records searched in {parts} clusters, {per_cell} changes tried for each cell: {seconds:.0f} s,"
            f" {1e6 * seconds / n:.0f} µs for each record; score_max {before:.2f} → {result.F[0]:.2f}",
            flush=True,
        )


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("grid", "larger", "searches")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--records", nargs="+", type=int, default=list(LARGE))
    parser.add_argument("--moves", type=int, default=100)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # EM that has not settled, on files far from the original
    if "grid" in asked.only:
        grid()
    if "larger" in asked.only:
        larger(asked.records)
    if "searches" in asked.only:
        searches(asked.records, asked.moves)


if __name__ == "__main__":
    main()
