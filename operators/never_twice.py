"""Duplicate elimination that remembers everything evaluated in a search."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population

from sdc_problems.operators.duplicates import ByteDuplicates, row_keys

if TYPE_CHECKING:
    from typing import Self

DIGEST = 16  # bytes of the digest that stands for a longer genome


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
    Linear time; at most 16 bytes per evaluated genome are stored, shared by all copies that pymoo's history makes. A
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
        for i, key in enumerate(_keys(pop)):
            waits = self._waiting.get(key)
            if key in known or key in self._seen or (to_itself and waits is not None and waits is not pop[i]):
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
        for key in _keys(pop):
            found.append(key in before or key in self._seen or key in self._waiting)
            before.add(key)
        return found

    def _n_known(self, populations: Sequence[Any]) -> int:
        return len(self._seen) + len(self._waiting)

    def _settle(self, others: list[Any], keys: list[bytes]) -> None:
        """Remember what was evaluated since the last call; forget what was not, and is not about to be.

        Individuals evaluated elsewhere, for example by pymoo's ``tell``, are found in the population that they entered.
        """
        for key, individual in zip(keys, others, strict=True):
            if individual.evaluated:
                self._seen.add(key)
        in_use = {id(individual) for individual in others}
        for key, individual in list(self._waiting.items()):
            if individual.evaluated:  # the evaluation may have replaced its genome by that of an equal solution
                for measured in (key, *_keys([individual])):
                    self._seen.add(measured)
            if individual.evaluated or id(individual) not in in_use:
                del self._waiting[key]


class _Memory:
    """Set of keys that only grows; copies share one table, of which each sees the keys present when it was made."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._place = {key: i for i, key in enumerate(keys)}
        self._size = len(self._place)

    def __len__(self) -> int:
        return self._size

    def __contains__(self, key: bytes) -> bool:
        return self._place.get(key, self._size) < self._size

    def add(self, key: bytes) -> None:
        """Add a key."""
        if key in self:
            return
        if self._size < len(self._place):  # a copy has added further keys
            self._place = {known: i for i, known in enumerate(self._own())}
        self._place[key] = self._size
        self._size += 1

    def _own(self) -> list[bytes]:
        return list(self._place)[: self._size]  # a dictionary keeps the order of insertion

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
    keys = row_keys(X)
    return [blake2b(key, digest_size=DIGEST).digest() for key in keys] if len(keys[0]) > DIGEST else keys
