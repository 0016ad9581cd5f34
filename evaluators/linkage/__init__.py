"""Record linkage: share of the records that an intruder with the original file re-identifies."""

from __future__ import annotations

from sdc_problems._lazy import attach_part as _attach_part

__getattr__, __dir__, __all__ = _attach_part(__name__)
