"""Operators for equations: binary trees as postfix token ids in fixed-length rows, padded with -1.

A grammar defines the number of terminals and functions (ids of terminals first; all functions take two operands) and
the number of levels of a tree; a row then has ``2**depth - 1`` entries. The root is on level 1. The operators use the
``grammar`` of the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.repair import Repair
from pymoo.core.sampling import Sampling

from sdc_problems.errors import SDCError

PAD = -1
Tokens: TypeAlias = "list[int]"


@dataclass(frozen=True)
class Grammar:
    """Grammar of equations: functions, terminals, and the depth of a tree.

    Parameters
    ----------
    n_terminals, n_functions
        Token ids ``0 .. n_terminals - 1`` are terminals, the next ``n_functions`` take two operands.
    depth
        Largest number of levels of a tree.
    """

    n_terminals: int
    n_functions: int
    depth: int

    def __post_init__(self) -> None:
        if self.n_terminals < 1 or self.n_functions < 1:
            raise SDCError("a grammar needs at least one terminal and one function")
        if not 1 <= self.depth <= 10:
            raise SDCError(f"depth must be from 1 to 10 levels (a tree of 10 has 1,023 places), not {self.depth}")

    @property
    def length(self) -> int:
        """Number of entries of a row."""
        return int(2**self.depth - 1)

    def terminal(self, rng: np.random.Generator) -> int:
        """Draw a terminal."""
        return int(rng.integers(self.n_terminals))

    def function(self, rng: np.random.Generator) -> int:
        """Draw a function."""
        return self.n_terminals + int(rng.integers(self.n_functions))

    def grow(self, levels: int, rng: np.random.Generator) -> Tokens:
        """Irregular tree of at most ``levels``: any token at each node; a function at the root if there is room."""
        return self._grow(levels, rng, root=True)

    def _grow(self, levels: int, rng: np.random.Generator, root: bool) -> Tokens:
        share = self.n_functions / (self.n_functions + self.n_terminals)
        if levels == 1 or not (root or rng.random() < share):
            return [self.terminal(rng)]
        return [*self._grow(levels - 1, rng, False), *self._grow(levels - 1, rng, False), self.function(rng)]

    def full(self, levels: int, rng: np.random.Generator) -> Tokens:
        """Tree in which every branch has exactly ``levels``."""
        if levels == 1:
            return [self.terminal(rng)]
        return [*self.full(levels - 1, rng), *self.full(levels - 1, rng), self.function(rng)]

    def row(self, tokens: Tokens, dtype: Any = np.int16) -> NDArray[Any]:
        """Pad a tree to a row."""
        out = np.full(self.length, PAD, dtype=dtype)
        out[: len(tokens)] = tokens
        return out


def every_tree(grammar: Grammar) -> Iterator[Tokens]:
    """All trees of a grammar, those with fewer levels first.

    Examples
    --------
    >>> list(every_tree(Grammar(1, 1, 2)))
    [[0], [0, 0, 1]]
    """
    tokens = range(grammar.n_terminals, grammar.n_terminals + grammar.n_functions)
    lower: list[Tokens] = []
    known: list[Tokens] = [[token] for token in range(grammar.n_terminals)]
    yield from known
    for level in range(2, grammar.depth + 1):
        old = len(lower)
        grown = (
            [*known[i], *known[j], token]
            for i in range(len(known))
            for j in range(len(known))
            if max(i, j) >= old
            for token in tokens
        )
        if level == grammar.depth:  # the last and largest level is not stored
            yield from grown
            return
        lower, known = known, [*known, *grown]
        yield from known[len(lower) :]


@dataclass(frozen=True)
class Shape:
    """Shape of a tree: start and height of the subtree of each node, and level of each node."""

    start: list[int]
    height: list[int]
    level: list[int]


def shape(tokens: Tokens, n_terminals: int) -> Shape:
    """Shape of a valid postfix tree.

    Examples
    --------
    >>> shape([0, 1, 2, 9, 9], 5)
    Shape(start=[0, 1, 2, 1, 0], height=[1, 1, 1, 2, 3], level=[2, 3, 3, 2, 1])
    """
    n = len(tokens)
    start, height, level = list(range(n)), [1] * n, [1] * n
    for end, token in enumerate(tokens):
        if token >= n_terminals:
            right = end - 1
            left = start[right] - 1
            start[end] = start[left]
            height[end] = 1 + max(height[left], height[right])
    for end in range(n - 1, -1, -1):  # parents come after their children
        if tokens[end] >= n_terminals:
            right = end - 1
            level[right] = level[start[right] - 1] = level[end] + 1
    return Shape(start, height, level)


def tree_of(row: NDArray[Any]) -> Tokens:
    """Tokens of a row without the padding."""
    return [t for t in row.tolist() if t != PAD]


def repaired(row: NDArray[Any], grammar: Grammar) -> Tokens:
    """Read any row of ids as a tree; a valid row is read unchanged.

    Padding between tokens is skipped, and so is a function that lacks an operand or would exceed the depth. The
    equation is the last complete subtree on the stack, or the first terminal if there is none.
    """
    stack: list[tuple[Tokens, int]] = []
    for token in tree_of(row):
        if token < grammar.n_terminals:
            stack.append(([token], 1))
        elif len(stack) >= 2 and max(stack[-1][1], stack[-2][1]) < grammar.depth:
            right, left = stack.pop(), stack.pop()
            stack.append(([*left[0], *right[0], token], 1 + max(left[1], right[1])))
    return stack[-1][0] if stack else [0]


# -- mutations: a tree in, a new tree within the depth out ------------------------------------------------------------


def subtree_mutation(tokens: Tokens, grammar: Grammar, rng: np.random.Generator) -> Tokens:
    """Replace the subtree of a random node by a grown one of random height that fits the depth."""
    s = shape(tokens, grammar.n_terminals)
    node = int(rng.integers(len(tokens)))
    levels = int(rng.integers(1, grammar.depth - s.level[node] + 2))
    return [*tokens[: s.start[node]], *grammar.grow(levels, rng), *tokens[node + 1 :]]


def point_mutation(tokens: Tokens, grammar: Grammar, rng: np.random.Generator) -> Tokens:
    """Replace one node by another of its kind (terminal or function); the shape stays the same."""
    node = int(rng.integers(len(tokens)))
    first, count = (0, grammar.n_terminals)
    if tokens[node] >= grammar.n_terminals:
        first, count = (grammar.n_terminals, grammar.n_functions)
    if count == 1:
        return list(tokens)
    other = first + (tokens[node] - first + 1 + int(rng.integers(count - 1))) % count
    return [*tokens[:node], other, *tokens[node + 1 :]]


def hoist_mutation(tokens: Tokens, grammar: Grammar, rng: np.random.Generator) -> Tokens:
    """Keep only a random proper subtree (a single terminal stays as it is)."""
    if len(tokens) == 1:
        return list(tokens)
    s = shape(tokens, grammar.n_terminals)
    node = int(rng.integers(len(tokens) - 1))
    return tokens[s.start[node] : node + 1]


def collapse_mutation(tokens: Tokens, grammar: Grammar, rng: np.random.Generator) -> Tokens:
    """Replace the subtree of a random function by a terminal."""
    functions = [e for e, token in enumerate(tokens) if token >= grammar.n_terminals]
    if not functions:
        return point_mutation(tokens, grammar, rng)
    node = functions[int(rng.integers(len(functions)))]
    start = shape(tokens, grammar.n_terminals).start[node]
    return [*tokens[:start], grammar.terminal(rng), *tokens[node + 1 :]]


def expansion_mutation(tokens: Tokens, grammar: Grammar, rng: np.random.Generator) -> Tokens:
    """Replace a random terminal with room below it by a grown subtree (if there is none, do a point mutation)."""
    s = shape(tokens, grammar.n_terminals)
    roomy = [e for e, t in enumerate(tokens) if t < grammar.n_terminals and s.level[e] < grammar.depth]
    if not roomy:
        return point_mutation(tokens, grammar, rng)
    node = roomy[int(rng.integers(len(roomy)))]
    levels = int(rng.integers(2, grammar.depth - s.level[node] + 2))
    return [*tokens[:node], *grammar.grow(levels, rng), *tokens[node + 1 :]]


MUTATIONS: dict[str, Callable[[Tokens, Grammar, np.random.Generator], Tokens]] = {
    "subtree": subtree_mutation,
    "point": point_mutation,
    "hoist": hoist_mutation,
    "collapse": collapse_mutation,
    "expansion": expansion_mutation,
}


def subtree_crossover(
    first: Tokens, second: Tokens, grammar: Grammar, rng: np.random.Generator
) -> tuple[Tokens, Tokens]:
    """Swap two random subtrees such that both children stay within the depth.

    All pairs of nodes that fit are equally likely. The two roots are only chosen if no other pair fits, because
    swapping them changes nothing.
    """
    a, b = shape(first, grammar.n_terminals), shape(second, grammar.n_terminals)
    level_a, height_a = np.array(a.level)[:, None], np.array(a.height)[:, None]
    level_b, height_b = np.array(b.level)[None, :], np.array(b.height)[None, :]
    fits = (level_a + height_b - 1 <= grammar.depth) & (level_b + height_a - 1 <= grammar.depth)
    fits[-1, -1] = False
    pairs = np.flatnonzero(fits)
    if len(pairs) == 0:
        return list(first), list(second)
    i, j = divmod(int(pairs[rng.integers(len(pairs))]), len(second))
    one, two = first[a.start[i] : i + 1], second[b.start[j] : j + 1]
    return (
        [*first[: a.start[i]], *two, *first[i + 1 :]],
        [*second[: b.start[j]], *one, *second[j + 1 :]],
    )


# -- pymoo's classes --------------------------------------------------------------------------------------------------


class TreeSampling(Sampling):
    """Sampling by ramped half-and-half: heights 1, 2, …, depth in turn, alternately full and grown."""

    def _do(
        self, problem: Any, n_samples: int, *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        grammar: Grammar = problem.grammar
        out = np.empty((n_samples, grammar.length), dtype=problem.dtype)
        for i in range(n_samples):
            make = grammar.full if (i + i // grammar.depth) % 2 == 0 else grammar.grow
            out[i] = grammar.row(make(1 + i % grammar.depth, random_state), problem.dtype)
        return out


class SubtreeCrossover(Crossover):
    """Crossover that swaps random subtrees of two parents within the depth (Marés 2013, §4.2.2)."""

    def __init__(self) -> None:
        super().__init__(n_parents=2, n_offsprings=2, prob=1.0)

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        g: Grammar = problem.grammar
        out = np.empty_like(X)
        for m in range(X.shape[1]):
            pair = subtree_crossover(repaired(X[0, m], g), repaired(X[1, m], g), g, random_state)
            out[0, m], out[1, m] = (g.row(tokens, X.dtype) for tokens in pair)
        return out


class TreeMutation(Mutation):
    """Mutation of equations: one of several mutations, drawn by weight.

    Parameters
    ----------
    weights
        Weight of each of "subtree", "point", "hoist", "collapse", "expansion"; by default, subtree mutation only,
        as in Marés (2013) §4.2.2.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        super().__init__()
        chosen = {"subtree": 1.0} if weights is None else dict(weights)
        unknown = sorted(set(chosen) - set(MUTATIONS))
        if unknown:
            raise SDCError(f"unknown mutation {unknown[0]!r} (known: {', '.join(MUTATIONS)})")
        if min(chosen.values(), default=-1.0) < 0 or sum(chosen.values()) <= 0:
            raise SDCError(f"mutation weights must not be negative and not all 0: {chosen}")
        self.names = tuple(chosen)
        self.shares = np.array(list(chosen.values())) / sum(chosen.values())

    def _do(
        self, problem: Any, X: NDArray[Any], *args: object, random_state: np.random.Generator, **kwargs: object
    ) -> NDArray[Any]:
        g: Grammar = problem.grammar
        out = np.empty_like(X)
        for i, which in enumerate(random_state.choice(len(self.names), size=len(X), p=self.shares)):
            mutate = MUTATIONS[self.names[which]]
            out[i] = g.row(mutate(repaired(X[i], g), g, random_state), X.dtype)
        return out


class ValidTrees(Repair):
    """Repair that turns any row of ids into a valid padded tree within the depth; valid rows stay as they are."""

    def _do(self, problem: Any, X: NDArray[Any], *args: object, **kwargs: object) -> NDArray[Any]:
        rows = np.clip(np.rint(X), problem.xl, problem.xu).astype(problem.dtype)
        return np.array([problem.grammar.row(repaired(row, problem.grammar), problem.dtype) for row in rows])
