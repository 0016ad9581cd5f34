"""Pictures of benchmarks: gaps over the run, targets reached, attainment surfaces and their differences, ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.benchmark.tables import Entry, assessed, looks, samples
from sdc_problems.studies.report.plots import COLOURS, STYLE
from sdc_problems.studies.report.terminal import plain
from sdc_problems.suite._indicators import volume
from sdc_problems.suite._statistics import alike, block, mean_ranks, pairs_over_instances

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sdc_problems.suite import Instance

FloatArray = NDArray[np.float64]

LEAST = 1e-6
"""Gap that is drawn for none: a logarithmic axis has no 0."""
RESAMPLED = 200
"""Bootstrap samples of the runs, for the bands of the ECDF."""
FRONT = "#9a9a9a"


def labels_of(entries: Sequence[Entry]) -> list[str]:
    """Names of the algorithms, in their order."""
    return list(dict.fromkeys(entry.label for entry in entries))


def short(label: str, longest: int = 40) -> str:
    """Name of an algorithm as pictures show it: of ``module:function`` the function.

    Examples
    --------
    >>> short("sdc_problems.adapters:deap_nsga2"), short("NSGA2"), short("folder/my.module:search")
    ('deap_nsga2', 'NSGA2', 'folder/search')
    """
    folder, slash, name = label.rpartition("/")
    return plain(f"{folder}{slash}{name.rpartition(':')[2]}", longest)


def colours_of(entries: Sequence[Entry]) -> dict[str, tuple[str, str]]:
    """Color and line of each algorithm, the same in all pictures."""
    lines = ("-", "--", ":", "-.")
    names = labels_of(entries)
    return {name: (COLOURS[i % len(COLOURS)], lines[i // len(COLOURS) % 4]) for i, name in enumerate(names)}


def _figure(width: float, height: float, rows: int = 1, columns: int = 1, **shared: Any) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(rows, columns, squeeze=False, **shared).ravel())


def _title(panel: Axes, text: str) -> None:
    panel.set_title(text, loc="left", fontsize=10, fontweight="bold", parse_math=False)


def anytime_picture(entries: Sequence[Entry]) -> Figure:
    """Gap over the run on one instance: medians and quartiles of the seeds, by evaluations and by different solutions.

    Parameters
    ----------
    entries
        Runs on one instance.
    """
    found = entries[0].instance
    styles = colours_of(entries)
    last = max(entry.record.budget for entry in entries)
    grid = np.unique(np.geomspace(1, last, 300).astype(int))
    with rc_context(STYLE):
        figure, panels = _figure(10.4, 4.4, 1, 2, sharey=True)
        for label in labels_of(entries):
            runs = [entry for entry in entries if entry.label == label]
            colour, line = styles[label]
            for panel, different in zip(panels, (False, True), strict=True):
                gaps = np.array([_steps(entry, grid, different) for entry in runs])
                ends = [entry.record.different if different else entry.record.evaluations for entry in runs]
                inside = grid <= np.median(ends)
                low, middle, high = np.maximum(np.quantile(gaps, (0.25, 0.5, 0.75), axis=0), LEAST)[:, inside]
                panel.fill_between(grid[inside], low, high, step="post", color=colour, alpha=0.18, linewidth=0)
                panel.step(grid[inside], middle, where="post", color=colour, linestyle=line, label=short(label, 40))
        for panel, name in zip(panels, ("evaluations", "different solutions measured"), strict=True):
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlabel(name)
            _plain_ticks(panel.xaxis)
            _open_interval(panel, found)
        _plain_ticks(panels[0].yaxis, none=LEAST)
        panels[0].set_ylabel(f"gap to the {_standing(found)} front")
        panels[0].set_ylim(top=1.3)
        if panels[0].get_ylim()[0] <= LEAST:
            panels[0].set_ylim(bottom=LEAST * 0.7)
        _title(panels[0], f"{found.id}: medians and quartiles of the seeds")
        _legend(figure, panels[0])
    return figure


def _plain_ticks(axis: Any, none: float = 0.0) -> None:
    """Write powers of ten on a logarithmic axis as people do; what stands for nothing is called none."""

    def text(value: float, place: object) -> str:
        if value <= 1.01 * none:
            return "none" if value > 0.99 * none else ""
        return f"{value:,.0f}" if value >= 1 else f"{value:.0e}".replace("e-0", "e-") if value < 0.001 else f"{value:g}"

    axis.set_major_formatter(FuncFormatter(text))


def _standing(found: Instance) -> str:
    return "exact" if found.known == "exact" else "best known"


def _steps(entry: Entry, grid: NDArray[np.int64], different: bool) -> FloatArray:
    """Gap after each number of evaluations of a grid."""
    at = entry.curve.at_different if different else entry.curve.at
    gaps: FloatArray = np.concatenate([[1.0], entry.curve.gap])
    return gaps[np.searchsorted(at, grid, side="right")]


def _open_interval(panel: Axes, found: Instance) -> None:
    if found.bound is None:
        return
    largest = 1.0 - volume(found.scaled(found.front)) / volume(found.scaled(found.bound))
    panel.axhline(largest, color="#444444", linewidth=0.9, linestyle=(0, (1, 2)))
    panel.annotate(
        "so much more the proven bound leaves open", (0.01, largest), xycoords=("axes fraction", "data"), fontsize=8,
        va="bottom",
    )  # fmt: skip


def _above(figure: Figure, text: str) -> None:
    figure.suptitle(text, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)


def _legend(figure: Figure, panel: Axes, more: Sequence[Any] = ()) -> None:
    handles, labels = panel.get_legend_handles_labels()
    handles, labels = [*handles, *more], [*labels, *(handle.get_label() for handle in more)]
    figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False, fontsize=9)


def ecdf_picture(entries: Sequence[Entry], *, seed: int = 0) -> Figure:
    """Share of all targets of all instances that runs have reached, over the evaluations, with bootstrap bands.

    Parameters
    ----------
    entries
        Runs; algorithms that ran on few instances are left out, and instances that not all others ran on.
    seed
        Of the bootstrap, which draws each instance's runs anew.
    """
    names = labels_of(entries)
    ids = list(dict.fromkeys(entry.record.instance for entry in entries))
    by = {
        (label, name): [e for e in entries if e.label == label and e.record.instance == name]
        for label in names
        for name in ids
    }
    shared, names = block({name: {label: by[label, name] for label in names} for name in ids})
    if not shared:
        raise SDCError("no instance has runs of all these algorithms")
    styles = colours_of(entries)
    rng = np.random.default_rng(seed)
    last = max(entry.record.budget for entry in entries)
    grid = np.unique(np.geomspace(1, last, 200).astype(int))
    with rc_context(STYLE):
        figure, (panel,) = _figure(7.2, 4.8)
        for label in names:
            colour, line = styles[label]
            # runs × grid on each instance: share of the targets that are reached
            reached = [
                np.array([(entry.times[:, None] <= grid).mean(axis=0) for entry in by[label, name]]) for name in shared
            ]
            middle = np.mean([runs.mean(axis=0) for runs in reached], axis=0)
            drawn = [
                np.mean([runs[rng.integers(len(runs), size=len(runs))].mean(axis=0) for runs in reached], axis=0)
                for _ in range(RESAMPLED)
            ]
            low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
            end = max(entry.record.budget for name in shared for entry in by[label, name])
            inside = grid <= end
            grid_inside = grid[inside]
            panel.fill_between(
                grid_inside, low[inside], high[inside], step="post", color=colour, alpha=0.18, linewidth=0
            )
            panel.step(grid_inside, middle[inside], where="post", color=colour, linestyle=line, label=short(label, 40))
        panel.set_xscale("log")
        _plain_ticks(panel.xaxis)
        panel.set_ylim(0, 1)
        panel.set_xlabel("evaluations")
        panel.set_ylabel("share of targets reached")
        _title(panel, f"51 targets on {_instances(len(shared))}, 95 % bands")
        _legend(figure, panel)
    return figure


def _instances(n: int) -> str:
    return "1 instance" if n == 1 else f"{n} instances"


def attainment_picture(entries: Sequence[Entry], budget: str | int = "long") -> Figure:
    """Empirical attainment surfaces on one instance of two objectives: what one seed, half and all have attained.

    Parameters
    ----------
    entries
        Runs on one instance.
    budget
        Evaluations after which to look.
    """
    found, sets = _sets(entries, budget)
    styles = colours_of(entries)
    columns = 2 if len(sets) in (2, 4) else min(3, len(sets))
    rows = -(-len(sets) // columns)
    with rc_context(STYLE):
        figure, panels = _figure(4.4 * columns + 0.6, 3.9 * rows + 0.5, rows, columns, sharex=True, sharey=True)
        for panel, (label, fronts) in zip(panels, sets.items(), strict=False):
            colour, _ = styles[label]
            _under(panel, found)
            points = np.vstack([np.column_stack([front, np.full(len(front), i)]) for i, front in fronts.items()])
            for level, line, width in ((0, ":", 1.1), (50, "-", 1.7), (100, "--", 1.1)):
                surface = moocore.eaf(points[:, :2], points[:, 2], percentiles=[level])[:, :2]
                panel.plot(*_staircase(surface, found), color=colour, linestyle=line, linewidth=width)
            _axes(panel, found)
            panel.xaxis.set_tick_params(labelbottom=True)
            _title(panel, f"{short(label, 30)}, {len(fronts)} seed{'s' * (len(fronts) > 1)}")
        for panel in panels[len(sets) :]:
            panel.set_visible(False)
        kinds: tuple[tuple[Any, float, str], ...] = (
            (":", 1.1, "best of the seeds"),
            ("-", 1.7, "half of them"),
            ("--", 1.1, "all of them"),
        )
        more = [Line2D([], [], color="#333333", linestyle=k, linewidth=w, label=t) for k, w, t in kinds]
        _above(figure, f"{found.id}: what was attained")
        _legend(figure, panels[0], more)
    return figure


def difference_picture(entries: Sequence[Entry], first: str, second: str, budget: str | int = "long") -> Figure:
    """Attainment differences of two algorithms on one instance of two objectives: where either attains more often.

    If one has more seeds, its first ones count, as many as the other has.

    Parameters
    ----------
    entries
        Runs on one instance.
    first, second
        Names of the algorithms.
    budget
        Evaluations after which to look.
    """
    found, sets = _sets([entry for entry in entries if entry.label in (first, second)], budget)
    if set(sets) != {first, second}:
        raise SDCError(f"{first} and {second} have not both run on {found.id}")
    seeds = min(len(runs) for runs in sets.values())  # shares are compared: of as many seeds of both
    tables = [
        np.vstack([np.column_stack([front, np.full(len(front), i)]) for i, front in sets[name].items() if i <= seeds])
        for name in (first, second)
    ]
    low, high = _limits(found)
    shades = 5
    with rc_context(STYLE):
        figure, panels = _figure(9.4, 4.5, 1, 2, sharex=True, sharey=True)
        rectangles = np.asarray(moocore.eafdiff(*tables, intervals=shades, rectangles=True))
        for panel, sign, name in zip(panels, (1, -1), (first, second), strict=True):
            for x1, y1, x2, y2, value in rectangles:
                corner, other = np.maximum([x1, y1], low), np.minimum([x2, y2], high)
                if sign * value <= 0 or not np.all(other > corner):
                    continue
                color = _shade(abs(value) / shades)
                a, b = found.natural(corner), found.natural(other)
                panel.add_patch(Rectangle(tuple(np.minimum(a, b)), *np.abs(b - a), color=color, linewidth=0))
            _under(panel, found)
            _axes(panel, found)
            _title(panel, f"more often by {short(name, 40)}")
        more = [
            Patch(color=_shade(s / shades), label=f"more by {100 * s / shades:.0f} % of the seeds")
            for s in range(1, shades + 1)
        ]
        _above(figure, f"{found.id}: where one attains more often than the other")
        _legend(figure, panels[0], more)
    return figure


def _shade(share: float) -> tuple[float, float, float]:
    """Color between white and blue."""
    red, green, blue = (1 - share + share * full for full in (0.0, 0.27, 0.5))
    return red, green, blue


def _sets(entries: Sequence[Entry], budget: str | int) -> tuple[Instance, dict[str, dict[int, FloatArray]]]:
    """Fronts of the runs by algorithm, numbered, minimized."""
    if not entries:
        raise SDCError("there are no such runs")
    found = entries[0].instance
    if found.n_objectives != 2:
        raise SDCError(f"{found.id} has {found.n_objectives} objectives: attainment surfaces are drawn for two")
    sets: dict[str, dict[int, FloatArray]] = {}
    for entry in entries:
        evaluations = looks(entry, budget)
        if evaluations is None:
            continue
        F = entry.record.F[entry.record.front(evaluations)]
        if len(F):
            runs = sets.setdefault(entry.label, {})
            runs[len(runs) + 1] = F
    if not sets:
        raise SDCError(f"no run on {found.id} had the budget {budget!r}: give a smaller one by --budget")
    return found, sets


def _limits(found: Instance) -> tuple[FloatArray, FloatArray]:
    """Corners of what is drawn, minimized: the box of the front and a little around it."""
    width = found.nadir - found.ideal
    return found.ideal - 0.05 * width, found.nadir + 0.1 * width


def _staircase(points: FloatArray, found: Instance) -> tuple[FloatArray, FloatArray]:
    """Steps of a surface from edge to edge of the picture, as a person reads the objectives."""
    points = points[np.argsort(points[:, 0], kind="stable")]
    far = found.nadir + 10 * (found.nadir - found.ideal)
    corners = [(points[0, 0], far[1])]
    for (x, y), (right, _) in zip(points, [*points[1:], far], strict=True):
        corners += [(x, y), (right, y)]
    steps = found.natural(np.array(corners))
    return steps[:, 0], steps[:, 1]


def _under(panel: Axes, found: Instance) -> None:
    """Draw the front under the rest."""
    front = found.front
    front = front[np.argsort(front[:, 0])]
    panel.plot(*_staircase(front, found), color=FRONT, linewidth=1.0, zorder=1)
    values = found.natural(front)
    panel.scatter(values[:, 0], values[:, 1], s=11, color=FRONT, zorder=1, label=f"{_standing(found)} front")


def _axes(panel: Axes, found: Instance) -> None:
    low, high = found.natural(np.array(_limits(found)))
    panel.set_xlim(*sorted((low[0], high[0])))
    panel.set_ylim(*sorted((low[1], high[1])))
    better = [f"{'less' if sense == 'min' else 'more'} is better" for sense in found.senses]
    panel.set_xlabel(f"{found.objectives[0]} ({better[0]})", parse_math=False)
    place = panel.get_subplotspec()
    if place is not None and place.is_first_col():
        panel.set_ylabel(f"{found.objectives[1]} ({better[1]})", parse_math=False)


def critical_difference_picture(entries: Sequence[Entry], budget: str | int = "long", indicator: str = "gap") -> Figure:
    """Mean ranks over instances; bars join algorithms that the tests do not tell apart (Wilcoxon with Holm).

    Parameters
    ----------
    entries
        Runs; algorithms that ran on few instances are left out, and instances that not all others ran on.
    budget
        Evaluations after which to look.
    indicator
        Its name.
    """
    values = samples(assessed(entries, budget), indicator)
    ranks = mean_ranks(values)
    shared = sum(all(name in by for name in ranks) for by in values.values())
    if len(ranks) < 2 or not shared:
        raise SDCError("ranks need two algorithms and an instance on which all have runs")
    groups = alike(ranks, pairs_over_instances(values))
    order = sorted(ranks, key=lambda name: ranks[name])
    half = -(-len(order) // 2)
    with rc_context({**STYLE, "axes.grid": False}):
        figure, (panel,) = _figure(8.0, 1.5 + 0.3 * half + 0.14 * len(groups))
        for side in ("left", "right", "bottom"):
            panel.spines[side].set_visible(False)
        panel.spines["top"].set_visible(True)
        panel.xaxis.tick_top()
        panel.set_yticks([])
        panel.set_xlim(0.9, len(order) + 0.1)
        panel.set_xticks(range(1, len(order) + 1))
        bars = 0.25 + 0.2 * len(groups)
        depth = bars + 0.45 * half + 0.2
        panel.set_ylim(depth, 0)
        for i, name in enumerate(order):
            left = i < half
            row = i if left else len(order) - 1 - i
            y = bars + 0.3 + 0.45 * row
            end = 0.85 if left else len(order) + 0.15
            panel.plot([ranks[name], ranks[name], end], [0, y, y], color="#333333", linewidth=0.9, clip_on=False)
            text = f"{short(name, 34)} {ranks[name]:.2f}"
            panel.text(end, y, f" {text} ", ha="right" if left else "left", va="center", fontsize=9, parse_math=False)
        for i, group in enumerate(groups):
            y = 0.25 + 0.2 * i
            panel.plot(
                [ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04], [y, y], color="#0072b2", linewidth=3.5,
                solid_capstyle="butt",
            )  # fmt: skip
        text = f"mean ranks by {indicator} on {_instances(shared)}; bars join what the tests do not tell apart"
        _title(panel, text)
    return figure


def draw(
    entries: Sequence[Entry],
    *,
    budget: str | int = "long",
    indicator: str = "gap",
    between: tuple[str, str] | None = None,
) -> Iterator[tuple[str, Figure]]:
    """Draw all pictures of a benchmark, each with a name for its file.

    Parameters
    ----------
    entries
        The runs.
    budget
        Evaluations after which to look, where a picture looks at one moment.
    indicator
        Indicator of the ranks.
    between
        Two algorithms whose attainment is compared; by default the first two.
    """
    names = labels_of(entries)
    for name in between or ():
        if name not in names:
            raise SDCError(f"there is no run of {name!r}{did_you_mean(name, names)} (there are {', '.join(names)})")
    yield "ecdf", ecdf_picture(entries)
    if len(names) > 1:
        yield "critical-difference", critical_difference_picture(entries, budget, indicator)
    for name in dict.fromkeys(entry.record.instance for entry in entries):
        runs = [entry for entry in entries if entry.record.instance == name]
        yield f"anytime-{name}", anytime_picture(runs)
        if runs[0].instance.n_objectives != 2:
            continue
        yield f"attainment-{name}", attainment_picture(runs, budget)
        there = labels_of(runs)
        first, second = between or (*there, "", "")[:2]
        if first in there and second in there:
            yield f"difference-{name}", difference_picture(runs, first, second, budget)
