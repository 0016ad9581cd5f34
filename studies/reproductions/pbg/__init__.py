"""Reproduction of Dewri et al. (2010): property based generalizations of the Adult file."""

from __future__ import annotations

from sdc_problems.studies.reproductions.pbg.study import reproduce

__all__ = ["reproduce"]
