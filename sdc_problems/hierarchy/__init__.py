"""Generalization hierarchies: the more and more general labels of each value of an attribute."""

from __future__ import annotations

from sdc_problems.hierarchy._hierarchy import Hierarchy
from sdc_problems.hierarchy._suggest import Suggestion, suggest

__all__ = [
    "Hierarchy",
    "Suggestion",
    "suggest",
]
