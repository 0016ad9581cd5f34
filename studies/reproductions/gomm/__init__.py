"""Reproduction of Balasch-Masoliver (2010): attribute groups by GOMM and D-GOMM."""

from __future__ import annotations

from sdc_problems.studies.reproductions.gomm.study import reproduce

__all__ = ["reproduce"]
