"""Problems: one module per anonymization task, each a pymoo Problem with its own encoding."""

from __future__ import annotations
