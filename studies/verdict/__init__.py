"""Verdict on a pair of files: disclosure risk and information loss of the protected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.studies.verdict._verdict import LINKAGE_LIMIT, Verdict, verdict

__all__ = [
    "LINKAGE_LIMIT",
    "Verdict",
    "verdict",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "LINKAGE_LIMIT": "_verdict",
        "Verdict": "_verdict",
        "verdict": "_verdict",
    },
)
