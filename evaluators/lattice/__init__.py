"""Engine for generalization lattices: measures of their nodes."""

from __future__ import annotations

from sdc_problems.evaluators.lattice._corners import LOSSES, Corner
from sdc_problems.evaluators.lattice.engine import MEASURES, NEED_LABELS, NEED_SENSITIVE, LatticeEngine
from sdc_problems.evaluators.lattice.several import SeveralSensitive

__all__ = [
    "LOSSES",
    "MEASURES",
    "NEED_LABELS",
    "NEED_SENSITIVE",
    "Corner",
    "LatticeEngine",
    "SeveralSensitive",
]
