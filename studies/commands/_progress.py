"""Progress of long computations on a terminal: a bar for whatever takes more than two seconds."""

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
"""Seconds that a computation takes before its bar is shown."""


class Bar:
    """Listener to long computations that draws a bar for one after the other.

    Parameters
    ----------
    screen
        Where to draw; stderr if it is not given.
    clock
        Seconds.
    """

    def __init__(self, screen: Console | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._what = ""
        self._begin = clock()
        self._drawn: Progress | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Draw how much is done, once it has taken long; what is all done is cleared away."""
        if done >= total:
            if what == self._what:
                self.clear()
            return  # what was over at once, perhaps in the midst of something longer
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
        """Clear the bar away; the time of what comes next is counted from here."""
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
    """Show bars for long computations inside, if stderr is a terminal; they are gone when the block is left."""
    if not sys.stderr.isatty():
        yield
        return
    bar = Bar()
    with listening(bar):
        try:
            yield
        finally:
            bar.clear()
