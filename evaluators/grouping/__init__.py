"""Engine for attribute groupings: loss and disclosure if each group is microaggregated on its own."""

from __future__ import annotations

from sdc_problems.evaluators.grouping.engine import TIE, GroupingEngine

__all__ = [
    "TIE",
    "GroupingEngine",
]
