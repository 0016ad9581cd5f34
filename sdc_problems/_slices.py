"""Slices of long computations: bounded work, progress for a listener, and a chance for Ctrl-C in between.

Python notices Ctrl-C only between its own instructions, not in a compiled kernel or in one numpy call over a million
records. So whatever may take more than a second goes through here: as `slices` of bounded work; by `telling` its
progress, where a kernel gets a budget of `SLICE` steps per call; or, where it cannot be cut into slices, with a flag
that the kernel checks (`watched`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from sdc_problems._kernel import SLICE, Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Listener = Callable[[str, int, int], object]
"""Called as ``listener(what, done, total)``; an exception that it raises ends the computation."""

T = TypeVar("T")

_LOOK = 0.2  # seconds between looks at a kernel in another thread

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell a listener the progress of every long computation inside, except those of other threads.

    Parameters
    ----------
    listener
        Called between slices with the name of the items, how many are done, and how many there are. None silences them.

    Examples
    --------
    >>> with listening(print):
    ...     parts = list(slices(5, steps=4e7, what="pairs"))
    pairs 2 5
    pairs 4 5
    pairs 5 5
    >>> parts
    [(0, 2), (2, 4), (4, 5)]
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(what: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, how many items are done."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def telling(what: str) -> Progress:
    """The listener as a function of the items done and their total, for kernels that take a ``progress``."""
    return lambda done, total: tell(what, done, total)


def watched(
    run: Callable[[NDArray[np.int64]], T],
    what: str,
    *,
    steps: float = math.inf,
    part: tuple[int, int, int] | None = None,
) -> T:
    """Run a kernel that cannot be cut into slices in a thread, with a flag that stops it after Ctrl-C.

    Parameters
    ----------
    run
        Calls the kernel with a flag of three numbers. The kernel ends soon after the first one is not 0 (its result is
        then not used) and writes into the other two how much is done and how much there is.
    what
        Name of the items.
    steps
        Largest number of elementary steps, if known: a small number needs no thread.
    part
        For a part of a larger computation: what is done already, what this part adds, and the total.
    """
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    flag = np.zeros(3, dtype=np.int64)
    if steps <= SLICE:
        return run(flag)
    with ThreadPoolExecutor(1) as thread:
        try:
            found = thread.submit(run, flag)
            while True:
                try:
                    return found.result(timeout=_LOOK)
                except TimeoutError:
                    if found.done():
                        raise  # the kernel itself raised it
                    done, total = int(flag[1]), int(flag[2])
                    if part is not None:
                        done, total = part[0] + part[1] * min(done, total) // max(total, 1), part[2]
                    tell(what, done, total)
        finally:
            flag[0] = 1  # if the kernel has ended, nothing reads it


class Pace:
    """Budget of a kernel for its next slice: the number of steps that took a fifth of a second so far.

    If other work uses the processor, or steps take longer than expected, slices become smaller. Only for kernels whose
    results do not depend on where they stop.

    Parameters
    ----------
    steps
        Budget of the first slice, and the largest budget.

    Examples
    --------
    >>> pace = Pace(1_000)
    >>> pace.steps, pace.next(1_000)
    (1000, 1000)
    """

    def __init__(self, steps: int = SLICE) -> None:
        self._most = self.steps = max(1, steps)
        self._begin = time.monotonic()

    def next(self, done: int) -> int:
        """Budget of the next slice, after ``done`` steps since the last call."""
        now = time.monotonic()
        if done > 0:
            wanted = int(done * _LOOK / max(now - self._begin, 1e-9))
            self.steps = min(max(wanted, self.steps // 8, 1), self._most)
        self._begin = now
        return self.steps


def slices(n: int, *, steps: float, what: str) -> Iterator[tuple[int, int]]:
    """Ranges of items that cover 0 … n − 1, each of bounded work.

    Parameters
    ----------
    n
        Number of items.
    steps
        Largest number of elementary steps for one item, such as the records it is compared with times attributes.
    what
        Name of the items for the progress display: "records", "pairs of columns" …

    Yields
    ------
    low, high
        Items low … high − 1. If everything fits in one slice, it is a single range and no progress is told.
    """
    size = max(1, int(SLICE / max(steps, 1.0)))
    for low in range(0, n, size):
        high = min(low + size, n)
        yield low, high
        if size < n:
            tell(what, high, n)
