"""Engine for transition matrices: loss and disclosure of PRAM with them."""

from __future__ import annotations

from sdc_problems.evaluators.transition.engine import CROSSED, MEASURES, TransitionEngine, parts_of

__all__ = [
    "CROSSED",
    "MEASURES",
    "TransitionEngine",
    "parts_of",
]
