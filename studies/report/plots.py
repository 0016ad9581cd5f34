"""Pictures of a run for its folder and for papers: R-U map and convergence.

Drawn only with matplotlib's objects, so that neither a display nor global state is needed; the same run gives the
same picture. Text from a run is drawn literally, never as a formula.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.terminal import plain
from sdc_problems.studies.report.text import number
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.store.tables import Axis, Solutions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sdc_problems.studies.store.reader import Run

Format = Literal["png", "svg"]
PICTURES = "pictures"
MANY = 20_000  # most dominated points that are drawn, evenly chosen
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "axes.axisbelow": True,
    "svg.hashsalt": "sdc-problems",
    "svg.fonttype": "none",
    "text.parse_math": False,
}
# Okabe and Ito's colors, which people who see colors differently can tell apart.
FRONT, DOMINATED, BASELINE, ORIGINAL = "#0072b2", "#b8b8b8", "#d55e00", "#000000"
MARKERS = ("o", "s", "^", "v", "P", "X", "h", "<")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")


def draw_run(run: Run, formats: Sequence[Format] = ("png",)) -> list[Path]:
    """Draw the R-U map and the convergence of a run into its folder."""
    figures = {"convergence": convergence([run])}
    if len(run.axes) > 1:
        figures["ru-map"] = ru_map([run])
    return [keep(run.path, f"{name}.{kind}", figure) for name, figure in figures.items() for kind in formats]


def draw_comparison(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Draw several runs in common pictures, into a folder of the caller's."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = {"convergence": convergence(runs)}
    if len(same_axes(runs)) > 1:
        figures["ru-map"] = ru_map(runs)
    drawn = []
    for name, figure in figures.items():
        drawn.append(inside(folder, f"{name}.png"))
        write_atomically(drawn[-1], rendered(figure, "png"))
    return drawn


def keep(folder: Path, name: str, figure: Figure) -> Path:
    """Write a picture into the folder's ``pictures``."""
    place = inside(folder, PICTURES)
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise SDCError(f"{PICTURES} in {str(folder)!r} is not an ordinary folder: nothing is drawn into it")
    place.mkdir(exist_ok=True)
    path = inside(place, name)
    write_atomically(path, rendered(figure, "svg" if name.endswith(".svg") else "png"))
    return path


def rendered(figure: Figure, kind: Format) -> bytes:
    """Return the bytes of a picture; the same figure gives the same bytes."""
    stream = io.BytesIO()
    metadata: dict[str, Any] = {"Software": None} if kind == "png" else {"Date": None, "Creator": "sdc-problems"}
    with rc_context(STYLE):
        if figure.get_layout_engine() is not None:  # laid out only once: each drawing would shift things slightly
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        figure.savefig(stream, format=kind, dpi=150, metadata=metadata, bbox_inches="tight")
    return stream.getvalue()


