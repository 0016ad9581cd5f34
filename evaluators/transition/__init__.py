"""Engine of transition matrices: loss and disclosure of randomising by them."""

from __future__ import annotations

from sdc_problems.evaluators.transition.engine import MEASURES, TransitionEngine, parts_of

__all__ = [
    "MEASURES",
    "TransitionEngine",
    "parts_of",
]
