"""Scores that the searches of masking reach: each bar beside its figure.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_masking_bars.py [--seconds 60] [--generations 1000] [--seeds 1 2 3]
                                                           [--files census german_credit …]

`CellSearch`: final scores after so many seconds of wall clock on all processors, guarded (at most 1 % of copies in a
numeric file, guesses counted in a categorical one) and exact (probabilistic linkage included), each measured again by
the problem; a bar is met if every seed meets it. The source's figures are not guarded.

`MaskEvolution`: CPU seconds of so many generations of the source's Algorithm 5, not guarded as there, and the scores of
the population before and after.

A quiet machine is needed for both: other work takes the searches' seconds. The last line counts the bars that are met.
"""

from __future__ import annotations

import argparse
import time
import warnings

from pymoo.optimize import minimize

from sdc_problems.algorithms import CellSearch, MaskEvolution
from sdc_problems.studies.reproductions.evolution import paper
from sdc_problems.studies.reproductions.evolution.cases import CASES

MOST_SECONDS = {True: 60.0, False: 20.0}  # of 1,000 generations: numeric files, and categorical ones of 1,000 records


def cell_search(name: str, seconds: float, seeds: list[int]) -> bool:
    """Print the final scores of `CellSearch` beside the bar; returns whether all meet it."""
    case = CASES[name]
    problem = case.problem((case.score,), guard=True, start="few")
    scores = []
    for seed in seeds:
        search = CellSearch(time_limit=seconds, islands=2)
        result = minimize(problem, search, seed=seed, copy_algorithm=False)
        figures = problem.figures(result.X)
        assert abs(figures[case.score] - result.F[0]) < 1e-9
        assert figures.get("copies", 0.0) <= 1.0
        scores.append(float(result.F[0]))
    bar = paper.BARS[name]
    met = max(scores) <= bar
    shown = "  ".join(f"{score:6.3f}" for score in scores)
    print(f"{name:<14} {case.score:<10} {shown}   bar {bar:<5} {'met   ' if met else 'MISSED'}"
          f" (the source's {paper.BEST[name]}), {search.moves / seconds / 1e3:,.0f} thousand moves per second",
          flush=True)  # fmt: skip
    return met


def evolution(name: str, generations: int) -> bool | None:
    """Print what the source's algorithm takes and does; returns whether its bar is met, if there is one."""
    case = CASES[name]
    problem = case.problem((case.score,), guard=False)
    problem.evaluate(problem.untouched)  # compiled
    search = MaskEvolution().setup(problem, termination=("n_gen", generations + 1), seed=1)
    search.next()
    start, began = search.pop.get("F")[:, 0].copy(), time.process_time()
    while search.has_next():
        search.next()
    seconds, end = time.process_time() - began, search.pop.get("F")[:, 0]
    three = [f"{F.min():.2f} / {F.mean():.2f} / {F.max():.2f}" for F in (start, end)]
    bar = MOST_SECONDS[case.numeric]
    judged = generations == 1000 and (case.numeric or len(case.data()) <= 1500)
    met = seconds <= bar if judged else None
    said = "" if met is None else f"   bar {bar:g} s {'met' if met else 'MISSED'}"
    print(f"{name:<14} {generations:,} generations {seconds:6.1f} s{said}   min / mean / max: {three[0]} → {three[1]}",
          flush=True)  # fmt: skip
    return met


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seconds", type=float, default=60.0, help="of each CellSearch (0: none)")
    parser.add_argument("--generations", type=int, default=1000, help="of MaskEvolution (0: none)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # EM that has not settled, on files far from the original
    met: list[bool | None] = []
    if asked.seconds:
        print(f"CellSearch, {asked.seconds:g} s, seeds {', '.join(map(str, asked.seeds))}")
        met += [cell_search(name, asked.seconds, asked.seeds) for name in asked.files]
    if asked.generations:
        print(f"MaskEvolution, {asked.generations:,} generations")
        met += [evolution(name, asked.generations) for name in asked.files if name != "adult"]
    judged = [one for one in met if one is not None]
    print(f"{sum(judged)} of {len(judged)} bars met")


if __name__ == "__main__":
    main()
