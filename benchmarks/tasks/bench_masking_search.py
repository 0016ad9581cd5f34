"""Protected files, cell by cell: proposals against full evaluations, in one run.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_masking_search.py [--moves 20000] [--files census german_credit …]

Speed: CPU time of one thread, of a proposal (one Gray-coded bit, one exchange within a column, one other category), of
the engine compiling a whole file, and of the public functions on it; probabilistic linkage apart, which takes the same
time in all three. Every proposal that is timed is also measured by the public functions for some of them, and must
agree.

Scores: `bench_masking_bars.py`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sdc_problems import MaskingProblem
from sdc_problems.evaluators import (
    ctbil,
    dbil,
    distance_linkage,
    ebil,
    guess,
    interval_disclosure_rank,
    mean_interval_disclosure,
    pil,
)
from sdc_problems.methods import rank_shuffle
from sdc_problems.operators.cells import flipped_bit, other_category
from sdc_problems.studies.reproductions.evolution.cases import CASES

RATIOS = {  # proposals per full evaluation by the engine, and by the public functions, at least
    "one bit": (150, 2_000), "exchange": (1_500, 30_000), "category": (200, 5_000), "category, 30,162": (3_000, 60_000),
}  # fmt: skip


def problem_of(name: str) -> MaskingProblem:
    """Return the source's file as a problem, with a few start files."""
    case = CASES[name]
    return case.problem((case.score,), guard=True, start="few")


def cpu(call: Callable[[], Any], repeat: int = 5) -> float:
    """Seconds of one thread."""
    call()
    start = time.process_time()
    for _ in range(repeat):
        call()
    return (time.process_time() - start) / repeat


def public(problem: MaskingProblem, Y: np.ndarray) -> dict[str, float]:
    """Measures of a file by the public functions, probabilistic linkage apart."""
    X = problem.original()
    if problem.numeric:
        return {
            "pil": pil(X, Y),
            "id_rank": mean_interval_disclosure(X, Y),
            "dbrl": distance_linkage(X, Y, direction="to_original"),
        }
    kinds, sizes = problem.kinds, problem.tops + 1
    return {
        "ctbil": ctbil(X, Y),
        "dbil": dbil(X, Y, kinds=kinds, n_categories=sizes),
        "ebil": ebil(X, Y, n_categories=sizes),
        "id_rank": interval_disclosure_rank(X, Y, kinds=kinds),
        "guess": guess(X, Y),
        "dbrl": distance_linkage(X, Y, direction="to_original", kinds=kinds, n_categories=sizes),
    }


def speed(name: str, moves: int) -> None:
    """Print what a proposal costs beside full evaluations."""
    problem, rng = problem_of(name), np.random.default_rng(1)
    engine = problem.engine
    if problem.numeric:
        codes = problem.cells(problem.encode(rank_shuffle(problem.original(), rng=rng)))
    else:
        changed = rng.random(problem.original().shape) < 0.4
        codes = np.where(changed, rng.integers(0, problem.tops + 1, size=changed.shape), problem.original())
    state = engine.open(codes)
    n, p = state.shape
    cells = np.column_stack([rng.integers(n, size=moves), rng.choice(np.flatnonzero(problem.tops), size=moves)])
    draw = flipped_bit if problem.numeric else other_category
    fresh = np.array([draw(int(codes[i, j]), int(problem.tops[j]), rng) for i, j in cells])
    found = state.measure_moves(cells, fresh)
    for e in rng.integers(moves, size=20):
        Y = codes.copy()
        Y[tuple(cells[e])] = fresh[e]
        expected = public(problem, problem.protected(Y.ravel()))
        assert all(abs(found[measure][e] - value) < 1e-9 for measure, value in expected.items())
    whole = cpu(lambda: engine.open(codes), 20)
    plain = cpu(lambda: public(problem, problem.protected(codes.ravel())))
    kind = "one bit" if problem.numeric else "category, 30,162" if n > 30_000 else "category"
    costs = {kind: cpu(lambda: state.measure_moves(cells, fresh), 3) / moves}
    if problem.numeric:
        walk = {
            "columns": np.flatnonzero(problem.tops).astype(np.int64), "sums": {}, "aim": np.array([0.5, 0.5, 0, 0]),
            "most_copies": n, "smooth": False, "temperature": 0.0, "seed": np.array([1], dtype=np.uint64),
        }  # fmt: skip
        state.walk(50 * moves, **walk)  # as it is met in a search: most proposals fail
        costs["exchange"] = cpu(lambda: state.walk(10 * moves, **walk), 1) / (10 * moves)
    linked = cpu(lambda: engine._prl(engine.values(state.codes)), 1)
    print(f"{name}: {n} × {p}; a file {1e3 * whole:.2f} ms, public functions {1e3 * plain:.1f} ms,"
          f" probabilistic linkage {1e3 * linked:.0f} ms")  # fmt: skip
    for what, cost in costs.items():
        bars = RATIOS[what]
        print(f"  {what:<17} {1e6 * cost:6.2f} µs   {whole / cost:8,.0f} × a file (at least {bars[0]:,})"
              f"   {plain / cost:8,.0f} × public (at least {bars[1]:,})")  # fmt: skip


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--moves", type=int, default=20_000, help="proposals timed")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # EM that has not settled, on files far from the original
    for name in asked.files:
        speed(name, asked.moves)


if __name__ == "__main__":
    main()
