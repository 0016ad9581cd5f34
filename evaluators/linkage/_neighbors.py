"""Nearest records by SciPy's k-d tree, for small work that does not justify loading or compiling the kernels.

SciPy sums in another order, so it only proposes candidates, and distances are computed again by the operations of the
kernels. A border, a lower bound on the distance of all other records, shows where that proves the answer. The few
records where it does not are left to the exact search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sdc_problems._kernel import Kernel
from sdc_problems._slices import tell
from sdc_problems._validation import BoolArray, FloatArray, IntArray

_START = 0.2  # seconds to import SciPy and build the tree
_MORE = 16  # factor of candidates for records whose first candidates do not prove the answer
_FIRST, _MOST = 512, 8192  # records asked for at once
_LARGEST = 1e100  # squares of larger distances may overflow
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14  # bounds on the errors of SciPy's distances


class Neighbors:
    """Search for near records; all attributes are numeric."""

    def __init__(self, B: FloatArray, w: FloatArray) -> None:
        from scipy.spatial import cKDTree

        self._B, self._w = B, w
        self._tree: Any = cKDTree(B * w, balanced_tree=False)
        self._size = float(np.linalg.norm(np.abs(B * w).max(axis=0)))

    def of(self, A: FloatArray, k: int, *, rough: float = 0.0) -> tuple[IntArray, FloatArray, FloatArray]:
        """Positions of k records near each row of A, their squared distances, and a lower bound on those of all others.

        Parameters
        ----------
        A, k
            Rows, and number of records for each.
        rough
            If not 0, the records may be up to that factor (plus 1) farther than the nearest, and the bound is invalid.
        """
        scaled = A * self._w
        ranks = np.arange(1, min(k, len(self._B)) + 1)
        far, who = self._tree.query(scaled, k=ranks, eps=rough)
        squares = np.zeros(who.shape)
        for c, weight in enumerate(self._w):
            t = (A[:, c, None] - self._B[who, c]) * weight
            squares += t * t
        if k >= len(self._B):
            return who, squares, np.full(len(A), np.inf)
        sizes = self._size + np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        border = np.maximum(far[:, -1] * (1.0 - _RELATIVE) - _ABSOLUTE * sizes, 0.0)
        return who, squares, border * border


def settled(
    kernel: Kernel, A: FloatArray, B: FloatArray, w: FloatArray, ask: Callable[[Neighbors, IntArray, int], BoolArray],
    what: str,
) -> IntArray:  # fmt: skip
    """Answer for rows of A while that takes less time than compiling a kernel; returns the rows that remain.

    Parameters
    ----------
    kernel
        Kernel for the remaining rows.
    A, B, w
        Rows, records to search, and weights of their attributes.
    ask
        Answers for some rows and returns for which of them the answer is exact. Its last argument is a factor for the
        number of candidates: if many are equally near, few do not prove the answer.
    what
        Name of the work in progress reports.
    """
    turn = np.arange(len(A))
    if not kernel.spares(_START) or max(np.abs(table * w).max() for table in (A, B)) > _LARGEST:
        return turn
    begin = time.thread_time()
    near = Neighbors(B, w)
    kernel.spend(time.thread_time() - begin)
    left, at, size = [], 0, _FIRST
    while at < len(turn):
        begin = time.thread_time()
        some = turn[at : at + size]
        still = some[~ask(near, some, 1)]
        if len(still):
            still = still[~ask(near, still, _MORE)]
        left.append(still)
        at += len(some)
        took = time.thread_time() - begin
        kernel.spend(took)
        if size > _FIRST:
            tell(what, at, len(turn))
        if not kernel.spares(took / len(some) * (len(turn) - at)):
            break
        size = min(4 * size, _MOST)
    return np.concatenate([*left, turn[at:]])


def settle_ties(
    kernel: Kernel, rows: FloatArray, radius: FloatArray, B: FloatArray, count: IntArray, w: FloatArray,
    found: IntArray,
) -> IntArray:  # fmt: skip
    """``brute_ties`` for rows that need no compiled code; returns the other rows."""

    def ask(near: Neighbors, some: IntArray, more: int) -> BoolArray:
        _, squares, _ = near.of(rows[some], 1, rough=10.0)
        found[some] = -1
        still = np.flatnonzero(squares[:, 0] >= radius[some])
        exact = np.ones(len(some), dtype=np.bool_)
        who, squares, border = near.of(rows[some[still]], 2 * more)
        reach = radius[some[still], None]
        nearer = (squares < reach).any(axis=1)
        found[some[still]] = np.where(nearer, -1, ((squares == reach) * count[who]).sum(axis=1))
        exact[still] = nearer | (border > reach[:, 0])
        return exact

    return settled(kernel, rows, B, w, ask, "records linked")


def settle_second(kernel: Kernel, X: FloatArray, w: FloatArray, found: FloatArray) -> IntArray:
    """``tree_second`` for records that need no compiled code; returns the other records."""

    def ask(near: Neighbors, some: IntArray, more: int) -> BoolArray:
        _, squares, border = near.of(X[some], 3 * more)
        squares.partition(1, axis=1)
        found[some] = squares[:, 1]
        exact: BoolArray = (squares[:, 1] == 0.0) | (border >= squares[:, 1])
        return exact

    return settled(kernel, X, X, w, ask, "records compared")


def settle_copies(
    kernel: Kernel, Y: FloatArray, X: FloatArray, w: FloatArray, apart: FloatArray, factor: float, found: BoolArray
) -> IntArray:
    """``tree_copies`` for rows of Y that need no compiled code; returns the other rows."""

    def ask(near: Neighbors, some: IntArray, more: int) -> BoolArray:
        who, squares, border = near.of(Y[some], 2 * more)
        best = squares.min(axis=1, keepdims=True)
        copied = ((squares == best) & (best <= factor * apart[who])).any(axis=1)
        found[some] = copied
        exact: BoolArray = (border > best[:, 0]) | (copied & (border >= best[:, 0]))
        return exact

    return settled(kernel, Y, X, w, ask, "records looked for")
