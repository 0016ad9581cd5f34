"""Measuring candidates in several processes, on one machine or on a Dask cluster: the same bytes as in one process.

Rows are measured independently of each other, batches keep their order, and every process works with one thread, so
the result does not depend on how many processes there are nor on which of them measured what. A process that dies
costs its batch again and nothing else.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator

from sdc_problems.errors import SDCError, SDCFailure

if TYPE_CHECKING:
    from typing import Self

    from pymoo.core.problem import Problem

Measures = dict[str, NDArray[Any]]

BATCHES_PER_WORKER = 4  # more evens out rows of different cost, fewer costs less traffic
ATTEMPTS = 3  # how often a batch may take a worker down with it


class Backend(Protocol):
    """Measures rows of ``X``; closed when it is left."""

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Return ``F`` (and ``G``, ``H`` of a constrained problem) of every row."""
        ...

    def close(self) -> None:
        """Give back processes and connections."""
        ...


def keys_of(problem: Problem) -> list[str]:
    """Names of what a problem measures.

    Examples
    --------
    >>> from pymoo.problems import get_problem
    >>> keys_of(get_problem("bnh"))
    ['F', 'G']
    """
    return ["F", *["G"] * (problem.n_ieq_constr > 0), *["H"] * (problem.n_eq_constr > 0)]


def measure(problem: Problem, X: NDArray[Any]) -> Measures:
    """Measure rows in this process."""
    found = problem.evaluate(X, return_values_of=keys_of(problem), return_as_dictionary=True)
    return {key: np.asarray(found[key], dtype=float) for key in keys_of(problem)}


def batches(n: int, workers: int) -> list[slice]:
    """Cut n rows into slices of about equal length, a few for every worker.

    Examples
    --------
    >>> batches(5, 1)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    size = max(1, math.ceil(n / (workers * BATCHES_PER_WORKER)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def joined(problem: Problem, parts: Sequence[Measures]) -> Measures:
    """Batches put together again, in order."""
    widths = {"F": problem.n_obj, "G": problem.n_ieq_constr, "H": problem.n_eq_constr}
    return {key: np.vstack([np.zeros((0, widths[key])), *[part[key] for part in parts]]) for key in keys_of(problem)}


class Serial:
    """Measures in this process.

    Parameters
    ----------
    problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Measure every row."""
        return measure(self.problem, X)

    def close(self) -> None:
        """Nothing to give back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class ProcessPool(Serial):
    """Measures in processes of this machine.

    The problem travels once to each process, with the folder and digest of its data; each process opens the data once.
    The processes start at the first evaluation and end with this one, however it ends.

    Parameters
    ----------
    problem
        A problem that can be pickled; its pickle should say where the data lies, not hold it.
    workers
        How many processes.

    Notes
    -----
    Scripts that use it need ``if __name__ == "__main__":``, as with everything in ``multiprocessing``.
    """

    def __init__(self, problem: Problem, *, workers: int) -> None:
        super().__init__(problem)
        if workers < 1:
            raise SDCError(f"workers must be at least 1, not {workers}")
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Measure every row; a batch whose process dies is measured again by another one."""
        cuts = batches(len(X), self.workers)
        done: dict[int, Measures] = {}
        for _ in range(ATTEMPTS):
            pending: dict[int, Future[Measures]] = {}
            try:
                pool = self._started()
                pending = {i: pool.submit(_measure_here, X[cut]) for i, cut in enumerate(cuts) if i not in done}
                for i, future in pending.items():
                    done[i] = future.result()
                return joined(self.problem, [done[i] for i in range(len(cuts))])
            except BrokenProcessPool:
                self._abandon()
            except BaseException:
                for future in pending.values():
                    future.cancel()
                raise
        raise SDCFailure(
            f"worker processes ended {ATTEMPTS} times while measuring the same rows: most often the machine is out of"
            " memory (use fewer workers), or a script starts workers outside `if __name__ == '__main__':`"
        )

    def processes(self) -> list[int]:
        """Ids of the worker processes that have been started."""
        return [] if self._pool is None else list(self._pool._processes or ())

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_open,
                initargs=(_packed(self.problem),),
            )
        return self._pool

    def _abandon(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


def _packed(problem: Problem) -> bytes:
    """Pickle the problem for our own processes (never for a file)."""
    import pickle

    try:
        return pickle.dumps(problem)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SDCError(f"{type(problem).__name__} cannot be sent to other processes: {error}") from None


_problem: Problem | None = None  # of a worker process


def _open(packed: bytes) -> None:
    """Begin a worker process: one thread, deaf to Ctrl-C (its parent decides), gone when its parent is."""
    global _problem
    import pickle

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_thread()
    end_with_parent()
    _problem = pickle.loads(packed)  # noqa: S301 -- bytes that our parent process made a moment ago


def _measure_here(X: NDArray[Any]) -> Measures:
    assert _problem is not None
    return measure(_problem, X)


_THREAD_SETTINGS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Let the kernels of this process use one thread: the processes are what runs in parallel.

    Linear algebra that is loaded already keeps its threads: see ``children_of_one_thread``.
    """
    os.environ.update(dict.fromkeys(_THREAD_SETTINGS, "1"))
    import sys

    if "numba" in sys.modules:  # read its settings already
        sys.modules["numba"].set_num_threads(1)


@contextmanager
def children_of_one_thread() -> Iterator[None]:
    """Let processes that start meanwhile use one thread, in linear algebra too; this process keeps what it has."""
    before = {name: os.environ.get(name) for name in _THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(_THREAD_SETTINGS, "1"))  # read by libraries when they are loaded
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def end_with_parent() -> None:
    """End this process when its parent has ended, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()


class ParallelEvaluator(Evaluator):
    """pymoo's evaluator on a backend, for use outside studies.

    Parameters
    ----------
    backend
        For instance ``ProcessPool(problem, workers=4)``; closed by whoever made it.

    Examples
    --------
    ::

        with ProcessPool(problem, workers=4) as pool:
            minimize(problem, NSGA2(evaluator=ParallelEvaluator(pool), **problem.operators()), ("n_gen", 100), seed=1)
    """

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: Sequence[str], **kwargs: Any) -> None:
        set_measures(pop, self.backend.evaluate(np.array([individual.X for individual in pop])))


def set_measures(pop: Any, measures: Mapping[str, NDArray[Any]]) -> None:
    """Write measures into a population, marking each individual as evaluated."""
    for key in ("F", "G", "H"):
        pop.set(key, measures.get(key, np.zeros((len(pop), 0))))
    pop.apply(lambda individual: individual.evaluated.update(("F", "G", "H")))


def open_backend(problem: Problem, *, workers: int = 1, scheduler: str | None = None) -> Serial:
    """Return what measures: this process, a pool of processes, or a Dask cluster.

    Parameters
    ----------
    problem
        The problem.
    workers
        Processes of this machine; 1 measures in this process.
    scheduler
        Address of a Dask scheduler (``"tcp://host:8786"``), or ``"local"`` for a cluster of ``workers`` processes.
    """
    if scheduler is not None:
        try:
            from sdc_problems.parallel.cluster import DaskCluster
        except ModuleNotFoundError:
            raise SDCError('a scheduler needs Dask: pip install "sdc-problems[dask]"') from None
        return DaskCluster(problem, scheduler=scheduler, workers=workers)
    return Serial(problem) if workers == 1 else ProcessPool(problem, workers=workers)
