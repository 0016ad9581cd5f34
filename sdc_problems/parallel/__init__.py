"""Backends that measure candidates and do other tasks: this process, several, or a Dask cluster, with equal results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.parallel._open import open_backend as open_backend
    from sdc_problems.parallel._process import processors as processors
    from sdc_problems.parallel.backend import Backend as Backend
    from sdc_problems.parallel.backend import Serial as Serial
    from sdc_problems.parallel.cluster import DaskCluster as DaskCluster
    from sdc_problems.parallel.evaluator import ParallelEvaluator as ParallelEvaluator
    from sdc_problems.parallel.memo import MemoEvaluator as MemoEvaluator
    from sdc_problems.parallel.process_pool import ProcessPool as ProcessPool
    from sdc_problems.parallel.tasks import done_tasks as done_tasks

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
