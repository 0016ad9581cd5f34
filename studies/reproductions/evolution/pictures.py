"""Pictures of the reproduction of Marés (2013), chapter 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sdc_problems.studies.report.plots import BASELINE, COLOURS, DOMINATED, FRONT, STYLE
from sdc_problems.studies.reproductions.evolution.runs import Course, Found, Fronts

THREE = (("largest", COLOURS[1], 2), ("mean", COLOURS[0], 1), ("smallest", COLOURS[2], 0))
LOSS, RISK = "information loss (percent)", "disclosure risk (percent)"


def _panels(
    titles: Sequence[str], draw: Callable[[Any, str], None], *, across: str, up: str, columns: int = 2
) -> Figure:
    """One panel per title, with a common legend below."""
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    with rc_context(STYLE):
        figure = Figure(figsize=(4.4 * columns, 3.4 * rows + 0.5), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, title in zip(panels, titles, strict=False):
            draw(panel, title)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel(across)
            panel.set_ylabel(up)
        for panel in panels[len(titles) :]:
            panel.set_axis_off()
        named = dict(zip(*panels[0].get_legend_handles_labels()[::-1], strict=True))
        for panel in panels[1 : len(titles)]:
            named |= dict(zip(*panel.get_legend_handles_labels()[::-1], strict=True))
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=min(len(named), 4), frameon=False)
    return figure


def _logarithmic(panel: Any) -> None:
    """Show seconds on a logarithmic axis, with labels written out, because text is not read as a formula here."""
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(numticks=5))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    panel.xaxis.set_minor_formatter(NullFormatter())


def dispersion(courses: Mapping[str, Course]) -> Figure:
    """Loss and risk of each file in the first and in the last population."""

    def draw(panel: Any, title: str) -> None:
        course = courses[title]
        panel.scatter(*course.first.T, s=16, marker="D", facecolors="none", edgecolors=BASELINE, label="initial")
        panel.scatter(*course.last.T, s=12, color=FRONT, label="final")

    return _panels(list(courses), draw, across=LOSS, up=RISK)


def evolution(courses: Mapping[str, Course], score: str) -> Figure:
    """Largest, mean and smallest score by generation."""

    def draw(panel: Any, title: str) -> None:
        for name, colour, place in THREE:
            panel.plot(courses[title].scores[:, place], color=colour, label=name)
        panel.set_ylim(0, None)

    return _panels(list(courses), draw, across="generation", up=f"{score} (percent)")


def two_runs(pairs: Mapping[str, Sequence[Course]]) -> Figure:
    """Mean and smallest score in two runs."""

    def draw(panel: Any, title: str) -> None:
        for number, (course, dash) in enumerate(zip(pairs[title], ("-", "--"), strict=True), start=1):
            for name, colour, place in THREE[1:]:
                panel.plot(course.scores[:, place], dash, color=colour, label=f"{name}, run {number}")
        panel.set_ylim(0, None)

    return _panels(list(pairs), draw, across="generation", up="mean score (percent)")


def variants(courses: Mapping[str, Course]) -> Figure:
    """Mean score of the population under different rules."""

    def draw(panel: Any, _: str) -> None:
        for colour, (name, course) in zip(COLOURS, courses.items(), strict=False):
            panel.plot(course.scores[:, 1], color=colour, label=name)

    return _panels(["Tarragona, mean of the population"], draw, across="generation", up="mean score (percent)")


def by_time(
    found: Mapping[str, Found], paper: Mapping[str, float], hours: Mapping[str, float], bars: Mapping[str, float]
) -> Figure:
    """Score against seconds, with the source's final score as a line that begins after its hours."""

    def draw(panel: Any, title: str) -> None:
        course = found[title]
        shown = np.isfinite(course.scores)
        seconds = np.maximum(course.seconds[shown], 0.01)
        panel.plot(seconds, course.scores[shown], color=FRONT, drawstyle="steps-post", label="CellSearch")
        late = 3600.0 * hours[title]
        panel.plot([seconds[0], late], [paper[title]] * 2, color=BASELINE, linewidth=1, linestyle=":",
                   label="the source's final score (not guarded)")  # fmt: skip
        panel.plot([late], [paper[title]], "s", color=BASELINE, label="… after its hours")
        panel.axhline(bars[title], color=COLOURS[2], linewidth=1, linestyle="--", label="bar for 60 s")
        panel.annotate(f"{hours[title]:.0f} h", (late, paper[title]), xytext=(0, 6), textcoords="offset points",
                       ha="center", fontsize=8, color=BASELINE)  # fmt: skip
        _logarithmic(panel)
        panel.set_ylim(0, None)

    return _panels(list(found), draw, across="seconds", up="score (percent)", columns=3)


def fronts(found: Mapping[str, Fronts]) -> Figure:
    """Front of loss and risk for each file, with the start files."""

    def draw(panel: Any, title: str) -> None:
        one = found[title]
        panel.scatter(*one.start.T, s=18, marker="D", facecolors="none", edgecolors=BASELINE, label="start files")
        for F, colour, name in ((one.nsga, DOMINATED, "NSGA-II"), (one.ours, FRONT, "CellSearch")):
            if len(F):
                panel.plot(*F.T, ".-", color=colour, drawstyle="steps-post", linewidth=1, label=name)

    return _panels(list(found), draw, across=LOSS, up=RISK, columns=3)


def hypervolumes(found: Mapping[str, Fronts]) -> Figure:
    """Share of the start files' box that is dominated, against CPU seconds."""

    def draw(panel: Any, title: str) -> None:
        one = found[title]
        for course, colour, name in (
            (one.nsga_course, DOMINATED, "NSGA-II"), (one.ours_course, FRONT, "CellSearch"),
        ):  # fmt: skip
            panel.plot(np.maximum(course[:, 0], 0.01), course[:, 1], color=colour, label=name)
        _logarithmic(panel)

    return _panels(list(found), draw, across="CPU seconds", up="hypervolume", columns=3)
