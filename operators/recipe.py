"""Operators for recipes: method, strength, and columns that are protected together.

A row of X holds three numbers per column, in three parts: the method of each column (0 leaves the column unchanged),
the step of its parameters, and a group label. Columns with the same label and the same method are protected together,
at the step of the first of them, if the method works on several columns at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from sdc_problems.operators.canonical import restricted_growth


class RecipeSpace(NamedTuple):
    """Space of recipes: methods that can be applied to each column, and their steps.

    Attributes
    ----------
    steps
        Columns × methods: number of steps of the method for that column, 0 if it cannot be applied. Method 0 leaves a
        column unchanged and has one step.
    joint
        Whether each method works on several columns at once.
    """

    steps: NDArray[np.int64]
    joint: NDArray[np.bool_]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.steps)


def parts(row: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Views of the methods, steps and group labels of a row."""
    p = len(row) // 3
    return row[:p], row[p : 2 * p], row[2 * p :]


def canonical_recipe(row: NDArray[Any], space: RecipeSpace) -> NDArray[Any]:
    """Canonical form of a recipe, so that equal recipes have equal rows.

    A method that cannot be applied to its column is replaced by 0, a step beyond the last becomes the last, a column
    that is protected on its own gets its own label, and labels are numbered in order of first use.

    Examples
    --------
    >>> space = RecipeSpace(np.array([[1, 3], [1, 3], [1, 0]]), np.array([False, True]))
    >>> canonical_recipe(np.array([1, 1, 1, 2, 0, 4, 2, 2, 2]), space)
    array([1, 1, 0, 2, 2, 0, 0, 0, 1])
    """
    p = space.n_columns
    out = row.copy()
    methods, steps, labels = parts(out)
    methods[space.steps[np.arange(p), methods] == 0] = 0
    together: dict[tuple[int, int], int] = {}
    for j in range(p):
        if space.joint[methods[j]]:
            first = together.setdefault((int(labels[j]), int(methods[j])), j)
        else:
            first = j
        labels[j] = first
    for j in range(p):
        steps[j] = min(steps[labels[j]], space.steps[j, methods[j]] - 1)
    for j in range(p):  # a group can only use steps that all its columns have
        steps[labels[j]] = min(steps[labels[j]], steps[j])
    steps[:] = steps[labels]
    labels[:] = restricted_growth(labels)
    return out


class CanonicalRecipes(Repair):
    """Repair that brings recipes into canonical form."""

    def __init__(self, space: RecipeSpace) -> None:
        super().__init__()
        self.space = space

    def _do(self, problem: Any, X: NDArray[Any], **kwargs: object) -> NDArray[Any]:
        return np.array([canonical_recipe(row, self.space) for row in np.asarray(X)]).astype(X.dtype).reshape(X.shape)


class RandomRecipes(Sampling):
    """Sampling of recipes: a random applicable method for every column, at a random step, with few or many groups."""

    def __init__(self, space: RecipeSpace) -> None:
        super().__init__()
        self.space = space

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        return np.array([random_recipe(self.space, random_state) for _ in range(n_samples)]).astype(problem.dtype)


def random_recipe(space: RecipeSpace, rng: np.random.Generator) -> NDArray[Any]:
    """Random row: from one to all columns get their own methods, the others that of a column before them."""
    p = space.n_columns
    row = np.zeros(3 * p, dtype=np.int64)
    methods, steps, labels = parts(row)
    labels[:] = rng.integers(0, int(rng.integers(1, p, endpoint=True)), size=p)
    same = rng.random() < 0.5  # with probability 1/2, a recipe with few methods
    for j in range(p):
        fitting = np.flatnonzero(space.steps[j])
        known = [m for m in methods[:j] if space.steps[j, m]] if same else []
        methods[j] = rng.choice(known) if known and rng.random() < 0.8 else rng.choice(fitting)
        steps[j] = rng.integers(space.steps[j, methods[j]])
    return canonical_recipe(row, space)


