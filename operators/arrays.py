"""Variation of arrays: the operators of a problem without pymoo, for algorithms of other frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.population import Population

from sdc_problems.errors import SDCError

Rows = NDArray[Any]


class Variation:
    """Sampling, crossover, mutation and repair of a problem as functions that return new, canonical arrays.

    Every result has the dtype of the problem, is within its bounds and is canonical. Arguments are not changed. The
    operators apply their own probabilities, so a framework should call them every time.

    Parameters
    ----------
    problem
        Problem whose ``operators()`` are used.
    rng
        Source of all random numbers.
    """

    def __init__(self, problem: Any, rng: np.random.Generator) -> None:
        self.problem, self.rng = problem, rng
        chosen = problem.operators()
        self._sampling, self._crossover = chosen["sampling"], chosen["crossover"]
        self._mutation, self._repair = chosen["mutation"], chosen["repair"]
        if self._crossover.n_parents > 2:
            name = type(self._crossover).__name__
            raise SDCError(f"{name} takes {self._crossover.n_parents} parents; a variation crosses two")

    def sample(self, n: int) -> Rows:
        """Sample rows from which a search starts.

        Parameters
        ----------
        n
            Number of rows. Some samplings spread their rows over the space, so sample a population in one call.
        """
        return self._repaired(self._sampling(self.problem, n, random_state=self.rng))

    def cross(self, A: ArrayLike, B: ArrayLike) -> tuple[Rows, Rows]:
        """Cross the rows of A with those of B, pair by pair; each pair has two children, the first nearer to A.

        Parameters
        ----------
        A, B
            Equal numbers of rows.
        """
        A, B = self._rows(A), self._rows(B)
        if len(A) != len(B):
            raise SDCError(f"parents come in pairs: {len(A)} rows of A, {len(B)} rows of B")
        n, pop = len(A), Population.new("X", np.concatenate([A, B]))
        first, second = np.arange(n)[:, None], np.arange(n, 2 * n)[:, None]
        both = np.hstack([first, second])
        if self._crossover.n_parents == 1:
            both = np.concatenate([first, second])
        elif self._crossover.n_offsprings == 1:
            both = np.concatenate([both, both[:, ::-1]])
        # pymoo orders children child by child: the first children of all matings, then the second ones.
        children = self._repaired(self._crossover(self.problem, pop, both, random_state=self.rng))
        return children[:n], children[n : 2 * n]

    def mutate(self, X: ArrayLike) -> Rows:
        """Return mutated copies of rows.

        Parameters
        ----------
        X
            Rows to mutate.
        """
        return self._repaired(self._mutation(self.problem, Population.new("X", self._rows(X)), random_state=self.rng))

    def canonical(self, X: ArrayLike) -> Rows:
        """Canonical rows of the encoding: rounded, clipped to the bounds, and repaired; canonical rows do not change.

        Parameters
        ----------
        X
            Rows of finite numbers.
        """
        return self._repaired(Population.new("X", self._rows(X)))

    def _rows(self, X: ArrayLike) -> Rows:
        """Whole numbers within the bounds, in a new array."""
        X = np.atleast_2d(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.problem.n_var:
            raise SDCError(f"X must have {self.problem.n_var} columns, not shape {X.shape}")
        if X.dtype.kind not in "iuf" or not np.isfinite(X).all():
            raise SDCError("X must hold finite numbers only")
        rows: Rows = np.clip(np.rint(X), self.problem.xl, self.problem.xu).astype(self.problem.dtype)
        return rows

    def _repaired(self, pop: Any) -> Rows:
        """Canonical rows of a population."""
        if not len(pop):
            return np.empty((0, self.problem.n_var), dtype=self.problem.dtype)
        X = self._repair(self.problem, pop, random_state=self.rng).get("X")
        return np.ascontiguousarray(X, dtype=self.problem.dtype)


def variation(problem: Any, rng: np.random.Generator) -> Variation:
    """Operators of a problem as functions of arrays: ``sample(n)``, ``cross(A, B)``, ``mutate(X)``, ``canonical(X)``.

    Parameters
    ----------
    problem
        Problem whose ``operators()`` are used.
    rng
        Source of all random numbers.

    Examples
    --------
    >>> from sdc_problems import PBGProblem, load
    >>> people = load("people")
    >>> problem = PBGProblem(people.data, people.hierarchies, columns=["age", "sex"], suppression="budget")
    >>> vary = variation(problem, np.random.default_rng(1))
    >>> vary.canonical([[-1.0, 7.0], [1.4, 0.6]])
    array([[0, 1],
           [1, 1]], dtype=int16)
    >>> X = vary.sample(10)
    >>> children, others = vary.cross(X[:5], X[5:])
    >>> vary.mutate(children).shape
    (5, 2)
    """
    return Variation(problem, rng)
