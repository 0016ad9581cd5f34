"""Compiled data swapping: partners within cells, found without scanning the file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel
from sdc_problems.methods._kernels.random import below

_TRIES = 16


@kernel()
def record_partners_kernel(
    order: NDArray[np.int64], cell: NDArray[np.int64], own: NDArray[np.int64], wanted: int, state: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], int]:
    """Partner of each record (itself if none), and number of records that found no partner.

    Parameters
    ----------
    order
        Records in the order in which they look for a partner.
    cell
        Cell of each record, on which partners agree; codes from 0.
    own
        Combination of cell and exchanged attributes, in which partners differ; codes from 0.
    wanted
        Largest number of records to exchange.
    state
        State of the random generator, not 0; it is changed.
    """
    n = len(cell)
    partner = np.arange(n)
    cells, owns = cell.max() + 1, own.max() + 1
    size = np.zeros(cells, dtype=np.int64)
    same = np.zeros(owns, dtype=np.int64)
    for i in range(n):
        size[cell[i]] += 1
        same[own[i]] += 1
    start = np.zeros(cells + 1, dtype=np.int64)
    for c in range(cells):
        start[c + 1] = start[c] + size[c]
    free = np.empty(n, dtype=np.int64)  # free records of each cell, at the front of its range
    where = np.empty(n, dtype=np.int64)
    filled = start[:cells].copy()
    for i in range(n):
        free[filled[cell[i]]] = i
        where[i] = filled[cell[i]]
        filled[cell[i]] += 1
    done, alone = 0, 0
    for a in range(n):
        if done + 2 > wanted:
            break
        i = order[a]
        if partner[i] != i:
            continue
        c = cell[i]
        if size[c] - same[own[i]] == 0:
            alone += 1
            continue
        found = -1
        for _ in range(_TRIES):
            other = free[start[c] + below(state, size[c])]
            if own[other] != own[i]:
                found = other
                break
        if found < 0:
            begin = below(state, size[c])
            for step in range(size[c]):
                other = free[start[c] + (begin + step) % size[c]]
                if own[other] != own[i]:
                    found = other
                    break
        partner[i] = found
        partner[found] = i
        done += 2
        for r in (i, found):
            same[own[r]] -= 1
            size[c] -= 1
            last = free[start[c] + size[c]]
            free[where[r]] = last
            where[last] = where[r]
    return partner, alone