def ru_map(runs: Sequence[Run]) -> Figure:
    """Map of every pair of objectives: the front with its steps, dominated solutions, baselines and the original."""
    axes = same_axes(runs)
    pairs = list(combinations(range(len(axes)), 2))
    if not pairs:
        raise SDCError("an R-U map needs two objectives")
    columns = min(3, len(pairs))
    rows = -(-len(pairs) // columns)
    with rc_context(STYLE):
        figure = Figure(figsize=(6.4 * columns if columns == 1 else 5.2 * columns, 4.8 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel in panels[len(pairs) :]:
            panel.set_visible(False)
        for panel, pair in zip(panels, pairs, strict=False):
            _map(panel, runs, axes, pair)
        title = plain(runs[0].label, 70) if len(runs) == 1 else "trade-offs found"
        panels[0].set_title(title, loc="left", fontsize=11, fontweight="bold", parse_math=False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False, fontsize=9)
    return figure


def _map(panel: Axes, runs: Sequence[Run], axes: Sequence[Axis], pair: tuple[int, int]) -> None:
    i, j = pair
    for position, run in enumerate(runs):
        colour = FRONT if len(runs) == 1 else COLOURS[position % len(COLOURS)]
        name = "" if len(runs) == 1 else f"{plain(run.name, 30)}: "
        everything, front = run.solutions(), run.front()
        if len(runs) == 1 and len(everything):
            others = np.unique(everything.values, axis=0)
            shown = others[:: max(1, len(others) // MANY)]
            panel.scatter(
                shown[:, i], shown[:, j], s=9, color=DOMINATED, linewidths=0, alpha=0.6, rasterized=True,
                label=f"dominated ({len(others) - len(front):,})",
            )  # fmt: skip
        steps = _steps(front, pair, axes)
        panel.plot(*steps, color=colour, linewidth=1.2, alpha=0.7, zorder=3)
        # Runs that found the same solutions are drawn as rings around each other.
        look: dict[str, Any] = {"s": 22, "color": colour, "edgecolors": "white", "linewidths": 0.4}
        if len(runs) > 1:
            marker, size = MARKERS[position % len(MARKERS)], 24 + 34 * (len(runs) - 1 - position)
            look = {"s": size, "marker": marker, "facecolors": "none", "edgecolors": colour, "linewidths": 1.2}
        label = f"{name}front ({len(front):,})"
        panel.scatter(front.values[:, i], front.values[:, j], zorder=4, label=label, **look)
    baselines = runs[0].baselines(genomes=False)
    if len(baselines):
        colour = BASELINE if len(runs) == 1 else "#444444"
        panel.scatter(
            baselines.values[:, i], baselines.values[:, j], marker="D", s=30, facecolors="none", edgecolors=colour,
            linewidths=1.3, zorder=5, label=f"baselines ({len(baselines)})",
        )  # fmt: skip
    original = runs[0].original
    if original is not None and np.isfinite(original[[i, j]]).all():
        panel.scatter(
            original[i], original[j], marker="*", s=130, color=ORIGINAL, zorder=6, label="original data", clip_on=False
        )
    for axis, setter, k in ((axes[i], panel.set_xlabel, i), (axes[j], panel.set_ylabel, j)):
        better = "more is better" if axis.sense == "max" else "less is better"
        setter(f"{plain(str(axis), 60)}  ({better})", parse_math=False)
        values = np.concatenate([run.solutions().values[:, k] for run in runs])
        if axis.unit != "%" and len(values) and values.min() > 0 and 200 < values.max() / values.min() < 1e9:
            _logarithmic(panel, "x" if k == i else "y")
        elif len(values) and (values == np.rint(values)).all():
            (panel.xaxis if k == i else panel.yaxis).set_major_locator(MaxNLocator("auto", integer=True))


def _logarithmic(panel: Axes, which: Literal["x", "y"]) -> None:
    (panel.set_xscale if which == "x" else panel.set_yscale)("log")
    axis = panel.xaxis if which == "x" else panel.yaxis
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))  # matplotlib's default writes formulas
    axis.set_minor_formatter(NullFormatter())


def _steps(front: Solutions, pair: tuple[int, int], axes: Sequence[Axis]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Border of the region that two objectives of a front dominate, in natural units."""
    from sdc_problems.studies.store.hypervolume import nondominated

    F = front.F[:, list(pair)]
    F = F[nondominated(F)]
    F = F[np.argsort(F[:, 0])]
    x, y = np.repeat(F[:, 0], 2)[1:], np.repeat(F[:, 1], 2)[:-1]
    signs = [1.0 if axes[k].sense == "min" else -1.0 for k in pair]
    return x * signs[0], y * signs[1]


def convergence(runs: Sequence[Run]) -> Figure:
    """Hypervolume over evaluations: each seed as a thin line, their quartiles and range as bands."""
    from sdc_problems.studies.report.compare import common_box

    axes = same_axes(runs)
    box = common_box(runs)

    def shown(share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Share of the box; for one objective its best value instead, which is easier to read."""
        if len(axes) > 1 or box is None:
            return share
        best: NDArray[np.float64] = box.reference[0] - share * (box.reference[0] - box.ideal[0])
        return best if axes[0].sense == "min" else -best

    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        panel = figure.subplots()
        for position, run in enumerate(runs):
            colour = COLOURS[position % len(COLOURS)]
            name = plain(run.label if len(runs) == 1 else run.name, 40)
            for seed in run.seeds:
                history = run.history(seed, box)
                panel.plot(
                    history.evaluated,
                    shown(history.hypervolume),
                    color=colour,
                    linewidth=0.6,
                    alpha=0.45,
                    drawstyle="steps-post",
                )
            bands = run.aggregates(box)
            if bands.seeds > 1:
                low, lower, middle, upper, high = shown(bands.quantiles)
                panel.fill_between(bands.evaluated, low, high, color=colour, alpha=0.12, linewidth=0, step="post")
                panel.fill_between(bands.evaluated, lower, upper, color=colour, alpha=0.25, linewidth=0, step="post")
                text = f"{name}: median of {bands.seeds} seeds, quartiles, range"
            else:
                middle = shown(bands.quantiles)[2]
                text = name
            if bands.seeds:
                panel.plot(bands.evaluated, middle, color=colour, linewidth=2, label=text, drawstyle="steps-post")
        panel.set_xlabel("candidates evaluated")
        several = "hypervolume (share of the box)"
        panel.set_ylabel(several if len(axes) > 1 else f"best {plain(str(axes[0]), 60)}", parse_math=False)
        handles, labels = panel.get_legend_handles_labels()
        if handles:
            columns = min(2, len(labels)) if len(runs) > 1 else 1
            figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return figure


def same_axes(runs: Sequence[Run]) -> tuple[Axis, ...]:
    """Objectives of runs that are shown together, which must be the same."""
    for run in runs[1:]:
        if [(a.name, a.sense) for a in run.axes] != [(a.name, a.sense) for a in runs[0].axes]:
            raise SDCError(
                f"{run.name!r} and {runs[0].name!r} have different objectives"
                f" ({', '.join(a.name for a in run.axes)}; {', '.join(a.name for a in runs[0].axes)})"
            )
    return runs[0].axes
