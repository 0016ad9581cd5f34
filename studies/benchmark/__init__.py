"""Benchmarks: algorithms on the suite's instances, their records, and what is told of them."""

from __future__ import annotations
