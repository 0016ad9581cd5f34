"""Running a study: start, seeds, replay, checkpoints."""

from __future__ import annotations
