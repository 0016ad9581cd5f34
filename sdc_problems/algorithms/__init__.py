"""Searches that pymoo does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.algorithms.archive import AddStatus, BoxArchive
    from sdc_problems.algorithms.elitist_ea import ElitistEA
    from sdc_problems.algorithms.gomm import GOMM
    from sdc_problems.algorithms.hybrid_microaggregation import HybridMicroaggregation
    from sdc_problems.algorithms.memetic_microaggregation import MemeticMicroaggregation
    from sdc_problems.algorithms.partition_ga import SolanasGA
    from sdc_problems.algorithms.pbg_ea import PBGEA
    from sdc_problems.algorithms.pbg_search import PBGSearch
    from sdc_problems.algorithms.steady_state_gp import SteadyStateGP

__all__ = [
    "GOMM",
    "PBGEA",
    "AddStatus",
    "BoxArchive",
    "ElitistEA",
    "HybridMicroaggregation",
    "MemeticMicroaggregation",
    "PBGSearch",
    "SolanasGA",
    "SteadyStateGP",
]

__getattr__, __dir__ = _attach(
    __name__,
    {
        "AddStatus": "archive",
        "BoxArchive": "archive",
        "ElitistEA": "elitist_ea",
        "GOMM": "gomm",
        "HybridMicroaggregation": "hybrid_microaggregation",
        "MemeticMicroaggregation": "memetic_microaggregation",
        "PBGEA": "pbg_ea",
        "PBGSearch": "pbg_search",
        "SolanasGA": "partition_ga",
        "SteadyStateGP": "steady_state_gp",
    },
)
