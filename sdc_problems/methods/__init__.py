"""How a table is protected: plain functions on arrays and Microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.methods.centroids import microaggregate
    from sdc_problems.methods.column_generation import LowerBound, lower_bound
    from sdc_problems.methods.counting import chance_bound, representatives
    from sdc_problems.methods.fixed_size import mdav
    from sdc_problems.methods.macrogroups import one_step, two_step
    from sdc_problems.methods.mdav_kernels import mdav_kernel
    from sdc_problems.methods.optimal import exhaustive
    from sdc_problems.methods.pram import (
        diagonal_by_frequency_matrix,
        frequency_matrix,
        identity_matrix,
        max_entropy_matrix,
        normalise_rows,
        post_randomize,
    )
    from sdc_problems.methods.pram_limits import band, limit_diagonal, make_dominant, make_invariant
    from sdc_problems.methods.univariate import mhm, microaggregate_univariate
    from sdc_problems.methods.variable_size import v_mdav

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
        "LowerBound": "column_generation",
        "band": "pram_limits",
        "chance_bound": "counting",
        "diagonal_by_frequency_matrix": "pram",
        "exhaustive": "optimal",
        "frequency_matrix": "pram",
        "identity_matrix": "pram",
        "limit_diagonal": "pram_limits",
        "lower_bound": "column_generation",
        "make_dominant": "pram_limits",
        "make_invariant": "pram_limits",
        "max_entropy_matrix": "pram",
        "mdav": "fixed_size",
        "mdav_kernel": "mdav_kernels",
        "mhm": "univariate",
        "microaggregate": "centroids",
        "microaggregate_univariate": "univariate",
        "normalise_rows": "pram",
        "one_step": "macrogroups",
        "post_randomize": "pram",
        "representatives": "counting",
        "two_step": "macrogroups",
        "v_mdav": "variable_size",
    },
)
