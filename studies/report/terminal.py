"""Terminal output: tables on stdout; on stderr messages and, if it is a terminal, a progress bar."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems._slices import listening
from sdc_problems.errors import SDCError
from sdc_problems.studies.report.kept_records import kept_of, left_out
from sdc_problems.studies.report.text import number

if TYPE_CHECKING:
    from rich.console import Console

    from sdc_problems.studies.run.limits import Limits
    from sdc_problems.studies.store.reader import Run

REFRESH = 0.5  # seconds between two reads of the store


def console(*, stderr: bool = False) -> Console:
    """Console that prints text literally: no markup, no colored numbers, no control sequences."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=stderr)


def plain(text: str, longest: int = 80) -> str:
    """Text from a file in a form that a table may show: one line, no control or direction marks, limited length.

    Examples
    --------
    >>> plain("a\\x1b[31mb\\u202ec"), plain("x" * 500, 5)
    ('a?[31mb?c', 'xxxx…')
    """
    safe = "".join(c if c.isprintable() else "?" for c in text)
    return safe if len(safe) <= longest else safe[: longest - 1] + "…"


def print_records(data: dict[str, Any]) -> None:
    """Print how many records of its file a run leaves out, and the denominator of its shares."""
    kept, dropped = int(data["records"]), int(data.get("dropped", 0))
    for sentence in left_out(kept, dropped):
        console().print(sentence)
        console().print(f"Objectives are measured on the {kept_of(kept, dropped)}.")


def print_fingerprint(run: Run) -> None:
    """Print the whole fingerprint of the run, and what it is for."""
    out = console()
    out.print(f"fingerprint {run.fingerprint()}", soft_wrap=True)
    if run.sealed:
        out.print(
            "(certificates contain it, too; `sdc status --fingerprint` finds out whether the run was edited since)"
        )
    else:
        out.print("(made by an earlier version, without seals: edited objectives would not be noticed)")


def print_front(run: Run) -> None:
    """Print the front's table: all of a short one, evenly chosen rows of a long one."""
    from rich.table import Table

    from sdc_problems.studies.report.summary import FRONT_LINES, meets

    front = run.front()
    if not len(front):
        return
    good = meets(run, front)
    step = max(1.0, (len(front) - 1) / (FRONT_LINES - 1))
    rows = sorted({round(i * step) for i in range(min(len(front), FRONT_LINES))})
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("solution", no_wrap=True)
    for axis in run.axes:
        better = "more" if axis.sense == "max" else "less"
        unit = f" [{axis.unit}]" if axis.unit else ""
        table.add_column(plain(f"{axis.name}{unit}") + f"\n{better} is better", justify="right", no_wrap=True)
    if run.study.get("require"):
        table.add_column("meets requirements")
    for row in rows:
        cells = [front.ids[row], *map(number, front.values[row])]
        table.add_row(*cells, *(["yes" if good[row] else "no"] if run.study.get("require") else []))
    out = console()
    out.print(table)
    for axis in run.axes:
        out.print(f"{plain(axis.name)}: {plain(axis.meaning or axis.label, 500)}")
    if len(rows) < len(front):
        out.print(f"… {len(front) - len(rows)} more solutions on the front")


