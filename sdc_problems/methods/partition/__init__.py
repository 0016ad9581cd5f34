"""Methods that partition records into groups: microaggregation and related methods."""

from __future__ import annotations
