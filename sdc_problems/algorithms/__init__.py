"""Searches that pymoo does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.algorithms.archive import AddStatus, BoxArchive

__all__ = [
    "AddStatus",
    "BoxArchive",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "AddStatus": "archive",
        "BoxArchive": "archive",
    },
)
