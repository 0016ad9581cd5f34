"""Variation of arrays: a problem's operators without pymoo around them, for algorithms of other frameworks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.population import Population

from sdc_problems.errors import SDCError

Rows = NDArray[Any]


class Variation:
    """Sampling, crossover, mutation and repair of a problem: arrays in, new arrays out, always canonical.

    Every result has the problem's dtype, is within its bounds and is its own canonical form; what is given is not
    changed. Probabilities are those of the operators, so a framework should apply them always.

    Parameters
    ----------
    problem
        The problem whose ``operators()`` are used.
    rng
        Draws everything that is random.
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
        """Rows that a search starts from.

        Parameters
        ----------
        n
            How many. Some samplings spread their rows over what is possible: one call for all of a population.
        """
        return self._repaired(self._sampling(self.problem, n, random_state=self.rng))

    def cross(self, A: ArrayLike, B: ArrayLike) -> tuple[Rows, Rows]:
        """Cross the rows of A with those of B, pair by pair; two children of each pair, the first nearer to A.

        Parameters
        ----------
        A, B
            As many rows each.
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
        # pymoo lays the children out child by child: first children of all matings, then second ones.
        children = self._repaired(self._crossover(self.problem, pop, both, random_state=self.rng))
        return children[:n], children[n : 2 * n]

    def mutate(self, X: ArrayLike) -> Rows:
        """Mutated copies of rows.

        Parameters
        ----------
        X
            Rows.
        """
        return self._repaired(self._mutation(self.problem, Population.new("X", self._rows(X)), random_state=self.rng))

    def canonical(self, X: ArrayLike) -> Rows:
        """Nearest rows of the encoding: rounded, within bounds, repaired; canonical rows stay as they are.

        Parameters
        ----------
        X
            Rows of any finite numbers.
        """
        return self._repaired(Population.new("X", self._rows(X)))

    def _rows(self, X: ArrayLike) -> Rows:
        """Whole numbers within the bounds, in an array of its own."""
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
        The problem whose ``operators()`` are used.
    rng
        Draws everything that is random.

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
