"""Studies: the command line, the runner, reproductions of papers, plots and reports."""

from __future__ import annotations

if __name__ != "sdc_problems.studies":
    raise ImportError(
        "this folder is the package sdc_problems.studies: a second import root makes every class exist twice"
    )
