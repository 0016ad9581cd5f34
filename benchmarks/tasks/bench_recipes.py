"""Recipes: candidates per second, beside the plain definition; and fronts beside the sweeps of single methods.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_recipes.py                  # speed
    SDC_DATA_HOME=… python benchmarks/tasks/bench_recipes.py --fronts --files people --seeds 20 --out R/people.json
    python benchmarks/tasks/bench_recipes.py --tables R --figure docs/figures/recipes.png --page docs/recipes.md

Speed: the candidates of a search that has been run before, so that what it masks is known (`again`), those of its first
run, and one candidate after the other by the plain definition: every method applied anew and the public measures taken
of the file. Fronts: hypervolume to (100, 100) in percent of that square, of all sweeps of one method together, of the
best single method, and of the searches that start from the sweeps; and whether a front covers every sweep point.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize
from scipy.stats import wilcoxon

from sdc_problems import Hierarchy, Microdata, RecipeProblem, SDCError, load
from sdc_problems.algorithms.generalization.lattice_optimum import DemandedLattice
from sdc_problems.algorithms.recipes import search_recipes
from sdc_problems.evaluators import hypervolume, il_mixed, interval_disclosure_rank
from sdc_problems.evaluators.mixed.measures import dr_mixed
from sdc_problems.hierarchy import suggest
from sdc_problems.methods import RecipeStep

FILES = {
    "people": ("age", "hours", "education", "marital_status", "income"),
    "census": None,
    "eia": None,
    "tarragona": None,
    "german_credit": ("checking_status", "duration", "savings_status", "employment", "age", "housing"),
    "adult": (
        "age", "workclass", "education", "marital-status", "occupation", "race", "sex", "hours-per-week",
    ),
}  # fmt: skip
SUPPRESSED = ("german_credit",)
"""Files whose cells are suppressed as well: stars among numbers help nobody, and of many records they take seconds."""

LATTICE_COLUMNS = 8
"""Of files with more columns there is no lattice among the sweeps: too many nodes for a person to try."""

POP, GENERATIONS = 50, 8


def table(name: str) -> Microdata:
    """Return a table with the columns to protect as quasi-identifiers."""
    found = load(name)
    columns = FILES[name]
    return found.data if columns is None else found.data.with_roles(quasi_identifiers=columns)


def searched(problem: RecipeProblem, generations: int, seed: int = 1, start: np.ndarray | None = None) -> np.ndarray:
    """Front of NSGA-II with the problem's own operators."""
    operators = problem.operators()
    if start is not None:
        operators["sampling"] = start
    size = POP if start is None else max(POP, len(start))
    algorithm = NSGA2(pop_size=size, n_offsprings=POP, **operators)
    front: np.ndarray = minimize(problem, algorithm, ("n_gen", generations), seed=seed).F
    return front


def plainly(problem: RecipeProblem, x: np.ndarray, *, linkage: bool) -> None:
    """Apply every step and take the measures of the file, from scratch."""
    fresh = RecipeProblem(problem.data, columns=problem.attributes, threads=1)
    file = fresh.engine.file(fresh.decode(x).steps)
    X, Y = fresh.engine.mixed.X, np.column_stack([column.values for column in file])
    kinds, sizes = fresh.engine.mixed.kinds, list(fresh.engine.mixed.sizes)
    il_mixed(X, Y, kinds=kinds, n_categories=sizes)
    if linkage:
        dr_mixed(X, Y, kinds=kinds, n_categories=sizes)
    else:
        interval_disclosure_rank(X, Y, kinds=kinds)


def speed(name: str) -> None:
    """Print candidates per second, with and without linkage."""
    data = table(name)
    for linkage in (False, True):
        problem = RecipeProblem(data, objectives=("il_mixed", "dr_mixed" if linkage else "id_rank"))
        first, again = (_seconds(partial(searched, problem, GENERATIONS)) for _ in range(2))
        rows = problem.operators()["sampling"](problem, 8, random_state=np.random.default_rng(1)).get("X")
        plain = sum(_seconds(partial(plainly, problem, x, linkage=linkage)) for x in rows) / len(rows)
        n, what = POP * GENERATIONS, "with linkage" if linkage else "without linkage"
        print(
            f"{name:14} {len(data):>6} x {len(problem.attributes):<3} {what:16}"
            f" first {n / first:8.1f}/s   again {n / again:8.1f}/s   plain {1 / plain:7.2f}/s   again : plain"
            f" {n / again * plain:8.1f}",
            flush=True,
        )


