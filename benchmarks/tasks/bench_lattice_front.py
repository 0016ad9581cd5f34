"""Exact fronts of lattices by boxes of nodes, beside measuring every node, and beside Flash and OLA for one k or l.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_lattice_front.py            lattices of 18 thousand to 40 billion
    SDC_DATA_HOME=… python benchmarks/tasks/bench_lattice_front.py --rivals   one k or l, beside Flash and OLA
    SDC_DATA_HOME=… python benchmarks/tasks/bench_lattice_front.py --search   PBGSearch beside the exact front

Files are Adult with its shipped hierarchies, and with more attributes, the Census microdata and German credit with
suggested hierarchies. Flash (Kohlmayer and others 2012) searches paths from node to node by halving; OLA (El Emam and
others 2009) halves sublattices by their middle. Both note what a check says of all finer or coarser nodes, and both are
written here in plain Python over an array of the lattice, so compare how many nodes they check rather than their time.
A rule that is not monotone, as l with suppression, is none of theirs. All times are CPU seconds of this process.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, SDCError, load
from sdc_problems.algorithms import PBGSearch
from sdc_problems.evaluators.lattice import NEED_SENSITIVE
from sdc_problems.hierarchy import suggest

MORE = (
    ("occupation", "hours-per-week", "relationship"),
    ("education-num", "capital-gain", "capital-loss"),
    ("fnlwgt",),
)
"""Attributes of each larger lattice of Adult beside those of the one before; the first has those with hierarchies."""

BUDGET: dict[str, Any] = {"suppression": "budget"}
NONE: dict[str, Any] = {"max_suppression": 0}
T = TypeVar("T")


class OutOfTime(Exception):
    """A rival took longer than it may."""


def cpu(call: Callable[..., T], *arguments: object, **options: object) -> tuple[float, T]:
    start = time.process_time()
    found = call(*arguments, **options)
    return time.process_time() - start, found


def make(name: str, size: int, measure: str, *, single: bool = False, **options: object) -> PBGProblem:
    """Problem on a file: Adult in four sizes, others with their first attributes; loss alone for a single rule."""
    file = load(name, download=False)
    data, columns, sensitive = file.data, list(file.hierarchies), list[str]()
    if name == "adult":
        columns += [column for part in MORE[:size] for column in part]
    else:
        columns = [column for column in data.names if column != "class"][:size]
    if measure in NEED_SENSITIVE:
        sensitive = {"adult": ["income" if size else "occupation"], "german_credit": ["class"]}[name]
        columns = [column for column in columns if column not in sensitive]
    data = data.with_roles(quasi_identifiers=columns, sensitive=sensitive)
    hierarchies = {
        column: file.hierarchies[column] if column in file.hierarchies else suggest(data, column).hierarchy
        for column in columns
    }
    objectives = ("k", measure) if measure == "discernibility" else (measure, "glm")
    objectives = ("glm",) if single else objectives
    return PBGProblem(data, hierarchies, objectives=objectives, threads=1, **options)  # type: ignore[arg-type]


# -- one k or l: Flash and OLA -------------------------------------------------------------------------------------


class Known:
    """Knowledge of each node of a lattice, by checks that hold for all finer or coarser ones too."""

    def __init__(self, problem: PBGProblem, least: float, seconds: float) -> None:
        self.engine, self.least, self.checked = problem.engine, least, 0
        self.sizes = tuple(problem.engine.n_levels.tolist())
        self.known = np.zeros(self.sizes, dtype=np.int8)  # 1: protects enough, -1: not
        self.end = time.process_time() + seconds
        self.loss = np.inf

    def check(self, node: tuple[int, ...]) -> bool:
        """Measure a node, unless it is known."""
        if self.known[node]:
            return bool(self.known[node] > 0)
        if time.process_time() > self.end:
            raise OutOfTime
        self.checked += 1
        values = self.engine.corners([node])[0].values
        met = bool(values[-1, 0] >= self.least)
        self.known[tuple(slice(level, None) if met else slice(None, level + 1) for level in node)] = 1 if met else -1
        if met:
            self.loss = min(self.loss, float(values[values[:, 0] >= self.least, 1].min()))
        return met


def flash(problem: PBGProblem, least: float, seconds: float) -> Known:
    """Search paths by halving until every node is known."""
    known = Known(problem, least, seconds)
    sizes, losses = known.sizes, problem.engine.level_losses()
    order = np.argsort(np.indices(sizes, dtype=np.int16).sum(axis=0, dtype=np.int16), axis=None, kind="stable")
    for number in order:
        node = tuple(int(level) for level in np.unravel_index(number, sizes))
        if known.known[node]:
            continue
        path = [node]
        while True:
            above = [
                (losses[a][level + 1] - losses[a][level], up)
                for a, level in enumerate(path[-1])
                if level + 1 < sizes[a] and not known.known[up := (*path[-1][:a], level + 1, *path[-1][a + 1 :])]
            ]
            if not above:
                break
            path.append(min(above)[1])
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if known.check(path[middle]):
                high = middle - 1
            else:
                low = middle + 1
    return known


def ola(problem: PBGProblem, least: float, seconds: float) -> Known:
    """Halve sublattices by the nodes of their middle height, each pair of ends once."""
    known, seen = Known(problem, least, seconds), set[tuple[tuple[int, ...], tuple[int, ...]]]()
    todo = [(tuple(0 for _ in known.sizes), tuple(size - 1 for size in known.sizes))]
    while todo:
        ends = todo.pop()
        if ends in seen:
            continue
        if time.process_time() > known.end:
            raise OutOfTime
        seen.add(ends)
        bottom, top = ends
        height = sum(top) - sum(bottom)
        if height <= 1:
            if not known.check(bottom):
                known.check(top)
            continue
        for node in at_height(bottom, top, height // 2):
            todo.append((bottom, node) if known.check(node) else (node, top))
    return known


def at_height(bottom: tuple[int, ...], top: tuple[int, ...], height: int) -> Iterator[tuple[int, ...]]:
    """Nodes of a sublattice so many levels above its bottom."""
    if len(bottom) == 1:
        if height <= top[0] - bottom[0]:
            yield (bottom[0] + height,)
        return
    room = sum(top[1:]) - sum(bottom[1:])
    for step in range(max(0, height - room), min(height, top[0] - bottom[0]) + 1):
        for rest in at_height(bottom[1:], top[1:], height - step):
            yield (bottom[0] + step, *rest)


def rivals(seconds: float, only: str) -> None:
    """Least loss for one k or l, by boxes, Flash and OLA."""
    print("| file | nodes | rule | boxes: measured, CPU s, loss | Flash: checked, CPU s, loss | OLA |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    rules: list[tuple[str, float, dict[str, Any]]] = [("k", 5, NONE), ("k", 5, BUDGET), ("l", 2, NONE)]
    files = [("adult", 0), ("solar_flare", 10), ("german_credit", 10), ("adult", 1)]
    for (name, size), (measure, least, options) in itertools.product(files, rules):
        if not f"{name}-{size}".startswith(only) or (measure == "l" and name == "solar_flare"):
            continue
        problem = make(name, size, measure, **options)
        wanted = make(name, size, measure, single=True, require={measure: least}, **options)
        took, found = cpu(wanted.enumerate_front, limit=wanted.n_nodes - 1)
        cells = [f"{found.n_measured or wanted.n_nodes:,}, {took:.1f}, {found.F[0, 0]:,.0f}"]
        for rival in (flash, ola):
            try:
                took, known = cpu(rival, problem, least, seconds)
                cells.append(f"{known.checked:,}, {took:.1f}, {known.loss:,.0f}")
            except OutOfTime:
                cells.append(f"not done in {seconds:.0f} s")
        rule = f"{measure} ≥ {least}, {'1 % may go' if options is BUDGET else 'no suppression'}"
        print(f"| {name} | {problem.n_nodes:,} | {rule} | {' | '.join(cells)} |", flush=True)


# -- whole fronts --------------------------------------------------------------------------------------------------

CASES = (
    ("adult", 0, ("k", "l")), ("adult", 1, ("k", "l", "entropy_l", "spread_k", "discernibility")), ("adult", 2, ("k",)),
    ("adult", 3, ("k",)), ("census", 13, ("k",)), ("german_credit", 14, ("k", "l", "entropy_l")),
    ("german_credit", 20, ("k",)),
)  # fmt: skip
EVERYTHING = 3_000_000  # nodes that are also measured one by one


def fronts(limit: int, only: str, *, everything: bool) -> None:
    """Whole fronts, beside measuring every node where that is done."""
    print("| file | nodes | objectives | front | measured | share | boxes | every node |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name, size, measures in CASES:
        if not f"{name}-{size}".startswith(only):
            continue
        rules: tuple[dict[str, Any], ...] = (NONE, BUDGET, {})
        for measure, options in itertools.product(measures, rules):
            problem = make(name, size, measure, **options)
            rule = "no suppression" if options is NONE else f'`"{problem.suppression}"`'
            names = ", ".join(f"`{objective.name}`" for objective in problem.objectives)
            head = f"| {name} | {problem.n_nodes:,} | {names}, {rule} |"
            try:
                took, found = cpu(problem.enumerate_front, limit=min(limit, problem.n_nodes - 1))
            except SDCError as error:
                print(f"{head} refused: {error} |", flush=True)
                continue
            measured, walked = found.n_measured or problem.n_nodes, ""
            if everything and problem.n_nodes <= EVERYTHING:
                every, same = cpu(enumerated, problem)
                assert np.array_equal(same, found.F), "the same front"
                walked = f"{every:.1f} s, the same front"
            share = 100 * measured / problem.n_nodes
            print(f"{head} {len(found.F):,} | {measured:,} | {share:.2g} % | {took:.1f} s | {walked} |", flush=True)


def enumerated(problem: PBGProblem) -> NDArray[np.float64]:
    """Front by measuring every node."""
    from sdc_problems.front import minimal

    found: NDArray[np.float64] = minimal(problem.enumerate_parts(limit=problem.n_nodes)).F
    return found


def search(measurements: tuple[int, ...]) -> None:
    """Share of the exact front that PBGSearch finds where enumerating is out of the question."""
    print("| file | nodes | exact: front, measured, CPU s | PBGSearch: measured | found of it | CPU s |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    for name, size, options in (("adult", 1, NONE), ("adult", 1, BUDGET), ("german_credit", 14, NONE)):
        problem = make(name, size, "k", **options)
        took, front = cpu(problem.enumerate_front)
        exact = f"{len(front.F)}, {front.n_measured:,}, {took:.1f}"
        for n in measurements:
            problem = make(name, size, "k", **options)
            took, result = cpu(minimize, problem, PBGSearch(max_evaluations=n), seed=1)
            hit = sum(bool((np.isclose(front.F, row).all(axis=1)).any()) for row in np.unique(result.F, axis=0))
            share = 100 * hit / len(front.F)
            print(f"| {name} | {problem.n_nodes:,} | {exact} | {n:,} | {share:.0f} % | {took:.1f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rivals", action="store_true", help="one k or l, beside Flash and OLA")
    parser.add_argument("--search", action="store_true", help="PBGSearch beside the exact front")
    parser.add_argument("--everything", action="store_true", help="also measure every node where there are few")
    parser.add_argument("--only", default="", help="begin of a file's name and size, as adult-1")
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of each rival")
    chosen = parser.parse_args()
    make("adult", 0, "k").enumerate_front()  # compiles
    if chosen.rivals:
        rivals(chosen.seconds, chosen.only)
    elif chosen.search:
        search((500, 2_000))
    else:
        fronts(chosen.limit, chosen.only, everything=chosen.everything)
