"""Measures of social graphs: loss when attributes are replaced, disclosure by links, and structure."""

from __future__ import annotations

from sdc_problems.evaluators.graph.loss import (
    aamil,
    aamil_by_attribute,
    assortativity,
    cdil,
    cdil_by_attribute,
    dbil_by_attribute,
    dbil_graph,
    homophily,
    il_graph,
    mixing,
    mixing_by_attribute,
    ngil,
    nsil,
    place_distance,
)
from sdc_problems.evaluators.graph.risk import (
    EgoMatches,
    Exposure,
    degree_risk,
    ego_matches,
    ego_risk,
    exposure,
)
from sdc_problems.evaluators.graph.structure import Structure, structure, structure_report

__all__ = [
    "EgoMatches",
    "Exposure",
    "Structure",
    "aamil",
    "aamil_by_attribute",
    "assortativity",
    "cdil",
    "cdil_by_attribute",
    "dbil_by_attribute",
    "dbil_graph",
    "degree_risk",
    "ego_matches",
    "ego_risk",
    "exposure",
    "homophily",
    "il_graph",
    "mixing",
    "mixing_by_attribute",
    "ngil",
    "nsil",
    "place_distance",
    "structure",
    "structure_report",
]
