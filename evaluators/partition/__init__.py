"""Engine for partitions of records: loss and disclosure of microaggregation."""

from __future__ import annotations

from sdc_problems.evaluators.partition.engine import MEASURES, PartitionEngine

__all__ = [
    "MEASURES",
    "PartitionEngine",
]
