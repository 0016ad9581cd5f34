"""Table of the methods of this room: those that search."""

from __future__ import annotations

from sdc_problems.methods.registry import Method

_ROOM = "sdc_problems.algorithms."

METHODS = (
    Method(
        "memetic",
        "annealing, ruin and recreate, and crossover of groups: the smallest loss",
        _ROOM + "microaggregation.memetic:memetic",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
    ),
    Method(
        "hybrid",
        "MDAV, then a genetic algorithm in macrogroups of its groups (two-step)",
        _ROOM + "microaggregation.hybrid:hybrid",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        fixed={"steps": 2},
    ),
    Method(
        "hybrid-one-step",
        "a genetic algorithm in MDAV's groups of macrogroup size",
        _ROOM + "microaggregation.hybrid:hybrid",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        fixed={"steps": 1},
    ),
    Method(
        "ga",
        "the genetic algorithm, for up to about 50 records",
        _ROOM + "microaggregation.solanas_ga:ga",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
    ),
    Method(
        "lattice",
        "the generalization with k that loses least, of all there are",
        _ROOM + "generalization.lattice_optimum:lattice_optimum",
        "table",
        guarantee="k",
        search=True,
        suppresses=True,
    ),
)
