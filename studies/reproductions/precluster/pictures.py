"""Pictures of the reproduction of Marés (2013), chapter 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sdc_problems.studies.report.plots import COLOURS, ORIGINAL, STYLE
from sdc_problems.studies.reproductions.precluster.runs import (
    GLOBAL_MEDIAN,
    LOSS,
    MDAV,
    RISK,
    SMALLEST,
    Grid,
)

NAMES = {
    "plain": "microaggregation",
    "mdav": "clustered microaggregation",
    "global_median": "clustered global median",
}
TITLES = {LOSS: "information loss (percent)", RISK: "disclosure risk (percent)"}


def _figure(columns: int, width: float) -> tuple[Figure, Any]:
    with rc_context(STYLE):
        figure = Figure(figsize=(width * columns, 4.0), layout="constrained")
        FigureCanvasAgg(figure)
        return figure, figure.subplots(1, columns, squeeze=False)[0]


def surfaces(grid: Grid, method: str) -> Figure:
    """Information loss and disclosure risk over k and the number of clusters (Figures 5.1, 5.2, 5.5 and 5.6)."""
    inside = np.array(grid.clusters) > 1
    clusters = np.array(grid.clusters)[inside]
    with rc_context(STYLE):
        figure, panels = _figure(2, 4.8)
        for panel, measure in zip(panels, (LOSS, RISK), strict=True):
            number = GLOBAL_MEDIAN if method == "global_median" else MDAV
            cells = grid.values[number, SMALLEST][:, inside, measure]
            drawn = panel.pcolormesh(
                _edges(clusters), _edges(np.array(grid.ks)), cells, cmap="viridis", vmin=0.0, vmax=65.0, rasterized=True
            )
            panel.set_xlabel("clusters")
            panel.set_title(TITLES[measure], loc="left", fontsize=10)
            figure.colorbar(drawn, ax=panel)
        panels[0].set_ylabel("k")
    return figure


def _edges(values: Any) -> Any:
    """Edges of cells around ascending values."""
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[values[0] - 0.5], middle, [values[-1] + 0.5]])


def plain(grid: Grid) -> Figure:
    """Loss and risk of microaggregation without clusters over k (Figures 5.3 and 5.7)."""
    j = grid.clusters.index(1)
    with rc_context(STYLE):
        figure, panels = _figure(1, 6.0)
        for colour, (measure, name) in zip(COLOURS, TITLES.items(), strict=False):
            panels[0].plot(grid.ks, grid.values[MDAV, SMALLEST, :, j, measure], color=colour, marker=".", label=name)
        panels[0].set_xlabel("k")
        panels[0].set_ylim(0, None)
        panels[0].legend(frameon=False)
    return figure


def ru_map(grid: Grid, paper: Mapping[str, tuple[float, float]], loss: int) -> Figure:
    """Every setting by loss and risk, the untouched file, and the source's best (Figures 5.4, 5.8, 5.9 and 5.10)."""
    with rc_context(STYLE):
        figure, panels = _figure(1, 7.2)
        panel = panels[0]
        panel.plot([0, 70], [0, 70], color="#bbbbbb", linewidth=0.8, linestyle=":", zorder=1)
        for colour, marker, (method, name) in zip(COLOURS, "osD", reversed(NAMES.items()), strict=False):
            points = np.array([(point.loss, point.risk) for point in grid.found(method, loss=loss)])
            panel.scatter(points[:, 0], points[:, 1], s=9, color=colour, alpha=0.45, linewidths=0, label=name, zorder=2)
            best = grid.best(method, loss=loss)
            panel.scatter([best.loss], [best.risk], s=70, marker=marker, facecolors="white", edgecolors=colour,
                          linewidths=1.8, zorder=4, label=f"its most balanced: {best.setting}")  # fmt: skip
            if method in paper:
                panel.scatter([paper[method][0]], [paper[method][1]], s=60, marker="x", color=colour, zorder=5,
                              label="the source's best")  # fmt: skip
        if loss == LOSS:
            panel.scatter([grid.untouched[0]], [grid.untouched[1]], s=60, marker="*", color=ORIGINAL, zorder=5,
                          label="untouched file")  # fmt: skip
        panel.set_xlim(-2, 70)
        panel.set_ylim(-2, 70)
        panel.set_aspect("equal")
        panel.set_xlabel(TITLES[LOSS] if loss == LOSS else "loss for clustering (percent, mean over 2 to 10 clusters)")
        panel.set_ylabel(TITLES[RISK])
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    return figure


def spread(by_number: Mapping[str, Any], numbers: tuple[int, ...]) -> Figure:
    """Loss for clustering of one file over the number of clusters, one line per seed."""
    with rc_context(STYLE):
        figure, panels = _figure(len(by_number), 4.8)
        for panel, (title, losses) in zip(panels, by_number.items(), strict=True):
            for colour, line in zip(COLOURS, losses, strict=False):
                panel.plot(numbers, line, color=colour, marker=".")
            panel.set_title(title, loc="left", fontsize=10)
            panel.set_xlabel("clusters that are compared")
            panel.set_ylim(0, None)
        panels[0].set_ylabel("loss for clustering (percent)")
    return figure
