"""Duplicate elimination by bytes: canonical rows are equal exactly when their bytes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.duplicate import DuplicateElimination

from sdc_problems._genomes import row_keys

__all__ = ["ByteDuplicates", "row_keys"]

ROUNDS = 100  # attempts of pymoo's mating to find something new before it gives up


class ByteDuplicates(DuplicateElimination):
    """Duplicate elimination that compares the bytes of genomes: exact, in linear time, for genomes of any length.

    Together with `SearchGuard`, which tells it the algorithm, it ends a search that has nothing left to propose: in the
    generation that completes all genomes, or with one known genome if mating finds nothing new. So pymoo's ``ask()``
    returns a population as long as ``has_next()`` is true; otherwise it would return None.

    Parameters
    ----------
    n_genomes
        Number of different genomes, if known.
    """

    def __init__(self, *, n_genomes: int | None = None) -> None:
        super().__init__()
        self.n_genomes = n_genomes
        self.asking: Any = None
        self._rounds = 0

    def do(self, pop: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the new individuals, each genome once."""
        found = super().do(pop, *args, **kwargs)
        return found if kwargs.get("return_indices") else self._or_the_last(pop, found, args)

    def _do(self, pop: Any, other: Any, is_duplicate: NDArray[np.bool_]) -> NDArray[np.bool_]:
        X = self.func(pop)
        # A genome made elsewhere may have another dtype: compare in that of the new individuals.
        seen = set() if other is None else set(row_keys(self.func(other).astype(X.dtype, copy=False)))
        for i, key in enumerate(row_keys(X)):
            is_duplicate[i] = key in seen
            seen.add(key)
        return is_duplicate

    def _or_the_last(self, children: Any, fresh: Any, others: Sequence[Any]) -> Any:
        """Return what is new; end the search if these are the last genomes, or if mating no longer finds new ones."""
        algorithm, self.asking = self.asking, None
        if algorithm is None:
            return fresh
        if len(fresh):
            self._rounds = 0
            wanted = getattr(algorithm, "n_offsprings", 0) if others else len(fresh)
            uncut = len(fresh) + sum(len(other) for other in others[1:]) <= wanted
            if self.n_genomes is not None and uncut and self._n_known([fresh, *others]) >= self.n_genomes:
                algorithm.termination.terminate()
            return fresh
        if len(others) < 2 or len(others[1]) or not len(children):
            return fresh
        self._rounds += 1
        if self._rounds < ROUNDS:
            return fresh
        self._rounds = 0
        algorithm.termination.terminate()
        present = set(row_keys(others[0].get("X").astype(children[0].X.dtype, copy=False)))
        known = [i for i, key in enumerate(row_keys(children.get("X"))) if key not in present]
        return children[(known or [0])[:1]]

    def _n_known(self, populations: Sequence[Any]) -> int:
        """Number of different genomes among those that are evaluated or about to be."""
        most = sum(len(population) for population in populations)
        if self.n_genomes is None or most < self.n_genomes:
            return most
        dtype = populations[0][0].X.dtype
        return len({key for p in populations if len(p) for key in row_keys(p.get("X").astype(dtype, copy=False))})
