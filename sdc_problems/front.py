"""Front of a problem that was enumerated: the solutions than which none is better, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import moocore
import numpy as np
from numpy.typing import NDArray


class Front(NamedTuple):
    """Exact front of a problem, sorted by F.

    Examples
    --------
    >>> X, F = np.array([[0], [1], [2]]), np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    >>> minimal([(X, F, np.ones(3, dtype=bool))]).X.ravel().tolist()
    [1, 0]
    >>> minimal([(X, F, np.ones(3, dtype=bool))], ties=True).X.ravel().tolist()
    [1, 2, 0]
    """

    X: NDArray[Any]
    """Solutions, one per row: the first of those with equal F, or all of them if ties were asked for."""
    F: NDArray[np.float64]
    """Their objective values, minimised."""
    n_candidates: int
    """Number of different solutions that it is the front of: all of them, measured one by one or proven to be worse."""


Part = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]
"""Rows of X, their F, minimised, and which of them meet the requirements."""


def minimal(parts: Iterable[Part], *, ties: bool = False) -> Front:
    """Return the front of solutions that come part by part; only what is minimal so far is kept.

    Parameters
    ----------
    parts
        At least one part, which may be empty.
    ties
        Whether all solutions with equal F are kept, in the order they came in, or the first only.
    """
    X: NDArray[Any] | None = None
    F = np.empty((0, 0))
    n = 0
    for all_X, all_F, met in parts:
        n += len(all_X)
        new_X, new_F = all_X[met], all_F[met]
        X, F = (new_X, new_F) if X is None else (np.concatenate([X, new_X]), np.concatenate([F, new_F]))
        kept = np.flatnonzero(moocore.is_nondominated(F, keep_weakly=True)) if len(F) else np.zeros(0, dtype=np.int64)
        kept = kept[np.lexsort(F[kept].T[::-1])]
        if not ties and len(kept):
            kept = kept[np.r_[True, (F[kept][1:] != F[kept][:-1]).any(axis=1)]]
        X, F = X[kept], F[kept]
    assert X is not None, "no part was given"
    return Front(X, F, n)


def batched(rows: Iterable[Sequence[int]], size: int) -> Iterator[list[Sequence[int]]]:
    """Cut rows into lists of so many.

    Examples
    --------
    >>> list(batched([[0], [1], [2]], 2))
    [[[0], [1]], [[2]]]
    """
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
