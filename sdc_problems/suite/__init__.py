"""Benchmark suite: named instances with known fronts, and records of what an algorithm found on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.suite._assess import assess as assess
    from sdc_problems.suite._indicators import anytime as anytime
    from sdc_problems.suite._indicators import expected_runtimes as expected_runtimes
    from sdc_problems.suite._indicators import runtimes as runtimes
    from sdc_problems.suite._record import Record as Record
    from sdc_problems.suite._recorder import BudgetSpent as BudgetSpent
    from sdc_problems.suite._recorder import Recorder as Recorder

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
