"""Protected files, cell by cell: proposals against full evaluations, and the searches, in one run.

    SDC_DATA_HOME=… python benchmarks/bench_masking_search.py [--moves 20000] [--seconds 60] [--generations 1000]
                                                             [--seeds 1 2 3] [--files census german_credit …]

Speed: CPU time of one thread, of a proposal (one Gray-coded bit, one exchange within a column, one other category), of
the engine compiling a whole file, and of the public functions on it; probabilistic linkage apart, which takes the same
time in all three. Every proposal that is timed is also measured by the public functions for some of them, and must
agree.

Bars: final scores of `CellSearch` in so many seconds of wall clock, guarded and exact (probabilistic linkage
included), and of as many generations of `MaskEvolution`, from the start files. The source's figures are unguarded.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, Microdata, load
from sdc_problems.algorithms import CellSearch, MaskEvolution
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

CATEGORICAL = {
    "german_credit": ["checking_status", "savings_status", "employment"],
    "solar_flare": ["class_zurich", "largest_spot_size", "spot_distribution"],
    "adult_1000": ["education", "marital-status", "occupation"],
    "adult": ["education", "marital-status", "occupation"],
}
EDUCATION = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
]  # lowest first
BARS = {  # the source's best (not guarded), and ours at most
    "census": (6.12, 2.3), "tarragona": (5.59, 1.6), "eia": (10.90, 2.9), "pima_diabetes": (6.11, 2.7),
    "german_credit": (28.05, 27.1), "solar_flare": (31.63, 29.7), "adult_1000": (30.28, 24.9), "adult": (30.28, 25.0),
}  # fmt: skip
RATIOS = {  # proposals per full evaluation by the engine, and by the public functions, at least
    "one bit": (150, 2_000), "exchange": (1_500, 30_000), "category": (200, 5_000), "category, 30,162": (3_000, 60_000),
}  # fmt: skip


def problem_of(name: str, **options: Any) -> MaskingProblem:
    """Return the source's file as a problem."""
    data = load("adult" if name.startswith("adult") else name).data
    objectives = ("score_max",) if name in CATEGORICAL else ("score_mean",)
    if name == "eia":  # the first 2,000 records, ten columns
        frame = data.frame().loc[:, "RESREVENUE":"TOTSALES"].iloc[:2000]  # type: ignore[misc]
        data = Microdata.from_frame(frame, quasi_identifiers=list(frame.columns))
    elif name.startswith("adult"):
        frame = data.frame()[CATEGORICAL[name]].iloc[: 1000 if name == "adult_1000" else None]
        order = [level for level in EDUCATION if (frame["education"] == level).any()]
        data = Microdata.from_frame(frame, quasi_identifiers=CATEGORICAL[name], orders={"education": order})
    elif name in CATEGORICAL:
        data = data.with_roles(quasi_identifiers=CATEGORICAL[name])
    return MaskingProblem(data, objectives=objectives, **options)


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
    linked = cpu(lambda: engine.prl(state.codes), 1)
    print(f"{name}: {n} × {p}; a file {1e3 * whole:.2f} ms, public functions {1e3 * plain:.1f} ms,"
          f" probabilistic linkage {1e3 * linked:.0f} ms")  # fmt: skip
    for what, cost in costs.items():
        bars = RATIOS[what]
        print(f"  {what:<17} {1e6 * cost:6.2f} µs   {whole / cost:8,.0f} × a file (at least {bars[0]:,})"
              f"   {plain / cost:8,.0f} × public (at least {bars[1]:,})")  # fmt: skip


def bars(name: str, seconds: float, seeds: list[int]) -> None:
    """Print the final scores of `CellSearch`."""
    problem = problem_of(name)
    scores = []
    for seed in seeds:
        algorithm = CellSearch(time_limit=seconds, islands=2)
        result = minimize(problem, algorithm, seed=seed, copy_algorithm=False)
        exact = problem.evaluate(result.X, return_values_of=["F"])[0]
        assert abs(exact - result.F[0]) < 1e-9
        scores.append(result.F[0])
    source, bar = BARS[name]
    shown = "  ".join(f"{score:.3f}" for score in scores)
    print(f"{name:<14} {problem.objectives[0].name}: start {algorithm.trajectory[0].score:6.2f},"
          f" after {seconds:g} s {shown} (at most {bar}; the source's {source}),"
          f" {algorithm.moves / seconds / 1e3:,.0f} thousand moves per second", flush=True)  # fmt: skip


def evolution(name: str, generations: int) -> None:
    """Print what the source's algorithm does in so many generations."""
    problem = problem_of(name, guard=False, start="many" if name == "census" or name in CATEGORICAL else "few")
    problem.evaluate(problem.untouched)  # compiled
    began = time.process_time()
    algorithm = MaskEvolution().setup(problem, termination=("n_gen", generations + 1), seed=1)
    algorithm.next()
    start, prepared = algorithm.pop.get("F")[:, 0].copy(), time.process_time()
    while algorithm.has_next():
        algorithm.next()
    end = algorithm.pop.get("F")[:, 0]
    three = [f"{F.min():.2f} / {F.mean():.2f} / {F.max():.2f}" for F in (start, end)]
    print(f"{name:<14} {problem.objectives[0].name}, unguarded, min / mean / max: {three[0]} → {three[1]};"
          f" start files {prepared - began:.1f} s, {generations} generations {time.process_time() - prepared:.1f} s"
          " of CPU", flush=True)  # fmt: skip


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", choices=BARS, default=list(BARS))
    parser.add_argument("--moves", type=int, default=20_000, help="proposals timed (0: none)")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each CellSearch (0: none)")
    parser.add_argument("--generations", type=int, default=1000, help="of MaskEvolution (0: none)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # EM that has not settled, on files far from the original
    for name in asked.files:
        if asked.moves:
            speed(name, asked.moves)
    for name in asked.files:
        if asked.seconds:
            bars(name, asked.seconds, asked.seeds)
    for name in asked.files:
        if asked.generations:
            evolution(name, asked.generations)


if __name__ == "__main__":
    main()
