"""Record linkage: share of the protected records that an intruder with the original file finds again."""

from __future__ import annotations

from sdc_problems.evaluators.linkage.distance import DIRECTIONS, ENGINES, KINDS, TIES, distance_linkage, link_ties
from sdc_problems.evaluators.linkage.probabilistic import (
    ConvergenceWarning,
    ProbabilisticLinkage,
    match_probabilistically,
    probabilistic_linkage,
)

__all__ = [
    "DIRECTIONS",
    "ENGINES",
    "KINDS",
    "TIES",
    "ConvergenceWarning",
    "ProbabilisticLinkage",
    "distance_linkage",
    "link_ties",
    "match_probabilistically",
    "probabilistic_linkage",
]
