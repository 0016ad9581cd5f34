"""Methods that protect a table: plain functions on arrays and Microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.methods._kernels.mdav import mdav_kernel
    from sdc_problems.methods.bounds import LowerBound, lower_bound
    from sdc_problems.methods.partition._centroids import microaggregate
    from sdc_problems.methods.partition._counting import chance_bound, representatives
    from sdc_problems.methods.partition._exhaustive import exhaustive
    from sdc_problems.methods.partition._macrogroups import one_step, two_step
    from sdc_problems.methods.partition._mdav import mdav
    from sdc_problems.methods.partition._univariate import mhm, microaggregate_univariate
    from sdc_problems.methods.partition._v_mdav import v_mdav
    from sdc_problems.methods.perturbation._noise import add_noise
    from sdc_problems.methods.perturbation._pram import (
        diagonal_by_frequency_matrix,
        frequency_matrix,
        identity_matrix,
        max_entropy_matrix,
        normalize_rows,
        post_randomize,
        pram,
    )
    from sdc_problems.methods.perturbation._pram_limits import band, limit_diagonal, make_dominant, make_invariant
    from sdc_problems.methods.perturbation._rank_shuffle import rank_shuffle
    from sdc_problems.methods.perturbation._rank_swap import rank_swap
    from sdc_problems.methods.perturbation._swap_records import SwappedRecords, swap_records
    from sdc_problems.methods.recoding._generalize import Recoded, generalize
    from sdc_problems.methods.recoding._mondrian import Mondrian, mondrian
    from sdc_problems.methods.recoding._recode import Intervals, recode_intervals, recode_level, recode_map, recode_rare
    from sdc_problems.methods.recoding._top_code import bottom_code, top_code
    from sdc_problems.methods.registry import Method, available, find

__all__ = [
    "Intervals",
    "LowerBound",
    "Method",
    "Mondrian",
    "Recoded",
    "SwappedRecords",
    "add_noise",
    "available",
    "band",
    "bottom_code",
    "chance_bound",
    "diagonal_by_frequency_matrix",
    "exhaustive",
    "find",
    "frequency_matrix",
    "generalize",
    "identity_matrix",
    "limit_diagonal",
    "lower_bound",
    "make_dominant",
    "make_invariant",
    "max_entropy_matrix",
    "mdav",
    "mdav_kernel",
    "mhm",
    "microaggregate",
    "microaggregate_univariate",
    "mondrian",
    "normalize_rows",
    "one_step",
    "post_randomize",
    "pram",
    "rank_shuffle",
    "rank_swap",
    "recode_intervals",
    "recode_level",
    "recode_map",
    "recode_rare",
    "representatives",
    "swap_records",
    "top_code",
    "two_step",
    "v_mdav",
]

# A module must not carry the name of a function listed here: importing it would hide the function.
__getattr__, __dir__ = _attach(
    __name__,
    {
        "Intervals": "recoding._recode",
        "LowerBound": "bounds",
        "Method": "registry",
        "Mondrian": "recoding._mondrian",
        "Recoded": "recoding._generalize",
        "SwappedRecords": "perturbation._swap_records",
        "add_noise": "perturbation._noise",
        "available": "registry",
        "band": "perturbation._pram_limits",
        "bottom_code": "recoding._top_code",
        "chance_bound": "partition._counting",
        "diagonal_by_frequency_matrix": "perturbation._pram",
        "exhaustive": "partition._exhaustive",
        "find": "registry",
        "frequency_matrix": "perturbation._pram",
        "generalize": "recoding._generalize",
        "identity_matrix": "perturbation._pram",
        "limit_diagonal": "perturbation._pram_limits",
        "lower_bound": "bounds",
        "make_dominant": "perturbation._pram_limits",
        "make_invariant": "perturbation._pram_limits",
        "max_entropy_matrix": "perturbation._pram",
        "mdav": "partition._mdav",
        "mdav_kernel": "_kernels.mdav",
        "mhm": "partition._univariate",
        "microaggregate": "partition._centroids",
        "microaggregate_univariate": "partition._univariate",
        "mondrian": "recoding._mondrian",
        "normalize_rows": "perturbation._pram",
        "one_step": "partition._macrogroups",
        "post_randomize": "perturbation._pram",
        "pram": "perturbation._pram",
        "rank_shuffle": "perturbation._rank_shuffle",
        "rank_swap": "perturbation._rank_swap",
        "recode_intervals": "recoding._recode",
        "recode_level": "recoding._recode",
        "recode_map": "recoding._recode",
        "recode_rare": "recoding._recode",
        "representatives": "partition._counting",
        "swap_records": "perturbation._swap_records",
        "top_code": "recoding._top_code",
        "two_step": "partition._macrogroups",
        "v_mdav": "partition._v_mdav",
    },
)
