"""Operators of recipes: one row for each recipe, and every change that they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.operators.recipe import (
    RecipeCrossover,
    RecipeMutation,
    RecipeSpace,
    canonical_recipe,
    parts,
    random_recipe,
)

SPACE = RecipeSpace(np.array([[1, 3, 4, 0], [1, 3, 4, 2], [1, 0, 4, 2], [1, 3, 2, 1]]), np.array([0, 1, 1, 0], bool))


def groups(row: np.ndarray) -> set[tuple[tuple[int, ...], int, int]]:
    """What a row says: columns that are protected together, by which method, at which step."""
    methods, steps, labels = parts(row)
    return {
        (tuple(np.flatnonzero(labels == g)), int(methods[labels == g][0]), int(steps[labels == g][0]))
        for g in set(labels)
    }


rows = st.lists(st.integers(0, 3), min_size=12, max_size=12).map(np.array)


@given(rows)
def test_a_canonical_row_fits_and_stays_as_it_is(row: np.ndarray) -> None:
    found = canonical_recipe(row, SPACE)
    methods, steps, labels = parts(found)
    assert (steps < SPACE.steps[np.arange(4), methods]).all()
    for columns, method, _ in groups(found):
        assert len(columns) == 1 or SPACE.joint[method]
    assert labels[0] == 0
    assert all(labels[j] <= labels[:j].max() + 1 for j in range(1, 4))
    np.testing.assert_array_equal(canonical_recipe(found, SPACE), found)


@given(rows, st.permutations(range(4)))
def test_names_of_groups_do_not_matter(row: np.ndarray, names: list[int]) -> None:
    renamed = row.copy()
    renamed[8:] = np.array(names)[row[8:]]
    np.testing.assert_array_equal(canonical_recipe(renamed, SPACE), canonical_recipe(row, SPACE))


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_children_are_canonical_and_made_of_their_parents(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = random_recipe(SPACE, rng), random_recipe(SPACE, rng)
    child = RecipeCrossover(SPACE)._child(one, other, rng)
    np.testing.assert_array_equal(canonical_recipe(child, SPACE), child)
    assert all(parts(child)[0][j] in (parts(one)[0][j], parts(other)[0][j]) for j in range(4))
    mutant = RecipeMutation(SPACE).changed(one, rng)
    np.testing.assert_array_equal(canonical_recipe(mutant, SPACE), mutant)


def test_groups_are_inherited_whole() -> None:
    one = canonical_recipe(np.array([1, 1, 2, 1, 2, 2, 1, 2, 0, 0, 1, 0]), SPACE)
    other = canonical_recipe(np.array([2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0]), SPACE)
    crossover, rng = RecipeCrossover(SPACE), np.random.default_rng(1)
    seen = {frozenset(groups(crossover._child(one, other, rng))) for _ in range(300)}
    assert frozenset({((0, 1, 3), 1, 2), ((2,), 2, 1)}) in seen  # its group, the other column from the other parent


def test_a_mutation_merges_splits_steps_and_changes_methods() -> None:
    row = canonical_recipe(np.array([1, 1, 2, 1, 1, 1, 1, 1, 0, 0, 1, 0]), SPACE)
    mutation, rng = RecipeMutation(SPACE), np.random.default_rng(2)
    seen = {frozenset(groups(mutation.changed(row, rng))) for _ in range(600)}
    own = ((2,), 2, 1)
    assert frozenset({((0, 1, 3), 1, 2), own}) in seen  # a step more, for the whole group
    assert frozenset({((0, 1, 3), 1, 0), own}) in seen
    assert frozenset({((0, 1), 1, 1), ((3,), 1, 1), own}) in seen  # a column leaves
    assert any(((0, 1, 2, 3), 2, 1) in each for each in seen) or any(((0, 2), 2, 1) in each for each in seen)
    assert frozenset({((0, 1, 3), 1, 1), ((2,), 0, 0)}) in seen  # the other column is left as it is


@pytest.mark.parametrize("n", [1, 2, 5])
def test_random_recipes_use_every_method_that_fits(n: int) -> None:
    space = RecipeSpace(np.tile(SPACE.steps[1], (n, 1)), SPACE.joint)
    rng = np.random.default_rng(3)
    drawn = [random_recipe(space, rng) for _ in range(200)]
    assert {int(method) for row in drawn for method in parts(row)[0]} == {0, 1, 2, 3}
