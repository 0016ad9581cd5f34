"""How a table is protected: plain functions on arrays and Microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.methods._centroids import microaggregate
    from sdc_problems.methods._counting import chance_bound, representatives
    from sdc_problems.methods._exhaustive import exhaustive
    from sdc_problems.methods._kernels.mdav import mdav_kernel
    from sdc_problems.methods._macrogroups import one_step, two_step
    from sdc_problems.methods._mdav import mdav
    from sdc_problems.methods._pram import (
        diagonal_by_frequency_matrix,
        frequency_matrix,
        identity_matrix,
        max_entropy_matrix,
        normalise_rows,
        post_randomize,
    )
    from sdc_problems.methods._pram_limits import band, limit_diagonal, make_dominant, make_invariant
    from sdc_problems.methods._univariate import mhm, microaggregate_univariate
    from sdc_problems.methods._v_mdav import v_mdav
    from sdc_problems.methods.bounds import LowerBound, lower_bound

__all__ = [
    "LowerBound",
    "band",
    "chance_bound",
    "diagonal_by_frequency_matrix",
    "exhaustive",
    "frequency_matrix",
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
    "normalise_rows",
    "one_step",
    "post_randomize",
    "representatives",
    "two_step",
    "v_mdav",
]

# A module must not carry the name of a function listed here: importing it would hide the function.
__getattr__, __dir__ = _attach(
    __name__,
    {
        "LowerBound": "bounds",
        "band": "_pram_limits",
        "chance_bound": "_counting",
        "diagonal_by_frequency_matrix": "_pram",
        "exhaustive": "_exhaustive",
        "frequency_matrix": "_pram",
        "identity_matrix": "_pram",
        "limit_diagonal": "_pram_limits",
        "lower_bound": "bounds",
        "make_dominant": "_pram_limits",
        "make_invariant": "_pram_limits",
        "max_entropy_matrix": "_pram",
        "mdav": "_mdav",
        "mdav_kernel": "_kernels.mdav",
        "mhm": "_univariate",
        "microaggregate": "_centroids",
        "microaggregate_univariate": "_univariate",
        "normalise_rows": "_pram",
        "one_step": "_macrogroups",
        "post_randomize": "_pram",
        "representatives": "_counting",
        "two_step": "_macrogroups",
        "v_mdav": "_v_mdav",
    },
)
