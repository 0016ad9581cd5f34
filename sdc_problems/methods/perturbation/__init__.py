"""Methods that change values at random or exchange them."""

from __future__ import annotations
