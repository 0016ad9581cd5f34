"""Reproduction of Marés (2013), chapter 6: k-anonymous attributes of a social graph with unchanged links."""

from __future__ import annotations

from sdc_problems.studies.reproductions.social.study import reproduce

__all__ = ["reproduce"]
