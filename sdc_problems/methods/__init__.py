"""How a table is protected: plain functions on arrays and Microdata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.methods.fixed_size import mdav
    from sdc_problems.methods.mdav_kernels import mdav_kernel

__all__ = [
    "mdav",
    "mdav_kernel",
]

# A module must not carry the name of a function listed here: importing it would hide the function.
__getattr__, __dir__ = _attach(
    __name__,
    {
        "mdav": "fixed_size",
        "mdav_kernel": "mdav_kernels",
    },
)
