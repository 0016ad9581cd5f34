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
    """Instance, as far as recording needs it."""

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
        """Make a fresh problem."""


class BudgetSpent(Exception):
    """End of a run: all evaluations of the budget are measured and recorded."""


class Recorder:
    """Recorder between an algorithm and a problem: whatever the framework, the budget is kept to one evaluation.

    ``recorder.problem`` is a pymoo problem like any other; what it measures is counted, as is what
    ``recorder.evaluate`` does. A solution that comes again counts as an evaluation, but is not measured again.

    Parameters
    ----------
    instance
        An instance of the suite, or a problem of pymoo's kind.
    budget
        Name of one of the instance's budgets, or a number of evaluations.
    seed, algorithm
        What the record says of the run.

    Notes
    -----
    A row costs a look-up, and a comparison with the archive: O(archive · objectives). Measuring in other processes
    bypasses the recorder: its problem cannot be pickled, so that no evaluation goes uncounted.

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
        self._values: dict[
            str, NDArray[Any]
        ] = {}  # measures of the different rows, by their numbers; the rest is spare
        self._entries: list[tuple[int, int, NDArray[np.float64], NDArray[Any]]] = []
        self._archive = np.zeros((0, self.problem.n_obj))
        measure = self.problem.do

        def do(X: Any, return_values_of: Sequence[str], *args: Any, **kwargs: Any) -> dict[str, Any]:
            return self._do(measure, X, return_values_of, args, kwargs)

        self.problem.do = do  # what pymoo's Problem.evaluate calls, whoever calls it

    @property
    def done(self) -> bool:
        """Whether the budget is spent."""
        return self.evaluations >= self.budget

    @property
    def seconds_recording(self) -> float:
        """CPU seconds of what the recorder itself has done."""
        return self._recording

    def evaluate(self, X: ArrayLike) -> NDArray[np.float64]:
        """Measure rows: objectives, minimised, one row each; of one row (1-d) a vector.

        Parameters
        ----------
        X
            The rows. What goes beyond the budget is not measured: ``BudgetSpent`` is raised then.
        """
        F: NDArray[np.float64] = self.problem.evaluate(np.asarray(X), return_values_of=["F"])
        return F

    def record(self) -> Record:
        """Return what was recorded so far."""
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
        """Measure what is new and within the budget, and note it; as pymoo's ``Problem.do``."""
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
        """Remember measures of new rows, after those of so many."""
        table = self._values.get(name)
        if table is None or count + len(values) > len(table):
            larger = np.empty((2 * count + len(values) + 256, values.shape[1]), dtype=values.dtype)
            if table is not None:
                larger[:count] = table[:count]
            table = self._values[name] = larger
        table[count : count + len(values)] = values

    def _enter(self, genomes: NDArray[Any], numbers: NDArray[np.int64], first: list[int]) -> None:
        """Let rows into the archive that nothing before them is as good as."""
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
    """Mark the rows that some row of another set is at least as good as, in every objective."""
    covered = np.zeros(len(F), dtype=bool)
    for start in range(0, len(F), 256):  # bounded memory, whatever the batch
        part = F[start : start + 256]
        better: NDArray[np.bool_] = np.all(by[None, :, :] <= part[:, None, :], axis=2)
        covered[start : start + 256] = better.any(axis=1)
    return covered
