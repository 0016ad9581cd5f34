"""Evaluation log of one seed: each different solution once, in the order of measurement."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator

from sdc_problems._genomes import first_unknown
from sdc_problems.errors import SDCError
from sdc_problems.parallel.backend import Backend, keys_of, set_measures
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.store.hypervolume import nondominated
from sdc_problems.studies.store.tables import feasible

Arrays = dict[str, NDArray[Any]]


class Diverged(SDCError):
    """A replayed generation is not the stored one."""


class EvaluationLog:
    """Solutions by number, the front among them, and what the current generation added.

    A solution that comes again is not measured again. Genomes are known by a 128-bit digest, so that memory grows
    by about 250 bytes a solution and not by the length of its genome.

    Parameters
    ----------
    problem
        Gives the genome's type and checks every row.
    backend
        Measures new rows.
    rounded
        For searches that propose real numbers: the nearest genome within the bounds is what is measured.
    """

    def __init__(self, problem: SDCProblem, backend: Backend, *, rounded: bool = False) -> None:
        self.problem = problem
        self.backend = backend
        self.rounded = rounded
        self.evaluated = 0
        self.front: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._front_F: NDArray[np.float64] = np.zeros((0, problem.n_obj))
        self._keys = keys_of(problem)
        self._number: dict[bytes, int] = {}
        widths = {"F": problem.n_obj, "G": problem.n_ieq_constr, "H": problem.n_eq_constr}
        self._measures = {key: np.empty((64, widths[key])) for key in self._keys}  # rows beyond the count are spare
        self._stored: Arrays | None = None
        self._served = 0
        self.begin()

    def __len__(self) -> int:
        return len(self._number)

    def begin(self, stored: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Start a generation; with ``stored`` its measures are served from there, and its genomes compared."""
        self._new_X: list[NDArray[Any]] = []
        self._first_new = len(self._number)
        self._calls: list[NDArray[np.int64]] = []
        self.measuring = 0.0
        self._stored = None if stored is None else dict(stored)
        self._served = 0

    def evaluate(self, X: NDArray[Any]) -> Arrays:
        """Measure what the algorithm asks for; counted as evaluations, also when it was measured before."""
        numbers = self.numbers(X)
        self.evaluated += len(numbers)
        self._calls.append(numbers)
        return self.measures(numbers)

    def absorb(self, stored: Mapping[str, NDArray[Any]], evaluated: int) -> None:
        """Take in the solutions of a stored generation without asking anybody; ``evaluated`` is its counter."""
        self.begin(stored)
        self.numbers(stored["X"])
        self.evaluated = evaluated

    def measures(self, numbers: NDArray[np.int64]) -> Arrays:
        """Measures of known solutions."""
        return {key: self._measures[key][numbers] for key in self._keys}

    def numbers(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the solutions' numbers; unknown ones are measured and numbered."""
        if self.rounded and len(X):
            X = np.clip(np.rint(np.asarray(X, dtype=float)), self.problem.xl, self.problem.xu)
        X = self.problem.genomes(X)
        keys = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in X]
        fresh = first_unknown(keys, self._number)
        if fresh:
            rows = np.ascontiguousarray(X[list(fresh.values())])
            measures = self._measure(rows)
            first = len(self._number)
            for name in self._keys:
                self._keep(name, measures[name], first)
            for key in fresh:
                self._number[key] = len(self._number)
            self._new_X.append(rows)
            self._update_front(measures, first)
        return np.array([self._number[key] for key in keys], dtype=np.int64)

    def arrays(self) -> Arrays:
        """Arrays that this generation added, to be stored."""
        start, end = self._first_new, len(self._number)
        none = np.zeros((0, self.problem.n_var), dtype=self.problem.dtype)
        return {
            "X": np.vstack([none, *self._new_X]),
            **{key: self._measures[key][start:end].copy() for key in self._keys},
            "calls": np.concatenate([np.zeros(0, dtype=np.int64), *self._calls]).astype(np.int32),
            "call_sizes": np.array([len(call) for call in self._calls], dtype=np.int32),
            "front": self.front.astype(np.int32),
        }

    def _keep(self, name: str, rows: NDArray[np.float64], first: int) -> None:
        table = self._measures[name]
        if first + len(rows) > len(table):
            larger = np.empty((max(2 * len(table), first + len(rows)), table.shape[1]))
            larger[:first] = table[:first]
            table = self._measures[name] = larger
        table[first : first + len(rows)] = rows

    def _measure(self, X: NDArray[Any]) -> Arrays:
        if self._stored is not None:
            return self._serve(X)
        start = time.perf_counter()
        measures = self.backend.evaluate(X)
        self.measuring += time.perf_counter() - start
        for key in self._keys:
            if len(measures[key]) != len(X) or not np.isfinite(measures[key]).all():
                raise SDCError(
                    f"{type(self.problem).__name__} measured {key} incompletely: {len(X)} rows were asked for"
                )
        return measures

    def _serve(self, X: NDArray[Any]) -> Arrays:
        assert self._stored is not None
        expected = self._stored["X"][self._served : self._served + len(X)]
        if expected.shape != X.shape or expected.tobytes() != X.tobytes():
            raise Diverged("the search proposed other solutions than it did before")
        served = slice(self._served, self._served + len(X))
        self._served += len(X)
        return {key: self._stored[key][served] for key in self._keys}

    def _update_front(self, measures: Arrays, first: int) -> None:
        kept = np.flatnonzero(feasible(measures, len(measures["F"])))
        F = np.vstack([self._front_F, measures["F"][kept]])
        numbers = np.concatenate([self.front, kept + first])
        mask = nondominated(F)
        self._front_F, self.front = F[mask], numbers[mask]


class RecordingEvaluator(Evaluator):
    """pymoo's evaluator, measuring through a log."""

    def __init__(self, log: EvaluationLog) -> None:
        super().__init__()
        self.log = log

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: list[str], **kwargs: Any) -> None:
        set_measures(pop, self.log.evaluate(np.array([individual.X for individual in pop])))
