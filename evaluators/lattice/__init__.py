"""Engine of generalization lattices: what a node protects and loses."""

from __future__ import annotations

from sdc_problems.evaluators.lattice.engine import MEASURES, NEED_LABELS, NEED_SENSITIVE, LatticeEngine

__all__ = [
    "MEASURES",
    "NEED_LABELS",
    "NEED_SENSITIVE",
    "LatticeEngine",
]
