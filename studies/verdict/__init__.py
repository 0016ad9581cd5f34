"""Verdict on a protected file: its disclosure risk and its information loss against the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.studies.verdict._verdict import LINKAGE_LIMIT as LINKAGE_LIMIT
    from sdc_problems.studies.verdict._verdict import Verdict as Verdict
    from sdc_problems.studies.verdict._verdict import verdict as verdict
    from sdc_problems.studies.verdict.links import graph_verdict as graph_verdict

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
