"""Reproduction of Marés (2013), chapter 3: protected files that evolve cell by cell."""

from __future__ import annotations

from sdc_problems.studies.reproductions.evolution.study import reproduce

__all__ = ["reproduce"]
