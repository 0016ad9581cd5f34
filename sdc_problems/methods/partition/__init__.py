"""Methods that part records into groups: microaggregation and what it stands on."""

from __future__ import annotations
