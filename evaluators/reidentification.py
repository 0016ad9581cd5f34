"""Re-identification risk estimated from sampling weights or households, as statistical agencies measure it."""

from __future__ import annotations

import numpy as np

from sdc_problems._validation import FloatArray, labels, vector
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense


def population_counts(classes: object, weights: object) -> FloatArray:
    """Estimated number of persons in the population with the quasi-identifiers of each record: sum of class weights.

    Parameters
    ----------
    classes
        Equivalence class of each record.
    weights
        Sampling weight of each record: number of persons that it stands for, 1 or more.

    Returns
    -------
    ndarray
        One number per record.

    Examples
    --------
    >>> population_counts([0, 0, 1], [10.0, 20.0, 5.0])
    array([30., 30.,  5.])
    """
    groups, m = dense(labels(classes, None, "classes"))
    total = np.bincount(groups, weights=_weights(weights, len(groups)), minlength=m).astype(np.float64)
    return total[groups]


def individual_risk(classes: object, weights: object) -> FloatArray:
    """Individual risk: probability that a record is re-identified, if the population is known only by sampling weights.

    Parameters
    ----------
    classes
        Equivalence class of each record.
    weights
        Sampling weight of each record: number of persons that it stands for, 1 or more.

    Returns
    -------
    ndarray
        In (0, 1], one per record.

    Notes
    -----
    Benedetti and Franconi (1998); Franconi and Polettini (2004). The class of a record has f records in the sample.
    Given f, its size F in the population follows a negative binomial distribution with p = f / Σ weights; the risk is

    .. math:: E[1/F \\mid f] = \\frac{p}{f}\\,{}_2F_1(1, 1; f + 1; 1 - p).

    For f = 1 this is p/(1 - p) · ln(1/p).

    Examples
    --------
    >>> individual_risk([0, 1, 1], [4.0, 3.0, 1.0]).round(4)
    array([0.4621, 0.3069, 0.3069])
    """
    from scipy.special import hyp2f1

    groups, m = dense(labels(classes, None, "classes"))
    size = np.bincount(groups, minlength=m).astype(np.float64)
    p = size / np.bincount(groups, weights=_weights(weights, len(groups)), minlength=m)
    risk: FloatArray = p / size * hyp2f1(1.0, 1.0, size + 1.0, 1.0 - p)
    return np.minimum(risk, 1.0)[groups]


def household_risk(risk: object, households: object) -> FloatArray:
    """Household risk: probability that at least one person of a record's household is re-identified.

    Parameters
    ----------
    risk
        Probability for each record, such as that of `individual_risk`.
    households
        Household of each record.

    Returns
    -------
    ndarray
        In [0, 1], one per record.

    Notes
    -----
    1 - Π (1 - r) over the household, assuming that persons are found independently (Templ et al. 2015, §2.2).

    Examples
    --------
    >>> household_risk([0.5, 0.5, 0.2], [7, 7, 8])
    array([0.75, 0.75, 0.2 ])
    """
    each = vector(risk, "risk")
    if ((each < 0) | (each > 1)).any():
        raise SDCError("risk must be probabilities, from 0 to 1")
    groups, m = dense(labels(households, len(each), "households"))
    safe = np.ones(m)
    np.multiply.at(safe, groups, 1.0 - each)
    return 1.0 - safe[groups]


def _weights(weights: object, n: int) -> FloatArray:
    found = vector(weights, "weights")
    if len(found) != n:
        raise SDCError(f"weights has {len(found)} entries for {n} records")
    if (found < 1).any():
        raise SDCError(f"{int((found < 1).sum())} weight(s) are below 1: a record stands for itself at least")
    return found
