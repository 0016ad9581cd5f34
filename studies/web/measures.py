"""Meaning of an objective, in a sentence for people who have not read the paper."""

from __future__ import annotations

from sdc_problems.studies.store.tables import Axis

SENTENCES = {
    "k": "The smallest group of records that look alike in the released file: everybody hides among so many.",
    "l": "The smallest number of different sensitive values in a group of records that look alike.",
    "entropy_l": "How evenly the sensitive values are spread in the worst group of records that look alike.",
    "t": "How far a group's sensitive values may be from those of the whole table.",
    "spread_k": "How unequal the groups of look-alike records are in size.",
    "spread_l": "How unequal the groups are in the diversity of their sensitive values.",
    "glm": "How much detail generalisation takes away, averaged over all cells; 0 is the original.",
    "cm": "How many records are in a group where most others have another class; matters for training classifiers.",
    "discernibility": "How many records each record is mixed up with, summed up; large groups are punished.",
    "suppressed": "Records that are left out because no group hides them.",
    "il_categorical": "How much of the information in the table is lost by the protection.",
    "il_sse": "How much of the variance between records is lost by the protection.",
    "sse": "Squared distance of the records to what is released in their place.",
    "id_value": "Interval disclosure: how many released values are close to the original.",
    "dld": "Distance linkage: how many records are closest to their own protected record, so that they can be linked.",
    "dbrl": "Distance linkage: how many records an intruder links correctly by looking for the nearest one.",
    "prl": "Probabilistic linkage: how many records an intruder links correctly by agreement patterns.",
    "dr_linkage": "Disclosure risk: the mean of linkage and interval disclosure.",
    "score_mean": "The mean of information loss and disclosure risk: one number where two would be better.",
    "score_max": "The larger one of information loss and disclosure risk.",
    "ctbil": "How far tables counted from the released file are from tables counted from the original.",
    "dbil": "How far the released values are from the original ones, record by record.",
    "ebil": "How uncertain the original values are, once the released ones are known.",
    "n_groups": "How many groups of attributes are protected one by one.",
    "bivariate": "How much of the relation to an attribute that is not protected is lost.",
    "chi2": "How far the released frequencies are from the original ones.",
    "expectation_ratio": "How many of the records released with a rare value really had it.",
    "entropy": "How uncertain an intruder stays about the original value.",
}


def sentence(axis: Axis) -> str:
    """A plain sentence about an objective, and which way is better."""
    better = "Smaller is better." if axis.sense == "min" else "Larger is better."
    known = SENTENCES.get(axis.name)
    return f"{known} {better}" if known else better
