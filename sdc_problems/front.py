"""Front of a problem: the solutions that no other solution beats, and their number."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import moocore
import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.views import table_view
from sdc_problems.errors import SDCWarning

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.objective import Objective

MANY = 4  # number of objectives from which on a front may hold nearly all solutions
ENOUGH = 100  # smallest number of solutions for which a share is meaningful
NEARLY_ALL = 0.5


class _Fields(NamedTuple):
    X: NDArray[Any]
    """Solutions, one per row: the first of those with equal F, or all of them with ``ties=True``."""
    F: NDArray[np.float64]
    """Their objective values, minimized."""
    n_candidates: int
    """Number of different solutions that this is the front of; if exact, all, measured or proven to be worse."""


class Front(_Fields):
    """Front of a problem, sorted by F: exact if all solutions were measured (``problem.enumerate_front``).

    Examples
    --------
    >>> X, F = np.array([[0], [1], [2]]), np.array([[2.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    >>> minimal([(X, F, np.ones(3, dtype=bool))]).X.ravel().tolist()
    [1, 0]
    >>> minimal([(X, F, np.ones(3, dtype=bool))], ties=True).X.ravel().tolist()
    [1, 2, 0]
    """

    objectives: tuple[Objective, ...] = ()
    """Objectives, one per column of F; set by the problem's own methods."""

    n_measured: int | None = None
    """Number of solutions measured, if the others were ruled out by bounds; None if it is not known."""

    def of(self, objectives: Sequence[Objective], *, n_measured: int | None = None) -> Front:
        """The same front with its objectives (the columns of F) and the number of solutions measured."""
        made = Front(*self)
        made.objectives = tuple(objectives)
        made.n_measured = n_measured if n_measured is not None else self.n_measured
        return made

    def _replace(self, **fields: Any) -> Front:
        return Front(**{**self._asdict(), **fields}).of(self.objectives, n_measured=self.n_measured)

    def to_frame(self) -> pd.DataFrame:
        """Table of the front: a column for each objective, in its own unit, and the solution in the column ``x``.

        Without objectives, the columns are ``f1``, ``f2`` …, minimized.
        """
        import pandas as pd

        frame = pd.DataFrame(self._natural(), columns=self._names())
        frame["x"] = pd.Series(list(self.X), dtype=object)
        return frame

    def _names(self) -> list[str]:
        return [o.name for o in self.objectives] or [f"f{j + 1}" for j in range(self.F.shape[1])]

    def _natural(self) -> NDArray[np.float64]:
        signs = np.array([-1.0 if o.sense == "max" else 1.0 for o in self.objectives] or [1.0])
        values: NDArray[np.float64] = self.F * signs + 0.0
        return values

    def _repr_html_(self) -> str:
        of = "" if self.n_measured is None else f"{self.n_measured:,} of "
        said = f"Front of {len(self.F):,} solutions, {of}{self.n_candidates:,} measured"
        heads = [f"{o.label} ({o.sense})" for o in self.objectives] or self._names()
        return table_view(said, heads, self._natural().tolist())

    def degenerate(self) -> str | None:
        """Say in a sentence why this front offers no choice worth a search; None if it does."""
        n, n_obj = self.F.shape
        if n_obj > 1 and n == 1 < self.n_candidates:
            return (
                f"the front is one point: of {self.n_candidates:,} solutions measured, one is best in all {n_obj}"
                " objectives, so that nothing has to be weighed. Objectives that pull in the same direction, or one"
                " that a requirement already fixes, do that: choose others"
            )
        if n_obj >= MANY and self.n_candidates >= ENOUGH and n > NEARLY_ALL * self.n_candidates:
            return (
                f"{n:,} of {self.n_candidates:,} solutions are on the front: with {n_obj} objectives hardly any is"
                " worse than another, and a search is as good as a draw. Take fewer objectives, or require= some"
            )
        return None

    def warned(self) -> Front:
        """Return the front itself, after an SDCWarning if it is degenerate."""
        said = self.degenerate()
        if said is not None:
            warnings.warn(said, SDCWarning, stacklevel=3)
        return self


Part = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]
"""Rows of X, their F (minimized), and a mask of those that meet the requirements."""


def minimal(parts: Iterable[Part], *, ties: bool = False) -> Front:
    """Return the front of solutions that come in parts; only the front so far is kept in memory.

    Parameters
    ----------
    parts
        At least one part; a part may be empty.
    ties
        Whether all solutions with equal F are kept, in the order in which they came, or only the first.
    """
    X: NDArray[Any] | None = None
    F = np.empty((0, 0))
    n = 0
    for all_X, all_F, met in parts:
        n += len(all_X)
        new_X, new_F = all_X[met], all_F[met]
        X, F = (new_X, new_F) if X is None else (np.concatenate([X, new_X]), np.concatenate([F, new_F]))
        kept = np.flatnonzero(moocore.is_nondominated(F, keep_weakly=True)) if len(F) else np.zeros(0, dtype=np.int64)
        # Among equal F the first in the order of X comes first, in whichever order they were measured.
        kept = kept[np.lexsort((*X[kept].T[::-1], *F[kept].T[::-1]))]
        if not ties and len(kept):
            kept = kept[np.r_[True, (F[kept][1:] != F[kept][:-1]).any(axis=1)]]
        X, F = X[kept], F[kept]
    assert X is not None, "no part was given"
    return Front(X, F, n)


def batched(rows: Iterable[Sequence[int]], size: int) -> Iterator[list[Sequence[int]]]:
    """Cut rows into lists of a given length.

    Examples
    --------
    >>> list(batched([[0], [1], [2]], 2))
    [[[0], [1]], [[2]]]
    """
    rest = iter(rows)
    while batch := list(islice(rest, size)):
        yield batch
