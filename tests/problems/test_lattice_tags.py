"""Tags of measured nodes rule out what they should, and no node that loses as little as a tag reaches."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.problems._lattice_tags import Floats, Ints, Tags


def plain(low: Ints, high: Ints, nodes: Ints, reach: Floats, cost: list[Floats]) -> tuple[Ints, Ints] | None:
    """Least box of nodes that no tag rules out by a whole face of the box; None if nothing is left."""
    low, high = low.copy(), high.copy()
    while True:
        loss = sum(losses[level] for losses, level in zip(cost, low, strict=True))
        below = reach[(nodes >= high).all(axis=1)]
        if (below < loss).any():
            return None
        before = low.copy(), high.copy()
        for a in range(len(low)):
            face = high.copy()
            face[a] = low[a]
            if (reach[(nodes >= face).all(axis=1)] < loss).any():
                low[a] += 1
                break
            face = low.copy()
            face[a] = high[a]
            if below.size and sum(losses[level] for losses, level in zip(cost, face, strict=True)) > below.min():
                high[a] -= 1
                break
        if (low > high).any():
            return None
        if (low == before[0]).all() and (high == before[1]).all():
            return low, high


@given(st.integers(0, 10**6), st.integers(1, 150))
@settings(max_examples=60, deadline=None)
def test_boxes_are_what_a_plain_loop_leaves(seed: int, n_tags: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, int(rng.integers(1, 5)))
    cost = [np.concatenate([[0.0], np.cumsum(rng.integers(0, 4, n - 1))]) for n in sizes]
    nodes = rng.integers(0, sizes, (n_tags, len(sizes)))
    reach = rng.integers(-1, 14, n_tags).astype(float)
    tags = Tags(cost)
    for start in range(0, n_tags, 50):
        tags.add(nodes[start : start + 50], np.zeros(len(nodes[start : start + 50])))
    tags.tell(reach)
    ends = np.sort(rng.integers(0, sizes, (2, 20, len(sizes))), axis=0)
    low, high = ends[0].copy(), ends[1].copy()
    for b, alive in enumerate(tags.tighten(low, high).tolist()):
        wanted = plain(ends[0, b], ends[1, b], nodes, reach, cost)
        assert alive == (wanted is not None)
        if wanted is not None:
            np.testing.assert_array_equal([low[b], high[b]], wanted)
        for levels in itertools.product(*[range(i, j + 1) for i, j in ends[:, b].T]):
            node = np.array(levels)
            if not (alive and (low[b] <= node).all() and (node <= high[b]).all()):
                loss = sum(losses[level] for losses, level in zip(cost, levels, strict=True))
                assert (reach[(nodes >= node).all(axis=1)] < loss).any()
