"""Attribute groups without a search: from correlations, and hand-made ones of the literature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import table, whole
from sdc_problems.errors import SDCError


def correlated_groups(correlations: object, size: int) -> list[list[int]]:
    """Groups of correlated attributes: low information loss, but high disclosure risk.

    The two most correlated of the remaining attributes start a group; then the attribute with the largest mean
    correlation to the group joins, until the group has ``size`` attributes. The last group may be smaller. The signs of
    correlations do not matter.

    Parameters
    ----------
    correlations
        Correlation matrix of the attributes.
    size
        Number of attributes per group.

    Notes
    -----
    The first strategy of Balasch-Masoliver (2010), §2.1.2 and §5.2, after Nin, Herranz and Torra (2008). O(p³).

    Examples
    --------
    >>> correlated_groups([[1, 0.1, 0.9, 0], [0.1, 1, 0.2, -0.8], [0.9, 0.2, 1, 0], [0, -0.8, 0, 1]], 2)
    [[0, 2], [1, 3]]
    """
    R = _correlations(correlations)
    size = whole(size, "size", least=1)
    left = list(range(len(R)))
    groups = []
    while left:
        group = [left.pop(0)] if size == 1 or len(left) == 1 else _closest_pair(R, left)
        while len(group) < size and left:
            ties = R[np.ix_(left, group)].mean(axis=1)
            group.append(left.pop(int(np.argmax(ties))))
        groups.append(group)
    return groups


def anticorrelated_groups(correlations: object, size: int) -> list[list[int]]:
    """Groups of weakly correlated attributes: correlated attributes are in different groups.

    First, correlated attributes form chains, each with as many attributes as there will be groups. Then the attributes
    of each chain are distributed over the groups, so that the j-th attributes of all groups are correlated.

    Parameters
    ----------
    correlations
        Correlation matrix of the attributes.
    size
        Largest number of attributes per group.

    Notes
    -----
    The second strategy of Balasch-Masoliver (2010), §2.1.2 and §5.2, after Nin, Herranz and Torra (2008). O(p³).

    Examples
    --------
    >>> anticorrelated_groups([[1, 0.1, 0.9, 0], [0.1, 1, 0.2, -0.8], [0.9, 0.2, 1, 0], [0, -0.8, 0, 1]], 2)
    [[0, 1], [2, 3]]
    """
    R = _correlations(correlations)
    n_groups = -(-len(R) // whole(size, "size", least=1))
    chains = correlated_groups(R, n_groups)
    return [[chain[j] for chain in chains if j < len(chain)] for j in range(n_groups)]


def _closest_pair(R: NDArray[np.float64], left: list[int]) -> list[int]:
    part = R[np.ix_(left, left)]
    np.fill_diagonal(part, -1.0)
    i, j = sorted(divmod(int(np.argmax(part)), len(left)))
    second, first = left.pop(j), left.pop(i)
    return [first, second]


def _correlations(correlations: object) -> NDArray[np.float64]:
    R = np.abs(table(correlations, "correlations"))
    if R.shape[0] != R.shape[1]:
        raise SDCError(f"correlations must be square, not of shape {R.shape}")
    return R


CENSUS = (
    "AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX",
    "TAXINC", "POTHVAL", "PEARNVAL", "FICA", "WSALVAL", "ERNVAL",
)  # fmt: skip
"""Attributes a1 … a12 of the Census file: its columns in the order of the file, without INTVAL.

The thesis uses 12 of the 13 columns and does not say which one is left out. Of the 13 choices (in the order of the file
or in alphabetical order), this one is nearest to the 30 published scores of the hand-made groupings: 1.3 on average.
"""

WATER_TREATMENT = (
    "Q-E", "ZN-E", "PH-E", "DBO-E", "DQO-E", "SS-E", "SSV-E", "SED-E", "COND-E", "PH-P", "DBO-P", "SS-P", "SSV-P",
    "SED-P", "COND-P", "PH-D", "DBO-D", "DQO-D", "SS-D", "SSV-D", "SED-D", "COND-D", "PH-S", "DBO-S", "DQO-S", "SS-S",
    "SSV-S", "SED-S", "COND-S", "RD-DBO-P", "RD-SS-P", "RD-SED-P", "RD-DBO-S", "RD-DQO-S", "RD-DBO-G", "RD-DQO-G",
    "RD-SS-G", "RD-SED-G",
)  # fmt: skip
"""Attributes a1 … a38 of the Water-treatment file: its columns in the order of the file, without the date."""

_HAND_MADE = {
    CENSUS: {
        "Gc4": "2 4 6 7 | 5 10 11 12 | 1 3 8 9",
        "Gnc4": "1 2 4 5 | 3 6 10 11 | 7 8 9 12",
        "Gc3": "2 4 7 | 3 11 12 | 5 6 10 | 1 8 9",
        "Gnc3": "2 3 5 | 8 10 11 | 7 9 12 | 1 4 6",
    },
    WATER_TREATMENT: {
        "Gc10": "1 4 5 6 7 11 13 17 20 36 | 3 9 10 15 16 18 21 22 23 29 | 2 8 12 14 19 26 28 31 33 37 | "
        "24 25 27 30 32 34 35 38",
        "Gnc10": "1 2 3 24 4 9 8 25 5 10 | 12 27 6 15 14 30 7 16 19 32 | 11 18 26 34 13 21 28 35 17 22 | "
        "20 36 29 23 31 33 37 38",
        "Gc5": "1 4 5 6 7 | 11 13 17 20 36 | 3 9 10 15 16 | 18 21 22 23 29 | 2 8 12 14 19 | 26 28 31 33 37 | "
        "24 25 27 30 | 32 34 35 38",
        "Gnc5": "1 2 3 24 4 | 9 8 25 5 10 | 12 27 6 15 14 30 | 7 16 19 32 | 11 18 26 34 13 21 | 28 35 17 22 | "
        "20 36 29 23 | 31 33 37 38",
        "Gc3": "1 4 5 | 6 7 11 | 13 17 20 | 3 9 10 | 15 16 18 | 21 22 23 | 2 8 12 | 14 19 26 | 28 31 33 | 29 36 37 | "
        "24 25 27 | 30 32 34 | 35 38",
        "Gnc3": "1 2 3 | 24 4 9 | 8 25 5 | 12 27 6 | 15 14 30 | 7 16 19 | 11 18 26 | 34 13 21 | 28 35 17 | 10 32 22 | "
        "20 36 29 | 23 31 33 | 37 38",
    },
}


def handmade_groups(names: Sequence[str]) -> dict[str, list[list[str]]]:
    """Hand-made groupings of Balasch-Masoliver (2010), Appendix A, for the two files that it covers.

    Parameters
    ----------
    names
        Attribute names, in any order.

    Returns
    -------
    groupings
        ``Gc4`` (four correlated attributes per group), ``Gnc4`` (four uncorrelated ones), and so on; empty for any
        other table.

    Examples
    --------
    >>> list(handmade_groups(CENSUS))
    ['Gc4', 'Gnc4', 'Gc3', 'Gnc3']
    >>> handmade_groups(["age", "income"])
    {}
    """
    for columns, groupings in _HAND_MADE.items():
        if set(names) == set(columns):
            return {
                name: [[columns[int(a) - 1] for a in group.split()] for group in text.split("|")]
                for name, text in groupings.items()
            }
    return {}
