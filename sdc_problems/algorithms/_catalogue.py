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
        most_records=1_000_000,
        formula="min over partitions into groups of k to 2k − 1: SSE",
        use="The smallest loss of microaggregation, for seconds to minutes of computing.",
        avoid="The table has a million records: `mdav` is there in a moment.",
    ),
    Method(
        "hybrid",
        "MDAV, then a genetic algorithm in macrogroups of its groups (two-step)",
        _ROOM + "microaggregation.hybrid:hybrid",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        most_records=1_000_000,
        fixed={"steps": 2},
        formula="min SSE inside macrogroups of MDAV's groups, by a genetic algorithm",
        use="A published method is to be compared with, or repeated.",
        avoid="The smallest loss is wanted: `memetic` loses less in the same time.",
    ),
    Method(
        "hybrid-one-step",
        "a genetic algorithm in MDAV's groups of macrogroup size",
        _ROOM + "microaggregation.hybrid:hybrid",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        most_records=1_000_000,
        fixed={"steps": 1},
        formula="min SSE inside MDAV's groups of macrogroup size, by a genetic algorithm",
        use="A published method is to be compared with, or repeated.",
        avoid="The smallest loss is wanted: `memetic` loses less in the same time.",
    ),
    Method(
        "ga",
        "the genetic algorithm, for up to about 50 records",
        _ROOM + "microaggregation.solanas_ga:ga",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        most_records=1_000_000,
        formula="min SSE, by a genetic algorithm over group labels",
        use="A published method is to be compared with, on up to about 50 records.",
        avoid="More records: use `memetic`.",
    ),
    Method(
        "lattice",
        "the generalization with k that loses least, of all there are",
        _ROOM + "generalization.lattice_optimum:lattice_optimum",
        "table",
        guarantee="k",
        search=True,
        suppresses=True,
        formula="min over levels per column: Σ over cells of (leaves under the label − 1)/(leaves − 1), subject to k",
        use="Every row has the same categories, the optimum is proven, and a few records may be left out.",
        avoid="Many columns with few records: one level for all rows loses much; compare with `local-recoding`.",
    ),
)
