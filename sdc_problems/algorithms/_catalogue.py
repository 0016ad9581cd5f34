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
<<<<<<< HEAD
        avoid="The table has hundreds of thousands of records: use `memetic-blocks`.",
    ),
    Method(
        "memetic-blocks",
        "the search of `memetic` in blocks of near groups: for large tables, on any number of processes",
        _ROOM + "microaggregation.blocks:in_blocks",
        "partition",
        kinds=("numeric",),
        guarantee="k",
        search=True,
        formula="min over partitions into groups of k to 2k − 1: SSE, block by block",
        use="A small loss of microaggregation for 100,000 to millions of records, in minutes.",
        avoid="The table is small: `memetic` sees all of it at once.",
=======
        avoid="The table has a million records: `mdav` is much faster.",
>>>>>>> ace5798 (Method and option descriptions in plain words)
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
        use="You repeat a published method, or compare with it.",
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
        use="You repeat a published method, or compare with it.",
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
        use="You compare with a published method on up to about 50 records.",
        avoid="More records: use `memetic`.",
    ),
    Method(
        "lattice",
        "of all generalizations with k, the one that loses least",
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
