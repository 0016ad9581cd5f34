"""Backends that measure candidates in this process, in several, or on a Dask cluster: the same bytes everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.parallel._open import open_backend
    from sdc_problems.parallel._threads import processors
    from sdc_problems.parallel.backend import Backend, Serial
    from sdc_problems.parallel.cluster import DaskCluster
    from sdc_problems.parallel.evaluator import ParallelEvaluator
    from sdc_problems.parallel.memo import MemoEvaluator
    from sdc_problems.parallel.process_pool import ProcessPool

__all__ = [
    "Backend",
    "DaskCluster",
    "MemoEvaluator",
    "ParallelEvaluator",
    "ProcessPool",
    "Serial",
    "open_backend",
    "processors",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "Backend": "backend",
        "DaskCluster": "cluster",
        "MemoEvaluator": "memo",
        "ParallelEvaluator": "evaluator",
        "ProcessPool": "process_pool",
        "Serial": "backend",
        "open_backend": "_open",
        "processors": "_threads",
    },
)
