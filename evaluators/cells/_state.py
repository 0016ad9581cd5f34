"""State of one file: propose, commit and discard, for both kinds of file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import IntArray
from sdc_problems.errors import SDCError

BLOCK = 500  # changed cells above which a file is compiled again
REBUILD = 2**16  # commits after which running sums of fractions are recomputed


class State(ABC):
    """Protected file in which single cells change.

    ``propose`` measures a change without making it, ``commit`` makes the last change proposed, ``discard`` drops it.
    """

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self._pending = False
        self._commits = 0

    @property
    @abstractmethod
    def codes(self) -> IntArray:
        """Codes of the committed file, records × attributes; a copy."""

    @abstractmethod
    def _measures(self) -> dict[str, float]:
        """Measures of the file, including a pending proposal."""

    @abstractmethod
    def _apply(self, cells: IntArray, codes: IntArray) -> None:
        """Make the change in a way that can be undone."""

    @abstractmethod
    def _revert(self) -> None:
        """Undo the change exactly, to the bit."""

    @abstractmethod
    def _keep(self) -> None:
        """Keep the change: discard what would undo it."""

    @abstractmethod
    def _rebuild(self) -> None:
        """Recompute running sums."""

    @property
    def measures(self) -> dict[str, float]:
        """Measures of the committed file."""
        self.discard()
        return self._measures()

    def propose(self, cells: ArrayLike, codes: ArrayLike) -> dict[str, float]:
        """Measures that the file would have if these cells had these codes; the file itself does not change.

        Parameters
        ----------
        cells
            Pairs (record, attribute), each at most once.
        codes
            One code per cell.
        """
        self.discard()
        where, what = cells_of(cells, codes, self.shape)
        self._apply(where, what)
        self._pending = True
        return self._measures()

    def commit(self) -> dict[str, float]:
        """Make the proposed change and return the measures of the file."""
        if not self._pending:
            raise SDCError("there is nothing to commit: propose a change first")
        self._keep()
        self._pending = False
        self._commits += 1
        if self._commits % REBUILD == 0:
            self._rebuild()
        return self._measures()

    def settle(self) -> dict[str, float]:
        """Recompute running sums, so that the measures are the same to the bit as those of a newly opened file."""
        self.discard()
        self._rebuild()
        return self._measures()

    def discard(self) -> None:
        """Drop the proposed change."""
        if self._pending:
            self._revert()
            self._pending = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of records and attributes."""
        n, p = self.engine.X.shape
        return n, p


def cells_of(cells: ArrayLike, codes: ArrayLike, shape: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Check cells and their codes."""
    where = np.asarray(cells, dtype=np.int64).reshape(-1, 2)
    what: NDArray[Any] = np.asarray(codes, dtype=np.int64).ravel()
    if len(where) != len(what):
        raise SDCError(f"{len(where)} cells and {len(what)} codes: give one code per cell")
    if len(where) and ((where < 0) | (where >= shape)).any():
        raise SDCError(f"a cell lies outside the file of {shape[0]} records × {shape[1]} attributes")
    return where, what
