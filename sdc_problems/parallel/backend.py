"""Backends that measure candidates: their protocol, and the one that works in this process."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Self

    from pymoo.core.problem import Problem

Measures = dict[str, NDArray[Any]]

BATCHES_PER_WORKER = 4  # more batches balance rows of different cost, fewer cause less traffic


@runtime_checkable
class Backend(Protocol):
    """Backend that measures rows of ``X``; a context manager that closes itself."""

    @property
    def scheduler(self) -> str | None:
        """Address at which other processes can use the same workers; None if they cannot."""
        ...

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Return ``F`` (and ``G``, ``H`` of a constrained problem) of every row.

        If measuring shows which rows are the same solution, the problem also returns their common form as ``X``.
        """
        ...

    def forget(self) -> None:
        """Remove the problem and its data from shared workers."""
        ...

    def close(self) -> None:
        """Release processes and connections."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


class Serial:
    """Backend that measures in this process.

    Parameters
    ----------
    problem
        The problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def scheduler(self) -> str | None:
        """None: no other process can use it."""
        return None

    def evaluate(self, X: NDArray[Any]) -> Measures:
        """Measure every row."""
        return measure(self.problem, X)

    def forget(self) -> None:
        """Do nothing: nothing is kept elsewhere."""

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def keys_of(problem: Problem) -> list[str]:
    """Names of the quantities that a problem measures.

    Examples
    --------
    >>> from pymoo.problems import get_problem
    >>> keys_of(get_problem("bnh"))
    ['F', 'G']
    """
    return ["F", *["G"] * (problem.n_ieq_constr > 0), *["H"] * (problem.n_eq_constr > 0)]


def measure(problem: Problem, X: NDArray[Any]) -> Measures:
    """Measure rows in this process."""
    found = problem.evaluate(X, return_values_of=keys_of(problem), return_as_dictionary=True)
    forms = {"X": np.asarray(found["X"])} if "X" in found else {}
    return {**forms, **{key: np.asarray(found[key], dtype=float) for key in keys_of(problem)}}


def batches(n: int, workers: int) -> list[slice]:
    """Cut n rows into slices of about equal length, a few for each worker.

    Examples
    --------
    >>> batches(5, 1)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return cut_evenly(n, workers * BATCHES_PER_WORKER)


def cut_evenly(n: int, most: int) -> list[slice]:
    """Cut n rows into at most ``most`` slices of about equal length.

    Examples
    --------
    >>> cut_evenly(5, 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    size = max(1, math.ceil(n / max(1, most)))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def joined(problem: Problem, parts: Sequence[Measures]) -> Measures:
    """Join the measures of batches, in order."""
    widths = {"F": problem.n_obj, "G": problem.n_ieq_constr, "H": problem.n_eq_constr}
    forms = [part["X"] for part in parts if "X" in part]
    return {
        **({"X": np.vstack(forms)} if forms else {}),
        **{key: np.vstack([np.zeros((0, widths[key])), *[part[key] for part in parts]]) for key in keys_of(problem)},
    }


def set_measures(pop: Any, measures: Mapping[str, NDArray[Any]]) -> None:
    """Write measures, and rows if they were returned, into a population; mark each individual as evaluated."""
    if "X" in measures:
        pop.set("X", measures["X"])
    for key in ("F", "G", "H"):
        pop.set(key, measures.get(key, np.zeros((len(pop), 0))))
    pop.apply(lambda individual: individual.evaluated.update(("F", "G", "H")))
