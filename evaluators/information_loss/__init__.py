"""Information loss: what a protected table no longer tells, for numeric, categorical and generalised data."""

from __future__ import annotations

from sdc_problems.evaluators.information_loss.numeric import (
    ILComponents,
    il,
    il_components,
    il_sse,
    location_and_scale,
    sse,
    sst,
    z_scores,
)

__all__ = [
    "ILComponents",
    "il",
    "il_components",
    "il_sse",
    "location_and_scale",
    "sse",
    "sst",
    "z_scores",
]
