"""Checkpoints: stored states of searches that are restored instead of replayed.

A replay takes the measures from the store and computes everything else again. For a search whose own computation takes
most of the time, that would take all of it again. Such an algorithm may have two methods::

    def checkpoint(self) -> dict[str, NDArray]   # between two generations: everything that is not listed below
    def restore(self, state: dict[str, NDArray]) -> None   # after setup; puts the algorithm back into this state

The runner itself restores the random generator, the population with its measures, the optimum, the counters, the
termination and a ``BoxArchive`` from a study. Arrays hold only numbers and are read without pickle, like everything
else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population

from sdc_problems.parallel.backend import set_measures
from sdc_problems.studies.run.evaluation_log import EvaluationLog
from sdc_problems.studies.store.writer import Generation


def can_be_restored(algorithm: Any) -> bool:
    """Whether an algorithm has both methods."""
    return callable(getattr(algorithm, "checkpoint", None)) and callable(getattr(algorithm, "restore", None))


def state_of(algorithm: Any) -> dict[str, NDArray[Any]] | None:
    """Get the state of an algorithm; None if it is replayed instead."""
    if not can_be_restored(algorithm):
        return None
    return {name: np.asarray(array) for name, array in algorithm.checkpoint().items()}


class Gatherer:
    """Collects stored generations one after the other, and keeps the genomes that a restored algorithm needs."""

    def __init__(self, log: EvaluationLog, last: Generation) -> None:
        self.log = log
        self.last = last
        self._wanted = {
            name: last.arrays[name].astype(np.int64) for name in ("population", "archive") if name in last.arrays
        }
        self._genomes: dict[int, NDArray[Any]] = {}

    def add(self, generation: Generation) -> None:
        """Add the next generation."""
        first = len(self.log)
        self.log.absorb(generation.arrays, generation.evaluated)
        needed = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *self._wanted.values()]))
        for number in needed[(needed >= first) & (needed < len(self.log))]:
            self._genomes[int(number)] = generation.arrays["X"][number - first]

    def genomes(self, name: str) -> NDArray[Any]:
        """Genomes of the last generation's population or archive."""
        problem = self.log.problem
        rows = [self._genomes[int(number)] for number in self._wanted.get(name, ())]
        return np.array(rows, dtype=problem.dtype).reshape(len(rows), problem.n_var)

    def numbers(self, name: str) -> NDArray[np.int64]:
        """Numbers of the last generation's population or archive."""
        return self._wanted.get(name, np.zeros(0, dtype=np.int64))


def restore(algorithm: Any, gathered: Gatherer, state: Mapping[str, NDArray[Any]]) -> None:
    """Put an algorithm that was just set up into the state at the end of the last stored generation."""
    last, log = gathered.last, gathered.log
    rng = _plain(json.loads(last.rng))
    algorithm.random_state.bit_generator.state = rng
    algorithm.is_initialized = True
    algorithm.start_time = 0.0
    algorithm.evaluator.n_eval = last.evaluated
    pop = Population.new("X", gathered.genomes("population"))
    if len(pop):
        set_measures(pop, log.measures(gathered.numbers("population")))
    algorithm.pop = pop
    if algorithm.archive is not None and len(gathered.numbers("archive")):
        algorithm.archive.update(log.measures(gathered.numbers("archive"))["F"], gathered.genomes("archive"))
    algorithm.n_iter = last.number
    algorithm.restore(dict(state))
    algorithm.random_state.bit_generator.state = rng  # again, because restoring may have drawn numbers
    algorithm._set_optimum()
    algorithm.termination.update(algorithm)
    algorithm.n_iter = last.number + 1


def _plain(state: Any) -> Any:
    """Convert lists from JSON to the arrays that bit generators need."""
    if isinstance(state, Mapping):
        return {key: _plain(value) for key, value in state.items()}
    if isinstance(state, Sequence) and not isinstance(state, str):
        return np.array(state, dtype=np.uint64)
    return state
