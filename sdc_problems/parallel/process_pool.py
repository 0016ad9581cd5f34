"""Backend of several processes on one machine, with the same bytes as in one process.

Rows are measured independently of each other, batches keep their order, and every process uses one thread, so the
result does not depend on the number of processes, nor on which of them measured what. If a process dies, only its batch
is measured again.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar, cast

from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel._process import children_of_one_thread, end_when_told, end_with_parent, one_thread
from sdc_problems.parallel.backend import Measures, Serial, batches, joined, measure

if TYPE_CHECKING:
    from pymoo.core.problem import Problem

Result = TypeVar("Result")
PATIENCE = 10.0  # seconds for processes to end by themselves
LOOK = 1.0  # seconds between two looks at whether a pool still works
ATTEMPTS = 3  # number of times that workers may die with the same batch


class ProcessPool(Serial):
    """Backend that measures in processes of this machine.

    The problem is sent once to each process, with the folder and digest of its data; each process opens the data once.
    The processes start at the first evaluation and end with this process, however it ends.

    Parameters
    ----------
    problem
        A problem that can be pickled; its pickle should name the place of the data, not hold it.
    workers
        Number of processes.

    Notes
    -----
    Scripts that use it need ``if __name__ == "__main__":``, as for everything in ``multiprocessing``.
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
                    done[i] = result_of(pool, future)
                return joined(self.problem, [done[i] for i in range(len(cuts))])
            except BrokenProcessPool:
                self.close()
            except BaseException:
                for future in pending.values():
                    future.cancel()
                raise
        raise dead_workers("while measuring the same rows")

    def processes(self) -> list[int]:
        """Ids of the worker processes that have been started."""
        return [] if self._pool is None else list(self._pool._processes or ())

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            end_pool(self._pool)
            self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = start_pool(self.workers, _open, _packed(self.problem))
        return self._pool


def start_pool(workers: int, begin: Callable[..., object], *arguments: object) -> ProcessPoolExecutor:
    """Pool of new processes, each of which starts by calling a function that should call `begin_worker`."""
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=begin, initargs=arguments
    )
    inner = cast(Any, pool)
    # The thread that sends tasks is started here, where an error is raised. Another thread of the pool would start it
    # later; if the system has no memory for one more, that thread ends, and whoever waits for a result waits forever.
    inner._call_queue._start_thread()
    try:
        # All processes, too: the pool would start them one by one with its tasks, while its other thread looks after
        # those that are there. If one of these has just died, that thread closes what a new one needs, or overlooks it.
        with children_of_one_thread():
            inner._launch_processes()
    except BaseException:
        terminate(pool)
        raise
    return pool


@contextmanager
def pool_of(workers: int, begin: Callable[..., object], *arguments: object) -> Iterator[ProcessPoolExecutor]:
    """Pool as of `start_pool`, whose processes end with the block; at once if the block is left by an error."""
    pool = start_pool(workers, begin, *arguments)
    try:
        yield pool
    except BaseException:
        terminate(pool)
        raise
    finally:
        end_pool(pool)


def result_of(pool: ProcessPoolExecutor, future: Future[Result]) -> Result:
    """Result of a task; BrokenProcessPool if the pool has stopped without a word, which a future does not notice."""
    while True:
        try:
            return future.result(timeout=LOOK)
        except TimeoutError:
            if future.done():
                return future.result()  # by now, or the task's own error
            _check_alive(pool)


def finished(pool: ProcessPoolExecutor, pending: Iterable[Future[Result]], seconds: float) -> set[Future[Result]]:
    """Tasks that are done after so many seconds, or as soon as one is; BrokenProcessPool as in `result_of`."""
    done = wait_for(pending, timeout=seconds, return_when=FIRST_COMPLETED).done
    if not done:
        _check_alive(pool)
    return done


def _check_alive(pool: ProcessPoolExecutor) -> None:
    """Raise BrokenProcessPool if the thread that manages a pool in use has ended: its futures would never be done."""
    thread = cast(Any, pool)._executor_manager_thread
    if thread is not None and not thread.is_alive():
        terminate(pool)
        raise BrokenProcessPool("the thread that manages the processes has ended")


def terminate(pool: ProcessPoolExecutor) -> None:
    """Terminate the processes of a pool, whatever they are doing."""
    for process in list((pool._processes or {}).values()):
        process.terminate()


def end_pool(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, even if one was killed."""
    left = {process.sentinel: process for process in (pool._processes or {}).values()}
    pool.shutdown(wait=False, cancel_futures=True)
    # A killed worker may have held the lock that the others need to learn of the end.
    end = time.monotonic() + PATIENCE
    while left and (rest := end - time.monotonic()) > 0:
        for sentinel in cast("list[int]", wait(list(left), rest)):
            del left[sentinel]
    for process in left.values():
        process.terminate()


def dead_workers(when: str) -> SDCFailure:
    """Failure to raise if worker processes die repeatedly."""
    return SDCFailure(
        f"worker processes ended {ATTEMPTS} times {when}: most often the machine is out of memory (use fewer workers),"
        " or a script starts workers outside `if __name__ == '__main__':`"
    )


def begin_worker() -> None:
    """Set up a worker process: one thread; its parent decides after Ctrl-C, and it ends with its parent."""
    end_when_told()
    one_thread()
    end_with_parent()


def _packed(problem: Problem) -> bytes:
    """Pickle the problem for our own processes (never for a file)."""
    import pickle

    try:
        return pickle.dumps(problem)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SDCError(f"{type(problem).__name__} cannot be sent to other processes: {error}") from None


_problem: Problem | None = None  # in a worker process


def _open(packed: bytes) -> None:
    """Set up a worker process that measures rows of a problem."""
    global _problem
    import pickle

    begin_worker()
    _problem = pickle.loads(packed)  # noqa: S301 -- bytes that our parent process made a moment ago


def _measure_here(X: NDArray[Any]) -> Measures:
    assert _problem is not None
    return measure(_problem, X)
