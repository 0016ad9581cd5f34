"""Base of the adapters: a task with canonical rows, objectives and violations; seeds; and the end of a run."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems.errors import SDCError
from sdc_problems.operators.arrays import Variation, variation
from sdc_problems.operators.lattice import has_threshold
from sdc_problems.problem import SDCProblem
from sdc_problems.suite._recorder import BudgetSpent

AT_ONCE = 100  # rows sampled together for a framework that requests one at a time; a usual population


class Recording(Protocol):
    """A `Recorder`, or any other object whose problem counts what it measures."""

    problem: Any


Source: TypeAlias = SDCProblem | Recording


@contextmanager
def needs(package: str) -> Iterator[None]:
    """Say in one sentence how to install a missing framework.

    Parameters
    ----------
    package
        Its name on PyPI.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or "." in error.name:
            raise  # the framework is installed, but in a version that is not supported
        raise SDCError(f"this adapter needs {package}: pip install {package}") from None


@contextmanager
def session(rng: np.random.Generator) -> Iterator[None]:
    """Run of a framework: a used-up budget ends it, and its log has only warnings.

    The framework's global generators are seeded from ``rng``, and restored afterwards.

    Parameters
    ----------
    rng
        Source of the seed of ``random`` and of ``numpy.random``, which most frameworks use.
    """
    before = random.getstate(), np.random.get_state(), logging.root.manager.disable  # noqa: NPY002
    seed = int(rng.integers(2**32))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    logging.disable(max(logging.INFO, before[2]))  # Optuna's log has a line for every trial
    try:
        yield
    except BudgetSpent:
        pass
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        logging.disable(before[2])


@contextmanager
def ends(stop: Callable[[], object], instead: Exception) -> Iterator[None]:
    """End a run by the framework's own means if the budget is used up.

    Parameters
    ----------
    stop
        Function that stops the framework.
    instead
        Exception that it expects from the evaluation that had no budget left.
    """
    try:
        yield
    except BudgetSpent:
        stop()
        raise instead from None


def answer(value: str | int) -> Callable[[Any], Any]:
    """Make a method without arguments, by which a framework asks about the task.

    Parameters
    ----------
    value
        Name of the task's attribute, or the answer itself.
    """
    get = attrgetter(f"task.{value}")
    return lambda self: get(self) if isinstance(value, str) else value


class Adapted:
    """Task as seen by an adapter.

    Parameters
    ----------
    source
        A problem, or a recorder of one.
    rng
        Source of the operators' random numbers.

    Attributes
    ----------
    problem
        The problem that measures.
    vary
        Its operators, as functions of arrays.
    name, names, labels
        Name of the task; names of its variables and of its objectives, a maximized one with a minus sign.
    low, high, bounds
        Bounds of the variables: the lower, the upper, both.
    ranges
        The lower and the upper bound of each variable, by its name.
    n_var, n_obj, n_constr
        Number of variables, of objectives (all minimized), and of constraints.
    """

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self.problem: Any = getattr(source, "problem", source)
        if not isinstance(self.problem, SDCProblem):
            kind = type(source).__name__
            raise SDCError(f"an adapter takes a problem, such as instance.problem(), or a recorder of one, not {kind}")
        self.rng = rng
        self.vary: Variation = variation(self.problem, rng)
        self.name = type(self.problem).__name__.removesuffix("Problem")
        attributes = [str(name) for name in getattr(self.problem, "attributes", ())]
        attributes += ["threshold"] * (has_threshold(self.problem) and len(attributes) == self.problem.n_var - 1)
        numbers = [f"x{i}" for i in range(self.problem.n_var)]
        self.names = attributes if len(attributes) == len(numbers) else numbers
        signs = {"min": "", "max": "-"}
        self.labels = [signs[objective.sense] + objective.name for objective in self.problem.objectives]
        self.low: list[int] = self.problem.xl.astype(int).tolist()
        self.high: list[int] = self.problem.xu.astype(int).tolist()
        self.n_obj, self.n_constr = int(self.problem.n_obj), int(self.problem.n_ieq_constr)
        self.n_var, self.bounds = len(self.names), (self.low, self.high)
        self.ranges = dict(zip(self.names, zip(self.low, self.high, strict=True), strict=True))
        self._waiting: list[NDArray[Any]] = []
        self._last: tuple[bytes, NDArray[np.float64]] = (b"", np.zeros((0, 0)))

    def fresh(self) -> list[int]:
        """Return a row from which a search starts; many are sampled together, because samplings spread their rows."""
        self._waiting = self._waiting or list(self.vary.sample(AT_ONCE)[::-1])
        row: list[int] = self._waiting.pop().tolist()
        return row

    def measure(self, X: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
        """Measure rows of any numbers: their canonical form, its objectives, and violations of requirements (> 0).

        Parameters
        ----------
        X
            Rows, or one row.
        """
        rows = self.vary.canonical(X)
        F, G = self.problem.evaluate(rows, return_values_of=["F", "G"])
        self._last = rows.tobytes(), np.maximum(G, 0.0)
        return rows, F, self._last[1]

    def violations(self, x: ArrayLike) -> list[float]:
        """Return the violation of each requirement (> 0); the row measured last is not measured again.

        Parameters
        ----------
        x
            One row.
        """
        rows = self.vary.canonical(x)
        found: list[float] = (self._last[1] if rows.tobytes() == self._last[0] else self.measure(rows)[2])[0].tolist()
        return found

    def named(self, violations: Iterable[float]) -> dict[str, float]:
        """Name the violation of each requirement, for frameworks whose constraints have names.

        Parameters
        ----------
        violations
            One number for each requirement.
        """
        return {f"requirement {number}": value for number, value in enumerate(violations)}


class Tied:
    """Operator of a framework that knows its task; put before the framework's own class as a base.

    Parameters
    ----------
    task
        The task.
    *given
        Arguments of the framework's class.
    """

    def __init__(self, task: Adapted, *given: Any) -> None:
        super().__init__(*given)
        self.task = task
