"""Methods that publish true but less detailed values: generalization, recoding, Mondrian, local suppression."""

from __future__ import annotations