def fronts(name: str, generations: int, seeds: int, limit: float) -> dict[str, Any]:
    """Search from the sweeps with several seeds, print what it reaches, and return it."""
    begin = time.perf_counter()
    found = load(name)
    data = table(name)
    hierarchies = {column: h for column, h in found.hierarchies.items() if column in data.quasi_identifiers}
    if len(data.quasi_identifiers) <= LATTICE_COLUMNS:
        hierarchies = {c: hierarchies.get(c) or suggest(data, c).hierarchy for c in data.quasi_identifiers}
    tried = None if name in SUPPRESSED else fitting(data, hierarchies)
    problem = RecipeProblem(data, hierarchies=hierarchies, methods=tried)
    optima = lattice_optima(problem)
    named = {**problem.baselines(), **optima}
    start = np.array(list(named.values()))
    F = problem.evaluate(start, return_values_of=["F"])
    methods = [key.partition(" ")[0] for key in named]
    single = {m: _area(F[[each in (m, "as") for each in methods]]) for m in dict.fromkeys(methods)}
    best = max(single, key=lambda m: single[m])
    swept = time.perf_counter() - begin
    print(f"{name}: {len(F)} sweep points in {swept:.0f} s", flush=True)
    areas, covered, measured = [], [], 0
    for seed in range(1, seeds + 1):
        front = search_recipes(problem, rng=np.random.default_rng(seed), generations=generations, starts=optima)
        areas.append(_area(front.F))
        covered.append(all((front.F <= f + 1e-12).all(axis=1).any() for f in F))
        measured += front.measured
        print(f"  seed {seed}: {areas[-1]:.2f} after {time.perf_counter() - begin:.0f} s", flush=True)
        if time.perf_counter() - begin > limit:
            break
    seeds = len(areas)
    p = float(wilcoxon(np.array(areas) - single[best], alternative="greater").pvalue) if seeds > 1 else 1.0
    knee = front.recipe(front.knee)
    own = [np.array(row) for key, row in named.items() if key.partition(" ")[0] in (best, "as")]
    fresh = [_fresh(problem, front.X, seed) - _fresh(problem, own, seed) for seed in (101, 102, 103)]
    result = {
        "file": name, "records": len(data), "columns": len(problem.attributes), "sweep_points": len(F),
        "all_sweeps": _area(F), "best_method": best, "best_single": single[best], "areas": areas,
        "covered": sum(covered), "p": p, "fresh": fresh, "front": front.F.tolist(), "sweeps": F.tolist(),
        "of": methods, "knee": front.F[front.knee].tolist(), "recipe": str(knee), "points": len(front),
        "measured": measured, "seeds": seeds, "generations": generations,
        "seconds_of_sweeps": swept, "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    print(
        f"{name:14} {len(F)} sweep points {_area(F):6.2f}   best single method {best} {single[best]:6.2f}   recipes"
        f" {np.median(areas):6.2f} ({min(areas):.2f} to {max(areas):.2f})   covers the sweeps in {sum(covered)} of"
        f" {seeds}   p = {p:.1e}   on fresh draws {np.median(fresh):+.2f}   {result['seconds']:.0f} s",
        flush=True,
    )
    return result


def fitting(data: Microdata, hierarchies: dict[str, Hierarchy]) -> list[str]:
    """Names of the methods that fit a column, without those that suppress cells."""
    offered = RecipeProblem(data, hierarchies=hierarchies).offers[1:]
    return [offer.name for offer in offered if not offer.name.startswith("suppress-cells")]


