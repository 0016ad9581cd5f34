from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.core.population import Population

from sdc_problems import SDCError
from sdc_problems.operators.tree import (
    MUTATIONS,
    Grammar,
    SubtreeCrossover,
    TreeMutation,
    TreeSampling,
    ValidTrees,
    repaired,
    shape,
    subtree_crossover,
)

seeds = st.integers(0, 2**32 - 1)
depths = st.integers(1, 6)


def plain_depth(tokens: list[int], n_terminals: int) -> int:
    """Levels of a postfix tree by a stack of heights; fails unless exactly one tree is left."""
    stack = []
    for token in tokens:
        if token < n_terminals:
            stack.append(1)
        else:
            stack.append(1 + max(stack.pop(), stack.pop()))
    (height,) = stack
    return height


def assert_valid(tokens: list[int], g: Grammar) -> None:
    assert plain_depth(tokens, g.n_terminals) <= g.depth
    assert all(0 <= t < g.n_terminals + g.n_functions for t in tokens)


def some_tree(g: Grammar, rng: np.random.Generator) -> list[int]:
    make = g.full if rng.random() < 0.3 else g.grow
    return make(int(rng.integers(1, g.depth + 1)), rng)


@given(depths, seeds)
def test_every_operator_keeps_valid_trees_within_the_depth(depth: int, seed: int) -> None:
    g, rng = Grammar(5, 4, depth), np.random.default_rng(seed)
    tokens, other = some_tree(g, rng), some_tree(g, rng)
    before = list(tokens), list(other)
    for mutate in MUTATIONS.values():
        assert_valid(mutate(tokens, g, rng), g)
    one, two = subtree_crossover(tokens, other, g, rng)
    assert_valid(one, g)
    assert_valid(two, g)
    assert sorted(one + two) == sorted(tokens + other), "crossover neither makes nor loses tokens"
    assert (tokens, other) == before, "parents are left alone"


@given(depths, seeds)
def test_what_each_mutation_does(depth: int, seed: int) -> None:
    g, rng = Grammar(5, 4, depth), np.random.default_rng(seed)
    tokens = some_tree(g, rng)
    point = MUTATIONS["point"](tokens, g, rng)
    different = [i for i in range(len(tokens)) if tokens[i] != point[i]]
    assert len(point) == len(tokens)
    assert len(different) == 1
    assert (tokens[different[0]] < 5) == (point[different[0]] < 5)
    hoisted = MUTATIONS["hoist"](tokens, g, rng)
    text, part = ",".join(map(str, tokens)), ",".join(map(str, hoisted))
    assert part in text
    assert len(hoisted) < len(tokens) or len(tokens) == 1
    collapsed = MUTATIONS["collapse"](tokens, g, rng)
    assert len(collapsed) < len(tokens) or len(tokens) == 1
    expanded = MUTATIONS["expansion"](tokens, g, rng)
    assert len(expanded) >= len(tokens)


@given(depths, seeds)
def test_grow_and_full(depth: int, seed: int) -> None:
    g, rng = Grammar(5, 4, depth), np.random.default_rng(seed)
    full = g.full(depth, rng)
    assert len(full) == 2**depth - 1
    assert plain_depth(full, 5) == depth
    grown = g.grow(depth, rng)
    assert_valid(grown, g)
    assert len(grown) > 1 or depth == 1, "the root of a grown tree is a function where there is room"


@given(depths, seeds)
def test_shape_measures_every_node(depth: int, seed: int) -> None:
    g, rng = Grammar(5, 4, depth), np.random.default_rng(seed)
    tokens = some_tree(g, rng)
    s = shape(tokens, 5)
    for end in range(len(tokens)):
        assert plain_depth(tokens[s.start[end] : end + 1], 5) == s.height[end]
    assert s.level[-1] == 1
    assert max(level + height - 1 for level, height in zip(s.level, s.height, strict=True)) == s.height[-1]


@given(depths, seeds)
def test_any_row_can_be_read_and_valid_rows_are_read_as_they_are(depth: int, seed: int) -> None:
    g, rng = Grammar(5, 4, depth), np.random.default_rng(seed)
    junk = rng.integers(-1, 9, size=g.length).astype(np.int16)
    assert_valid(repaired(junk, g), g)
    tokens = some_tree(g, rng)
    assert repaired(g.row(tokens), g) == tokens


def test_ramped_half_and_half() -> None:
    g = Grammar(5, 4, 5)
    problem = SimpleNamespace(grammar=g, dtype=np.int16, xl=np.full(31, -1), xu=np.full(31, 8))
    X = TreeSampling()(problem, 50, random_state=np.random.default_rng(1)).get("X")
    assert X.dtype == np.int16
    assert X.shape == (50, 31)
    heights = [plain_depth([t for t in row if t >= 0], 5) for row in X.tolist()]
    full = [(row >= 0).sum() == 2**height - 1 for row, height in zip(X, heights, strict=True)]
    for level in range(1, 6):
        of_level = [f for i, f in enumerate(full) if 1 + i % 5 == level]
        assert len(of_level) == 10
        assert sum(of_level) >= 5, "half of each group is full"
    assert max(heights) == 5


def test_pymoo_operators_leave_their_parents_alone() -> None:
    g = Grammar(5, 4, 4)
    problem = SimpleNamespace(grammar=g, dtype=np.int16, n_var=15, xl=np.full(15, -1), xu=np.full(15, 8))
    rng = np.random.default_rng(2)
    parents = TreeSampling()(problem, 20, random_state=rng)
    before = parents.get("X").copy()
    children = SubtreeCrossover()(problem, parents, np.arange(20).reshape(10, 2), random_state=rng)
    mutated = TreeMutation(dict.fromkeys(MUTATIONS, 1.0))(
        problem, Population.new("X", before.copy()), random_state=rng
    ).get("X")
    np.testing.assert_array_equal(parents.get("X"), before)
    for X in (children.get("X"), mutated):
        assert X.dtype == np.int16
        np.testing.assert_array_equal(ValidTrees()._do(problem, X), X)
    assert (mutated != before).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Grammar(5, 4, 0), "depth"),
        (lambda: Grammar(5, 4, 11), "depth"),
        (lambda: Grammar(0, 4, 3), "at least one terminal"),
        (lambda: TreeMutation({"shuffle": 1.0}), "unknown mutation 'shuffle'"),
        (lambda: TreeMutation({"point": 0.0}), "not all 0"),
        (lambda: TreeMutation({"point": -1.0}), "negative"),
    ],
)
def test_bad_input_is_refused(call, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        call()
