"""Searches for partitions of records."""

from __future__ import annotations
