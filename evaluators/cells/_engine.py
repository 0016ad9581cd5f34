"""Base class of the two engines: measures that are updated with each cell, and measures of whole files."""

from __future__ import annotations

import functools
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import FloatArray
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators.cells._state import State
from sdc_problems.evaluators.linkage.distance import distance_linkage

Values = Mapping[str, float]
LINKED = 64  # files whose probabilistic linkage is cached: a search asks for it, and then the measurement of its result


class CellEngine(ABC):
    """Base class of engines for files that change cell by cell.

    A subclass defines which measures are updated with each change (``FOLLOWED``), and which are composed of others
    (``made_of``) and how.
    """

    FOLLOWED: ClassVar[tuple[str, ...]]
    OF_FILES: ClassVar[Mapping[str, Callable[[Any, NDArray[Any]], float]]]

    X: NDArray[Any]

    @property
    @abstractmethod
    def made_of(self) -> Mapping[str, tuple[str, ...]]:
        """Composite measures, each with the measures that it is computed from."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of all measures."""
        return (*self.made_of, *self.FOLLOWED, "prl", *self.OF_FILES)

    @abstractmethod
    def open(self, codes: NDArray[Any]) -> State:
        """Return a file whose cells can be changed one by one."""

    @abstractmethod
    def values(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Values that the codes stand for, as the public measures take them."""

    @abstractmethod
    def combine(self, values: Values) -> dict[str, float]:
        """Add the composite measures that can be computed from the given ones."""

    @abstractmethod
    def _prl(self, Y: NDArray[Any]) -> float:
        """Probabilistic linkage of a file, by the public function: it is not updated with single changes."""

    @functools.cached_property
    def _linked(self) -> dict[bytes, float]:
        return {}

    def prl(self, codes: NDArray[Any]) -> float:
        """Probabilistic linkage of one file; the results of the last few files are cached."""
        key = hashlib.blake2b(np.asarray(codes, dtype=np.int64).tobytes(), digest_size=16).digest()
        if key not in self._linked:
            found = self._prl(self.values(codes))
            while len(self._linked) >= LINKED:
                self._linked.pop(next(iter(self._linked)), None)
            self._linked[key] = found
            return found
        return self._linked[key]

    def parts(self, names: Iterable[str]) -> set[str]:
        """Return the named measures and all measures that they are computed from."""
        needed: set[str] = set()
        for name in names:
            if name not in self.measures:
                known = ", ".join(self.measures)
                raise SDCError(f"unknown measure {name!r}{did_you_mean(name, self.measures)} (known: {known})")
            needed |= {name} | self.parts(self.made_of.get(name, ()))
        return needed

    def measure(self, candidates: Any, names: Sequence[str] | None = None) -> FloatArray:
        """Measure files, one row of codes each: one row per file, one column per name, in percent."""
        wanted = self.measures if names is None else tuple(names)
        needed = self.parts(wanted)
        rows = np.atleast_2d(np.asarray(candidates))
        out = np.empty((len(rows), len(wanted)))
        for r, codes in enumerate(rows.reshape(len(rows), *self.X.shape)):
            values = self._measured(codes, needed)
            out[r] = [values[name] for name in wanted]
        return out

    def _measured(self, codes: NDArray[Any], needed: set[str]) -> dict[str, float]:
        values = self.open(codes).measures if needed & set(self.FOLLOWED) else {}
        if "prl" in needed:
            values["prl"] = self.prl(codes)
        values = self.combine(values)
        for name, function in self.OF_FILES.items():
            if name in needed:
                values[name] = float(function(self, self.values(codes)))
        return values


def halves(p: int) -> list[list[int]]:
    """Attributes of the first half and of the second half, for an intruder who knows half of them."""
    return [list(range((p + 1) // 2)), list(range((p + 1) // 2, p))] if p > 1 else [[0]]


def linkage_of_halves(X: NDArray[Any], Y: NDArray[Any], kinds: Sequence[str], n_categories: Any = None) -> float:
    """Distance linkage to the original by an intruder who knows half of the attributes: mean over the two halves."""
    shares = [
        distance_linkage(
            X[:, known],
            Y[:, known],
            direction="to_original",
            kinds=[kinds[j] for j in known],
            n_categories=None if n_categories is None else [int(n_categories[j]) for j in known],
        )
        for known in halves(X.shape[1])
    ]
    return float(np.mean(shares))
