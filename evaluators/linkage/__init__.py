"""Record linkage: share of the protected records that an intruder with the original file finds again."""

from __future__ import annotations

from sdc_problems.evaluators.linkage._views import Recoding
from sdc_problems.evaluators.linkage.candidates import ManyRangesError, Values, candidate_counts
from sdc_problems.evaluators.linkage.distance import DIRECTIONS, ENGINES, KINDS, TIES, distance_linkage, link_ties
from sdc_problems.evaluators.linkage.probabilistic import (
    MOST_ATTRIBUTES,
    ConvergenceWarning,
    ProbabilisticLinkage,
    match_probabilistically,
    probabilistic_linkage,
)

__all__ = [
    "DIRECTIONS",
    "ENGINES",
    "KINDS",
    "MOST_ATTRIBUTES",
    "TIES",
    "ConvergenceWarning",
    "ManyRangesError",
    "ProbabilisticLinkage",
    "Recoding",
    "Values",
    "candidate_counts",
    "distance_linkage",
    "link_ties",
    "match_probabilistically",
    "probabilistic_linkage",
]
