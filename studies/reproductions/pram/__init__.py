"""Reproduction of Marés (2013), chapter 4: transition matrices, and equations that generate them."""

from __future__ import annotations

from sdc_problems.studies.reproductions.pram.study import reproduce

__all__ = ["reproduce"]
