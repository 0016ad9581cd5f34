"""Pictures of a solution, drawn by matplotlib from the plain values of its task."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Circle
from numpy.typing import NDArray

from sdc_problems.studies.report.picture_types import (
    Bars,
    Blocks,
    Formula,
    Graph,
    Lattice,
    Lines,
    Matrix,
    Picture,
    Table,
)
from sdc_problems.studies.report.plots import COLOURS, FRONT, STYLE, Format, keep
from sdc_problems.studies.report.terminal import plain
from sdc_problems.studies.report.text import number
from sdc_problems.studies.tasks import find_task

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.store.reader import Run

MANY = 40  # most attributes or groups in one picture
MOST_MATRICES = 6


def draw_solution(run: Run, task: str, problem: SDCProblem, ident: str, formats: Sequence[Format]) -> list[Path]:
    """Draw one solution into the run folder."""
    solution = run.solution(ident)
    assert solution.X is not None
    figure = picture(task, problem, solution.X[0], title=ident)
    name = re.sub(r"[^A-Za-z0-9-]+", "-", ident)[:60]
    return [keep(run.path, f"solution-{name}.{kind}", figure) for kind in formats]


def picture(task: str, problem: SDCProblem, x: NDArray[Any], *, title: str = "") -> Figure:
    """Draw the effect of releasing ``x``.

    Parameters
    ----------
    task
        Name of the task, as in a study.
    problem
        The problem.
    x
        The solution.
    title
        Title of the picture; the measures are added.
    """
    values = problem.natural(problem.evaluate(x[None, :], return_values_of=["F"])[0])
    facts = ", ".join(
        f"{objective.name} {number(value)}{' ' + objective.unit if objective.unit == '%' else ''}"
        for objective, value in zip(problem.objectives, values, strict=True)
    )
    return drawn(find_task(task).pictures(problem, x), title=f"{title}: {facts}" if title else facts)


def drawn(pictures: Sequence[Picture], *, title: str) -> Figure:
    """Draw pictures of any types into one figure.

    Parameters
    ----------
    pictures
        The pictures.
    title
        Title above them.
    """
    with rc_context(STYLE):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        _draw(figure, pictures)
        figure.suptitle(plain(title, 100), fontsize=11, parse_math=False)
    return figure


def _draw(figure: Figure, pictures: Sequence[Picture]) -> None:
    """Draw pictures below each other, matrices side by side, equations at the bottom."""
    formulas = [picture for picture in pictures if isinstance(picture, Formula)]
    others = [picture for picture in pictures if not isinstance(picture, Formula)]
    rows = [list(row) for _, row in groupby(others, key=type)]
    rows = [part for row in rows for part in ([row] if isinstance(row[0], Matrix) else [[one] for one in row])]
    if not rows:
        figure.text(0.5, 0.5, "too large for a picture" if not formulas else "", ha="center", va="center")
    sizes = [_SIZES[type(row[0])](row) for row in rows]
    if sizes:
        figure.set_size_inches(max(width for width, _ in sizes), sum(height for _, height in sizes))
    parts: Sequence[FigureBase] = [figure]
    if len(rows) > 1:
        made = figure.subfigures(len(rows), 1, height_ratios=[height for _, height in sizes], squeeze=False)
        parts = [made[row, 0] for row in range(len(rows))]
    for part, row in zip(parts, rows, strict=False):
        _DRAWERS[type(row[0])](part, row, len(rows) > 1)
    if formulas:
        text = "; ".join(f"{formula.caption} {formula.text}".strip() for formula in formulas)
        figure.supxlabel(plain(text, 110), fontsize=9, parse_math=False)


def _lattice(figure: FigureBase, row: list[Any], titled: bool) -> None:
    """Bars that show how far each attribute goes up its hierarchy."""
    (picture,) = row
    shown = picture.attributes[:MANY]
    heights = [len(attribute.levels) - 1 for attribute in shown]
    panel = _panel(figure, picture, titled)
    places = np.arange(len(shown))
    panel.barh(places, heights, color="#ededed", height=0.62)
    panel.barh(places, [attribute.level for attribute in shown], color=FRONT, height=0.62)
    for place, attribute, height in zip(places, shown, heights, strict=True):
        text = f"{attribute.level} of {height}: {plain(attribute.levels[attribute.level], 40)}"
        panel.text(max(heights) * 1.02, place, text, va="center", fontsize=9, parse_math=False)
    panel.set_yticks(places, [plain(attribute.name, 24) for attribute in shown], parse_math=False)
    panel.invert_yaxis()
    panel.set_xticks(range(max(heights) + 1))
    panel.set_xlabel(picture.across, parse_math=False)
    panel.grid(axis="y", visible=False)


def _largest(picture: Blocks) -> list[int]:
    """Indices of the blocks that are drawn, those with the most items first."""
    return sorted(range(len(picture.blocks)), key=lambda b: -len(picture.blocks[b].items))[:MANY]


def _widest(picture: Blocks) -> int:
    return min(MANY, max(len(block.items) for block in picture.blocks))


def _blocks(figure: FigureBase, row: list[Any], titled: bool) -> None:
    """Items as tiles, one row per block, with the block's value."""
    (picture,) = row
    order, widest = _largest(picture), _widest(picture)
    panel = _panel(figure, picture, titled)
    for place, b in enumerate(order):
        colour = COLOURS[place % len(COLOURS)]
        for column, name in enumerate(picture.blocks[b].items[:widest]):
            panel.barh(place, 0.94, left=column, color=colour, alpha=0.85, height=0.8)
            size = 8 if widest <= 9 else 6
            panel.text(
                column + 0.47, place, plain(name, 12), ha="center", va="center", color="white", fontsize=size,
                parse_math=False,
            )  # fmt: skip
        text = f"{picture.blocks[b].value:.3g} {picture.unit}".strip()
        panel.text(widest + 0.1, place, plain(text, 30), va="center", fontsize=9, parse_math=False)
    panel.text(
        widest + 0.1, -0.55, plain(picture.value, 30), va="bottom", fontsize=9, color="#606060", parse_math=False
    )
    panel.set_xlim(0, widest + 1.2)
    panel.set_yticks(range(len(order)), [plain(f"{picture.noun} {b + 1}", 24) for b in order], parse_math=False)
    panel.invert_yaxis()
    panel.set_xticks([])
    panel.grid(visible=False)
    for spine in panel.spines.values():
        spine.set_visible(False)


