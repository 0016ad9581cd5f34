"""Methods that publish true but coarser values: generalization, recoding, Mondrian, local suppression."""

from __future__ import annotations
