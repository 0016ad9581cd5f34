"""Choice of a backend: this process, a pool of processes, or a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems.errors import SDCError
from sdc_problems.parallel.backend import Backend, Serial
from sdc_problems.parallel.process_pool import ProcessPool

if TYPE_CHECKING:
    from pymoo.core.problem import Problem


def open_backend(problem: Problem, *, workers: int = 1, scheduler: str | None = None) -> Backend:
    """Return a backend: this process, a pool of processes, or a Dask cluster.

    Parameters
    ----------
    problem
        The problem.
    workers
        Number of processes on this machine; 1 measures in this process.
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
