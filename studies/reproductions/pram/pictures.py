"""Pictures of the reproduction of Marés (2013), chapter 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sdc_problems.studies.report.plots import BASELINE, COLOURS, FRONT, ORIGINAL, STYLE
from sdc_problems.studies.reproductions.pram.runs import Course, Variant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOSS, RISK, SCORE = COLOURS[0], COLOURS[1], COLOURS[2]


def _figure(columns: int, rows: int = 1) -> tuple[Figure, NDArray[np.object_]]:
    with rc_context(STYLE):
        figure = Figure(figsize=(4.6 * columns, 3.6 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False)
    return figure, panels


def evolution(courses: Mapping[str, Course], score: str) -> Figure:
    """Information loss, disclosure risk and score of the current best, one panel per search."""
    with rc_context(STYLE):
        figure, panels = _figure(len(courses))
        for panel, (title, course) in zip(panels[0], courses.items(), strict=True):
            generations = np.arange(1, len(course.score) + 1)
            panel.plot(generations, course.il, color=LOSS, label="information loss")
            panel.plot(generations, course.dr, color=RISK, label="disclosure risk")
            panel.plot(generations, course.score, color=SCORE, linewidth=2, label=score)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("generation")
            panel.set_ylim(0, None)
        panels[0, 0].set_ylabel("percent")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return figure


def scores(by_score: Mapping[str, Mapping[str, Course]]) -> Figure:
    """Best score per generation: one panel per score, one line per file (Figure 4.16)."""
    with rc_context(STYLE):
        figure, panels = _figure(len(by_score))
        for panel, (title, courses) in zip(panels[0], by_score.items(), strict=True):
            for colour, (name, course) in zip(COLOURS, courses.items(), strict=False):
                panel.plot(np.arange(1, len(course.score) + 1), course.score, color=colour, label=name)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("generation")
            panel.legend(frameon=False, fontsize=9)
        panels[0, 0].set_ylabel("best score (percent)")
    return figure


def fitness(experiments: Mapping[str, Sequence[Variant]]) -> Figure:
    """Course of Eq. 4.5 with and without invariance (Figures 4.10 and 4.11)."""
    columns = min(2, len(experiments))
    with rc_context(STYLE):
        figure, panels = _figure(columns, -(-len(experiments) // columns))
        for panel, (title, variants) in zip(panels.ravel(), experiments.items(), strict=False):
            for colour, variant in zip(COLOURS, (v for v in variants if len(v.course)), strict=False):
                panel.plot(np.arange(1, len(variant.course) + 1), variant.course, color=colour, label=variant.name)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("generation")
            panel.set_ylabel("Eq. 4.5 (percent)")
        handles, labels = panels.ravel()[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return figure


Points = Mapping[str, tuple[float, float]]


def ru_map(
    title: str,
    fronts: Mapping[str, NDArray[np.float64]],
    builders: Points,
    ours: Points,
    paper: Points,
) -> Figure:
    """Fronts, the baselines' matrices, the results of the paper's algorithms here, and those that the paper reports."""
    with rc_context(STYLE):
        figure = Figure(figsize=(8.2, 6.4), layout="constrained")
        FigureCanvasAgg(figure)
        panel = figure.subplots()
        limit = 60.0
        panel.plot([0, limit], [0, limit], color="#bbbbbb", linewidth=0.8, linestyle=":", zorder=1)
        for colour, (name, F) in zip((FRONT, COLOURS[5]), fronts.items(), strict=False):
            panel.plot(F[:, 0], F[:, 1], color=colour, drawstyle="steps-post", linewidth=1.2, zorder=3)
            panel.scatter(F[:, 0], F[:, 1], s=12, color=colour, zorder=4, label=name)
        _named(panel, builders, "D", BASELINE, "builders' matrices", "right")
        _named(panel, ours, "^", COLOURS[2], "the paper's algorithms, run here", "below")
        _named(panel, paper, "s", ORIGINAL, "the paper's figures (its own normalization)", "left")
        panel.set_xlabel("information loss (percent, less is better)")
        panel.set_ylabel("disclosure risk (percent, less is better)")
        panel.set_title(title, loc="left", fontsize=11, fontweight="bold")
        panel.set_xlim(-6, max(limit, *(x for x, _ in {**builders, **ours, **paper}.values())) + 8)
        panel.set_ylim(-3, limit)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure


PLACES: dict[str, tuple[tuple[float, float], Literal["left", "center", "right"]]] = {
    "right": ((6, 3), "left"),
    "left": ((-6, 3), "right"),
    "below": ((0, -13), "center"),
}


def _named(panel: Axes, points: Points, marker: str, colour: str, label: str, place: str) -> None:
    """Draw points with their names, on a different side for each group, so that neighbors stay readable."""
    values = np.array(list(points.values()))
    panel.scatter(
        values[:, 0], values[:, 1], marker=marker, s=42, zorder=5, label=label,
        facecolors=colour if place == "below" else "none", edgecolors=colour, linewidths=1.3,
    )  # fmt: skip
    offset, side = PLACES[place]
    for name, point in points.items():
        panel.annotate(
            name, point, xytext=offset, textcoords="offset points", ha=side, fontsize=7.5, color=colour, zorder=6
        )
