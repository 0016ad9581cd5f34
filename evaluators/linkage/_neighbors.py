"""Nearest records by SciPy's k-d tree, where the compiled one need not be loaded or compiled for them.

SciPy sums in another order, so it only proposes who is near: distances are computed again by the operations of the
kernels. A border, which no other record can be nearer than, tells where that proves the answer; the few records where
it does not are left to the exact search.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sdc_problems._kernel import Kernel
from sdc_problems._slices import tell
from sdc_problems._validation import BoolArray, FloatArray, IntArray

_START = 0.2  # seconds: SciPy is imported and the tree is built
_MORE = 16  # times as many records are looked at where few do not prove the answer
_FIRST, _MOST = 512, 8192  # records asked for at once
_LARGEST = 1e100  # squares of larger distances leave the doubles
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14  # what SciPy's distances may be wrong by, and more


class Neighbors:
    """Records by nearness to others; all attributes are numeric."""

    def __init__(self, B: FloatArray, w: FloatArray) -> None:
        from scipy.spatial import cKDTree

        self._B, self._w = B, w
        self._tree: Any = cKDTree(B * w, balanced_tree=False)
        self._size = float(np.linalg.norm(np.abs(B * w).max(axis=0)))

    def of(self, A: FloatArray, k: int, *, rough: float = 0.0) -> tuple[IntArray, FloatArray, FloatArray]:
        """Numbers of k records near each row of A, their squared distances, and what no other's is below.

        Parameters
        ----------
        A, k
            The rows, and how many records each one gets.
        rough
            If not 0, records that are up to that many times farther than the nearest will do; the border is of no use.
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
    """Answer for rows of A as long as that takes less time than to compile a kernel for them; those that are left.

    Parameters
    ----------
    kernel
        What answers for the others.
    A, B, w
        The rows, the records among which to look, and weights of their attributes.
    ask
        Answers for some rows, and says for which of them that is exact. The number is by how much more records than
        usual are looked at: where many are equally near, few prove nothing.
    what
        Name of what it works through.
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
    """``brute_ties`` for all rows that need no compiled code; the others."""

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
    """``tree_second`` for all records that need no compiled code; the others."""

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
    """``tree_copies`` for all rows of Y that need no compiled code; the others."""

    def ask(near: Neighbors, some: IntArray, more: int) -> BoolArray:
        who, squares, border = near.of(Y[some], 2 * more)
        best = squares.min(axis=1, keepdims=True)
        copied = ((squares == best) & (best <= factor * apart[who])).any(axis=1)
        found[some] = copied
        exact: BoolArray = (border > best[:, 0]) | (copied & (border >= best[:, 0]))
        return exact

    return settled(kernel, Y, X, w, ask, "records looked for")
