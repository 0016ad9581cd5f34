"""Linkage where cells are starred and labels stand for several values, against the plain definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.linkage import (
    Recoding,
    distance_linkage,
    link_ties,
    match_probabilistically,
    probabilistic_linkage,
)
from sdc_problems.evaluators.linkage._views import all_views
from sdc_problems.evaluators.linkage.distance import DIRECTIONS, ENGINES
from sdc_problems.evaluators.linkage.probabilistic import _patterns

SIZE = 5


class Starred(NamedTuple):
    X: np.ndarray
    Y: np.ndarray
    kinds: list[str]
    stars: np.ndarray
    sets: dict[int, list[np.ndarray]]

    def recodings(self) -> dict[int, Recoding]:
        return {j: Recoding.of(sets, self.Y[:, j].astype(int), SIZE) for j, sets in self.sets.items()}


@st.composite
def starred(draw: st.DrawFn) -> Starred:
    n = draw(st.integers(1, 20))
    kinds = draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal", "recoded"]), min_size=1, max_size=4))
    rows = st.lists(st.tuples(*[st.integers(0, SIZE - 1)] * len(kinds)), min_size=n, max_size=n)
    X, Y = np.array(draw(rows), dtype=float), np.array(draw(rows), dtype=float)
    flags = st.lists(st.tuples(*[st.booleans()] * len(kinds)), min_size=n, max_size=n)
    sets = {}
    for j, kind in enumerate(kinds):
        if kind == "recoded":
            given_sets = draw(
                st.lists(st.sets(st.integers(0, SIZE - 1), min_size=1), min_size=SIZE, max_size=SIZE)
            )  # fmt: skip
            sets[j] = [np.array(sorted(values)) for values in given_sets]
    words = ["nominal" if kind == "recoded" else kind for kind in kinds]
    return Starred(X, Y, words, np.array(draw(flags), dtype=bool), sets)


def plain_ties(case: Starred, direction: str) -> list[int]:
    X, Y, kinds, stars, sets = case
    order = [j for kind in ("numeric", "ordinal", "nominal") for j in range(len(kinds)) if kinds[j] == kind]
    deviations = [0.0 if (X[:, j] == X[0, j]).all() else X[:, j].std() for j in range(len(kinds))]

    def distance(i: int, k: int) -> object:
        """Of original record i to protected record k."""
        square, steps = 0.0, Fraction(0)
        for j in order:
            x, y = X[i, j], Y[k, j]
            if stars[k, j]:
                continue
            if kinds[j] == "numeric":
                t = (x - y) * (1.0 / deviations[j]) if deviations[j] else 0.0
                square += t * t
            elif j in sets:
                steps += int(x not in sets[j][int(y)])
            elif x != y:
                steps += 1 if kinds[j] == "nominal" else Fraction(int(abs(x - y)) + 1, SIZE)
        if "numeric" not in kinds:
            return steps
        return square if set(kinds) == {"numeric"} else math.sqrt(square) + steps.numerator / steps.denominator

    found = []
    for i in range(len(X)):
        own = distance(i, i)
        others = [distance(i, k) if direction == "to_protected" else distance(k, i) for k in range(len(X))]
        closer = any(d < own for d in others)  # type: ignore[operator]
        found.append(0 if closer else sum(d == own for d in others))
    return found


@given(starred(), st.sampled_from(DIRECTIONS))
def test_every_engine_gives_the_plain_answer(case: Starred, direction: str) -> None:
    expected = plain_ties(case, direction)
    for engine in ENGINES:
        found = link_ties(
            case.X, case.Y, kinds=case.kinds, n_categories=SIZE, direction=direction, engine=engine,
            stars=case.stars, recodings=case.recodings(),
        )  # fmt: skip
        assert found.tolist() == expected, engine


@given(starred())
def test_labels_of_one_kind_share_no_value(case: Starred) -> None:
    for j, sets in case.sets.items():
        labels = case.Y[:, j].astype(int)
        recoding = Recoding.of(sets, labels, SIZE)
        for label, kind in zip(labels, recoding.kind, strict=True):
            assert np.flatnonzero(recoding.tables[kind] == label).tolist() == sets[label].tolist()


@given(st.integers(0, 2**32 - 1))
def test_engines_agree_on_starred_tables_that_fill_several_leaves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 1500
    X = np.column_stack([rng.integers(0, 60, n), rng.normal(size=n).round(2), rng.integers(0, 9, n)])
    Y = np.where(rng.random(X.shape) < 0.2, X[rng.permutation(n)], X)
    stars = rng.random(X.shape) < 0.1
    for kinds in (["numeric"] * 3, ["ordinal", "numeric", "nominal"]):
        for direction in DIRECTIONS:
            answers = {
                link_ties(X, Y, kinds=kinds, direction=direction, engine=e, stars=stars).tobytes() for e in ENGINES
            }
            assert len(answers) == 1


def test_what_stands_under_a_star_does_not_matter(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, size=(60, 3))
    Y = np.where(rng.random(X.shape) < 0.2, rng.integers(0, 4, size=X.shape), X)
    stars = rng.random(X.shape) < 0.3
    other = np.where(stars, 3 - Y, Y)
    assert distance_linkage(X, Y, kinds="nominal", stars=stars) == distance_linkage(
        X, other, kinds="nominal", stars=stars
    )
    first, second = (match_probabilistically(X, table, stars=stars) for table in (Y, other))
    assert first.share == pytest.approx(second.share)


def test_stars_in_no_cell_change_nothing(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, size=(60, 3))
    Y = np.where(rng.random(X.shape) < 0.2, rng.integers(0, 4, size=X.shape), X)
    none = np.zeros(X.shape, dtype=bool)
    assert link_ties(X, Y, kinds="nominal", stars=none).tolist() == link_ties(X, Y, kinds="nominal").tolist()
    assert probabilistic_linkage(X, Y, stars=none) == probabilistic_linkage(X, Y)


@given(starred())
def test_a_star_agrees_with_every_value_and_a_label_with_its_own(case: Starred) -> None:
    X, Y, kinds, stars, sets = case
    views = list(all_views(stars, case.recodings(), range(len(kinds))))
    found = _patterns(X, Y, np.zeros(len(kinds)), views)
    for i, k in itertools.product(range(len(X)), range(len(X))):
        agrees = [
            stars[k, j] or (X[i, j] in sets[j][int(Y[k, j])] if j in sets else X[i, j] == Y[k, j])
            for j in range(len(kinds))
        ]
        assert found[i, k] == sum(bool(agree) << j for j, agree in enumerate(agrees))


def test_probabilistic_linkage_finds_records_whose_cells_are_starred() -> None:
    X = np.array([[i, i, i] for i in range(8)])
    stars = np.zeros(X.shape, dtype=bool)
    stars[0, 0] = stars[3, 1] = stars[5, 2] = True
    Y = np.where(stars, 9, X)
    assert probabilistic_linkage(X, Y, stars=stars) == pytest.approx(100.0)


def test_bad_arguments_are_named() -> None:
    X = [[0.0], [1.0]]
    with pytest.raises(SDCError, match=r"stars must hold one boolean per cell \(2, 1\)"):
        link_ties(X, X, stars=[True, False])
    recoding = Recoding.of([np.array([0])], np.array([0, 0]), 1)
    with pytest.raises(SDCError, match="recodings names attribute 0, which is not a nominal"):
        link_ties(X, X, recodings={0: recoding})
    with pytest.raises(SDCError, match="does not have this table's records and values"):
        link_ties(X, X, kinds="nominal", recodings={0: recoding})
