"""Hierarchies of generalization: for each value what stands for it at each level."""

from __future__ import annotations

from sdc_problems.hierarchy._hierarchy import Hierarchy

__all__ = [
    "Hierarchy",
]
