"""Recorder of a run: counts evaluations, ends at the budget, and keeps every solution that entered the archive."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.problem import Problem

from sdc_problems._genomes import first_unknown, row_keys
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.suite._record import Record
from sdc_problems.suite._versions import versions

_MEASURES = {"F", "G", "H"}


class Recordable(Protocol):
    """Properties of an instance that recording needs."""

    @property
    def id(self) -> str:
        """Name with its version."""

    @property
    def digest(self) -> str:
        """SHA-256 of its definition."""

    @property
    def budgets(self) -> Mapping[str, int]:
        """Evaluations by name."""

    def problem(self) -> Any:
        """Make a new problem."""


class BudgetSpent(Exception):
    """End of a run: all evaluations of the budget are measured and recorded."""


class Recorder:
    """Recorder between an algorithm and a problem: in any framework, the budget is kept to the exact evaluation.

    ``recorder.problem`` is a pymoo problem like any other; what it measures is counted, as is what
    ``recorder.evaluate`` measures. A repeated solution counts as an evaluation, but is not measured again.

    Parameters
    ----------
    instance
        An instance of the suite, or a pymoo problem.
    budget
        Name of one of the instance's budgets, or a number of evaluations.
    seed, algorithm
        Data for the record.

    Notes
    -----
    Each row costs a look-up and a comparison with the archive: O(archive · objectives). Measuring in other processes
    would bypass the recorder: its problem cannot be pickled, so that no evaluation is left uncounted.

    Examples
    --------
    >>> from pymoo.problems import get_problem
    >>> recorder = Recorder(get_problem("zdt1", n_var=2), budget=3)
    >>> recorder.evaluate(np.array([[0.0, 1.0], [0.0, 1.0]])).shape
    (2, 2)
    >>> try:
    ...     recorder.evaluate(np.array([[0.5, 0.0], [1.0, 0.0]]))
    ... except BudgetSpent:
    ...     print(recorder.evaluations, recorder.different, recorder.record().at)
    3 2 [1 3]
    """

    def __init__(
        self,
        instance: Recordable | Problem,
        budget: int | str = "long",
        *,
        seed: int | None = None,
        algorithm: str = "",
    ) -> None:
        self._begin = time.process_time()
        self.instance: Recordable | None = None if isinstance(instance, Problem) else instance
        if isinstance(instance, Problem):
            budgets: dict[str, int] = {}
            self.problem = copy.copy(instance)
        else:
            budgets = dict(instance.budgets)
            self.problem = instance.problem()
        if isinstance(budget, str):
            if budget not in budgets:
                named = f"is one of {', '.join(map(repr, budgets))}, or a number" if budgets else "must be a number"
                raise SDCError(f"budget {named} of evaluations, not {budget!r}")
            budget = budgets[budget]
        self.budget = whole(budget, "budget", least=1)
        self.seed = seed
        self.algorithm = algorithm
        self.evaluations = 0
        self.different = 0
        self._measuring = 0.0
        self._recording = 0.0
        self._known: dict[bytes, int] = {}
        self._values: dict[str, NDArray[Any]] = {}  # measures of the different rows, by number; the rest is spare
        self._entries: list[tuple[int, int, NDArray[np.float64], NDArray[Any]]] = []
        self._archive = np.zeros((0, self.problem.n_obj))
        measure = self.problem.do

        def do(X: Any, return_values_of: Sequence[str], *args: Any, **kwargs: Any) -> dict[str, Any]:
            return self._do(measure, X, return_values_of, args, kwargs)

        self.problem.do = do  # pymoo's Problem.evaluate calls it, whoever calls that

    @property
    def done(self) -> bool:
        """Whether the budget is used up."""
        return self.evaluations >= self.budget

    @property
    def seconds_recording(self) -> float:
        """CPU seconds of the recorder itself."""
        return self._recording

    def evaluate(self, X: ArrayLike) -> NDArray[np.float64]:
        """Measure rows: minimized objectives, one row each; a vector for a single row (1-d).

        Parameters
        ----------
        X
            The rows. Those beyond the budget are not measured: ``BudgetSpent`` is raised.
        """
        F: NDArray[np.float64] = self.problem.evaluate(np.asarray(X), return_values_of=["F"])
        return F

    def record(self) -> Record:
        """Return the record so far."""
        at = np.array([entry[0] for entry in self._entries], dtype=np.int64)
        different = np.array([entry[1] for entry in self._entries], dtype=np.int64)
        F = np.array([entry[2] for entry in self._entries]).reshape(len(at), self.problem.n_obj)
        dtype = getattr(self.problem, "dtype", float)
        X = np.array([entry[3] for entry in self._entries], dtype=dtype).reshape(len(at), self.problem.n_var)
        others = time.process_time() - self._begin - self._measuring - self._recording
        names = [objective.name for objective in getattr(self.problem, "objectives", ())]
        return Record(
            instance="" if self.instance is None else self.instance.id,
            digest="" if self.instance is None else self.instance.digest,
            algorithm=self.algorithm,
            seed=self.seed,
            budget=self.budget,
            objectives=tuple(names or (f"f{j + 1}" for j in range(self.problem.n_obj))),
            evaluations=self.evaluations,
            different=self.different,
            seconds_measuring=round(self._measuring, 4),
            seconds_algorithm=round(max(others, 0.0), 4),
            versions=versions(),
            at=at,
            at_different=different,
            F=F,
            X=X,
        )

    def _do(self, measure: Any, X: Any, wanted: Sequence[str], args: Any, kwargs: Any) -> dict[str, Any]:
        """Measure rows that are new and within the budget, and record them; as pymoo's ``Problem.do``."""
        start = time.process_time()
        room = self.budget - self.evaluations
        if room == 0:
            raise BudgetSpent
        rows = np.asarray(X)[:room]
        genomes = self.problem.genomes(rows) if hasattr(self.problem, "genomes") else rows
        keys = row_keys(genomes)
        asked = list(dict.fromkeys([*wanted, "F", *self._constraints()]))
        first = sorted(first_unknown(keys, self._known).values())
        remembered = set(wanted) <= _MEASURES
        chosen = rows[first] if remembered else rows
        before = time.process_time()
        out = measure(chosen, asked, *args, **kwargs) if len(chosen) else {}
        spent = time.process_time() - before
        n = len(self._known)
        self._known.update((keys[i], n + j) for j, i in enumerate(first))
        for name in (_MEASURES | {"X"}) & set(out):
            self._keep(name, out[name] if remembered else out[name][first], n)
        numbers = np.array([self._known[key] for key in keys])
        self._enter(genomes, numbers, first)
        if remembered:
            out = {name: table[numbers] for name, table in self._values.items()}
        self.evaluations += len(rows)
        self.different = len(self._known)
        self._measuring += spent
        self._recording += time.process_time() - start - spent
        if len(rows) < len(X):
            raise BudgetSpent
        return {name: values for name, values in out.items() if name in wanted or name not in _MEASURES}

    def _constraints(self) -> list[str]:
        return ["G"] * (self.problem.n_ieq_constr > 0) + ["H"] * (self.problem.n_eq_constr > 0)

    def _keep(self, name: str, values: NDArray[Any], count: int) -> None:
        """Store measures of new rows after the given number of earlier ones."""
        table = self._values.get(name)
        if table is None or count + len(values) > len(table):
            larger = np.empty((2 * count + len(values) + 256, values.shape[1]), dtype=values.dtype)
            if table is not None:
                larger[:count] = table[:count]
            table = self._values[name] = larger
        table[count : count + len(values)] = values

    def _enter(self, genomes: NDArray[Any], numbers: NDArray[np.int64], first: list[int]) -> None:
        """Put rows into the archive if no row before them is as good."""
        if not first:
            return
        rows = np.array(first)
        places = numbers[rows]
        F = self._values["F"][places]
        met = np.ones(len(rows), dtype=bool)
        if "G" in self._values:
            met &= (self._values["G"][places] <= 0).all(axis=1)
        if "H" in self._values:
            met &= (self._values["H"][places] == 0).all(axis=1)
        met[met] = ~_covered(F[met], self._archive)
        rows, places, F = rows[met], places[met], F[met]
        if not len(rows):
            return
        before = np.triu((F[:, None, :] <= F[None, :, :]).all(axis=2), 1)
        enters = ~before.any(axis=0)
        rows, places, F = rows[enters], places[enters], F[enters]
        for row, place, values in zip(rows, places, F, strict=True):
            x = self._values["X"][place] if "X" in self._values else genomes[row]
            self._entries.append((self.evaluations + int(row) + 1, int(place) + 1, values, x.copy()))
        later = np.tril((F[:, None, :] <= F[None, :, :]).all(axis=2), -1).any(axis=0)
        F = F[~later]
        self._archive = np.concatenate([self._archive[~_covered(self._archive, F)], F])


def _covered(F: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the rows for which some row of another set is at least as good in every objective."""
    covered = np.zeros(len(F), dtype=bool)
    for start in range(0, len(F), 256):  # bounds the memory, whatever the batch
        part = F[start : start + 256]
        better: NDArray[np.bool_] = np.all(by[None, :, :] <= part[:, None, :], axis=2)
        covered[start : start + 256] = better.any(axis=1)
    return covered
