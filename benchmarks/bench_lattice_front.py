"""Exact fronts of lattices by boxes of nodes: how few nodes that takes, beside measuring all and beside Flash.

    SDC_DATA_HOME=… python benchmarks/bench_lattice_front.py           Adult with 8 and 11 attributes
    SDC_DATA_HOME=… python benchmarks/bench_lattice_front.py --large   with 14 and all 15 attributes

For one k the same file is also searched as Flash does (Kohlmayer and others 2012): paths from node to node are searched
by halving, and what a check says of all finer or coarser nodes is noted, until every node is known to be k-anonymous or
not. OLA (El Emam and others 2009) notes the same, along other paths. All times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.front import minimal
from sdc_problems.hierarchy import suggest

STEPS = (
    (),
    ("occupation", "hours-per-week", "relationship"),
    ("education-num", "capital-gain", "capital-loss"),
    ("fnlwgt",),
)
"""Attributes of each larger lattice beside those of the one before."""

K = 5
T = TypeVar("T")


def cpu(call: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def adult(step: int, **options: object) -> PBGProblem:
    """Problem on Adult with the attributes of so many steps."""
    file = load("adult", download=False)
    more = [name for names in STEPS[: step + 1] for name in names]
    data = file.data.with_roles(quasi_identifiers=[*file.hierarchies, *more])
    hierarchies = {**file.hierarchies, **{name: suggest(data, name).hierarchy for name in more}}
    return PBGProblem(data, hierarchies, **options)  # type: ignore[arg-type]


def flash(problem: PBGProblem, k: int) -> tuple[int, float]:
    """Nodes that Flash checks until it knows of every node whether it is k-anonymous, and the least loss of those."""
    sizes = tuple(problem.engine.n_levels.tolist())
    known = np.zeros(sizes, dtype=np.int8)  # 1: k-anonymous, -1: not
    order = np.argsort(np.indices(sizes, dtype=np.int16).sum(axis=0, dtype=np.int16), axis=None, kind="stable")
    losses, checked = problem.engine.level_losses(), 0

    def check(node: tuple[int, ...]) -> bool:
        nonlocal checked
        checked += 1
        met = bool(problem.engine.corners([node])[0].values[-1, 0] >= k)
        part = tuple(slice(level, None) if met else slice(None, level + 1) for level in node)
        known[part] = 1 if met else -1
        return met

    for number in order:
        node = tuple(int(level) for level in np.unravel_index(number, sizes))
        if known[node]:
            continue
        path = [node]
        while True:
            above = [
                (losses[a][level + 1] - losses[a][level], up)
                for a, level in enumerate(path[-1])
                if level + 1 < sizes[a] and not known[up := (*path[-1][:a], level + 1, *path[-1][a + 1 :])]
            ]
            if not above:
                break
            path.append(min(above)[1])
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if check(path[middle]):
                high = middle - 1
            else:
                low = middle + 1
    total = sum(np.reshape(loss, [-1 if b == a else 1 for b in range(len(sizes))]) for a, loss in enumerate(losses))
    return checked, float(total[known == 1].min())


def front(problem: PBGProblem, limit: int, *, everything: bool) -> None:
    names, rule = ", ".join(o.name for o in problem.objectives), problem.suppression
    rule = f"{rule} suppression" if problem.max_suppressed else "no suppression"
    try:
        seconds, found = cpu(lambda: problem.enumerate_front(limit=min(limit, problem.n_nodes - 1)))
    except SDCError as error:
        print(f"| {problem.n_nodes:,} | {names}, {rule} | refused: {error} |", flush=True)
        return
    measured = found.n_measured or problem.n_nodes
    walked = "not measured all"
    if everything:
        took, every = cpu(lambda: minimal(problem.enumerate_parts(limit=problem.n_nodes)))
        assert np.array_equal(every.F, found.F), "the same front"
        walked = f"all measured in {took:.1f} s, the same front"
    share = f"{measured:,} | {measured / problem.n_nodes:.2g}"
    print(
        f"| {problem.n_nodes:,} | {names}, {rule} | {len(found.F):,} | {share} | {seconds:.1f} s | {walked} |",
        flush=True,
    )


def one_k(step: int) -> None:
    """Least loss for one k: boxes beside Flash."""
    problem = adult(step, objectives=("k", "glm"), max_suppression=0, threads=1)
    seconds, (checked, least) = cpu(lambda: flash(problem, K))
    wanted = adult(step, objectives=("glm",), require={"k": K}, max_suppression=0, threads=1)
    boxes, found = cpu(lambda: wanted.enumerate_front(limit=wanted.n_nodes - 1))
    assert np.isclose(found.F[0, 0], least), "both are exact"
    print(
        f"{problem.n_nodes:,} nodes, k = {K}: Flash checks {checked:,} in {seconds:.1f} s; boxes measure"
        f" {found.n_measured:,} in {boxes:.1f} s; the loss is the same",
        flush=True,
    )


def main(steps: Sequence[int], limit: int, *, everything: bool) -> None:
    print("| nodes | objectives | front | measured | share | boxes | |\n| --- | --- | --- | --- | --- | --- | --- |")
    for step in steps:
        for objectives, options in (
            (("k", "glm"), {"max_suppression": 0}),
            (("k", "glm"), {"suppression": "budget"}),
            (("k", "glm"), {}),
            (("spread_k", "glm"), {"suppression": "budget"}),
        ):
            front(adult(step, objectives=objectives, threads=1, **options), limit, everything=everything and step == 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--flash", action="store_true", help="one k only, beside Flash")
    parser.add_argument("--limit", type=int, default=200_000)
    chosen = parser.parse_args()
    adult(0, threads=1).enumerate_front()  # compiles
    if chosen.flash:
        for size in (0, 1):
            one_k(size)
    else:
        main((2, 3) if chosen.large else (0, 1), chosen.limit, everything=True)
