"""Searches for social graphs."""

from __future__ import annotations