def lattice_optima(problem: RecipeProblem, most: int = 20_000) -> dict[str, np.ndarray]:
    """Generalizations with k that lose least, as recipes, of lattices small enough to measure all nodes."""
    if set(problem.hierarchies) != set(problem.attributes):
        return {}
    found = {}
    for k in (2, 3, 5, 10, 25, 50):
        try:
            lattice = DemandedLattice(problem.data, problem.hierarchies, k, max_suppression=0)
            if lattice.problem.n_nodes > most:
                x = lattice.search(np.random.default_rng(k), evaluations=2000)[0]
            else:
                x = lattice.best_of_all()
            levels = lattice.problem.decode(x).levels
            steps = [RecipeStep((name,), "recode-level", {"level": level}) for name, level in levels.items() if level]
            found[f"lattice k {k}"] = problem.encode(steps)
        except SDCError as error:
            print(f"lattice k {k}: {error}", flush=True)
    return found


def by_hand(data: Microdata) -> dict[str, list[RecipeStep]]:
    """Steps of the workflow of sdcMicro's vignette "Introduction to Statistical Disclosure Control", as recipes.

    Its last example compares these on a whole file: categorical keys by local suppression or PRAM, numbers by MDAV,
    noise or shuffling. Settings are the functions' defaults: 3-anonymity, a star matching every value; ``aggr = 3``;
    ``noise = 150`` (correlated; a variance share of 1.5) and ``delta = 0.1`` (correlated2); ``pd = 0.8``.
    """
    kinds = {name: data.attribute(name).kind.value for name in data.quasi_identifiers}
    numbers = tuple(name for name, kind in kinds.items() if kind == "numeric")
    keys = tuple(name for name, kind in kinds.items() if kind != "numeric")
    stars = [RecipeStep(keys, "suppress-cells-wildcard", {"k": 3})] if keys else []
    moved = [RecipeStep((key,), "pram", {"stay": 0.8}) for key in keys]
    mdav = [RecipeStep(numbers, "mdav", {"k": 3})]
    first = "suppression, " if keys else ""
    found = {
        f"{first}MDAV": stars + mdav,
        f"{first}correlated noise": [*stars, _noise(numbers, 1.5**0.5, "correlated")],
        f"{first}noise that keeps moments": [*stars, _noise(numbers, 0.1, "moments")],
        f"{first}shuffling": [*stars, RecipeStep(numbers, "rank-shuffle", {"target": "pearson"})],
    }
    return {**found, "PRAM, MDAV": moved + mdav} if keys else found


def _noise(columns: tuple[str, ...], amplitude: float, structure: str) -> RecipeStep:
    return RecipeStep(columns, "add-noise", {"amplitude": amplitude, "structure": structure})


def workflows(name: str) -> list[tuple[str, float, float]]:
    """Loss and risk of each workflow, measured as the search measures."""
    problem = RecipeProblem(table(name))
    steps = by_hand(problem.data)
    files = [problem.engine.file(each) for each in steps.values()]
    values = problem.engine.mixed.measure(files, ["il_mixed", "dr_mixed"])
    return [(what, float(loss), float(risk)) for what, (loss, risk) in zip(steps, values, strict=True)]


