"""Engine of record partitions: what merging each group loses and discloses."""

from __future__ import annotations

from sdc_problems.evaluators.partition.engine import MEASURES, PartitionEngine

__all__ = [
    "MEASURES",
    "PartitionEngine",
]
