"""Likeness of the sensitive values of a class to those of the whole table: (α, k), β-likeness and δ-disclosure."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems._validation import FloatArray
from sdc_problems.evaluators._codes import dense
from sdc_problems.evaluators.anonymity import _pairs, _sensitive


def _shares(classes: object, sensitive: Any) -> tuple[FloatArray, FloatArray]:
    """Share of each sensitive value that occurs in a class: in that class, and in the whole table."""
    pairs = _pairs(classes, sensitive)
    size = np.bincount(pairs.first, weights=pairs.n)
    values, m = dense(_sensitive(sensitive, int(pairs.n.sum())))
    overall = np.bincount(values, minlength=m) / len(values)
    return pairs.n / size[pairs.first], overall[pairs.second]


def alpha(classes: object, sensitive: Any) -> float:
    """Largest share of one sensitive value in a class: the α of (α, k)-anonymity (Wong et al. 2006).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    float
        In (0, 1]; 1 if all records of a class have the same value.

    Examples
    --------
    >>> alpha([0, 0, 0, 1, 1], [1, 1, 2, 1, 2])
    0.6666666666666666
    """
    return float(_shares(classes, sensitive)[0].max())


def beta_likeness(classes: object, sensitive: Any) -> float:
    """Largest relative gain in confidence about a sensitive value (basic β-likeness, Cao and Karras 2012).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    float
        ≥ 0: increase of a value's share in a class over its share in the whole table, relative to the latter.

    Examples
    --------
    >>> beta_likeness([0, 0, 1, 1], [1, 1, 2, 2])
    1.0
    """
    inside, overall = _shares(classes, sensitive)
    return max(0.0, float(((inside - overall) / overall).max()))


def delta_disclosure(classes: object, sensitive: Any) -> float:
    """Largest change of a sensitive value's share, as a natural logarithm (Brickell and Shmatikov 2008).

    Parameters
    ----------
    classes, sensitive
        Class and sensitive value of each record.

    Returns
    -------
    float
        ≥ 0. Only values that occur in a class are compared, as in ARX and pycanon; an absent value would make it
        infinite.

    Examples
    --------
    >>> round(delta_disclosure([0, 0, 1, 1], [1, 1, 2, 2]), 4)
    0.6931
    """
    inside, overall = _shares(classes, sensitive)
    return float(np.abs(np.log(inside / overall)).max())
