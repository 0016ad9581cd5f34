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
    from sdc_problems.methods.perturbation._pram import (
        diagonal_by_frequency_matrix,
        frequency_matrix,
        identity_matrix,
        max_entropy_matrix,
        normalise_rows,
        post_randomize,
    )
    from sdc_problems.methods.perturbation._pram_limits import band, limit_diagonal, make_dominant, make_invariant

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
        "band": "perturbation._pram_limits",
        "chance_bound": "partition._counting",
        "diagonal_by_frequency_matrix": "perturbation._pram",
        "exhaustive": "partition._exhaustive",
        "frequency_matrix": "perturbation._pram",
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
        "normalise_rows": "perturbation._pram",
        "one_step": "partition._macrogroups",
        "post_randomize": "perturbation._pram",
        "representatives": "partition._counting",
        "two_step": "partition._macrogroups",
        "v_mdav": "partition._v_mdav",
    },
)
