"""Searches that pymoo does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdc_problems._lazy import attach as _attach

if TYPE_CHECKING:
    from sdc_problems.algorithms.archives.box import AddStatus, BoxArchive
    from sdc_problems.algorithms.generalization.pbg_ea import PBGEA
    from sdc_problems.algorithms.generalization.pbg_search import PBGSearch
    from sdc_problems.algorithms.grouping.gomm import GOMM
    from sdc_problems.algorithms.microaggregation.hybrid import HybridMicroaggregation
    from sdc_problems.algorithms.microaggregation.memetic import MemeticMicroaggregation
    from sdc_problems.algorithms.microaggregation.solanas_ga import SolanasGA
    from sdc_problems.algorithms.pram.elitist_ea import ElitistEA
    from sdc_problems.algorithms.pram.steady_state_gp import SteadyStateGP

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
        "AddStatus": "archives",
        "BoxArchive": "archives",
        "ElitistEA": "pram.elitist_ea",
        "GOMM": "grouping.gomm",
        "HybridMicroaggregation": "microaggregation.hybrid",
        "MemeticMicroaggregation": "microaggregation.memetic",
        "PBGEA": "generalization.pbg_ea",
        "PBGSearch": "generalization.pbg_search",
        "SolanasGA": "microaggregation.solanas_ga",
        "SteadyStateGP": "pram.steady_state_gp",
    },
)
