"""Algorithms and operators that a study can name, with typed options."""

from __future__ import annotations
