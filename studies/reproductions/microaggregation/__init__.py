"""Reproduction of Solanas et al. (2006) and Martínez-Ballesté et al. (2007)."""

from __future__ import annotations

from sdc_problems.studies.reproductions.microaggregation.study import reproduce

__all__ = ["reproduce"]
