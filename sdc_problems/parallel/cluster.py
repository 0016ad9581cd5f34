"""Measuring candidates on a Dask cluster, started here or running elsewhere.

The problem is sent without its data. The data is sent to each worker once, named by its SHA-256; a worker that joins
later gets it when it joins. Tasks are batches of rows; Dask gives the batch of a lost worker to another one.

Dask moves Python objects between processes: whoever can reach a scheduler can run code on its workers. Use an address
only if everybody who can reach it is trusted, or ``tls://`` with certificates in Dask's own configuration. For this
reason, a scheduler's address is never taken from a run folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import math
import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any

import numpy as np
from distributed import CancelledError, Client, KilledWorker, LocalCluster, WorkerPlugin
from distributed.client import FutureCancelledError
from numpy.typing import NDArray

from sdc_problems import __version__
from sdc_problems._sharing.arrays import SharedArrays
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel._process import one_thread
from sdc_problems.parallel.backend import Measures, Serial, batches, cut_evenly, joined, measure

if TYPE_CHECKING:
    from pymoo.core.problem import Problem

PATIENCE = 60.0  # seconds to wait for a scheduler, and for its first worker
TASK = 1e-3  # approximate seconds that a task costs the client and the scheduler


class DaskCluster(Serial):
    """Backend on the workers of a Dask scheduler.

    Parameters
    ----------
    problem
        The problem.
    scheduler
        An address such as ``"tcp://host:8786"``, or ``"local"`` to start ``workers`` processes here.
    workers
        Size of a local cluster; for a running one, the number to which it may grow: a generation is cut into batches
        for this many workers, or for those that are there if they are more.
    patience
        Seconds to wait for the scheduler and its first worker.
    """

    def __init__(self, problem: Problem, *, scheduler: str, workers: int = 1, patience: float = PATIENCE) -> None:
        super().__init__(problem)
        self.address = scheduler
        self._patience = patience
        self._wanted = workers
        self._row: float | None = None  # seconds that a row took in the last generation
        self._placed: list[str] = []
        self._cluster: Any = None
        if scheduler == "local":
            self._cluster = local_cluster(workers)
        self._join()

    def _join(self) -> None:
        """Connect to the scheduler, and put the problem on its workers."""
        self.client: Any = joined_client(self._cluster or self.address, patience=self._patience)
        try:
            self._place()
        except BaseException:
            self.close()
            raise

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Measure every row; Dask gives a lost worker's batch to another worker.

        A scheduler that is lost and comes back within ``patience`` gets the problem, and all rows, again.
        """
        try:
            return self._measured(X)
        except LOST as error:
            if self._cluster is not None:
                raise self._failure(error) from None
            with contextlib.suppress(Exception):
                self.client.close(timeout=1)
        self._join()
        try:
            return self._measured(X)
        except LOST as error:
            raise self._failure(error) from None

    def _measured(self, X: NDArray[Any]) -> Measures:
        parts = [X[cut] for cut in self._cuts(len(X))]
        futures = [self.client.submit(_timed_there, self._key, part, pure=False, retries=0) for part in parts]
        try:
            found = [future.result() for future in futures]
        except KilledWorker as error:
            raise self._failure(error) from None
        finally:
            with contextlib.suppress(Exception):  # a lost scheduler has nothing to cancel
                self.client.cancel(futures)
        if len(X):
            self._row = sum(seconds for _, seconds in found) / len(X)
        return joined(self.problem, [measures for measures, _ in found])

    def _cuts(self, n: int) -> list[slice]:
        """Cut n rows into a few batches for each worker, or fewer if the scheduler would take longer than the rows.

        The scheduler hands out one batch after the other: m batches take m tasks, after which a worker takes a batch of
        n / m rows. The sum is smallest at m = √(time of all rows / time of a task).
        """
        cuts = batches(n, self._width())
        if self._row is None:
            return cuts
        enough = math.ceil(math.sqrt(n * self._row / TASK))
        return cuts if len(cuts) <= enough else cut_evenly(n, enough)

    def workers(self) -> dict[str, int]:
        """Address and process id of every worker."""
        return {address: int(pid) for address, pid in self.client.run(_pid).items()}

    @property
    def scheduler(self) -> str | None:
        """Address of the scheduler, for other clients of the same cluster."""
        return str(self.client.scheduler.address)

    def forget(self) -> None:
        """Remove the problem and its data from the workers, for every client that uses them."""
        with contextlib.suppress(OSError, TimeoutError, CancelledError):
            for name in self._placed:
                self.client.unregister_worker_plugin(name)
            self.client.run(_forget, self._key, self._digests)

    def close(self) -> None:
        """Leave the scheduler, and end the cluster if it was started here."""
        client = getattr(self, "client", None)
        if client is not None:
            with contextlib.suppress(OSError, TimeoutError):
                client.close()
        if self._cluster is not None:
            self._cluster.close()

    def _place(self) -> None:
        """Put the data and the problem on every worker, now and whenever one joins."""
        packed, data = separated(self.problem)
        self._key = hashlib.sha256(packed).hexdigest()
        self._digests, self._placed = list(data), []
        try:
            plugins: list[PlacedArrays | PlacedProblem] = [PlacedArrays(*item) for item in data.items()]
            plugins.append(PlacedProblem(self._key, packed))
            for plugin in plugins:
                self.client.register_plugin(plugin, name=plugin.name)
                self._placed.append(plugin.name)
            # A task, not only waiting: an adaptive cluster without workers starts one only if there is work.
            self.client.submit(_pid, pure=False).result(timeout=self._patience)
        except (TimeoutError, FutureTimeout):
            raise SDCFailure(
                f"no worker has joined {self.address} within {self._patience:.0f} s; start one with `dask worker"
                f" {self.address}` where sdc-problems {__version__} is installed"
            ) from None

    def _width(self) -> int:
        return max(self._wanted, sum(int(threads) for threads in self.client.nthreads().values()))

    def _failure(self, error: Exception) -> SDCFailure:
        return SDCFailure(f"the Dask cluster at {self.address} was lost while measuring ({error})")


