"""Searches for generalizations."""

from __future__ import annotations
