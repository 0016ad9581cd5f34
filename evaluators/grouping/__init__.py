"""Engine of attribute groupings: what microaggregating each group on its own loses and discloses."""

from __future__ import annotations

from sdc_problems.evaluators.grouping.engine import TIE, GroupingEngine

__all__ = [
    "TIE",
    "GroupingEngine",
]
