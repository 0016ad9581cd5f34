"""Engine of attribute groupings: loss and disclosure of microaggregating each group on its own."""

from __future__ import annotations

from sdc_problems.evaluators.grouping.engine import TIE, GroupingEngine

__all__ = [
    "TIE",
    "GroupingEngine",
]
