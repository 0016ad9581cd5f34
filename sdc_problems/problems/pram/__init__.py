"""PRAM: transition matrices of categorical attributes, by entries and by equations."""

from __future__ import annotations

from sdc_problems.problems.pram.equations import PRAMEquationProblem
from sdc_problems.problems.pram.matrices import PRAMProblem

__all__ = ["PRAMEquationProblem", "PRAMProblem"]
