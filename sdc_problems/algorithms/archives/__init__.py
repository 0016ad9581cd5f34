"""Archives of solutions, usable as ``archive=`` of any pymoo algorithm."""

from __future__ import annotations

from sdc_problems.algorithms.archives.box import AddStatus, BoxArchive

__all__ = ["AddStatus", "BoxArchive"]