def print_seeds(payload: dict[str, Any]) -> None:
    """Print the progress of each seed."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, justify in (
        ("seed", "right"), ("status", "left"), ("generations", "right"), ("evaluated", "right"), ("measured", "right"),
        ("hypervolume", "right"), ("time", "right"),
    ):  # fmt: skip
        table.add_column(name, justify=justify, no_wrap=name != "status")  # type: ignore[arg-type]
    for seed in payload["seeds"]:
        hv = seed["hypervolume"]
        status = f"{seed['status']}, {seed['reason']}" if seed["reason"] else seed["status"]
        table.add_row(
            str(seed["seed"]), status, f"{seed['generations']:,}", f"{seed['evaluated']:,}", f"{seed['solutions']:,}",
            "" if hv is None else f"{hv:.4f}", duration(seed["seconds"]),
        )  # fmt: skip
    console().print(table)


def print_comparison(payload: dict[str, Any]) -> None:
    """Print the result of ``compare``."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("run")
    table.add_column("algorithm", no_wrap=True)
    for name in ("seeds", "evaluated", "hypervolume", "epsilon", "IGD+", "found"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in payload["runs"]:
        hv = row["hypervolume"]
        spread = "" if hv["sd"] is None else f" ± {hv['sd']:.4f}"
        table.add_row(
            plain(row["run"]) + ("" if row["finished"] else " (unfinished)"), plain(row["algorithm"]),
            str(row["seeds"]), f"{row['evaluated']:,}",
            "" if hv["mean"] is None else f"{hv['mean']:.4f}{spread}",
            *("" if row[k] is None else f"{row[k]:.4f}" for k in ("epsilon_additive", "igd_plus")),
            f"{100 * row['share_of_common_front']:.0f} %",
        )  # fmt: skip
    out = console()
    out.print(table)
    n, instance = payload["common_front"], payload["instance"]
    if instance is None:
        box, best = "the box around all runs", f"the best of all runs together; found: share of those {n} solutions"
    else:
        front = f"the {'exact' if instance['known'] == 'exact' else 'best known'} front of {instance['id']}"
        box, best = f"the box of {instance['id']}", f"{front}; found: share of its {n} points"
    out.print(f"hypervolume: share of {box}, mean ± sd of the seeds; epsilon, IGD+: distance to {best}")
    for test in payload["tests"]:
        out.print(
            f"{plain(test['first'])} against {plain(test['second'])}: better in {100 * test['first_better']:.0f} % of"
            f" pairs of seeds, p = {test['p']:.2g} (Mann-Whitney, two-sided)"
        )
    if not payload["tests"]:
        out.print("fewer than three seeds each: too few to test the difference")


def duration(seconds: float) -> str:
    """A time span in words.

    Examples
    --------
    >>> duration(3.2), duration(75), duration(7300)
    ('3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


@contextmanager
def watched(folder: Path, limits: Limits) -> Iterator[Any]:
    """Show a bar with the hypervolume and the remaining time of a run in progress, if stderr is a terminal.

    Yields a function that writes a line above the bar.
    """
    err = console(stderr=True)
    if not err.is_terminal:
        yield lambda line: err.print(plain(line, 2000))
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=None), TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=err, transient=True) as bar, listening(None):  # one bar at a time
        task = bar.add_task("searching", total=1.0, facts="")
        over = threading.Event()

        def look() -> None:
            from sdc_problems.studies.store.reader import Run

            try:
                with Run(folder) as run:
                    pause = REFRESH
                    while not over.wait(pause):
                        begin = time.perf_counter()
                        share, facts = glance(run, limits)
                        bar.update(task, completed=share, facts=facts)
                        pause = max(REFRESH, 20 * (time.perf_counter() - begin))  # must not slow down the search
            except SDCError as error:  # an error of the bar must not end the run
                bar.update(task, facts=f"no progress to show: {plain(str(error))}")

        watcher = threading.Thread(target=look, daemon=True, name="progress")
        watcher.start()
        try:
            yield lambda line: bar.console.print(plain(line, 2000))
        finally:
            over.set()
            watcher.join()


def glance(run: Run, limits: Limits) -> tuple[float, str]:
    """Share of the run that is done, and a few words on it."""
    states = run.progress()
    done = []
    for state in states:
        parts = [1.0 if state.status == "finished" else 0.0]
        if limits.generations:
            parts.append(state.generations / limits.generations)
        if limits.evaluations:
            parts.append(state.evaluated / limits.evaluations)
        if limits.seconds:
            parts.append(state.seconds / limits.seconds)
        done.append(min(1.0, max(parts)))
    box = run.box()
    front = run.front()
    hypervolume = "" if box is None else f" hypervolume {box.share(front.F):.4f}"
    facts = f"{sum(s.evaluated for s in states):,} evaluated, front {len(front)},{hypervolume}"
    return sum(done) / len(done), facts
