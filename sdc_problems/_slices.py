"""Slices of long computations: bounded, told to whoever listens, with room for Ctrl-C between them.

Ctrl-C is heard only while Python itself runs, not in a compiled kernel or in one call of numpy over a million records.
So whatever may take more than a second goes through here: as `slices` of bounded work; by `telling` how far it is,
where a kernel works off a budget of `SLICE` steps a call; or by a flag that it looks at (`watched`), where it can be
cut in neither way.
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
"""Called as ``listener(what, done, total)``; what it raises ends the computation."""

T = TypeVar("T")

_LOOK = 0.2  # seconds between looks at a kernel in another thread

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell a listener of every long computation inside; those of other threads are not told.

    Parameters
    ----------
    listener
        Called between slices with what is done, how much of it, and how much there is. None silences them.

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
    """Tell the listener, if there is one, how much of something is done."""
    listener = _listener.get()
    if listener is not None:
        listener(what, done, total)


def telling(what: str) -> Progress:
    """The listener as a function of what is done and how much there is, for kernels that take a ``progress``."""
    return lambda done, total: tell(what, done, total)


def watched(
    run: Callable[[NDArray[np.int64]], T],
    what: str,
    *,
    steps: float = math.inf,
    part: tuple[int, int, int] | None = None,
) -> T:
    """Run a kernel that cannot be cut in slices, but looks at a flag: in a thread, while this one hears Ctrl-C.

    Parameters
    ----------
    run
        Calls the kernel with a flag of three numbers: it ends soon after the first is not 0, whatever it returns then,
        and writes into the others how much is done and how much there is.
    what
        Name of what it works through.
    steps
        Elementary steps that it takes at most, if that is known: little work needs no thread.
    part
        Where this is a part of more: what is done already, how much more this does, and how much there is in all.
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
                        raise  # by the kernel itself
                    done, total = int(flag[1]), int(flag[2])
                    if part is not None:
                        done, total = part[0] + part[1] * min(done, total) // max(total, 1), part[2]
                    tell(what, done, total)
        finally:
            flag[0] = 1  # where it has ended nobody looks any more


class Pace:
    """Budget of a kernel for its next slice: steps that took a fifth of a second on the clock before.

    Where other work has the processor, or steps take longer than one thinks, slices become smaller. For kernels whose
    results do not depend on where they stop.

    Parameters
    ----------
    steps
        Budget of the first slice, and the largest.

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
        """Budget of the next slice, after one of so many steps since this was last asked."""
        now = time.monotonic()
        if done > 0:
            wanted = int(done * _LOOK / max(now - self._begin, 1e-9))
            self.steps = min(max(wanted, self.steps // 8, 1), self._most)
        self._begin = now
        return self.steps


def slices(n: int, *, steps: float, what: str) -> Iterator[tuple[int, int]]:
    """Ranges of items that together are 0 … n, each of bounded work.

    Parameters
    ----------
    n
        Number of items.
    steps
        Elementary steps that one item takes at most, such as the records that it is compared with times attributes.
    what
        Name of the items for a person who waits: "records", "pairs of columns" …

    Yields
    ------
    low, high
        Items low … high − 1. What fits in one slice is a single range and is not told.
    """
    size = max(1, int(SLICE / max(steps, 1.0)))
    for low in range(0, n, size):
        high = min(low + size, n)
        yield low, high
        if size < n:
            tell(what, high, n)
