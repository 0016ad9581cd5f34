"""Releases: the protected file, its certificate and value mapping, written in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.studies.release._protect import Protected, protect
    from sdc_problems.studies.release._release import Released, release

__all__ = [
    "Protected",
    "Released",
    "protect",
    "release",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "Protected": "_protect",
        "Released": "_release",
        "protect": "_protect",
        "release": "_release",
    },
)
