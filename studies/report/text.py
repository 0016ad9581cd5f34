"""Text of numbers and of results, as commands print them."""

from __future__ import annotations

import json
from typing import Any


def number(value: float) -> str:
    """A value in the form used in tables.

    Examples
    --------
    >>> number(3.0), number(1234567.0), number(0.123456), number(1e-9)
    ('3', '1,234,567', '0.1235', '1e-09')
    """
    if abs(value) < 1e-12:  # rounding error of a sum that should be zero
        return "0"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4g}"


def as_json(payload: dict[str, Any]) -> str:
    """JSON without NaN or infinity, so that any program can read it."""
    return json.dumps(payload, indent=2, allow_nan=False, ensure_ascii=True)
