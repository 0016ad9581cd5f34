"""Plots, tables and texts about runs."""

from __future__ import annotations
