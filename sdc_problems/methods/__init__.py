"""Methods that protect a table: plain functions on arrays and Microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.methods._kernels.mdav import mdav_kernel as mdav_kernel
    from sdc_problems.methods._recipe import Recipe as Recipe
    from sdc_problems.methods._recipe import RecipeStep as RecipeStep
    from sdc_problems.methods.bounds._lower import BoundedPartition as BoundedPartition
    from sdc_problems.methods.bounds._lower import LowerBound as LowerBound
    from sdc_problems.methods.bounds._lower import bounded_partition as bounded_partition
    from sdc_problems.methods.bounds._lower import lower_bound as lower_bound
    from sdc_problems.methods.bounds._nearest import nearest_bound as nearest_bound
    from sdc_problems.methods.bounds._semidefinite import semidefinite_bound as semidefinite_bound
    from sdc_problems.methods.partition._c_median import Clusters as Clusters
    from sdc_problems.methods.partition._c_median import c_median as c_median
    from sdc_problems.methods.partition._centroids import microaggregate as microaggregate
    from sdc_problems.methods.partition._counting import chance_bound as chance_bound
    from sdc_problems.methods.partition._counting import representatives as representatives
    from sdc_problems.methods.partition._exhaustive import exhaustive as exhaustive
    from sdc_problems.methods.partition._macrogroups import one_step as one_step
    from sdc_problems.methods.partition._macrogroups import two_step as two_step
    from sdc_problems.methods.partition._mdav import mdav as mdav
    from sdc_problems.methods.partition._precluster import Preclustered as Preclustered
    from sdc_problems.methods.partition._precluster import precluster as precluster
    from sdc_problems.methods.partition._univariate import mhm as mhm
    from sdc_problems.methods.partition._univariate import microaggregate_univariate as microaggregate_univariate
    from sdc_problems.methods.partition._v_mdav import v_mdav as v_mdav
    from sdc_problems.methods.perturbation._k_degree import k_degree as k_degree
    from sdc_problems.methods.perturbation._k_degree import k_degree_sequence as k_degree_sequence
    from sdc_problems.methods.perturbation._noise import add_noise as add_noise
    from sdc_problems.methods.perturbation._pram import diagonal_by_frequency_matrix as diagonal_by_frequency_matrix
    from sdc_problems.methods.perturbation._pram import frequency_matrix as frequency_matrix
    from sdc_problems.methods.perturbation._pram import identity_matrix as identity_matrix
    from sdc_problems.methods.perturbation._pram import max_entropy_matrix as max_entropy_matrix
    from sdc_problems.methods.perturbation._pram import normalize_rows as normalize_rows
    from sdc_problems.methods.perturbation._pram import post_randomize as post_randomize
    from sdc_problems.methods.perturbation._pram import pram as pram
    from sdc_problems.methods.perturbation._pram_limits import band as band
    from sdc_problems.methods.perturbation._pram_limits import limit_diagonal as limit_diagonal
    from sdc_problems.methods.perturbation._pram_limits import make_dominant as make_dominant
    from sdc_problems.methods.perturbation._pram_limits import make_invariant as make_invariant
    from sdc_problems.methods.perturbation._rank_shuffle import rank_shuffle as rank_shuffle
    from sdc_problems.methods.perturbation._rank_swap import rank_swap as rank_swap
    from sdc_problems.methods.perturbation._swap_records import SwappedRecords as SwappedRecords
    from sdc_problems.methods.perturbation._swap_records import swap_records as swap_records
    from sdc_problems.methods.recoding._generalize import Recoded as Recoded
    from sdc_problems.methods.recoding._generalize import generalize as generalize
    from sdc_problems.methods.recoding._local import LocalRecoding as LocalRecoding
    from sdc_problems.methods.recoding._local import local_recoding as local_recoding
    from sdc_problems.methods.recoding._mondrian import Mondrian as Mondrian
    from sdc_problems.methods.recoding._mondrian import mondrian as mondrian
    from sdc_problems.methods.recoding._recode import Intervals as Intervals
    from sdc_problems.methods.recoding._recode import recode_intervals as recode_intervals
    from sdc_problems.methods.recoding._recode import recode_level as recode_level
    from sdc_problems.methods.recoding._recode import recode_map as recode_map
    from sdc_problems.methods.recoding._recode import recode_rare as recode_rare
    from sdc_problems.methods.recoding._suppress_cells import suppress_cells as suppress_cells
    from sdc_problems.methods.recoding._top_code import bottom_code as bottom_code
    from sdc_problems.methods.recoding._top_code import top_code as top_code
    from sdc_problems.methods.registry import Method as Method
    from sdc_problems.methods.registry import available as available
    from sdc_problems.methods.registry import find as find


# A module must not have the name of a function listed here: importing it would hide the function.
__getattr__, __dir__, __all__ = _attach(__name__, __file__)
