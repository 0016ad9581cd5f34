"""Evaluation log of one seed: each different solution once, in the order of measurement."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator

from sdc_problems._genomes import GenomeNumbers, digests
from sdc_problems.errors import SDCError
from sdc_problems.parallel.backend import Backend, keys_of, set_measures
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.store.hypervolume import nondominated
from sdc_problems.studies.store.tables import feasible

Arrays = dict[str, NDArray[Any]]


class Diverged(SDCError):
    """Error for a replayed generation that differs from the stored one."""


class EvaluationLog:
    """Solutions by number, the front among them, and the additions of the current generation.

    A repeated solution is not measured again. Genomes are identified by a 128-bit digest, so that memory grows by some
    25 bytes per genome and those of its measures, and not with its length. If measuring shows that different genomes
    are one solution, it has one number, and is kept in the form that the problem gives it.

    Parameters
    ----------
    problem
        The problem, which gives the genome's type and checks every row.
    backend
        Backend that measures new rows.
    rounded
        Whether the search proposes real numbers: the nearest genome within the bounds is then measured.
    """

    def __init__(self, problem: SDCProblem, backend: Backend, *, rounded: bool = False) -> None:
        self.problem = problem
        self.backend = backend
        self.rounded = rounded
        self.evaluated = 0
        self.front: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._front_F: NDArray[np.float64] = np.zeros((0, problem.n_obj))
        self._keys = keys_of(problem)
        self._count = 0
        self._known = GenomeNumbers()  # of every genome that was requested, in any form
        widths = {"F": problem.n_obj, "G": problem.n_ieq_constr, "H": problem.n_eq_constr}
        self._measures = {key: np.empty((64, widths[key])) for key in self._keys}  # rows beyond the count are spare
        self._stored: Arrays | None = None
        self._served = 0
        self.begin()

    def __len__(self) -> int:
        return self._count

    def begin(self, stored: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Begin a generation; with ``stored``, measures are taken from there, and genomes are compared with it."""
        self._new_X: list[NDArray[Any]] = []
        self._asked: list[NDArray[Any]] = []
        self._became: list[NDArray[np.int32]] = []
        self._first_new = len(self)
        self._calls: list[NDArray[np.int64]] = []
        self.measuring = 0.0
        self._stored = None if stored is None else dict(stored)
        self._served = 0

    def evaluate(self, X: NDArray[Any]) -> Arrays:
        """Measure the rows that the algorithm requests; each counts as an evaluation, even if measured before."""
        numbers = self.numbers(X)
        self.evaluated += len(numbers)
        self._calls.append(numbers)
        return self.measures(numbers)

    def absorb(self, stored: Mapping[str, NDArray[Any]], evaluated: int) -> None:
        """Add the solutions of a stored generation without measuring; ``evaluated`` is its counter."""
        self.begin(stored)
        self.numbers(stored.get("asked", stored["X"]))
        self.evaluated = evaluated

    def measures(self, numbers: NDArray[np.int64]) -> Arrays:
        """Measures of known solutions, and their form if the problem gives it."""
        return {key: table[numbers] for key, table in self._measures.items()}

    def numbers(self, X: NDArray[Any]) -> NDArray[np.int64]:
        """Return the numbers of solutions; unknown ones are measured and numbered."""
        if self.rounded and len(X):
            X = np.clip(np.rint(np.asarray(X, dtype=float)), self.problem.xl, self.problem.xu)
        X = self.problem.genomes(X)
        keys = digests(X)
        fresh = self._known.first_unknown(keys)
        if fresh:
            rows = np.ascontiguousarray(X[list(fresh.values())])
            measures = self._measure(rows)
            if "X" in measures:
                self._asked.append(rows)
                own = digests(measures["X"])
                new = self._known.first_unknown(own)
                chosen = list(new.values())
                self._take(list(new), {name: values[chosen] for name, values in measures.items()})
                became = self._known.find(own)
                for key, number in zip(fresh, became.tolist(), strict=True):
                    if key not in new:
                        self._known.add(key, number)
                self._became.append(became.astype(np.int32))
            else:
                self._take(list(fresh), {"X": rows, **measures})
        return self._known.find(keys)

    def _take(self, keys: list[bytes], solutions: Arrays) -> None:
        """Number new solutions and store their measures."""
        first = len(self)
        for name in self._measures:
            self._keep(name, solutions[name], first)
        for i, key in enumerate(keys):
            self._known.add(key, first + i)
        self._count += len(keys)
        self._new_X.append(solutions["X"])
        self._update_front(solutions, first)

    def arrays(self) -> Arrays:
        """Arrays added by this generation, to be stored."""
        start, end = self._first_new, len(self)
        none = np.zeros((0, self.problem.n_var), dtype=self.problem.dtype)
        asked = {}
        if self._asked:  # a replay must know which solution each genome is without measuring it
            asked = {"asked": np.vstack(self._asked), "became": np.concatenate(self._became)}
        return {
            **asked,
            "X": np.vstack([none, *self._new_X]),
            **{key: self._measures[key][start:end].copy() for key in self._keys},
            "calls": np.concatenate([np.zeros(0, dtype=np.int64), *self._calls]).astype(np.int32),
            "call_sizes": np.array([len(call) for call in self._calls], dtype=np.int32),
            "front": self.front.astype(np.int32),
        }

    def _expect_forms(self) -> None:
        """Also keep the form of each solution, starting with the first."""
        self._measures.setdefault("X", np.empty((64, self.problem.n_var), dtype=self.problem.dtype))

    def _keep(self, name: str, rows: NDArray[Any], first: int) -> None:
        table = self._measures[name]
        if first + len(rows) > len(table):
            larger = np.empty((max(2 * len(table), first + len(rows)), table.shape[1]), dtype=table.dtype)
            larger[:first] = table[:first]
            table = self._measures[name] = larger
        table[first : first + len(rows)] = rows

    def _measure(self, X: NDArray[Any]) -> Arrays:
        if self._stored is not None:
            return self._serve(X)
        start = time.perf_counter()
        measures = self.backend.evaluate(X)
        self.measuring += time.perf_counter() - start
        if "X" in measures:
            measures["X"] = self.problem.genomes(measures["X"])
            self._expect_forms()
        for key in self._keys:
            if len(measures[key]) != len(X) or not np.isfinite(measures[key]).all():
                raise SDCError(
                    f"{type(self.problem).__name__} measured {key} incompletely: {len(X)} rows were asked for"
                )
        return measures

    def _serve(self, X: NDArray[Any]) -> Arrays:
        """Measures of the next rows from the stored generation, which must hold exactly these rows."""
        assert self._stored is not None
        there = self._stored
        served = slice(self._served, self._served + len(X))
        self._served += len(X)
        expected = there.get("asked", there["X"])[served]
        if expected.shape != X.shape or expected.tobytes() != X.tobytes():
            raise Diverged("the search proposed other solutions than it did before")
        if "asked" not in there:
            return {key: there[key][served] for key in self._keys}
        became = there["became"][served].astype(np.int64)
        end = self._first_new + len(there["X"])
        if len(became) != len(X) or not ((became >= 0) & (became < end)).all():
            raise Diverged("it names solutions that it does not hold")
        self._expect_forms()
        new = became >= self._first_new
        found = self.measures(np.where(new, 0, became))
        for key, values in found.items():
            values[new] = there[key][became[new] - self._first_new]
        return found

    def _update_front(self, measures: Arrays, first: int) -> None:
        kept = np.flatnonzero(feasible(measures, len(measures["F"])))
        F = np.vstack([self._front_F, measures["F"][kept]])
        numbers = np.concatenate([self.front, kept + first])
        mask = nondominated(F)
        self._front_F, self.front = F[mask], numbers[mask]


class RecordingEvaluator(Evaluator):
    """Evaluator for pymoo that measures through a log."""

    def __init__(self, log: EvaluationLog) -> None:
        super().__init__()
        self.log = log

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: list[str], **kwargs: Any) -> None:
        measures = self.log.evaluate(np.array([individual.X for individual in pop]))
        if self.log.rounded:
            measures.pop("X", None)  # the search continues with its real numbers
        set_measures(pop, measures)
