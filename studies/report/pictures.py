"""Pictures of a solution, one per task."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sdc_problems.studies.report.plots import COLOURS, FRONT, STYLE, Format, keep
from sdc_problems.studies.report.summary import number
from sdc_problems.studies.report.terminal import plain

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.store.reader import Run

MANY = 40  # attributes or groups that one picture shows


def draw_solution(run: Run, task: str, problem: SDCProblem, ident: str, formats: Sequence[Format]) -> list[Path]:
    """Draw one solution into the run folder."""
    solution = run.solution(ident)
    assert solution.X is not None
    figure = picture(task, problem, solution.X[0], title=ident)
    name = re.sub(r"[^A-Za-z0-9-]+", "-", ident)[:60]
    return [keep(run.path, f"solution-{name}.{kind}", figure) for kind in formats]


def picture(task: str, problem: SDCProblem, x: NDArray[Any], *, title: str = "") -> Figure:
    """Draw what releasing ``x`` does.

    Parameters
    ----------
    task
        Name of the task, as in a study.
    problem
        The problem.
    x
        The solution.
    title
        What the picture calls it; its measures are added.
    """
    values = problem.natural(problem.evaluate(x[None, :])[0])
    facts = ", ".join(
        f"{objective.name} {number(value)}{' ' + objective.unit if objective.unit == '%' else ''}"
        for objective, value in zip(problem.objectives, values, strict=True)
    )
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        PICTURES[task](figure, problem, x)
        figure.suptitle(plain(f"{title}: {facts}" if title else facts, 100), fontsize=11, parse_math=False)
    return figure


def _levels(figure: Figure, problem: Any, x: NDArray[Any]) -> None:
    """One bar per attribute: how far up its hierarchy it goes."""
    node = problem.decode(x)
    names = list(node.levels)[:MANY]
    heights = [problem.hierarchies[name].length for name in names]
    figure.set_size_inches(7.5, 1.2 + 0.42 * len(names))
    panel = figure.subplots()
    rows = np.arange(len(names))
    panel.barh(rows, heights, color="#ededed", height=0.62)
    panel.barh(rows, [node.levels[name] for name in names], color=FRONT, height=0.62)
    for row, name in enumerate(names):
        text = f"{node.levels[name]} of {heights[row]}: {plain(node.phrases[name], 40)}"
        panel.text(max(heights) * 1.02, row, text, va="center", fontsize=9, parse_math=False)
    panel.set_yticks(rows, [plain(name, 24) for name in names], parse_math=False)
    panel.invert_yaxis()
    panel.set_xticks(range(max(heights) + 1))
    panel.set_xlabel("level of generalisation")
    panel.grid(axis="y", visible=False)


def _groups(figure: Figure, problem: Any, x: NDArray[Any]) -> None:
    """Attributes as tiles, one row per group, with the share of its variance that each group loses."""
    grouping, losses = problem.decode(x), problem.group_losses(x)
    order = sorted(range(len(grouping.groups)), key=lambda g: -len(grouping.groups[g]))[:MANY]
    widest = min(MANY, max(len(grouping.groups[g]) for g in order))
    figure.set_size_inches(2.5 + 1.25 * min(widest, 9), 1.2 + 0.55 * len(order))
    panel = figure.subplots()
    for row, g in enumerate(order):
        colour = COLOURS[row % len(COLOURS)]
        for column, name in enumerate(grouping.groups[g][:widest]):
            panel.barh(row, 0.94, left=column, color=colour, alpha=0.85, height=0.8)
            size = 8 if widest <= 9 else 6
            panel.text(
                column + 0.47, row, plain(name, 12), ha="center", va="center", color="white", fontsize=size,
                parse_math=False,
            )  # fmt: skip
        panel.text(widest + 0.1, row, f"{losses[g]:.1f} % lost", va="center", fontsize=9)
    panel.set_xlim(0, widest + 1.2)
    panel.set_yticks(range(len(order)), [f"group {g + 1}" for g in order])
    panel.invert_yaxis()
    panel.set_xticks([])
    panel.grid(visible=False)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _matrices(figure: Figure, problem: Any, x: NDArray[Any]) -> None:
    """A heat map per attribute: from the original value (row) to the protected one (column)."""
    tables = list(problem.decode(x).items())[:6]
    columns = 2 if len(tables) == 4 else min(3, len(tables))
    rows = -(-len(tables) // columns)
    figure.set_size_inches(4.6 * columns, 4.2 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel in panels[len(tables) :]:
        panel.set_visible(False)
    image = None
    for panel, (name, table) in zip(panels, tables, strict=False):
        P = table.to_numpy()
        image = panel.imshow(P, vmin=0, vmax=1, cmap="Blues", aspect="equal")
        labels = [plain(str(label), 14) for label in table.index]
        panel.set_title(plain(name, 40), fontsize=10, parse_math=False)
        if len(labels) <= 24:
            panel.set_xticks(range(len(labels)), labels, rotation=60, ha="right", fontsize=7, parse_math=False)
            panel.set_yticks(range(len(labels)), labels, fontsize=7, parse_math=False)
        if len(labels) <= 9:
            for i, j in np.ndindex(P.shape):
                if P[i, j] >= 0.005:
                    colour = "white" if P[i, j] > 0.55 else "#202020"
                    panel.text(j, i, f"{P[i, j]:.2f}", ha="center", va="center", fontsize=7, color=colour)
        panel.set_xlabel("protected")
        panel.grid(visible=False)
    panels[0].set_ylabel("original")
    if image is not None:
        figure.colorbar(image, ax=list(panels[: len(tables)]), shrink=0.7, label="probability")
    if hasattr(problem, "equation"):
        figure.supxlabel(plain(f"weight of i → j: {problem.equation(x)}", 110), fontsize=9, parse_math=False)


def _sizes(figure: Figure, problem: Any, x: NDArray[Any]) -> None:
    """Sizes of the groups: number of groups of each number of records."""
    panel = figure.subplots()
    sizes, counts = np.unique([len(group) for group in problem.decode(x).groups], return_counts=True)
    bars = panel.bar(sizes, counts, width=0.8, color=FRONT)
    panel.bar_label(bars, fontsize=9)
    panel.set_xticks(sizes)
    panel.set_xlabel("records in a group")
    panel.set_ylabel("groups")


PICTURES: dict[str, Callable[[Figure, Any, NDArray[Any]], None]] = {
    "pbg": _levels,
    "gomm": _groups,
    "microaggregation": _sizes,
    "pram": _matrices,
    "pram-equations": _matrices,
}
