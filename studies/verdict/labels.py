"""Labels in protected files that stand for a suppressed cell."""

from __future__ import annotations

from sdc_problems._tables.columns import MISSING, STAR

SUPPRESSED = (STAR, MISSING, "")
