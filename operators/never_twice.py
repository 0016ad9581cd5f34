"""Duplicate elimination that remembers everything evaluated in a search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population

from sdc_problems._genomes import DIGEST, GenomeNumbers, digests
from sdc_problems.operators.duplicates import ByteDuplicates

if TYPE_CHECKING:
    from typing import Self


class NeverTwice(ByteDuplicates):
    """Duplicate elimination by bytes that also remembers what was evaluated in earlier generations.

    pymoo compares children only with the population, and evaluates again what the selection has discarded. If there are
    few interesting genomes, this wastes most of the budget.

    Parameters
    ----------
    n_genomes
        Largest number of different genomes, if known: the search ends when so many are evaluated.

    Notes
    -----
    Linear time; some 20 bytes per evaluated genome are stored, shared by all copies that pymoo's history makes. A
    call without populations to compare with is the start of a search (pymoo's initialization) and clears the memory.
    Individuals that were accepted but then cut off without being evaluated are forgotten.
    """

    def __init__(self, *, n_genomes: int | None = None) -> None:
        super().__init__(n_genomes=n_genomes)
        self._seen = _Memory()
        self._waiting: dict[bytes, Any] = {}

    def do(self, pop: Any, *args: Any, to_itself: bool = True, return_indices: bool = False) -> Any:
        """Return the new individuals, each genome once."""
        if not args:
            self._seen, self._waiting = _Memory(), {}
        others = [individual for other in args if other is not None for individual in other]
        # A genome made elsewhere may have another dtype: compare in that of the new individuals.
        present = _keys(others, pop[0].X.dtype if len(pop) else None)
        self._settle(others, present)
        known = set(present)
        keep = []
        keys = _keys(pop)
        for i, (key, seen) in enumerate(zip(keys, self._seen.has(keys), strict=True)):
            waits = self._waiting.get(key)
            if key in known or seen or (to_itself and waits is not None and waits is not pop[i]):
                continue
            keep.append(i)
            self._waiting[key] = pop[i]
        if return_indices:
            return pop[keep], keep, [i for i in range(len(pop)) if i not in set(keep)]
        return self._or_the_last(pop, pop[keep], args) if len(pop) else pop

    def known(self, pop: Any) -> list[bool]:
        """Whether each individual was evaluated, is about to be, or occurs earlier in ``pop``."""
        before: set[bytes] = set()
        found = []
        keys = _keys(pop)
        for key, seen in zip(keys, self._seen.has(keys), strict=True):
            found.append(key in before or seen or key in self._waiting)
            before.add(key)
        return found

    def _n_known(self, populations: Sequence[Any]) -> int:
        return len(self._seen) + len(self._waiting)

    def _settle(self, others: list[Any], keys: list[bytes]) -> None:
        """Remember what was evaluated since the last call; forget what was not, and is not about to be.

        Individuals evaluated elsewhere, for example by pymoo's ``tell``, are found in the population that they entered.
        """
        evaluated = [key for key, individual in zip(keys, others, strict=True) if individual.evaluated]
        in_use = {id(individual) for individual in others}
        for key, individual in list(self._waiting.items()):
            if individual.evaluated:  # the evaluation may have replaced its genome by that of an equal solution
                evaluated += [key, *_keys([individual])]
            if individual.evaluated or id(individual) not in in_use:
                del self._waiting[key]
        self._seen.add(evaluated)


class _Memory:
    """Set of keys that only grows; copies share one table, of which each sees the keys present when it was made."""

    def __init__(self, keys: bytes = b"") -> None:
        self._place = GenomeNumbers()
        self._size = 0
        self.add([keys[start : start + DIGEST] for start in range(0, len(keys), DIGEST)])

    def __len__(self) -> int:
        return self._size

    def has(self, keys: Sequence[bytes]) -> list[bool]:
        """Whether each key is there."""
        places = self._place.find(keys)
        found: list[bool] = ((places >= 0) & (places < self._size)).tolist()
        return found

    def add(self, keys: Sequence[bytes]) -> None:
        """Add those keys that are not there yet."""
        new = list(dict.fromkeys(key for key, there in zip(keys, self.has(keys), strict=True) if not there))
        if new and self._size < len(self._place):  # a copy has added further keys
            self._place = type(self)(self._own())._place
        for key in new:
            self._place.add(key, self._size)
            self._size += 1

    def _own(self) -> bytes:
        return self._place.in_order()[: self._size * DIGEST]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self)()
        copied._place, copied._size = self._place, self._size
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._own(),)


def _keys(individuals: Any, dtype: Any = None) -> list[bytes]:
    """Bytes of each genome, or a digest of long ones."""
    if not len(individuals):
        return []
    X: NDArray[Any] = np.asarray(Population.create(*individuals).get("X"))
    if dtype is not None:
        X = X.astype(dtype, copy=False)
    return digests(X)
