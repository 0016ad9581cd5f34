"""Kernel that grows sets of records whose cuts a relaxation violates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

TOWARDS = 0.15  # what a record is worth that brings a group nearer to d records in the set, but not to d
LEAST_EXCESS = 2e-3


@kernel()
def grow(
    starts: NDArray[np.int64],
    d: int,
    largest: int,
    first: NDArray[np.int64],
    members: NDArray[np.int64],
    shares: NDArray[np.float64],
    first_of: NDArray[np.int64],
    groups_of: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Grow each set by the record that adds most to the groups with d or more records in it, each by its share.

    Parameters
    ----------
    starts
        Sets of records, each padded with −1.
    d
        Number of records for which a group counts once.
    largest
        Largest set.
    first, members, shares
        Groups: where the records of each begin, all records, and shares of the groups.
    first_of, groups_of
        Records: where the groups of each begin, and all groups.

    Returns
    -------
    sets, excess
        Sets in the order in which they grew, padded with −1; and by how much each beginning of them, by its length,
        exceeds the number of groups that a partition can have (0 if it does not).
    """
    sets = np.full((len(starts), largest), -1, dtype=np.int64)
    excess = np.zeros((len(starts), largest + 1))
    inside = np.zeros(len(shares), dtype=np.int64)
    within = np.zeros(len(first_of) - 1, dtype=np.bool_)
    gain = np.zeros(len(first_of) - 1)
    touched = np.empty(len(shares), dtype=np.int64)
    candidates = np.empty(len(first_of) - 1, dtype=np.int64)
    for s in range(len(starts)):
        size, n_touched, taken = 0, 0, 0.0
        begun = 0
        while begun < starts.shape[1] and starts[s, begun] >= 0:
            begun += 1
        while True:
            if size < begun:
                record = starts[s, size]
            else:
                n_candidates = 0
                for t in range(n_touched):
                    g = touched[t]
                    step = shares[g]
                    if (inside[g] + 1) % d:
                        step *= TOWARDS * (inside[g] % d + 1) / d
                    for q in range(first[g], first[g + 1]):
                        i = members[q]
                        if not within[i]:
                            if gain[i] == 0.0:
                                candidates[n_candidates] = i
                                n_candidates += 1
                            gain[i] += step
                record = -1
                for t in range(n_candidates):
                    i = candidates[t]
                    if record < 0 or gain[i] > gain[record] or (gain[i] == gain[record] and i < record):
                        record = i
                for t in range(n_candidates):
                    gain[candidates[t]] = 0.0
                if record < 0:
                    break
            within[record] = True
            sets[s, size] = record
            size += 1
            for q in range(first_of[record], first_of[record + 1]):
                g = groups_of[q]
                if inside[g] == 0:
                    touched[n_touched] = g
                    n_touched += 1
                inside[g] += 1
                if inside[g] % d == 0:
                    taken += shares[g]
            if size >= begun and taken > size // d + LEAST_EXCESS:
                excess[s, size] = taken - size // d
            if size == largest:
                break
        for t in range(n_touched):
            inside[touched[t]] = 0
        for t in range(size):
            within[sets[s, t]] = False
    return sets, excess
