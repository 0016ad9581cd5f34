from __future__ import annotations

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems._slices import listening
from sdc_problems.evaluators.linkage import distance, distance_linkage, link_ties
from sdc_problems.evaluators.linkage._same_rows import same_rows
from sdc_problems.evaluators.linkage.distance import DIRECTIONS, ENGINES

SIZES = [5, 4, 7]


@st.composite
def mixed_tables(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Small grids and few categories: duplicates and ties everywhere."""
    n = draw(st.integers(1, 25))
    kinds = draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=1, max_size=3))
    columns = [st.integers(0, SIZES[j] - 1) for j in range(len(kinds))]
    rows = st.lists(st.tuples(*columns), min_size=n, max_size=n)
    return np.array(draw(rows), dtype=float), np.array(draw(rows), dtype=float), kinds


def plain_ties(X: np.ndarray, Y: np.ndarray, kinds: list[str], direction: str) -> list[int]:
    """Every record against every other: category distances as fractions, numeric ones as doubles in column order."""
    order = [j for kind in ("numeric", "ordinal", "nominal") for j in range(len(kinds)) if kinds[j] == kind]
    deviations = [0.0 if (X[:, j] == X[0, j]).all() else X[:, j].std() for j in range(len(kinds))]

    def distance(a: np.ndarray, b: np.ndarray) -> object:
        square, steps = 0.0, Fraction(0)
        for j in order:
            if kinds[j] == "numeric":
                t = (a[j] - b[j]) * (1.0 / deviations[j]) if deviations[j] else 0.0
                square += t * t
            elif a[j] != b[j]:
                nominal = kinds[j] == "nominal"
                steps += 1 if nominal else Fraction(int(abs(a[j] - b[j])) + 1, SIZES[j])
        if "numeric" not in kinds:
            return steps
        return square if set(kinds) == {"numeric"} else math.sqrt(square) + steps.numerator / steps.denominator

    A, B = (X, Y) if direction == "to_protected" else (Y, X)
    found = []
    for i, record in enumerate(A):
        own = distance(record, B[i])
        others = [distance(record, other) for other in B]
        closer = any(d < own for d in others)  # type: ignore[operator]
        found.append(0 if closer else sum(d == own for d in others))
    return found


@given(mixed_tables(), st.sampled_from(DIRECTIONS))
def test_every_engine_gives_the_plain_answer(case: tuple[np.ndarray, np.ndarray, list[str]], direction: str) -> None:
    X, Y, kinds = case
    expected = plain_ties(X, Y, kinds, direction)
    for engine in ENGINES:
        found = link_ties(X, Y, kinds=kinds, n_categories=SIZES[: len(kinds)], direction=direction, engine=engine)
        assert found.tolist() == expected, engine


@given(st.integers(0, 2**32 - 1))
def test_engines_agree_on_tables_that_fill_several_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 400
    X = np.column_stack(
        [rng.integers(0, 6, n), rng.normal(size=n).round(1), rng.integers(0, 5, n), rng.integers(0, 4, n)]
    )
    Y = np.where(rng.random(X.shape) < 0.4, X[rng.permutation(n)], X)
    for kinds in (["numeric"] * 4, ["ordinal", "numeric", "nominal", "ordinal"]):
        for direction in DIRECTIONS:
            answers = {link_ties(X, Y, kinds=kinds, direction=direction, engine=e).tobytes() for e in ENGINES}
            assert len(answers) == 1
    codes, masked = X[:, [0, 2, 3]], Y[:, [0, 2, 3]]
    answers = {link_ties(codes, masked, kinds=["ordinal", "nominal", "nominal"], engine=e).tobytes() for e in ENGINES}
    assert len(answers) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.sampled_from([1, 2, 3, 7, 40]), st.sampled_from([3, 50]))
def test_trees_of_any_depth_give_the_brute_answer(seed: int, n: int, leaf: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, 3)).astype(float)
    Y = np.where(rng.random(X.shape) < rng.random(), X[rng.permutation(n)], X)
    stars = rng.random(X.shape) < rng.choice([0.0, 0.2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "_LEAF", leaf)
        patch.setattr(distance, "SLICE", int(rng.choice([1, 10**8])))
        for kinds in (["numeric"] * 3, ["nominal"] * 3, ["ordinal", "numeric", "nominal"]):
            for direction in DIRECTIONS:
                found = [
                    link_ties(X, Y, kinds=kinds, direction=direction, stars=stars, engine=e) for e in ("tree", "brute")
                ]
                np.testing.assert_array_equal(*found)


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 4), st.sampled_from([1, 2, 9]))
def test_equal_rows_are_found_by_their_first(seed: int, n: int, p: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, p)) * rng.choice([-1.0, 1.0], (n, p))  # -0.0 is 0.0
    first, who, count = same_rows(X)
    expected, of, times = np.unique(X + 0.0, axis=0, return_inverse=True, return_counts=True)
    assert (np.diff(first) > 0).all()
    assert len(first) == len(expected)
    np.testing.assert_array_equal(X[first][who], X)
    np.testing.assert_array_equal(count[who], times[of.ravel()])


@pytest.mark.parametrize("engine", ["brute", "tree"])
def test_progress_is_told_and_an_interrupt_is_heard(engine: str, rng: np.random.Generator) -> None:
    X = rng.normal(size=(60_000, 8))
    Y = X + 0.7 * rng.normal(size=X.shape)
    link_ties(X[:2000], Y[:2000], engine=engine)  # compiled
    told: list[tuple[int, int]] = []
    gaps, last = [], time.process_time()

    def listener(what: str, done: int, total: int) -> None:
        nonlocal last
        assert what == "records linked"
        told.append((done, total))
        gaps.append(time.process_time() - last)
        last = time.process_time()
        if len(told) == 4:
            raise KeyboardInterrupt

    with listening(listener), pytest.raises(KeyboardInterrupt):
        link_ties(X, Y, engine=engine)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {60_000}
    assert max(gaps[1:]) < 0.7


@pytest.mark.parametrize("p", [1, 5, 13])
def test_engines_agree_on_skewed_numbers(p: int, rng: np.random.Generator) -> None:
    X = np.exp(2 * rng.normal(size=(700, p)))
    for Y in (X * (1 + 0.1 * rng.normal(size=X.shape)), np.round(X), np.repeat(X[::7], 7, axis=0)):
        for direction in DIRECTIONS:
            answers = {link_ties(X, Y, direction=direction, engine=e).tobytes() for e in ENGINES}
            assert len(answers) == 1


def test_duplicates_everywhere_are_ties_in_every_engine() -> None:
    X = np.zeros((3000, 4))
    for engine in ENGINES:
        assert (link_ties(X, X, engine=engine) == 3000).all()
        assert distance_linkage(X, X, engine=engine) == pytest.approx(100 / 3000)
    assert distance_linkage(X, X, ties="strict") == 0.0
    assert distance_linkage(X, X, ties="any") == 100.0


def test_policies_on_groups_of_equal_protected_records() -> None:
    X = np.arange(12.0)
    Y = np.repeat([1.0, 4.0, 7.0, 10.0], 3)
    assert distance_linkage(X, Y) == pytest.approx(100 / 3)
    assert distance_linkage(X, Y, ties="strict") == 0.0
    assert distance_linkage(X, Y, ties="any") == 100.0
    # The other way round each group's own center is nearest: one record of three is found for certain.
    assert distance_linkage(X, Y, direction="to_original") == pytest.approx(100 / 3)
    assert distance_linkage(X, Y, direction="to_original", ties="strict") == pytest.approx(100 / 3)


@given(mixed_tables())
def test_an_untouched_table_is_linked_but_for_its_duplicates(case: tuple[np.ndarray, np.ndarray, list[str]]) -> None:
    X, _, kinds = case
    used = [j for j in range(len(kinds)) if kinds[j] != "numeric" or (X[:, j] != X[0, j]).any()]
    distinct = len(np.unique(X[:, used], axis=0)) if used else 1
    assert distance_linkage(X, X, kinds=kinds) == pytest.approx(100 * distinct / len(X))
    assert distance_linkage(X, X, kinds=kinds, ties="any") == 100.0


@given(mixed_tables(), st.sampled_from(DIRECTIONS))
def test_policies_are_ordered_and_bounded(case: tuple[np.ndarray, np.ndarray, list[str]], direction: str) -> None:
    X, Y, kinds = case
    strict, fraction, some = (
        distance_linkage(X, Y, kinds=kinds, ties=t, direction=direction) for t in ("strict", "fraction", "any")
    )
    assert 0.0 <= strict <= fraction <= some <= 100.0


def test_ordinal_steps_of_different_domains_tie_exactly() -> None:
    """2/2 + 2/2 + 2/6 and 2/6 + 2/2 + 2/2 differ in doubles; the distances tie all the same."""
    assert 2 / 2 + 2 / 2 + 2 / 6 != 2 / 6 + 2 / 2 + 2 / 2
    X = np.array([[0, 0, 0, 0, 0], [1, 1, 5, 1, 1]])
    Y = np.array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
    for engine in ENGINES:
        assert link_ties(X, Y, kinds="ordinal", n_categories=[2, 2, 6, 2, 2], engine=engine).tolist()[0] == 2


def test_domains_without_a_common_step_fall_back_to_doubles(rng: np.random.Generator) -> None:
    primes = [999983, 999979, 999961]
    X = rng.integers(0, 900000, size=(300, 3))
    Y = np.where(rng.random(X.shape) < 0.5, X, rng.integers(0, 900000, size=X.shape))
    answers = {link_ties(X, Y, kinds="ordinal", n_categories=primes, engine=e).tobytes() for e in ENGINES}
    assert len(answers) == 1
    expected = []
    for i in range(300):
        d = sum((np.abs(Y[:, j] - X[i, j]) + 1) * (Y[:, j] != X[i, j]) * (1.0 / primes[j]) for j in range(3))
        expected.append(0 if (d < d[i]).any() else int((d == d[i]).sum()))
    assert link_ties(X, Y, kinds="ordinal", n_categories=primes).tolist() == expected


def test_scale_and_origin_do_not_matter_but_standardise_can_be_switched_off(rng: np.random.Generator) -> None:
    X = rng.normal(size=(200, 3))
    Y = X + rng.normal(size=X.shape)
    stretched = [1.0, 1024.0, 1.0]
    assert distance_linkage(X, Y) == distance_linkage(X * stretched, Y * stretched)
    raw = distance_linkage(X * stretched, Y * stretched, standardize=False)
    assert raw == distance_linkage(X[:, 1], Y[:, 1], standardize=False)


def test_an_attribute_that_was_constant_links_nobody() -> None:
    X = np.column_stack([np.full(5, 3.0), np.arange(5.0)])
    Y = np.column_stack([np.arange(5.0), np.zeros(5)])
    assert distance_linkage(X, Y) == pytest.approx(20.0)


def test_bad_arguments_are_named() -> None:
    X = [[0.0], [1.0]]
    with pytest.raises(SDCError, match="direction must be one of 'to_protected', 'to_original'"):
        distance_linkage(X, X, direction="both")
    with pytest.raises(SDCError, match="ties must be one of"):
        distance_linkage(X, X, ties="maybe")
    with pytest.raises(SDCError, match="engine must be one of"):
        distance_linkage(X, X, engine="quantum")
    with pytest.raises(SDCError, match=r"n_categories needs one entry per attribute \(1\)"):
        distance_linkage(X, X, kinds="nominal", n_categories=[2, 2])
    with pytest.raises(SDCError, match="whole codes"):
        distance_linkage([[0.5]], [[0.5]], kinds="nominal")
    with pytest.raises(SDCError, match="overflow"):
        distance_linkage([[1e200], [0.0]], X)


def test_a_million_records_of_few_categories_are_a_small_table(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, size=(10**6, 3))
    Y = np.where(rng.random(X.shape) < 0.3, rng.integers(0, 4, size=X.shape), X)
    rate = distance_linkage(X, Y, kinds="nominal")
    cells = 4**3
    assert 0 < rate <= 100 * cells / 10**6
