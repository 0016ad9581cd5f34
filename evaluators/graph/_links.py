"""Links of a graph as arcs, checked once for all measures of this package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError


@dataclass(frozen=True)
class Arcs:
    """Arcs of a graph, by source and by target; an undirected link is two arcs.

    Attributes
    ----------
    n
        Number of nodes.
    out_ptr, out
        Targets of each node's arcs, sorted.
    in_ptr, into
        Sources of the arcs that end in each node, sorted; the same arrays if links are undirected.
    directed
        Whether links are directed.
    """

    n: int
    out_ptr: NDArray[np.int64]
    out: NDArray[np.int32]
    in_ptr: NDArray[np.int64]
    into: NDArray[np.int32]
    directed: bool

    def __post_init__(self) -> None:
        for array in (self.out_ptr, self.out, self.in_ptr, self.into):
            array.flags.writeable = False  # like the shared arrays of a graph, so that kernels compile once for both

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return len(self.out)

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of links of each node; incoming and outgoing together if links are directed."""
        out: NDArray[np.int64] = np.diff(self.out_ptr)
        return out + np.diff(self.in_ptr) if self.directed else out


def sorted_arcs(
    first: NDArray[np.int64], second: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Pairs as CSR: the second ends of each first end, sorted."""
    order = np.lexsort((second, first))
    pointer = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(first, minlength=n), out=pointer[1:])
    return pointer, second[order].astype(np.int32)


def arcs(edges: object, n: object, *, directed: bool = False, name: str = "edges") -> Arcs:
    """Arcs of links given as pairs of node positions.

    Parameters
    ----------
    edges
        Links × 2 positions; an undirected link is listed once.
    n
        Number of nodes.
    directed
        Whether a pair is one arc, from its first node to its second.
    name
        Name of ``edges`` in error messages.

    Examples
    --------
    >>> found = arcs([[0, 1], [1, 2]], 3)
    >>> found.n_arcs, found.degrees.tolist()
    (4, [1, 2, 1])
    """
    count = whole(n, "n", least=1)
    try:
        given = np.asarray(edges)
    except ValueError:
        raise SDCError(f"{name} must be pairs of node positions") from None
    if given.size == 0:
        raise SDCError(f"{name} is empty: without a link there is nothing to measure along links")
    if given.ndim != 2 or given.shape[1] != 2:
        raise SDCError(f"{name} must have two columns, the positions of both ends, not shape {given.shape}")
    if given.dtype.kind not in "iuf":
        raise SDCError(f"{name} must hold numbers, not {given.dtype}")
    if given.dtype.kind == "f" and not np.array_equal(given, np.floor(np.nan_to_num(given, posinf=0.5, neginf=0.5))):
        raise SDCError(f"{name} must hold whole numbers, the positions of nodes; non-finite value(s) are none")
    pairs = given.astype(np.int64)
    outside = ((pairs < 0) | (pairs >= count)).any(axis=1)
    if outside.any():
        raise SDCError(
            f"{name} has {int(outside.sum())} link(s) with an end that is not a node (0 to {count - 1}), "
            f"the first in row {int(np.argmax(outside))}"
        )
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        raise SDCError(f"{name} has {int(loops.sum())} link(s) from a node to itself: leave them out")
    source, target = pairs[:, 0], pairs[:, 1]
    if not directed:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
    out_ptr, out = sorted_arcs(source, target, count)
    in_ptr, into = (out_ptr, out) if not directed else sorted_arcs(target, source, count)
    return Arcs(count, out_ptr, out, in_ptr, into, bool(directed))


def pairs_of_links(pointer: NDArray[np.int64]) -> float:
    """Number of pairs of links that share a node: the cost of visiting all neighbors of neighbors."""
    return float((np.diff(pointer).astype(np.float64) ** 2).sum())


def from_csr(indptr: NDArray[np.int64], indices: NDArray[np.int32], *, directed: bool) -> Arcs:
    """Arcs of a checked graph: ``indptr`` and ``indices`` of a `SocialGraph`, with both arcs of an undirected link."""
    n = len(indptr) - 1
    if not directed:
        return Arcs(n, indptr, indices, indptr, indices, False)
    source = np.repeat(np.arange(n), np.diff(indptr))
    in_ptr, into = sorted_arcs(indices.astype(np.int64), source, n)
    return Arcs(n, indptr, indices, in_ptr, into, True)
