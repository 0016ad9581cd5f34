"""Threads, processors and signals of a process, of a command or a worker; nothing heavy is imported."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from threadpoolctl import ThreadpoolController

LINEAR_ALGEBRA = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Settings of libraries of linear algebra, which read them when they are loaded."""
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that ask a process to end: Ctrl-C, a polite kill, a terminal that is closed."""
_AT_LOADING = ("OMP_NUM_THREADS", *LINEAR_ALGEBRA)
_starting = threading.Lock()
_promised_one = False
_interrupted = False


def end_by_exception() -> None:
    """Let each signal that asks this process to end raise KeyboardInterrupt, so that it leaves nothing behind."""
    global _interrupted
    _interrupted = False
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):  # nohup, for one, ignores some
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handler of such a signal: raise KeyboardInterrupt."""
    global _interrupted
    _interrupted = True
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Whether a signal has interrupted this process: compiled libraries turn the exception into errors of their own."""
    return _interrupted


def end_when_told() -> None:
    """Set up a worker process: its parent decides after Ctrl-C and the like, and terminates it if it has to."""
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)


def processors() -> int:
    """Number of processors that this process may use.

    The process' affinity counts, not the machine; ``NUMBA_NUM_THREADS`` limits it, which is how a worker is told to use
    only one.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(available, int(told)) if told.isdecimal() and int(told) else available


def thread_count(threads: int | None) -> int:
    """Number of threads that an engine uses: as given, otherwise one per processor; one in a worker process.

    Examples
    --------
    >>> thread_count(3)
    3
    """
    if threads is not None:
        from sdc_problems._validation import whole  # which loads numpy, and its linear algebra

        threads = whole(threads, "threads", least=1)
    return 1 if _promised_one else threads or processors()


def one_thread() -> None:
    """Let the kernels of this process use one thread, because the processes run in parallel.

    Linear algebra that is already loaded keeps its threads: ``children_of_one_thread`` tells it before.
    """
    global _promised_one
    _promised_one = True
    os.environ.update(dict.fromkeys(("NUMBA_NUM_THREADS", *_AT_LOADING), "1"))
    if "numba" in sys.modules:  # it has read its settings already
        sys.modules["numba"].set_num_threads(1)


@contextmanager
def children_of_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread in processes that start inside; this process keeps its settings.

    Keep the block short. numba's own setting is left to `one_thread`: numba reads it again whenever it compiles.
    """
    with _starting:
        before = {name: os.environ.get(name) for name in _AT_LOADING}
        os.environ.update(dict.fromkeys(_AT_LOADING, "1"))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


@contextmanager
def linear_algebra_in_one_thread() -> Iterator[None]:
    """Let linear algebra use one thread of this process, and as many as before afterwards.

    Its threads wait for each other by spinning: where other work has a processor, several take many times as long.
    """
    with _controller().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _controller() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401 -- its library must be loaded to be found, like that of numpy
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def end_with_parent() -> None:
    """End this process when its parent has ended, even if the parent was killed."""
    import multiprocessing
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
