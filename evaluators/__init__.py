"""How a candidate is measured: pure functions and compiled engines on arrays; never pymoo."""

from __future__ import annotations

if __name__ != "sdc_problems.evaluators":
    raise ImportError(
        "this folder is the package sdc_problems.evaluators: a second import root makes every class exist twice"
    )
