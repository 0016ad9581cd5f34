"""Engines for files that change cell by cell: they measure a proposed change without measuring the file again."""

from __future__ import annotations

from sdc_problems.evaluators.cells._state import State
from sdc_problems.evaluators.cells.categorical import CategoricalCells, CategoricalState
from sdc_problems.evaluators.cells.numeric import NumericCells, NumericState

__all__ = ["CategoricalCells", "CategoricalState", "NumericCells", "NumericState", "State"]
