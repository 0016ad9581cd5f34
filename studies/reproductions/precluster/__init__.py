"""Reproduction of Marés (2013), chapter 5: protection after clustering."""

from __future__ import annotations

from sdc_problems.studies.reproductions.precluster.study import reproduce

__all__ = ["reproduce"]
