"""Compiled kernels of the methods and of the searches for partitions."""

from __future__ import annotations
