"""Engine of record partitions: loss and disclosure of merging each group."""

from __future__ import annotations

from sdc_problems.evaluators.partition.engine import MEASURES, PartitionEngine

__all__ = [
    "MEASURES",
    "PartitionEngine",
]
