"""The study file: schema, validation, data section."""

from __future__ import annotations
