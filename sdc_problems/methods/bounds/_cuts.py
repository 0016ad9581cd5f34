"""Cuts of the relaxation: subset-row inequalities (Jepsen et al. 2008).

A partition has at most |S| // d groups with d or more records in a set S; a group with 2d counts twice, and so on.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems.methods.bounds._subset_rows import grow

CUTS_PER_ROUND = 400
CUTS_PER_RECORD = 6
STARTS = 15  # pairs of a group from which sets grow
LARGEST = 8  # largest set, in multiples of d

Group = tuple[int, ...]


class Cut(NamedTuple):
    """At most |records| // d groups count, each once for every d of these records."""

    records: Group
    d: int

    @property
    def room(self) -> int:
        """Number of groups that may count."""
        return len(self.records) // self.d


def counts(cuts: list[Cut], incidence: Any) -> Any:
    """Numbers of times that each group counts in each cut, cuts × groups, from an incidence matrix records × groups."""
    from scipy.sparse import csc_matrix

    starts = np.cumsum([0, *(len(cut.records) for cut in cuts)])
    records = np.array([i for cut in cuts for i in cut.records], dtype=np.int64)
    inside = csc_matrix((np.ones(starts[-1]), records, starts), (incidence.shape[0], len(cuts)))
    hits = (inside.T @ incidence).tocoo()
    hits.data = np.floor(hits.data / np.array([cut.d for cut in cuts])[hits.row])
    hits.eliminate_zeros()
    return hits.tocsc()


def violated(groups: list[Group], shares: NDArray[np.float64], k: int, n: int, known: list[Cut]) -> list[Cut]:
    """Cuts that the shares of the groups violate: the most violated first, and not too many of the same record.

    Sets grow record by record, by the largest shares: from pairs of records for d = 2, from whole groups for d up to
    k + 1.
    """
    partly = np.flatnonzero((shares > 1e-6) & (shares < 1.0 - 1e-6))
    if not len(partly):
        return []
    chosen = [groups[j] for j in partly]
    first = np.cumsum([0, *map(len, chosen)])
    members = np.concatenate(chosen)
    order = np.argsort(members, kind="stable")
    tables = (
        first,
        members,
        shares[partly],
        np.searchsorted(members[order], np.arange(n + 1)),
        np.repeat(np.arange(len(chosen)), np.diff(first))[order],
    )
    pairs = np.array(sorted({pair for group in chosen for pair in list(combinations(group, 2))[:STARTS]}))
    whole = np.full((len(chosen), max(map(len, chosen))), -1)
    for row, group in zip(whole, chosen, strict=True):
        row[: len(group)] = group
    there = set(known)
    found: dict[Cut, float] = {}
    for d in range(2, k + 2):
        sets, excess = grow(pairs if d == 2 else whole, d, max(whole.shape[1], LARGEST * d), *tables)
        for s, size in np.argwhere(excess > 0.0):
            cut = Cut(tuple(sorted(sets[s, :size].tolist())), d)
            if cut not in there:
                found[cut] = float(excess[s, size])
    added: list[Cut] = []
    used = np.zeros(n, dtype=np.int64)
    for cut in sorted(found, key=lambda cut: (-found[cut], cut)):
        if used[list(cut.records)].sum() <= CUTS_PER_RECORD * len(cut.records):
            used[list(cut.records)] += 1
            added.append(cut)
            if len(added) == CUTS_PER_ROUND:
                break
    return added
