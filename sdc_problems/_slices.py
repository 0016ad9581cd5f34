"""Slices of long computations: bounded, told to whoever listens, with room for Ctrl-C between them.

Ctrl-C is heard only while Python itself runs, not in a compiled kernel or in one call of numpy over a million records.
So whatever may take more than a second goes through here: as `slices` of bounded work, or, where a kernel works off a
budget of `SLICE` steps a call, by `telling` how far it has come after each call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sdc_problems._kernel import SLICE, Progress

Listener = Callable[[str, int, int], object]
"""Called as ``listener(what, done, total)``; what it raises ends the computation."""

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
