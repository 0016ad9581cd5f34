"""Benchmark suite: named instances with known fronts, and records of what an algorithm found on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.suite._record import Record as Record
    from sdc_problems.suite._recorder import BudgetSpent as BudgetSpent
    from sdc_problems.suite._recorder import Recorder as Recorder

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
