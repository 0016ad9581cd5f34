"""Engine of transition matrices: what randomising by them loses and discloses."""

from __future__ import annotations

from sdc_problems.evaluators.transition.engine import MEASURES, TransitionEngine, parts_of

__all__ = [
    "MEASURES",
    "TransitionEngine",
    "parts_of",
]
