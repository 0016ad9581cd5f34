"""Methods that change values by chance or by exchange."""

from __future__ import annotations
