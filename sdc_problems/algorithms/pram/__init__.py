"""Searches for transition matrices and equations."""

from __future__ import annotations
