"""Operators that vary candidates: one module per encoding; arrays in, arrays out, never the data."""

from __future__ import annotations

if __name__ != "sdc_problems.operators":
    raise ImportError(
        "this folder is the package sdc_problems.operators: a second import root makes every class exist twice"
    )
