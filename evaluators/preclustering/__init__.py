"""Engine for protection after clustering: clusterings are cached, and equal protected files are measured once."""

from __future__ import annotations

from sdc_problems.evaluators.preclustering.engine import PreclusteringEngine, Setting

__all__ = ["PreclusteringEngine", "Setting"]
