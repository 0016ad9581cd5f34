"""Searches for attribute groupings."""

from __future__ import annotations
