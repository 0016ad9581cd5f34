"""Tasks that depend only on their arguments: done in threads, by processes or on a Dask cluster, with the same results.

For work that measures no candidates of a problem, such as blocks of a large file: each task has all that it needs,
including its seed. Only a few tasks are made ahead of the workers, so that memory is bounded whatever their number.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from sdc_problems._slices import listening
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel._process import thread_count
from sdc_problems.parallel.process_pool import (
    ATTEMPTS,
    begin_worker,
    dead_workers,
    pool_of,
    result_of,
)

AHEAD = 2
"""Tasks in progress for each worker: one that it does, and one that waits."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Doing = Generator[tuple[int, Result], None, None]


def done_tasks(
    function: Callable[[Task], Result],
    task: Callable[[int], Task],
    n: int,
    *,
    workers: int = 1,
    threads: int | None = None,
    scheduler: str | None = None,
) -> Doing[Result]:
    """Yield the number and the result of each of n tasks, as they are done; close the generator if it is left early.

    The tasks of a worker that dies are done again by others.

    Parameters
    ----------
    function
        Function that does a task; it is in a module that workers can import.
    task
        Function that makes the argument of a task from its number, when a worker is free.
    n
        Number of tasks.
    workers
        Number of processes on this machine; 1 does the tasks in threads of this process.
    threads
        Number of these threads; by default one per processor. It is of use if the function spends its time in kernels.
    scheduler
        Address of a Dask scheduler (``"tcp://host:8786"``), or ``"local"`` for a cluster of ``workers`` processes.

    Examples
    --------
    >>> list(done_tasks(abs, lambda i: -i, 3))
    [(0, 0), (1, 1), (2, 2)]
    """
    if scheduler is not None:
        try:
            from sdc_problems.parallel import cluster  # noqa: F401 -- is Dask there?
        except ModuleNotFoundError:
            raise SDCError('a scheduler needs Dask: pip install "sdc-problems[dask]"') from None
        return _on_cluster(function, task, n, scheduler, workers)
    if workers > 1:
        return _in_processes(function, task, n, workers)
    return _in_threads(function, task, n, thread_count(threads))


class _Stopped(Exception):
    """The results are no longer wanted."""


def _in_threads(function: Callable[[Task], Result], task: Callable[[int], Task], n: int, threads: int) -> Doing[Result]:
    stop = threading.Event()

    def listener(what: str, done: int, total: int) -> None:
        if stop.is_set():
            raise _Stopped

    def work(argument: Task) -> Result:
        with listening(listener):
            return function(argument)

    if min(threads, n) <= 1:
        for i in range(n):
            yield i, work(task(i))
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: dict[int, Future[Result]] = {}
        try:
            for i in range(n):
                for j in range(i + len(waiting), min(i + AHEAD * threads, n)):
                    waiting[j] = pool.submit(work, task(j))
                yield i, waiting.pop(i).result()
        finally:
            stop.set()  # those at work end when they next tell their progress
            for future in waiting.values():
                future.cancel()


def _in_processes(
    function: Callable[[Task], Result], task: Callable[[int], Task], n: int, workers: int
) -> Doing[Result]:
    next_one, attempts = 0, 0
    while next_one < n:
        try:
            with pool_of(min(workers, n), begin_worker) as pool:
                waiting: dict[int, Future[Result]] = {}
                while next_one < n:  # in order: only a few are in progress at a time
                    for i in range(next_one, min(next_one + AHEAD * workers, n)):
                        if i not in waiting:
                            waiting[i] = pool.submit(function, task(i))
                    result = result_of(pool, waiting.pop(next_one))
                    next_one, attempts = next_one + 1, 0
                    yield next_one - 1, result
        except BrokenProcessPool:
            attempts += 1
            if attempts == ATTEMPTS:
                raise dead_workers("over the same tasks") from None


def _on_cluster(
    function: Callable[[Task], Result], task: Callable[[int], Task], n: int, scheduler: str, workers: int
) -> Doing[Result]:
    from distributed import KilledWorker, as_completed

    from sdc_problems import __version__
    from sdc_problems.parallel.cluster import LOST, PATIENCE, joined_client, local_cluster

    local: Any = local_cluster(workers) if scheduler == "local" else None
    with contextlib.ExitStack() as left:
        if local is not None:
            left.callback(local.close)
        client = joined_client(local or scheduler, patience=PATIENCE)
        left.callback(_leave, client)

        def submit(i: int) -> Any:
            with warnings.catch_warnings():  # a task is as large as its part of the file, and goes to one worker
                warnings.filterwarnings("ignore", "Sending large graph")
                return client.submit(_there, __version__, function, task(i), pure=False, retries=0)

        try:
            # Tasks lost with a worker are done again by another one; there may be none yet, or more later.
            ahead = AHEAD * max(1, workers, sum(client.nthreads().values()))
            number = {submit(i): i for i in range(min(ahead, n))}
            following = len(number)
            waiting: Any = as_completed(list(number), loop=client.loop)  # type: ignore[no-untyped-call]
            for future in waiting:
                result = future.result()
                i = number.pop(future)
                if following < n:
                    more = submit(following)
                    number[more] = following
                    following += 1
                    waiting.add(more)
                yield i, result
        except (*LOST, KilledWorker) as error:
            raise SDCFailure(f"the Dask cluster at {scheduler} was lost while at work ({error})") from None


def _leave(client: Any) -> None:
    with contextlib.suppress(OSError, TimeoutError):
        client.close()


def _there(version: str, function: Callable[[Task], Result], task: Task) -> Result:
    """Do a task on a worker; refuse another version of the package, which may give another result."""
    from sdc_problems import __version__
    from sdc_problems.parallel.cluster import begin_here

    if version != __version__:
        raise SDCFailure(f"this worker has sdc-problems {__version__}; the work was sent by {version}")
    begin_here()
    return function(task)
