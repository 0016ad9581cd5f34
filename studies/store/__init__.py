"""Store of a run: folder, lock, writer, reader, result tables, hypervolume."""

from __future__ import annotations
