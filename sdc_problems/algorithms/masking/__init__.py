"""Searches that change a protected file cell by cell."""

from __future__ import annotations
