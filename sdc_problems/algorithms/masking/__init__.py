"""Searches for protected files that vary cell by cell."""

from __future__ import annotations
