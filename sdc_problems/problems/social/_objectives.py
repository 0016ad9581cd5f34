"""Objectives of a social graph whose clusters of nodes get common attributes."""

from __future__ import annotations

from sdc_problems.objective import Objective, by_name

SHARE = (0.0, 1.0)
_MARES = "Marés (2013), "
_CAMPAN = "Campan and Truta (2009), Data and structural k-anonymity in social networks"


_DIVERSITY = Objective(
    "l", "fewest sensitive values in a cluster", "max", (1.0, float("inf")),
    concerns="risk",
    meaning="Number of different values of a sensitive attribute in the cluster that has the fewest.",
    formula="min over clusters and sensitive attributes of distinct values",
    source="Machanavajjhala et al. (2007), l-Diversity: privacy beyond k-anonymity",
)  # fmt: skip


def graph_objectives(smallest: int, largest: int) -> dict[str, Objective]:
    """Objectives of clusters of so many nodes at least and at most."""
    return by_name(
        Objective(
            "il_graph", "information loss", "min", SHARE,
            concerns="loss",
            meaning=(
                "Mean of three losses from 0 to 1: of which categories are linked (aamil), of how frequent each is"
                " (cdil), and of the cells (dbil_graph)."
            ),
            formula="(aamil + cdil + dbil_graph) / 3",
            source=_MARES + "Eq. 6.8",
        ),
        Objective(
            "aamil", "loss of links between categories, one end replaced", "min", SHARE,
            concerns="loss",
            meaning=(
                "Share of the arcs that would have to lead elsewhere for the numbers of links between categories to be"
                " the original ones, where the category of an arc's target is the released one and that of its source"
                " the original one; mean over the attributes."
            ),
            formula="sum over pairs of categories of |x - x'| / (2 * sum of x), mean over attributes",
            source=_MARES + "Eq. 6.3 and 6.4, read as its Figure 6.6 counts",
        ),
        Objective(
            "mixing", "loss of links between categories", "min", SHARE,
            concerns="loss",
            meaning=(
                "Share of the arcs that would have to lead elsewhere for the released numbers of links between"
                " categories to be the original ones; mean over the attributes."
            ),
            formula="sum over pairs of categories of |x - x''| / (2 * sum of x), mean over attributes",
            source=_MARES + "Eq. 6.3 and 6.4, read as the text says",
        ),
        Objective(
            "cdil", "loss of the distribution", "min", SHARE,
            concerns="loss",
            meaning=(
                "Share of the nodes that would have to change for each category to be as frequent as in the original;"
                " mean over the attributes."
            ),
            formula="sum over categories of |freq - freq'| / (2 * nodes), mean over attributes",
            source=_MARES + "Eq. 6.5 and 6.6",
        ),
        Objective(
            "dbil_graph", "loss of the cells", "min", SHARE,
            concerns="loss",
            meaning="Mean distance, from 0 to 1, of a cell to the one that replaced it.",
            formula=(
                "sum over cells of d(original, released) / cells; d is 0 or 1 between nominal values, (steps + 1) / |D|"
                " between different ordinal ones, |a - b| / range between numbers, the difference of levels over the"
                " highest level between a place and its ancestor, 1 between other places"
            ),
            source=_MARES + "Eq. 6.7, with 6.1, 6.2 and 2.6",
        ),
        Objective(
            "homophily", "change of homophily", "min", (0.0, 2.0),
            concerns="loss",
            meaning=(
                "Mean over the attributes of the change of Newman's assortativity: how much more often than by chance"
                " links join nodes of one category."
            ),
            formula="mean over attributes of |r - r'|, r = (sum e_ii - sum a_i b_i) / (1 - sum a_i b_i)",
            source="Newman (2003), Mixing patterns in networks",
        ),
        Objective(
            "ego_risk", "neighborhoods that are found", "min", SHARE,
            concerns="risk",
            meaning=(
                "Share of the nodes whose neighborhood, with all links in it and everybody's original"
                " quasi-identifiers, occurs in the release."
            ),
            formula="nodes v for which some released ego maps onto the original ego of v / nodes",
            source=_MARES + "Eq. 6.9 and 6.10",
        ),
        Objective(
            "ego_risk_single", "neighborhoods that are found by one attribute", "min", SHARE,
            concerns="risk",
            meaning=(
                "Mean over the attributes of the share of nodes whose neighborhood, with all links in it and"
                " everybody's original value of that attribute, occurs in the release."
            ),
            formula="mean over attributes of ego_risk with that attribute alone",
            source=_MARES + "section 6.5.1",
        ),
        Objective(
            "ego_risk_right", "neighborhoods that are found rightly", "min", SHARE,
            concerns="risk",
            meaning=(
                "Share of the nodes that an intruder picks rightly who looks for their original neighborhood and"
                " picks one of the nodes whose released neighborhood is the same."
            ),
            formula="mean over nodes v of [v is among its matches] / matches of v",
            source="after Marés (2013), Eq. 6.10",
        ),
        Objective(
            "dr_degree", "nodes found by values and degree", "min", SHARE,
            concerns="risk",
            meaning=(
                "Share of the nodes that an intruder picks rightly who knows the released values and the number of"
                " links of each, and picks one of the nodes that have both."
            ),
            formula="different pairs (released values, degree) / nodes",
            source="after Liu and Terzi (2008), Towards identity anonymization on graphs",
        ),
        Objective(
            "nsil", "structure lost in super-nodes", "min", SHARE,
            concerns="loss",
            meaning=(
                "Expected share of pairs of nodes, of the largest possible one, that a reader gets wrong who knows only"
                " the numbers of links within and between clusters."
            ),
            formula="sum over clusters and pairs of clusters of 2e (1 - e / pairs) / (n (n - 1) / 4)",
            source=_CAMPAN,
        ),
        Objective(
            "ngil", "values lost in super-nodes", "min", SHARE,
            concerns="loss",
            meaning=(
                "Share of the cells whose cluster has several values there; of places with a hierarchy, by how far up"
                " their closest common ancestor stands."
            ),
            formula="sum over clusters and attributes of size * [several values] * (level / highest level) / cells",
            source=_CAMPAN,
        ),
        Objective(
            "k", "smallest cluster", "max", (float(smallest), float(largest)), "nodes",
            concerns="risk",
            meaning="Number of nodes in the smallest cluster; the nodes of a cluster get the same released values.",
            formula="min over clusters of |cluster|",
            source=_MARES + "section 6.2.1",
        ),
        Objective(
            "score_mean", "mean of information loss and risk", "min", SHARE,
            meaning="Mean of il_graph and ego_risk.",
            formula="(il_graph + ego_risk) / 2",
            source=_MARES + "Eq. 3.2",
        ),
        Objective(
            "score_max", "larger of information loss and risk", "min", SHARE,
            meaning="Larger of il_graph and ego_risk.",
            formula="max(il_graph, ego_risk)",
            source=_MARES + "Eq. 3.4",
        ),
        _DIVERSITY,
    )  # fmt: skip