def local_cluster(workers: int) -> Any:
    """Cluster of processes on this machine."""
    return LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
        worker_dashboard_address=None, silence_logs=50,
    )  # fmt: skip


def joined_client(scheduler: Any, *, patience: float) -> Any:
    """Client of a scheduler, given by an address or as a cluster that was started here."""
    if isinstance(scheduler, str) and "://" not in scheduler:
        raise SDCError(f'scheduler must be "local" or an address like "tcp://host:8786", not {scheduler!r}')
    try:
        client = Client(scheduler, timeout=patience, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError) as error:
        raise SDCFailure(f"no Dask scheduler answers at {scheduler}: {error}") from None
    except (TypeError, ValueError) as error:  # tls:// without certificates, or with unreadable ones
        raise SDCError(
            f"{scheduler} cannot be joined: {error}. Certificates for tls:// stand in Dask's configuration,"
            " under distributed.comm.tls: ca-file, and cert and key of client"
        ) from None
    _HERE.gives_work = True
    return client


class NotPlaced(KeyError):
    """The problem is not on this worker, because its scheduler was restarted."""


LOST = (CancelledError, FutureCancelledError, OSError, NotPlaced)


# If a second client places the same thing, Dask tears down the first plugin and sets up the new one while tasks of the
# first client run. So tearing down removes nothing: only DaskCluster.forget does.


class PlacedArrays(WorkerPlugin):
    """Data on a worker, named by its digest; placed once."""

    def __init__(self, digest: str, arrays: dict[str, NDArray[Any]]) -> None:
        self.name = f"sdc-data-{digest}"
        self.digest = digest
        self.arrays = arrays

    def setup(self, worker: Any) -> None:
        """Keep the arrays, unless the worker has some with this digest."""
        with _HERE.lock:
            if self.digest not in _HERE.data:
                arrays = SharedArrays(self.arrays)
                if arrays.digest != self.digest:
                    raise SDCFailure("the data was damaged on its way to a worker")
                _HERE.data[self.digest] = arrays


class PlacedProblem(WorkerPlugin):
    """A problem on a worker; opened when it is first measured."""

    def __init__(self, key: str, packed: bytes) -> None:
        self.name = f"sdc-problem-{key}"
        self.key = key
        self.packed = packed
        self.version = __version__

    def setup(self, worker: Any) -> None:
        """Keep the pickled problem; refuse another version of the package, which may measure differently."""
        if self.version != __version__:
            raise SDCFailure(f"this worker has sdc-problems {__version__}; the study runs with {self.version}")
        begin_here()
        _HERE.packed[self.key] = self.packed


class _Here:
    """Contents of this process as a worker; one problem is measured at a time, because engines keep caches."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.gives_work = False
        self.data: dict[str, SharedArrays] = {}
        self.packed: dict[str, bytes] = {}
        self.problems: dict[str, Problem] = {}


_HERE = _Here()


def begin_here() -> None:
    """Set up a worker: one thread, unless the worker lives in the process that gives the work, whose threads stay."""
    if not _HERE.gives_work:
        one_thread()


def _measure_there(key: str, X: NDArray[Any]) -> Measures:
    with _HERE.lock:
        if key not in _HERE.problems:
            if key not in _HERE.packed:
                raise NotPlaced(key)
            _HERE.problems[key] = _together(_HERE.packed[key])
        return measure(_HERE.problems[key], X)


def _timed_there(key: str, X: NDArray[Any]) -> tuple[Measures, float]:
    """Measures of rows, and the seconds that measuring took."""
    start = time.perf_counter()
    return _measure_there(key, X), time.perf_counter() - start


def _forget(key: str, digests: list[str]) -> None:
    with _HERE.lock:
        _HERE.packed.pop(key, None)
        _HERE.problems.pop(key, None)
        for digest in digests:
            _HERE.data.pop(digest, None)


def _pid() -> int:
    import os

    return os.getpid()


# ---------------------------------------------------------------------- a problem without its data


class _Separating(pickle.Pickler):
    """Pickler that replaces a problem's data by their digests."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=5)
        self.data: dict[str, dict[str, NDArray[Any]]] = {}

    def persistent_id(self, value: Any) -> str | None:
        """Name an object that stays out of the pickle."""
        if not isinstance(value, SharedArrays):
            return None
        self.data[value.digest] = {name: np.asarray(array) for name, array in value.items()}
        return value.digest


class _Joining(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, find: Callable[[str], SharedArrays]) -> None:
        super().__init__(stream)
        self._find = find

    def persistent_load(self, digest: str) -> SharedArrays:
        return self._find(digest)


def separated(problem: Problem) -> tuple[bytes, dict[str, dict[str, NDArray[Any]]]]:
    """Pickle a problem without its data, and return the arrays of the data by digest."""
    stream = io.BytesIO()
    pickler = _Separating(stream)
    try:
        pickler.dump(problem)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise SDCError(f"{type(problem).__name__} cannot be sent to other processes: {error}") from None
    return stream.getvalue(), pickler.data


def _together(packed: bytes) -> Problem:
    problem: Problem = _Joining(io.BytesIO(packed), lambda digest: _HERE.data[digest]).load()
    return problem
