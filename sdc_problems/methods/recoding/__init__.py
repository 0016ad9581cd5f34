"""Methods that publish true but coarser values: recoding, Mondrian, local suppression."""

from __future__ import annotations
