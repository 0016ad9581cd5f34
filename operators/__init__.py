"""Operators that vary candidates: one module per encoding; they take and return arrays and never see the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if __name__ != "sdc_problems.operators":
    raise ImportError(
        "this folder is the package sdc_problems.operators: a second import root makes every class exist twice"
    )

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.operators.arrays import Variation as Variation
    from sdc_problems.operators.arrays import variation as variation
    from sdc_problems.operators.canonical import CanonicalLabels as CanonicalLabels
    from sdc_problems.operators.canonical import restricted_growth as restricted_growth
    from sdc_problems.operators.cells import BlockCrossover as BlockCrossover
    from sdc_problems.operators.cells import CellBounds as CellBounds
    from sdc_problems.operators.cells import CellMixture as CellMixture
    from sdc_problems.operators.cells import CellMutation as CellMutation
    from sdc_problems.operators.cells import RecordCrossover as RecordCrossover
    from sdc_problems.operators.cells import StartFiles as StartFiles
    from sdc_problems.operators.copying import CopyCrossover as CopyCrossover
    from sdc_problems.operators.duplicates import ByteDuplicates as ByteDuplicates
    from sdc_problems.operators.grouping import AnyGroupingMutation as AnyGroupingMutation
    from sdc_problems.operators.grouping import ElementMove as ElementMove
    from sdc_problems.operators.grouping import ElementSwap as ElementSwap
    from sdc_problems.operators.grouping import GroupCreate as GroupCreate
    from sdc_problems.operators.grouping import GroupCrossover as GroupCrossover
    from sdc_problems.operators.grouping import GroupEliminate as GroupEliminate
    from sdc_problems.operators.grouping import GroupingMutation as GroupingMutation
    from sdc_problems.operators.grouping import GroupSplit as GroupSplit
    from sdc_problems.operators.grouping import RandomGroupings as RandomGroupings
    from sdc_problems.operators.lattice import LatticeCrossover as LatticeCrossover
    from sdc_problems.operators.lattice import LatticeMutation as LatticeMutation
    from sdc_problems.operators.lattice import LatticeRepair as LatticeRepair
    from sdc_problems.operators.lattice import LatticeSampling as LatticeSampling
    from sdc_problems.operators.matrix import GrayBitMutation as GrayBitMutation
    from sdc_problems.operators.matrix import MatrixBounds as MatrixBounds
    from sdc_problems.operators.matrix import MatrixCrossover as MatrixCrossover
    from sdc_problems.operators.matrix import MatrixMutation as MatrixMutation
    from sdc_problems.operators.matrix import MatrixSampling as MatrixSampling
    from sdc_problems.operators.matrix import RangeSwapCrossover as RangeSwapCrossover
    from sdc_problems.operators.never_twice import NeverTwice as NeverTwice
    from sdc_problems.operators.partition import GeneMutation as GeneMutation
    from sdc_problems.operators.partition import GroupSizes as GroupSizes
    from sdc_problems.operators.partition import OnePointCrossover as OnePointCrossover
    from sdc_problems.operators.partition import RandomPartitions as RandomPartitions
    from sdc_problems.operators.partition import RecordMutation as RecordMutation
    from sdc_problems.operators.partition import RouletteSelection as RouletteSelection
    from sdc_problems.operators.partition import WholeGroupCrossover as WholeGroupCrossover
    from sdc_problems.operators.partition import limited as limited
    from sdc_problems.operators.portfolio import Genealogy as Genealogy
    from sdc_problems.operators.portfolio import Portfolio as Portfolio
    from sdc_problems.operators.portfolio import Share as Share
    from sdc_problems.operators.recipe import CanonicalRecipes as CanonicalRecipes
    from sdc_problems.operators.recipe import RandomRecipes as RandomRecipes
    from sdc_problems.operators.recipe import RecipeCrossover as RecipeCrossover
    from sdc_problems.operators.recipe import RecipeMutation as RecipeMutation
    from sdc_problems.operators.recipe import RecipeSpace as RecipeSpace
    from sdc_problems.operators.search_guard import SearchGuard as SearchGuard
    from sdc_problems.operators.settings import SettingsCrossover as SettingsCrossover
    from sdc_problems.operators.settings import SettingsMutation as SettingsMutation
    from sdc_problems.operators.settings import SettingsRepair as SettingsRepair
    from sdc_problems.operators.settings import SettingsSampling as SettingsSampling
    from sdc_problems.operators.tree import Grammar as Grammar
    from sdc_problems.operators.tree import Shape as Shape
    from sdc_problems.operators.tree import SubtreeCrossover as SubtreeCrossover
    from sdc_problems.operators.tree import TreeMutation as TreeMutation
    from sdc_problems.operators.tree import TreeSampling as TreeSampling
    from sdc_problems.operators.tree import ValidTrees as ValidTrees

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