def tables(folder: Path, figure: Path | None) -> str:
    """Tables of docs/recipes.md from the results of ``--fronts --out``; its figure is drawn as well."""
    there = [path for name in FILES if (path := folder / f"{name}.json").exists()]
    results = [json.loads(path.read_text())[0] for path in there]
    lines: list[str] = []
    head = ("file", "records × columns", "sweep points", "best single method", "its area", "all sweeps", "recipes")
    lines.append(f"| {' | '.join(head)} | front covers all sweep points | p |")
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for r in results:
        areas = f"{np.median(r['areas']):.1f} ({min(r['areas']):.1f} to {max(r['areas']):.1f})"
        covered = f"{r['covered']} of {r['seeds']} seeds"
        lines.append(
            f"| {r['file']} | {r['records']:,} × {r['columns']} | {r['sweep_points']} | {r['best_method']} |"
            f" {r['best_single']:.1f} | {r['all_sweeps']:.1f} | {areas} | {covered} | {r['p']:.1e} |"
        )
    lines.append("")
    lines.append("| file | workflow | loss, % | risk, % | recipe of at most this risk | recipe of at most this loss |")
    lines.append("| --- | --- | --- | --- | --- | --- |")
    hand: dict[str, list[tuple[str, float, float]]] = {}
    for r in results:
        F = np.array(r["front"])
        hand[r["file"]] = workflows(r["file"])
        for what, loss, risk in hand[r["file"]]:
            safer, better = F[F[:, 1] <= risk], F[F[:, 0] <= loss]
            least = f"loss {safer[:, 0].min():.1f}" if len(safer) else "none found"
            lowest = f"risk {better[:, 1].min():.1f}" if len(better) else "none found"
            lines.append(f"| {r['file']} | {what} | {loss:.1f} | {risk:.1f} | {least} | {lowest} |")
    if figure is not None:
        draw(results, hand, figure)
    return "\n".join(lines) + "\n"


def draw(results: list[dict[str, Any]], hand: dict[str, list[tuple[str, float, float]]], path: Path) -> None:
    """Draw the fronts of one seed with all sweep points and the workflows by hand."""
    import matplotlib.pyplot as plt

    columns = min(3, len(results))
    rows = -(-len(results) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(4 * columns, 3.4 * rows), squeeze=False, layout="constrained")
    for panel in panels.ravel()[len(results) :]:
        panel.set_visible(False)
    for panel, r in zip(panels.ravel(), results, strict=False):
        sweeps, front = np.array(r["sweeps"]), np.array(r["front"])
        own = [method == r["best_method"] for method in r["of"]]
        panel.scatter(*sweeps.T, s=9, color="#b5b5b5", label="one method for all columns")
        panel.scatter(*sweeps[own].T, s=14, color="#d08a2e", label="the best single method")
        panel.step(*front.T, where="post", color="#0b5f6e", lw=1.4)
        panel.scatter(*front.T, s=9, color="#0b5f6e", label="recipes")
        made = np.array([point[1:] for point in hand[r["file"]]])
        panel.scatter(*made.T, s=34, marker="x", color="#b3261e", label="workflow by hand")
        panel.set(title=f"{r['file']}: {r['best_method']}", xlabel="il_mixed, %", ylabel="dr_mixed, %")
        panel.set(xlim=(-2, 102), ylim=(-2, 102))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)


def _fresh(problem: RecipeProblem, rows: Sequence[np.ndarray], seed: int) -> float:
    """Hypervolume of recipes whose random numbers are drawn anew."""
    F = [[figures[o.name] for o in problem.objectives] for figures in problem._exact(list(rows), seed=seed)]
    return _area(np.array(F))


def _area(F: np.ndarray) -> float:
    return 100.0 * float(hypervolume(np.minimum(F, 100.0) / 100.0, np.ones(2)))


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def main() -> None:
    """Read the arguments, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fronts", action="store_true")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--files", nargs="+", choices=FILES, default=["census", "adult"])
    parser.add_argument("--limit", type=float, default=np.inf, help="seconds after which no further seed is begun")
    parser.add_argument("--out", type=Path, help="JSON file for the results of --fronts")
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="print the tables from results of --out there")
    parser.add_argument("--page", type=Path, help="page that --tables writes them into")
    parser.add_argument("--figure", type=Path, help="picture that --tables draws")
    given = parser.parse_args()
    if given.tables is not None:
        made = tables(given.tables, given.figure)
        print(made)
        if given.page is not None:
            text = given.page.read_text(encoding="utf-8")
            before, mark, rest = text.partition("<!-- results -->\n")
            after = rest[rest.index("<!-- end of results -->") :]
            given.page.write_text(before + mark + made + after, encoding="utf-8")
        return
    results = []
    for name in given.files:
        if given.fronts:
            results.append(fronts(name, given.generations, given.seeds, given.limit))
            if given.out is not None:
                given.out.write_text(json.dumps(results))
        else:
            speed(name)


if __name__ == "__main__":
    main()
