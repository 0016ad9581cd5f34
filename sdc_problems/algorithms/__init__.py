"""Searches that pymoo does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.algorithms.archives.box import AddStatus as AddStatus
    from sdc_problems.algorithms.archives.box import BoxArchive as BoxArchive
    from sdc_problems.algorithms.exact_front import ExactFront as ExactFront
    from sdc_problems.algorithms.generalization.pbg_ea import PBGEA as PBGEA
    from sdc_problems.algorithms.generalization.pbg_search import PBGSearch as PBGSearch
    from sdc_problems.algorithms.grouping.gomm import GOMM as GOMM
    from sdc_problems.algorithms.masking.cell_search import CellSearch as CellSearch
    from sdc_problems.algorithms.masking.clustered_search import ClusteredSearch as ClusteredSearch
    from sdc_problems.algorithms.masking.evolution import MaskEvolution as MaskEvolution
    from sdc_problems.algorithms.microaggregation.blocks import microaggregate_blocks as microaggregate_blocks
    from sdc_problems.algorithms.microaggregation.hybrid import HybridMicroaggregation as HybridMicroaggregation
    from sdc_problems.algorithms.microaggregation.memetic import MemeticMicroaggregation as MemeticMicroaggregation
    from sdc_problems.algorithms.microaggregation.solanas_ga import SolanasGA as SolanasGA
    from sdc_problems.algorithms.pram.elitist_ea import ElitistEA as ElitistEA
    from sdc_problems.algorithms.pram.steady_state_gp import SteadyStateGP as SteadyStateGP
    from sdc_problems.algorithms.recipe_transformer import RecipeTransformer as RecipeTransformer
    from sdc_problems.algorithms.recipes import RecipeFront as RecipeFront
    from sdc_problems.algorithms.recipes import search_recipes as search_recipes
    from sdc_problems.algorithms.recipes import search_table as search_table
    from sdc_problems.algorithms.social.memetic import MemeticSocialGraph as MemeticSocialGraph

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
