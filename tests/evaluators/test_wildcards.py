from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import class_sizes, equivalence_classes, k_anonymity, wildcards
from sdc_problems.evaluators.wildcards import k_wildcard, wildcard_class_sizes


@st.composite
def starred(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n, p = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    rows = st.lists(st.tuples(*[st.integers(0, 2)] * p), min_size=n, max_size=n)
    flags = st.lists(st.tuples(*[st.booleans()] * p), min_size=n, max_size=n)
    return np.array(draw(rows)), np.array(draw(flags), dtype=bool)


def plain(codes: np.ndarray, stars: np.ndarray) -> list[int]:
    return [
        sum(
            all(a == b or s or t for a, b, s, t in zip(x, y, v, w, strict=True))
            for y, w in zip(codes, stars, strict=True)
        )
        for x, v in zip(codes, stars, strict=True)
    ]


@pytest.mark.parametrize("cost", [0, 10**12])
@given(case=starred())
def test_counts_are_the_plain_ones(cost: int, case: tuple[np.ndarray, np.ndarray]) -> None:
    """By joining patterns (which costs nothing) and by comparing rows (where joining would cost too much)."""
    codes, stars = case
    before, wildcards._PAIR_COST = wildcards._PAIR_COST, cost
    try:
        assert wildcard_class_sizes(codes, stars).tolist() == plain(codes, stars)
    finally:
        wildcards._PAIR_COST = before
    assert k_wildcard(codes, stars) == min(plain(codes, stars))


@given(starred())
def test_a_star_as_a_value_of_its_own_never_gives_more(case: tuple[np.ndarray, np.ndarray]) -> None:
    codes, stars = case
    strict = equivalence_classes(np.where(stars, 3, codes))
    assert k_anonymity(strict) <= k_wildcard(codes, stars)
    assert (class_sizes(strict) <= wildcard_class_sizes(codes, stars)).all()


def test_without_stars_they_are_the_classes(rng: np.random.Generator) -> None:
    codes = rng.integers(0, 3, size=(200, 3))
    sizes = wildcard_class_sizes(codes, np.zeros(codes.shape, dtype=bool))
    np.testing.assert_array_equal(sizes, class_sizes(equivalence_classes(codes)))


def test_a_mask_of_another_shape_is_refused() -> None:
    with pytest.raises(SDCError, match=r"stars must hold one boolean per cell \(2, 1\)"):
        k_wildcard([[0], [1]], [True, False])
