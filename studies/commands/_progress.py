"""Progress of long computations on a terminal: a bar for each that takes more than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sdc_problems._slices import listening

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

DELAY = 2.0
"""Seconds before the bar of a computation is shown."""


class Bar:
    """Listener to long computations that draws a bar for one after the other.

    Parameters
    ----------
    screen
        Where to draw; by default stderr.
    clock
        Function that returns seconds.
    """

    def __init__(self, screen: Console | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._what = ""
        self._begin = clock()
        self._drawn: Progress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw the bar after a while, and clear it when the computation is done."""
        if done >= total:
            if what == self._what:
                self.clear()
            return  # a computation that was done at once, perhaps within a longer one
        if what != self._what:
            self.clear()
            self._what = what
        if self._drawn is None and self._clock() - self._begin <= DELAY:
            return
        if self._drawn is None:
            self._drawn = self._new()
            self._drawn.add_task(what, completed=done, total=total)
            self._drawn.start()
        else:
            self._drawn.update(self._drawn.task_ids[0], completed=done, total=total)

    def clear(self) -> None:
        """Clear the bar; the time of the next computation counts from here."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None
        self._what, self._begin = "", self._clock()

    def _new(self) -> Progress:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        from sdc_problems.studies.report.terminal import console

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        return Progress(*columns, console=self._screen or console(stderr=True), transient=True)


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show bars for long computations inside, if stderr is a terminal; they are cleared at the end of the block."""
    if not sys.stderr.isatty():
        yield
        return
    bar = Bar()
    with listening(bar):
        try:
            yield
        finally:
            bar.clear()