class RecipeCrossover(Crossover):
    """Crossover of two parents to two children that exchange single columns or whole groups.

    In half of the matings, every column comes from either parent with equal probability. In the other half, every group
    of one parent is inherited as a whole with probability 1/2, and all other columns come from the other parent.
    """

    def __init__(self, space: RecipeSpace, prob: float = 0.5) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=prob)
        self.space = space

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        children = np.empty_like(X)
        for mating in range(X.shape[1]):
            for child, (giver, receiver) in enumerate(((0, 1), (1, 0))):
                children[child, mating] = self._child(X[giver, mating], X[receiver, mating], random_state)
        return children

    def _child(self, giver: NDArray[Any], receiver: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        p = self.space.n_columns
        labels = parts(giver)[2]
        by_column = rng.random() < 0.5
        drawn = rng.random(p) < 0.5
        inherited = drawn if by_column else drawn[restricted_growth(labels)]
        child = np.where(np.tile(inherited, 3), giver, receiver)
        if not by_column:  # a group that was inherited as a whole must not get other columns
            parts(child)[2][~inherited] += p
        return canonical_recipe(child, self.space)


class RecipeMutation(Mutation):
    """Mutation of a recipe: another method, a step more or less, or groups merged or split.

    A group changes as a whole. Each child changes once, and once more with probability ``again``, and so on.
    """

    def __init__(self, space: RecipeSpace, prob: float = 1.0, *, again: float = 0.3) -> None:
        super().__init__(prob=prob)
        self.space = space
        self.again = again

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        children = np.array([canonical_recipe(row, self.space) for row in X]).astype(X.dtype).reshape(X.shape)
        for i in range(len(children)):
            while True:
                children[i] = self.changed(children[i], random_state)
                if random_state.random() >= self.again:
                    break
        return children

    def changed(self, row: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Change a canonical row once."""
        out = row.copy()
        (self._step, self._step, self._method, self._merge, self._split)[int(rng.integers(5))](out, rng)
        return canonical_recipe(out, self.space)

    def _members(self, row: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """Columns of a random group."""
        labels = parts(row)[2]
        return np.flatnonzero(labels == rng.integers(labels.max() + 1))

    def _step(self, row: NDArray[Any], rng: np.random.Generator) -> None:
        """One step more or less for a group whose method has more than one step."""
        methods, steps, labels = parts(row)
        tops = self.space.steps[np.arange(len(methods)), methods] - 1
        able = np.flatnonzero(tops > 0)
        if not len(able):
            return self._method(row, rng)
        members = labels == labels[rng.choice(able)]
        top = int(tops[members].min())
        now = int(steps[members][0])
        up = now == 0 or (now < top and rng.random() < 0.5)
        steps[members] = min(max(now + (1 if up else -1), 0), top)
        return None

    def _method(self, row: NDArray[Any], rng: np.random.Generator) -> None:
        """Another method that can be applied to all columns of a group, about as strong as the one before."""
        methods, steps, _ = parts(row)
        members = self._members(row, rng)
        fitting = np.flatnonzero((self.space.steps[members] > 0).all(axis=0))
        others = fitting[fitting != methods[members[0]]]
        if len(others):
            old = self.space.steps[members[0], methods[members[0]]]
            share = (steps[members[0]] + rng.random()) / old
            methods[members] = rng.choice(others)
            steps[members] = int(share * self.space.steps[members, methods[members]].min())

    def _merge(self, row: NDArray[Any], rng: np.random.Generator) -> None:
        """A column joins a group and takes its method and step, if the method can be applied to it."""
        methods, steps, labels = parts(row)
        j = int(rng.integers(len(methods)))
        hosts = [i for i in range(len(methods)) if labels[i] != labels[j] and self.space.steps[j, methods[i]]]
        if hosts:
            host = rng.choice(hosts)
            movers = np.flatnonzero(labels == labels[j]) if rng.random() < 0.5 else np.array([j])
            movers = movers[self.space.steps[movers, methods[host]] > 0]
            methods[movers], steps[movers], labels[movers] = methods[host], steps[host], labels[host]

    def _split(self, row: NDArray[Any], rng: np.random.Generator) -> None:
        """A part of a group becomes a group of its own; a group of one column changes its step instead."""
        labels = parts(row)[2]
        members = self._members(row, rng)
        if len(members) < 2:
            return self._step(row, rng)
        leaving = rng.permutation(members)[: int(rng.integers(1, len(members)))]
        labels[leaving] = labels.max() + 1
        return None
