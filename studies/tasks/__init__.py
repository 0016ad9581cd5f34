"""Tasks that a study can name."""

from __future__ import annotations
