"""Duplicate elimination with a memory of everything that was ever evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymoo.core.population import Population

from sdc_problems.operators.duplicates import ByteDuplicates, row_keys


class NeverTwice(ByteDuplicates):
    """Duplicate elimination by bytes that knows what was evaluated in earlier generations, too.

    pymoo compares children with the population only, and measures again what the selection has discarded. Where the
    interesting genomes are few, that is most of the budget.

    Parameters
    ----------
    n_genomes
        How many different genomes there are, if that is known: the search then ends when all are evaluated.

    Notes
    -----
    Linear time; one key per evaluated genome is kept. A call with nothing to compare with is the start of a search
    (pymoo's initialization) and begins with an empty memory. Individuals that were let through and then cut off
    without being evaluated are forgotten again.
    """

    def __init__(self, *, n_genomes: int | None = None) -> None:
        super().__init__(n_genomes=n_genomes)
        self._seen: set[bytes] = set()
        self._waiting: dict[bytes, Any] = {}

    def do(self, pop: Any, *args: Any, to_itself: bool = True) -> Any:
        """Return the individuals that are new, also among themselves."""
        if not args:
            self._seen, self._waiting = set(), {}
        others = [individual for other in args if other is not None for individual in other]
        self._settle(others)
        if not len(pop):
            return pop
        # A genome made elsewhere may have another dtype: compare in the one of the newcomers.
        present = set(row_keys(Population.create(*others).get("X").astype(pop[0].X.dtype))) if others else set()
        keep = []
        for i, key in enumerate(row_keys(pop.get("X"))):
            if key in present or key in self._seen or (to_itself and key in self._waiting):
                continue
            keep.append(i)
            self._waiting[key] = pop[i]
        return self._or_the_last(pop, pop[keep], args)

    def _n_known(self, populations: Sequence[Any]) -> int:
        return len(self._seen) + len(self._waiting)

    def _settle(self, others: list[Any]) -> None:
        """Remember what was evaluated since the last call; forget what neither was nor is about to be."""
        in_use = {id(individual) for individual in others}
        for key, individual in list(self._waiting.items()):
            if individual.evaluated:
                self._seen.add(key)
            if individual.evaluated or id(individual) not in in_use:
                del self._waiting[key]
