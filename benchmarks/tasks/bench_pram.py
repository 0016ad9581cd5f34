"""The transition engine against drawing files and measuring them with the plain functions, in one run.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_pram.py [--candidates 40] [--only draw]

Each candidate is a random set of transition matrices for three attributes, scored by five files. The plain way draws
the same five files with the same uniform numbers and calls il_categorical and dr_categorical's parts on each; both
must give the same numbers. Probabilistic linkage (PRL), whose estimation by EM costs the same either way, is timed
apart. The next line times the exact assignment inside PRL against SciPy's on all records, repeated as often
as they occur. The last ones draw a million records of 10 to 2,000 categories, beside numpy's own draw: one call of
``Generator.choice`` per category on the records that have it, found by a mask or by one sort. CPU time of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from sdc_problems import PRAMProblem, load
from sdc_problems.evaluators.disclosure_risk import interval_disclosure_rank
from sdc_problems.evaluators.information_loss.categorical import il_categorical
from sdc_problems.evaluators.linkage._transport import transport
from sdc_problems.evaluators.linkage.distance import distance_linkage
from sdc_problems.evaluators.linkage.probabilistic import probabilistic_linkage
from sdc_problems.methods import normalize_rows, post_randomize
from sdc_problems.methods.perturbation._pram import randomize_with

BAR = 10.0  # ms per candidate with 5 files, PRL apart
FILES = {
    "german_credit": ("checking_status", "savings_status", "employment"),
    "solar_flare": ("class_zurich", "largest_spot_size", "spot_distribution"),
}
WITHOUT_PRL = ("il_categorical", "id_rank", "dbrl")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = call()
    return 1000 * (time.process_time() - start), result


def plain(problem: PRAMProblem, matrices: list[np.ndarray], prl: bool) -> dict[str, float]:
    """Mean of the measures over the files that the engine draws too."""
    X = problem.engine.data.codes.astype(np.int64)
    kinds, sizes = problem.engine.data.kinds, problem.engine.data.sizes
    total = dict.fromkeys(("prl",) if prl else WITHOUT_PRL, 0.0)
    for uniforms in problem.engine.uniforms:
        Y = randomize_with(X, matrices, uniforms)
        if prl:
            total["prl"] += probabilistic_linkage(X, Y, kinds=kinds)
            continue
        total["il_categorical"] += il_categorical(X, Y, kinds=kinds, n_categories=sizes)
        total["id_rank"] += interval_disclosure_rank(X, Y, kinds=kinds)
        total["dbrl"] += distance_linkage(X, Y, direction="to_original", kinds=kinds, n_categories=sizes)
    return {name: value / problem.replicates for name, value in total.items()}


def bench(name: str, n_candidates: int) -> None:
    problem = PRAMProblem(load(name).data, columns=FILES[name])
    rng = np.random.default_rng(1)
    candidates = [
        [normalize_rows(rng.random((n, n)) ** 4 + rng.uniform(0, 3) * np.eye(n)) for n in problem.sizes]
        for _ in range(n_candidates + 1)
    ]
    engine = problem.engine
    cost: dict[str, list[float]] = {}
    for number, matrices in enumerate(candidates):
        timings = {
            "engine": timed(lambda: engine.sampled(matrices, WITHOUT_PRL)),  # noqa: B023 -- called at once
            "plain": timed(lambda: plain(problem, matrices, False)),  # noqa: B023
            "engine, PRL": timed(lambda: engine.sampled(matrices, ["prl"])),  # noqa: B023
            "plain, PRL": timed(lambda: plain(problem, matrices, True)),  # noqa: B023
            "expected": timed(lambda: engine.expected(matrices, ["il_categorical", "dr_categorical"])),  # noqa: B023
        }
        for way, other in (("engine", "plain"), ("engine, PRL", "plain, PRL")):
            for measure, value in timings[other][1].items():
                assert np.isclose(timings[way][1][measure].mean(), value), measure
        if number:  # the first compiles
            for way, (spent, _) in timings.items():
                cost.setdefault(way, []).append(spent)
    ms = {way: float(np.median(values)) for way, values in cost.items()}
    verdict = "met" if ms["engine"] <= BAR else "MISSED"
    print(f"{name}: {len(problem.data)} records, 3 attributes, {problem.replicates} files, {n_candidates} candidates")
    times = ms["plain"] / ms["engine"]
    print(f"  il, id, dbrl  engine {ms['engine']:.2f} ms, plain {ms['plain']:.2f} ms: {times:.1f} times")
    print(f"  prl           engine {ms['engine, PRL']:.2f} ms, plain {ms['plain, PRL']:.2f} ms")
    print(f"  il and dr in expectation {ms['expected']:.2f} ms")
    print(f"  bar of {BAR:.0f} ms per candidate, PRL apart: {verdict}")


def bench_assignment() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.integers(0, 5, size=(85, 3)), rng.integers(0, 5, size=(100, 3))
    cost = -((X[:, None, :] == Y[None, :, :]) * np.array([5_000_000, 3_100_000, 2_200_000])).sum(axis=2)
    supply, demand = rng.multinomial(1000, np.full(85, 1 / 85)), rng.multinomial(1000, np.full(100, 1 / 100))
    transport(cost, supply, demand)
    ours, flow = timed(lambda: transport(cost, supply, demand))
    single = np.repeat(np.repeat(cost, supply, axis=0), demand, axis=1)
    theirs, pairs = timed(lambda: linear_sum_assignment(single))
    assert (flow * cost).sum() == single[pairs].sum()
    print(f"assignment of 1,000 records of 85 and 100 kinds: {ours:.2f} ms, SciPy {theirs:.1f} ms: ", end="")
    print(f"{theirs / ours:.0f} times")


def bench_draw() -> None:
    """The same frequencies, not the same records: numpy draws its uniform numbers category by category."""
    n = 1_000_000
    for n_categories in (10, 100, 2_000):
        rng = np.random.default_rng(n_categories)
        column = rng.integers(0, n_categories, n)
        P = normalize_rows(rng.random((n_categories, n_categories)) ** 4)

        def ours(column: np.ndarray = column, P: np.ndarray = P) -> np.ndarray:
            return post_randomize(column[:, None], [P], np.random.default_rng(1))[:, 0]

        def by_mask(column: np.ndarray = column, P: np.ndarray = P) -> np.ndarray:
            generator, drawn = np.random.default_rng(1), np.empty_like(column)
            for category, row in enumerate(P):
                here = column == category
                drawn[here] = generator.choice(len(P), here.sum(), p=row)
            return drawn

        def by_sort(column: np.ndarray = column, P: np.ndarray = P) -> np.ndarray:
            generator, drawn = np.random.default_rng(1), np.empty_like(column)
            order = np.argsort(column, kind="stable")
            for category, here in enumerate(np.split(order, np.cumsum(np.bincount(column, minlength=len(P)))[:-1])):
                drawn[here] = generator.choice(len(P), len(here), p=P[category])
            return drawn

        cost, moved = {}, {}
        for name, draw in (("ours", ours), ("mask", by_mask), ("sort", by_sort)):
            timings = [timed(draw) for _ in range(3)]
            cost[name] = min(spent for spent, _ in timings)
            moved[name] = float((timings[0][1] != column).mean())
        assert max(moved.values()) - min(moved.values()) < 0.005
        print(
            f"draw of {n:,} × {n_categories:,} categories: {cost['ours']:.0f} ms;"
            f" numpy per category {cost['mask']:.0f} ms: {cost['mask'] / cost['ours']:.1f} times,"
            f" after one sort {cost['sort']:.0f} ms: {cost['sort'] / cost['ours']:.1f} times"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=40)
    parser.add_argument("--only", choices=("draw",), help="the draw alone")
    arguments = parser.parse_args()
    if arguments.only == "draw":
        bench_draw()
        return
    warnings.filterwarnings("ignore", message="EM had not settled")
    for name in FILES:
        bench(name, arguments.candidates)
    bench_assignment()
    bench_draw()


if __name__ == "__main__":
    main()
