"""Result tables of a run: small frozen tables of arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.objective import Objective
from sdc_problems.studies.store.writer import BEGINNING, Generation, check_stored

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Axis(Objective):
    """Objective as stored in a run: with its meaning, so that a report of the run needs no other table.

    In a run of an earlier version, it has the name in that version, and no meaning.
    """

    @classmethod
    def stored(cls, facts: Mapping[str, Any]) -> Axis:
        """Read a stored objective; an infinite bound is stored as null."""
        low, high = facts["bounds"]
        return cls(
            str(facts["name"]),
            str(facts["label"]),
            facts["sense"],
            (-math.inf if low is None else float(low), math.inf if high is None else float(high)),
            str(facts["unit"]),
            meaning=str(facts.get("meaning", "")),
            formula=str(facts.get("formula", "")),
            source=str(facts.get("source", "")),
            concerns=facts.get("concerns", ""),
        )


def objective_facts(objective: Objective) -> dict[str, Any]:
    """Facts about an objective to store, as plain values for JSON."""
    return {
        "name": objective.name,
        "label": objective.label,
        "sense": objective.sense,
        "bounds": [bound if math.isfinite(bound) else None for bound in map(float, objective.bounds)],
        "unit": objective.unit,
        "meaning": objective.meaning,
        "formula": objective.formula,
        "source": objective.source,
        "concerns": objective.concerns,
    }


@dataclass(frozen=True)
class SeedState:
    """State of a seed; ``status`` is ``waiting``, ``running`` or ``finished``."""

    seed: int
    status: str
    reason: str
    generations: int
    evaluated: int
    solutions: int
    seconds: float
    measuring: float
    updated: str
    chain: str


@dataclass(frozen=True)
class Solutions:
    """Solutions side by side: row i of every array belongs to ``ids[i]``.

    ``F`` is minimized, ``values`` is in natural units. ``X`` is None unless genomes were asked for. A baseline has
    seed and generation -1.
    """

    ids: tuple[str, ...]
    seeds: IntArray
    generations: IntArray
    F: FloatArray
    values: FloatArray
    feasible: BoolArray
    X: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, index: NDArray[Any]) -> Solutions:
        """Rows by position or by mask."""
        index = np.arange(len(self))[index]
        return Solutions(
            tuple(self.ids[i] for i in index), self.seeds[index], self.generations[index], self.F[index],
            self.values[index], self.feasible[index], None if self.X is None else self.X[index],
        )  # fmt: skip

    @classmethod
    def concatenate(cls, parts: Sequence[Solutions], n_obj: int) -> Solutions:
        """Join tables in order; without any, an empty table."""
        if not parts:
            none = np.zeros(0, dtype=np.int64)
            return cls((), none, none, np.zeros((0, n_obj)), np.zeros((0, n_obj)), np.zeros(0, dtype=bool))
        return cls(
            ids=tuple(i for part in parts for i in part.ids),
            seeds=np.concatenate([p.seeds for p in parts]),
            generations=np.concatenate([p.generations for p in parts]),
            F=np.vstack([p.F for p in parts]),
            values=np.vstack([p.values for p in parts]),
            feasible=np.concatenate([p.feasible for p in parts]),
            X=None if any(p.X is None for p in parts) else np.vstack([p.X for p in parts if p.X is not None]),
        )


@dataclass(frozen=True)
class History:
    """A seed's progress, one entry per generation."""

    seed: int
    generation: IntArray
    evaluated: IntArray
    solutions: IntArray
    front_size: IntArray
    hypervolume: FloatArray
    seconds: FloatArray
    measuring: FloatArray


@dataclass(frozen=True)
class Aggregates:
    """Hypervolume over the seeds at equal numbers of evaluations.

    Rows of ``quantiles`` are the smallest, the quartiles and the largest of ``seeds`` values.
    """

    evaluated: IntArray
    quantiles: FloatArray
    seeds: int


class SeedRecord:
    """Record of a seed, as far as it was read: it grows with the run, so that a live reader reads only new data."""

    def __init__(self) -> None:
        self.chain = BEGINNING
        self.generation: list[int] = []
        self.evaluated: list[int] = []
        self.solutions: list[int] = []
        self.seconds: list[float] = []
        self.measuring: list[float] = []
        self.F: list[FloatArray] = []
        self.feasible: list[BoolArray] = []
        self.fronts: list[NDArray[Any]] = []
        self._together: tuple[int, FloatArray, IntArray, BoolArray] | None = None

    def add(self, stored: Generation, chain: str, n_obj: int) -> None:
        """Add the next generation, after checking its digest and that it follows those before it."""
        check_stored(stored, chain, self.chain)
        arrays, generation, solutions = stored.arrays, stored.number, stored.solutions
        F, front = arrays.get("F"), arrays.get("front")
        before = self.solutions[-1] if self.solutions else 0
        if F is None or front is None or F.shape != (solutions - before, n_obj) or "X" not in arrays:
            raise SDCError(f"the run's database is damaged: generation {generation} is incomplete")
        if front.ndim != 1 or front.dtype.kind not in "iu" or (len(front) and not 0 <= front.min()):
            raise SDCError(f"the run's database is damaged: generation {generation} has no proper front")
        if len(front) and int(front.max()) >= solutions:
            raise SDCError(f"the run's database is damaged: generation {generation} names solutions it does not hold")
        self.chain = chain
        self.generation.append(generation)
        self.evaluated.append(stored.evaluated)
        self.solutions.append(solutions)
        self.seconds.append(stored.seconds)
        self.measuring.append(stored.measuring)
        self.F.append(F.astype(float))
        self.feasible.append(feasible(arrays, len(F)))
        self.fronts.append(front)

    def objectives(self, n_obj: int) -> FloatArray:
        """``F`` of all solutions."""
        return self._all(n_obj)[1]

    def born(self) -> IntArray:
        """Generation in which each solution was measured."""
        return self._all(1)[2]

    def feasibility(self) -> BoolArray:
        """Mask of the solutions that meet the constraints."""
        return self._all(1)[3]

    def _all(self, n_obj: int) -> tuple[int, FloatArray, IntArray, BoolArray]:
        if self._together is None or self._together[0] != len(self.generation):
            if not self.generation:
                return 0, np.zeros((0, n_obj)), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
            counts = np.diff([0, *self.solutions])
            self._together = (
                len(self.generation),
                np.vstack(self.F),
                np.repeat(np.array(self.generation, dtype=np.int64), counts),
                np.concatenate(self.feasible),
            )
        return self._together


def feasible(arrays: Mapping[str, NDArray[Any]], n: int) -> BoolArray:
    """Mask of the n solutions that meet their constraints, with pymoo's tolerances (G ≤ 0, \\|H\\| ≤ 1e-4)."""
    mask = np.ones(n, dtype=bool)
    if "G" in arrays:
        mask &= (arrays["G"] <= 0).all(axis=1)
    if "H" in arrays:
        mask &= (np.abs(arrays["H"]) <= 1e-4).all(axis=1)
    return mask
