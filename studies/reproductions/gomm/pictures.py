"""Pictures of the reproduction of Balasch-Masoliver (2010): chapters 4 and 5, and appendix B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from sdc_problems.algorithms.grouping.operator_analysis import unused_share
from sdc_problems.studies.report.plots import COLOURS, STYLE
from sdc_problems.studies.reproductions.gomm.runs import OPERATORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sdc_problems.studies.reproductions.gomm.fronts import FrontRun

BETTER, WORSE = COLOURS[2], COLOURS[1]


def title_of(operator: str) -> str:
    """An operator's name in words."""
    return operator.replace("_", " ").capitalize()


def _figure(rows: int, columns: int, width: float = 3.4, height: float = 2.7) -> tuple[Figure, NDArray[np.object_]]:
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def _panels(log: pd.DataFrame, ylabel: str) -> tuple[Figure, list[tuple[Axes, pd.DataFrame]]]:
    """One panel per operator, with its rows of the log."""
    figure, axes = _figure(2, 3)
    found = []
    for panel, name in zip(axes.ravel(), OPERATORS, strict=True):
        panel.set_title(title_of(name), fontsize=10, loc="left")
        panel.set_xlabel("generation")
        panel.set_ylabel(ylabel)
        found.append((panel, log[log["operator"] == name]))
    return figure, found


def utilization(log: pd.DataFrame) -> Figure:
    """Share of the children that were discarded without being used (§4.2)."""
    with rc_context(STYLE):
        figure, panels = _panels(log, "discarded unused (%)")
        for panel, rows in panels:
            panel.plot(rows["generation"], unused_share(rows), color=COLOURS[0])
            panel.set_ylim(0, 102)
    return figure


def lifetime(log: pd.DataFrame) -> Figure:
    """Mean number of generations that children lived, by generation of birth (§4.3)."""
    with rc_context(STYLE):
        figure, panels = _panels(log, "lifetime (generations)")
        for panel, rows in panels:
            panel.bar(rows["generation"], rows["lifetime"], width=1.0, color=COLOURS[0])
            panel.set_ylim(0, None)
    return figure


def efficacy(log: pd.DataFrame) -> Figure:
    """Children better (up) and worse (down) than their parents (§4.4)."""
    with rc_context(STYLE):
        figure, panels = _panels(log, "children")
        for panel, rows in panels:
            panel.bar(rows["generation"], rows["improved"], width=1.0, color=BETTER, label="better")
            panel.bar(rows["generation"], -rows["worsened"], width=1.0, color=WORSE, label="worse")
            panel.axhline(0, color="black", linewidth=0.6)
            panel.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
            panel.yaxis.set_major_formatter(lambda count, _: f"{abs(count):.0f}")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def efficiency(log: pd.DataFrame) -> Figure:
    """Percentage by which children are better or worse than their parents: mean and extremes (§4.5)."""
    with rc_context(STYLE):
        figure, panels = _panels(log, "efficiency (%)")
        for panel, rows in panels:
            panel.fill_between(rows["generation"], 0, rows["best"], color=BETTER, alpha=0.25, linewidth=0, label="best")
            panel.fill_between(
                rows["generation"], 0, rows["worst"], color=WORSE, alpha=0.25, linewidth=0, label="worst"
            )
            panel.plot(rows["generation"], rows["mean_improvement"], color=BETTER, label="mean improvement")
            panel.plot(rows["generation"], rows["mean_worsening"], color=WORSE, label="mean worsening")
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


Lines = Mapping[str, NDArray[np.float64]]


def courses(panels: Mapping[str, Lines], ylabel: str, *, base: float) -> Figure:
    """Lines over generations, the first of each panel drawn in black, and a thin one at ``base``: 4.9 to 4.11."""
    with rc_context(STYLE):
        figure, axes = _figure(1, len(panels), width=4.6, height=3.4)
        for panel, (title, lines) in zip(axes[0], panels.items(), strict=True):
            panel.axhline(base, color="grey", linewidth=0.8, linestyle="--")
            for colour, (name, values) in zip(("black", *COLOURS), lines.items(), strict=False):
                panel.plot(np.arange(len(values)), values, color=colour, label=name)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("generation")
            panel.set_ylabel(ylabel)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        if len(handles) > 1:
            figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    return figure


def times(panels: Mapping[str, Mapping[str, Mapping[int, float]]], ylabel: str) -> Figure:
    """Bars for each k, GOMM beside D-GOMM (Figure 5.1)."""
    with rc_context(STYLE):
        figure, axes = _figure(1, len(panels), width=4.6, height=3.2)
        for panel, (title, algorithms) in zip(axes[0], panels.items(), strict=True):
            for shift, colour, (name, values) in zip((-0.2, 0.2), COLOURS, algorithms.items(), strict=False):
                at = np.arange(len(values)) + shift
                panel.bar(at, list(values.values()), width=0.38, color=colour, label=name)
                panel.set_xticks(np.arange(len(values)), [str(k) for k in values])
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("k")
            panel.set_ylabel(ylabel)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return figure


def hypervolumes(panels: Mapping[str, Mapping[str, Sequence[FrontRun]]]) -> Figure:
    """Median and quartiles over seeds of the hypervolume, by evaluations."""
    with rc_context(STYLE):
        figure, axes = _figure(1, len(panels), width=4.6, height=3.4)
        for panel, (title, searches) in zip(axes[0], panels.items(), strict=True):
            for colour, (name, runs) in zip(COLOURS, searches.items(), strict=False):
                low, middle, high = np.percentile([run.volumes for run in runs], [25, 50, 75], axis=0)
                panel.fill_between(runs[0].evaluations, low, high, color=colour, alpha=0.2, linewidth=0)
                panel.plot(runs[0].evaluations, middle, color=colour, label=name)
            panel.set_title(title, fontsize=10, loc="left")
            panel.set_xlabel("evaluations")
            panel.set_ylabel("hypervolume (%)")
            panel.legend(frameon=False, fontsize=9)
    return figure
