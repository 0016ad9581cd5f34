from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.linkage import Recoding, candidate_counts, candidates, link_ties
from sdc_problems.evaluators.linkage._boxes import box_tree, boxes_around

SIZE = 6
Case = tuple[np.ndarray, np.ndarray, list[list[list[int]] | None], np.ndarray]


@st.composite
def published(draw: st.DrawFn) -> Case:
    n, p = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    rows = st.lists(st.tuples(*[st.integers(0, SIZE - 1)] * p), min_size=n, max_size=n)
    one = st.lists(st.sets(st.integers(0, SIZE - 1)).map(sorted), min_size=SIZE, max_size=SIZE)
    sets = [draw(st.none() | one) for _ in range(p)]
    flags = st.lists(st.tuples(*[st.booleans()] * p), min_size=n, max_size=n)
    return np.array(draw(rows)), np.array(draw(rows)), sets, np.array(draw(flags), dtype=bool)


def plain(case: Case) -> list[int]:
    X, Y, sets, stars = case

    def may_be(x: np.ndarray, k: int) -> bool:
        known = [[label] if of is None else of[label] for of, label in zip(sets, Y[k], strict=True)]
        return all(star or value in values for value, values, star in zip(x, known, stars[k], strict=True))

    return [sum(may_be(x, k) for k in range(len(Y))) for x in X]


@given(published())
def test_counts_are_the_plain_ones(case: Case) -> None:
    X, Y, sets, stars = case
    arrays = [None if of is None else [np.array(values, dtype=np.int64) for values in of] for of in sets]
    assert candidate_counts(X, Y, arrays, stars=stars).tolist() == plain(case)


@given(st.integers(0, 2**32 - 1))
def test_ranges_and_their_arrays_are_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, size=(300, 2))
    width = int(rng.integers(1, 12))
    ranges = [range(low, min(low + width, 40)) for low in range(40)]
    Y = np.maximum(X - rng.integers(0, width, size=X.shape), 0)
    stars = rng.random(X.shape) < 0.1
    arrays = [np.arange(values.start, values.stop) for values in ranges]
    found = candidate_counts(X, Y, [ranges, ranges], stars=stars)
    assert found.tolist() == candidate_counts(X, Y, [arrays, arrays], stars=stars).tolist()
    # Where each label may stand for the value that it protects, these are the ties of the distance linkage.
    recodings = {j: Recoding.of(arrays, Y[:, j], 40) for j in (0, 1)}
    ties = link_ties(X, Y, kinds="nominal", stars=stars, recodings=recodings)
    assert (found >= 1).all()
    assert found.tolist() == ties.tolist()


@given(st.integers(0, 2**32 - 1))
def test_the_tree_of_boxes_is_the_comparison_with_every_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    b, p = int(rng.integers(1, 200)), int(rng.integers(1, 4))
    low = rng.integers(0, 30, size=(b, p))
    high = low + rng.integers(0, 9, size=(b, p))
    count, points = rng.integers(1, 5, b), rng.integers(0, 40, size=(50, p))
    order, tree = box_tree(low, high, 4)
    found = boxes_around(points, low[order], high[order], count[order], tree)
    inside = ((points[:, None] >= low) & (points[:, None] <= high)).all(axis=2)
    assert found.tolist() == (inside @ count).tolist()


def test_nested_sets_of_values_in_any_order_are_few_boxes() -> None:
    """A hierarchy whose values are not sorted by group, on a table where taking each value apart would be millions."""
    rng = np.random.default_rng(1)
    of = rng.permutation(2000) % 20
    groups = [np.flatnonzero(of == g) for g in range(20)]
    X = rng.integers(0, 2000, size=(5000, 3))
    found = candidate_counts(X, of[X], [groups] * 3)
    _, who, count = np.unique(of[X], axis=0, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(found, count[who.ravel()])


def test_bad_sets_are_named() -> None:
    with pytest.raises(SDCError, match=r"sets needs one entry per attribute \(1\), not 2"):
        candidate_counts([[0]], [[0]], [None, None])
    with pytest.raises(SDCError, match="sets says nothing of label 3"):
        candidate_counts([[0]], [[3]], [[range(1)]])
    with pytest.raises(SDCError, match="codes of values"):
        candidate_counts([[0]], [[0]], [[np.array([-1])]])


def test_intervals_that_overlap_stay_ranges_beside_single_values() -> None:
    sets = [range(3), range(1, 5), np.array([2]), range(2, 6)]
    place, (begin, first, last) = candidates._ranges(sets, np.arange(4), np.zeros(4, dtype=bool), 6)
    assert place.tolist() == list(range(6))
    assert begin.tolist() == [0, 1, 2, 3, 4]
    assert (first.tolist(), last.tolist()) == ([0, 1, 2, 2], [2, 4, 2, 5])


def test_a_label_of_no_value_is_nobodys() -> None:
    assert candidate_counts([[0], [1]], [[0], [0]], [[[]]]).tolist() == [0, 0]
