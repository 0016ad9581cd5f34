"""Links between nodes as sorted arrays (CSR): checked, and merged if a file names both directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import choice
from sdc_problems.errors import SDCError

SELF_LOOPS = ("error", "drop")
REPEATED = ("error", "sum")

Where = Callable[[int], str]


@dataclass(frozen=True)
class Links:
    """Links as CSR arrays, with the notes made while they were read."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    notes: tuple[str, ...]


def _pair(row: int) -> str:
    return f"link {row + 1}"


def checked_weights(weights: object, m: int, where: Where) -> NDArray[np.float64]:
    """One positive finite number per link."""
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise SDCError("weights of links must be numbers") from None
    if array.shape != (m,):
        raise SDCError(f"there are {array.size} weights for {m} links: give one per link")
    bad = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(bad):
        raise SDCError(
            f"{len(bad)} weight(s) are not positive finite numbers, the first at {where(int(bad[0]))}: "
            "correct them, or omit weight="
        )
    return array


def link_arrays(
    pairs: NDArray[np.int64],
    n: int,
    *,
    directed: bool,
    weights: object = None,
    self_loops: str = "error",
    repeated: str = "error",
    where: Where = _pair,
) -> Links:
    """Check pairs of node positions and sort them into CSR; an undirected link becomes two arcs.

    Parameters
    ----------
    pairs
        Links × 2, positions from 0 to n − 1 (checked by the caller).
    n
        Number of nodes.
    directed
        Whether a pair means one arc only.
    weights
        One positive number per pair, or None.
    self_loops, repeated
        What to do with a link from a node to itself ("error", "drop"), and with one that is named again ("error",
        "sum": weights add up).
    where
        Gives the place of pair number i, for errors.
    """
    choice(self_loops, "self_loops", SELF_LOOPS)
    choice(repeated, "repeated", REPEATED)
    notes: list[str] = []
    given = None if weights is None else checked_weights(weights, len(pairs), where)
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    rows = np.arange(len(pairs))
    if len(loops):
        if self_loops == "error":
            raise SDCError(
                f"{len(loops)} link(s) lead from a node to itself, the first at {where(int(loops[0]))}: "
                'give self_loops="drop" to leave them out'
            )
        keep = pairs[:, 0] != pairs[:, 1]
        pairs, rows = pairs[keep], rows[keep]
        given = None if given is None else given[keep]
        notes.append(f"{len(loops)} link(s) from a node to itself were left out.")
    source, target = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    keys = source * n + target
    if not directed:
        source, target, keys, rows, given = _undirected(source, target, keys, n, rows, given, repeated, where, notes)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(again):
        if repeated == "error":
            row = int(rows[order[again + 1]].min())
            raise SDCError(
                f"{len(again)} link(s) are named more than once, the first again at {where(row)}: "
                'give repeated="sum" to make each one link'
            )
        first = np.concatenate([[True], np.diff(keys[order]) != 0])
        given = np.add.reduceat(np.ones(len(keys)) if given is None else given[order], np.flatnonzero(first))
        kept = order[first]
        source, target = source[kept], target[kept]
        notes.append(f"{len(again)} repeated link(s) were added up.")
    if not directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        given = None if given is None else np.concatenate([given, given])
    if len(source) == 0:
        raise SDCError("there is no link: mixing of categories along links is not defined without any")
    order = np.lexsort((target, source))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
    final = None if given is None else np.ascontiguousarray(given[order])
    return Links(indptr, target[order].astype(np.int32), final, tuple(notes))


def _undirected(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    keys: NDArray[np.int64],
    n: int,
    rows: NDArray[np.intp],
    given: NDArray[np.float64] | None,
    repeated: str,
    where: Where,
    notes: list[str],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.intp], NDArray[np.float64] | None]:
    """Put the smaller end first, and merge links that a file names in both directions."""
    known = np.unique(keys)
    backwards = np.isin(target * n + source, known)
    low, high = np.minimum(source, target), np.maximum(source, target)
    if len(keys) and backwards.all():
        if given is not None:
            order = np.argsort(keys, kind="stable")
            mirror = np.argsort(target * n + source, kind="stable")
            if not np.array_equal(given[order], given[mirror]):
                raise SDCError(
                    "the links stand in both directions with different weights: give directed=True, or one"
                    " line per link"
                )
        keep = source < target
        notes.append(f"Every link stood in both directions: {len(keys)} lines are {int(keep.sum())} undirected links.")
        low, high, rows = low[keep], high[keep], rows[keep]
        given = None if given is None else given[keep]
    elif backwards.any() and repeated == "error":
        both = np.flatnonzero(backwards & (source > target))
        raise SDCError(
            f"{len(both)} undirected link(s) stand in both directions and others in one, the first at "
            f'{where(int(rows[both[0]]))}: give directed=True, or repeated="sum"'
        )
    return low, high, low * n + high, rows, given
