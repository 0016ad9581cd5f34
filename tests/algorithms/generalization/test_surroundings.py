from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems.algorithms.generalization._surroundings import Surroundings, ball

TOP = np.array([3, 2, 4])
NODES = np.indices((TOP + 1).tolist()).reshape(3, -1).T


def test_the_ball_is_every_change_within_reach() -> None:
    grid = np.indices((5, 5, 5)).reshape(3, -1).T - 2
    expected = {tuple(x) for x in grid if 0 < np.abs(x).sum() <= 2}
    assert {tuple(x) for x in ball(3, 2)} == expected
    assert len(ball(3, 2)) == len(expected)


def reachable(members: np.ndarray, measured: np.ndarray) -> dict[tuple[int, ...], int]:
    """Unmeasured nodes within two steps of a member, and their steps from the nearest, looked up one by one."""
    taken = {tuple(x) for x in measured.tolist()}
    steps = {tuple(x): int(np.abs(members - x).sum(axis=1).min()) for x in NODES.tolist()}
    return {x: near for x, near in steps.items() if near <= 2 and x not in taken}


@given(st.integers(0, 2**32 - 1))
def test_nodes_are_those_around_the_members_of_the_moment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    around, measured = Surroundings(TOP, 2), NODES[:0]
    order = rng.permutation(NODES)
    for batch in np.array_split(order[:30], 5):
        measured = np.concatenate([measured, batch])
        members = measured[rng.permutation(len(measured))[: rng.integers(1, 6)]]  # others than before
        around.learn(batch, rng.random((len(batch), 2)))  # of no order: nothing is bounded for long
        around.follow(members, rng)
        found = {tuple(x): steps for x, steps in zip(around.nodes.tolist(), around.steps.tolist(), strict=True)}
        assert found == reachable(members, measured)
        assert len(around.nodes) == len(found) == len(set(around.numbers.tolist()))


@given(st.integers(0, 2**32 - 1))
def test_bounds_hold_where_an_objective_goes_one_way(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, size=(3, 2)) * [1, -1]  # one rises, one falls
    F = np.column_stack([NODES @ weights, rng.random(len(NODES))]).astype(float)
    order = rng.permutation(len(NODES))
    around, measured = Surroundings(TOP, 2), order[:25]
    for batch in np.array_split(measured, 4):
        around.learn(NODES[batch], F[batch])
    around.follow(NODES[measured], rng)
    place = {tuple(x): i for i, x in enumerate(NODES.tolist())}
    values = F[[place[tuple(x)] for x in around.nodes.tolist()]]
    low, high = around.bounds()
    assert (low[:, :2] <= values[:, :2]).all()
    assert (values[:, :2] <= high[:, :2]).all()
    assert np.isinf(low[:, 2]).all()  # bounds of what has no order would be wrong
    below = np.array([[(x <= u).all() for x in NODES[measured]] for u in around.nodes])
    expected = np.where(below, F[measured, 0], -np.inf).max(axis=1, initial=-np.inf)
    if weights[:, 0].any():
        np.testing.assert_array_equal(low[:, 0], expected)


def test_what_cannot_be_better_is_forgotten_until_its_bounds_are_refuted(rng: np.random.Generator) -> None:
    line = np.column_stack([np.arange(4), np.zeros((4, 2))]).astype(np.int64)
    around = Surroundings(TOP, 2)
    around.learn(line[[0, 2]], np.array([[0.0], [5.0]]))  # has only risen so far
    around.follow(line[[0, 2]], rng)
    known = len(around.nodes)
    around.exclude(np.array([[0.0]]))  # nothing is below what the bottom has
    assert len(around.nodes) == 0
    around.follow(line[[0, 2]], rng)
    assert len(around.nodes) == 0
    around.learn(np.array([[0, 1, 0]]), np.array([[-1.0]]))  # it falls, too
    around.follow(line[[0, 2]], rng)
    assert len(around.nodes) == known - 1