def _matrices(figure: FigureBase, pictures: list[Any], titled: bool) -> None:
    """A heat map per matrix: rows are original values, columns are released ones."""
    shown = pictures[:MOST_MATRICES]
    columns = _columns(shown)
    panels = figure.subplots(-(-len(shown) // columns), columns, squeeze=False).ravel()
    for panel in panels[len(shown) :]:
        panel.set_visible(False)
    images = []
    for panel, picture in zip(panels, shown, strict=False):
        P = np.array(picture.shares)
        images.append(panel.imshow(P, vmin=0, vmax=1, cmap="Blues", aspect="equal"))
        across, down = ([plain(label, 14) for label in side] for side in (picture.column_labels, picture.row_labels))
        panel.set_title(plain(picture.name, 40), fontsize=10, parse_math=False)
        panel.set_xticks(range(len(across)), across, rotation=60, ha="right", fontsize=7, parse_math=False)
        panel.set_yticks(range(len(down)), down, fontsize=7, parse_math=False)
        if max(P.shape) > 24:  # text would not be readable
            panel.set_xticks([])
            panel.set_yticks([])
        if max(P.shape) <= 9:
            for i, j in np.ndindex(P.shape):
                if P[i, j] >= 0.005:
                    colour = "white" if P[i, j] > 0.55 else "#202020"
                    panel.text(j, i, f"{P[i, j]:.2f}", ha="center", va="center", fontsize=7, color=colour)
        panel.set_xlabel(picture.across, parse_math=False)
        panel.grid(visible=False)
    panels[0].set_ylabel(shown[0].down, parse_math=False)
    figure.colorbar(images[0], ax=list(panels[: len(shown)]), shrink=0.7, label=shown[0].measure)


def _columns(matrices: Sequence[Matrix]) -> int:
    shown = len(matrices[:MOST_MATRICES])
    return 2 if shown == 4 else min(3, shown)


def _bars(figure: FigureBase, row: list[Any], titled: bool) -> None:
    (picture,) = row
    panel = _panel(figure, picture, titled)
    places = range(len(picture.values))
    bars = panel.bar(places, picture.values, width=0.8, color=FRONT)
    panel.bar_label(bars, labels=[number(value) for value in picture.values], fontsize=9)
    labels = [plain(label, 24) for label in picture.labels]
    turned: dict[str, Any] = {"rotation": 60, "ha": "right"} if sum(map(len, labels)) > 60 else {}
    panel.set_xticks(places, labels, parse_math=False, **turned)
    panel.set_xlim(-0.7, max(len(places), 3) - 0.3)
    panel.set_xlabel(picture.across, parse_math=False)
    panel.set_ylabel(picture.up, parse_math=False)


def _lines(figure: FigureBase, row: list[Any], titled: bool) -> None:
    (picture,) = row
    panel = _panel(figure, picture, titled)
    for position, line in enumerate(picture.lines):
        colour = COLOURS[position % len(COLOURS)]
        panel.plot(picture.places, line.values, color=colour, linewidth=1.4, label=plain(line.name, 40))
    if len(picture.lines) > 1:
        panel.legend(frameon=False, fontsize=9)
    panel.set_xlabel(picture.across, parse_math=False)
    panel.set_ylabel(picture.up, parse_math=False)


def _graph(figure: FigureBase, row: list[Any], titled: bool) -> None:
    """Nodes as circles and links as lines, a panel for each state."""
    (picture,) = row
    panels = figure.subplots(1, len(picture.states), squeeze=False)[0]
    largest = max((size for state in picture.states for size in state.sizes), default=1) or 1
    widest = max((link.value or 0 for state in picture.states for link in state.links), default=1) or 1
    room = 0.35 / max(3.0, np.sqrt(len(picture.nodes)))
    for panel, state in zip(panels, picture.states, strict=True):
        radius = [room * np.sqrt(max(size, 0) / largest) + 0.004 for size in state.sizes]
        for link in state.links:
            a, b = picture.nodes[link.source], picture.nodes[link.target]
            width = 0.4 + 9 * (link.value or 0) / widest
            if link.source == link.target:
                ring = Circle((a.x, a.y), radius[link.source], fill=False, edgecolor="#8a8a8a", linewidth=width)
                panel.add_patch(ring)
            else:
                panel.plot([a.x, b.x], [a.y, b.y], color="#8a8a8a", alpha=0.55, linewidth=width, zorder=1)
        for v, (node, r) in enumerate(zip(picture.nodes, radius, strict=True)):
            strength = 0.25 + 0.75 * state.shades[v] if state.shades else 0.85
            for colour, alpha in (("white", 1.0), (FRONT, strength)):
                panel.add_patch(Circle((node.x, node.y), r, facecolor=colour, alpha=alpha, linewidth=0, zorder=2))
            if node.name:
                left = node.x < 0.5 - 1e-9
                at = node.x + (-1 if left else 1) * (r + 0.02)
                side = "right" if left else "left"
                panel.text(at, node.y, plain(node.name, 18), ha=side, va="center", fontsize=8, parse_math=False)
        named = any(node.name for node in picture.nodes)
        for drawn in [
            *panel.lines,
            *panel.patches,
        ]:  # names of clip paths depend on the last bits of the layout
            drawn.set_clip_on(False)
        panel.set_xlim(-0.45 if named else -0.2, 1.45 if named else 1.2)
        panel.set_ylim(-0.2, 1.2)
        panel.set_aspect("equal")
        panel.axis("off")
        panel.set_title(plain(state.name, 40), fontsize=10, parse_math=False)
    if titled:
        figure.suptitle(plain(picture.title, 70), fontsize=10, parse_math=False)
    figure.supxlabel(plain(_legend(picture), 160), fontsize=8, parse_math=False)


def _legend(picture: Graph) -> str:
    unit = f" [{picture.unit}]" if picture.unit else ""
    parts = [
        f"area: {picture.size}",
        f"width: {picture.value}{unit}",
        *([f"dark: {picture.shade}"] if picture.shade else []),
    ]
    return "; ".join(parts)


def _panel(figure: FigureBase, picture: Picture, titled: bool) -> Any:
    panel = figure.subplots()
    if titled:
        panel.set_title(plain(picture.title, 70), loc="left", fontsize=10, parse_math=False)
    return panel


def _texts(picture: Table) -> list[list[str]]:
    """Text of the cells, the head first."""
    lines = [[f"{cell:.3g}" if isinstance(cell, float) else cell for cell in line] for line in picture.lines[:MANY]]
    return [[plain(str(cell), 40) for cell in line] for line in [picture.head, *lines]]


def _widths(picture: Table) -> list[float]:
    """Width of each column in inches."""
    return [0.3 + 0.085 * max(len(line[j]) for line in _texts(picture)) for j in range(len(picture.head))]


def _table(figure: FigureBase, row: list[Any], titled: bool) -> None:
    """Rows of cells; numbers are right-aligned."""
    (picture,) = row
    panel = _panel(figure, picture, titled)
    widths, texts = _widths(picture), _texts(picture)
    panel.set_xlim(0, sum(widths))
    panel.set_ylim(len(texts) - 0.4, -0.6)
    panel.axis("off")
    for j, width in enumerate(widths):
        left = sum(widths[:j])
        numeric = any(isinstance(line[j], float) for line in picture.lines)
        for place, line in enumerate(texts):
            panel.text(
                left + (width - 0.2 if numeric else 0), place, line[j], ha="right" if numeric else "left", va="center",
                fontsize=9, weight="bold" if place == 0 else "normal", parse_math=False,
            )  # fmt: skip
    for place in range(len(texts) - 1):
        panel.axhline(place + 0.5, color="#c8c8c8", lw=1 if place == 0 else 0.4)


_DRAWERS: dict[type[Picture], Callable[[FigureBase, list[Any], bool], None]] = {
    Lattice: _lattice,
    Blocks: _blocks,
    Matrix: _matrices,
    Bars: _bars,
    Lines: _lines,
    Graph: _graph,
    Table: _table,
}
_SIZES: dict[type[Picture], Callable[[list[Any]], tuple[float, float]]] = {
    Lattice: lambda row: (7.5, 1.2 + 0.42 * len(row[0].attributes[:MANY])),
    Blocks: lambda row: (2.5 + 1.25 * min(_widest(row[0]), 9), 1.2 + 0.55 * len(_largest(row[0]))),
    Matrix: lambda row: (4.6 * _columns(row), 4.2 * -(-len(row[:MOST_MATRICES]) // _columns(row))),
    Bars: lambda _: (6.4, 4.8),
    Lines: lambda _: (6.4, 4.8),
    Graph: lambda row: (5.2 * len(row[0].states), 4.6),
    Table: lambda row: (sum(_widths(row[0])), 1.1 + 0.32 * len(row[0].lines[:MANY])),
}
"""Width and height in inches."""
