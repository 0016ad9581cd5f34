"""Operators that vary candidates: one module per encoding; arrays in, arrays out, never the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if __name__ != "sdc_problems.operators":
    raise ImportError(
        "this folder is the package sdc_problems.operators: a second import root makes every class exist twice"
    )

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.operators.canonical import CanonicalLabels, restricted_growth
    from sdc_problems.operators.cells import (
        BlockCrossover,
        CellBounds,
        CellMixture,
        CellMutation,
        RecordCrossover,
        StartFiles,
    )
    from sdc_problems.operators.copying import CopyCrossover
    from sdc_problems.operators.duplicates import ByteDuplicates
    from sdc_problems.operators.grouping import (
        AnyGroupingMutation,
        ElementMove,
        ElementSwap,
        GroupCreate,
        GroupCrossover,
        GroupEliminate,
        GroupingMutation,
        GroupSplit,
        RandomGroupings,
    )
    from sdc_problems.operators.lattice import LatticeCrossover, LatticeMutation, LatticeRepair, LatticeSampling
    from sdc_problems.operators.matrix import (
        GrayBitMutation,
        MatrixBounds,
        MatrixCrossover,
        MatrixMutation,
        MatrixSampling,
        RangeSwapCrossover,
    )
    from sdc_problems.operators.never_twice import NeverTwice
    from sdc_problems.operators.partition import (
        GeneMutation,
        GroupSizes,
        OnePointCrossover,
        RandomPartitions,
        RecordMutation,
        RouletteSelection,
        WholeGroupCrossover,
        limited,
    )
    from sdc_problems.operators.portfolio import Genealogy, Portfolio, Share
    from sdc_problems.operators.search_guard import SearchGuard
    from sdc_problems.operators.tree import Grammar, Shape, SubtreeCrossover, TreeMutation, TreeSampling, ValidTrees

__all__ = [
    "AnyGroupingMutation",
    "BlockCrossover",
    "ByteDuplicates",
    "CanonicalLabels",
    "CellBounds",
    "CellMixture",
    "CellMutation",
    "CopyCrossover",
    "ElementMove",
    "ElementSwap",
    "GeneMutation",
    "Genealogy",
    "Grammar",
    "GrayBitMutation",
    "GroupCreate",
    "GroupCrossover",
    "GroupEliminate",
    "GroupSizes",
    "GroupSplit",
    "GroupingMutation",
    "LatticeCrossover",
    "LatticeMutation",
    "LatticeRepair",
    "LatticeSampling",
    "MatrixBounds",
    "MatrixCrossover",
    "MatrixMutation",
    "MatrixSampling",
    "NeverTwice",
    "OnePointCrossover",
    "Portfolio",
    "RandomGroupings",
    "RandomPartitions",
    "RangeSwapCrossover",
    "RecordCrossover",
    "RecordMutation",
    "RouletteSelection",
    "SearchGuard",
    "Shape",
    "Share",
    "StartFiles",
    "SubtreeCrossover",
    "TreeMutation",
    "TreeSampling",
    "ValidTrees",
    "WholeGroupCrossover",
    "limited",
    "restricted_growth",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "AnyGroupingMutation": "grouping",
        "BlockCrossover": "cells",
        "ByteDuplicates": "duplicates",
        "CanonicalLabels": "canonical",
        "CellBounds": "cells",
        "CellMixture": "cells",
        "CellMutation": "cells",
        "CopyCrossover": "copying",
        "ElementMove": "grouping",
        "ElementSwap": "grouping",
        "GeneMutation": "partition",
        "Genealogy": "portfolio",
        "Grammar": "tree",
        "GrayBitMutation": "matrix",
        "GroupCreate": "grouping",
        "GroupCrossover": "grouping",
        "GroupEliminate": "grouping",
        "GroupSizes": "partition",
        "GroupSplit": "grouping",
        "GroupingMutation": "grouping",
        "LatticeCrossover": "lattice",
        "LatticeMutation": "lattice",
        "LatticeRepair": "lattice",
        "LatticeSampling": "lattice",
        "MatrixBounds": "matrix",
        "MatrixCrossover": "matrix",
        "MatrixMutation": "matrix",
        "MatrixSampling": "matrix",
        "NeverTwice": "never_twice",
        "OnePointCrossover": "partition",
        "Portfolio": "portfolio",
        "RandomGroupings": "grouping",
        "RandomPartitions": "partition",
        "RangeSwapCrossover": "matrix",
        "RecordCrossover": "cells",
        "RecordMutation": "partition",
        "RouletteSelection": "partition",
        "SearchGuard": "search_guard",
        "Shape": "tree",
        "Share": "portfolio",
        "StartFiles": "cells",
        "SubtreeCrossover": "tree",
        "TreeMutation": "tree",
        "TreeSampling": "tree",
        "ValidTrees": "tree",
        "WholeGroupCrossover": "partition",
        "limited": "partition",
        "restricted_growth": "canonical",
    },
)
