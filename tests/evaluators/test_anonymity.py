from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators import anonymity
from sdc_problems.evaluators.anonymity import (
    class_closeness,
    class_sizes,
    distinct_l,
    entropy_l,
    equivalence_classes,
    k_anonymity,
    recursive_c,
    recursive_l,
    sensitive_counts,
    spread_index,
    spread_k,
    spread_l,
    suppress_small_classes,
    t_closeness,
)


@st.composite
def classed(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(1, 25))
    classes = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    sensitive = draw(st.lists(st.sampled_from([0, 1, 2, 3, 9]), min_size=n, max_size=n))
    return np.array(classes), np.array(sensitive)


def by_class(classes: np.ndarray, sensitive: np.ndarray) -> list[Counter[int]]:
    return [Counter(sensitive[classes == c].tolist()) for c in sorted(set(classes.tolist()))]


@given(classed())
def test_the_family_is_the_plain_one(case: tuple[np.ndarray, np.ndarray]) -> None:
    classes, sensitive = case
    groups = by_class(classes, sensitive)
    assert k_anonymity(classes) == min(sum(g.values()) for g in groups)
    assert distinct_l(classes, sensitive) == min(len(g) for g in groups)
    entropies = []
    for g in groups:
        size = sum(g.values())
        entropies.append(-sum(v / size * math.log(v / size) for v in g.values()))
    assert entropy_l(classes, sensitive) == pytest.approx(math.exp(min(entropies)))
    assert entropy_l(classes, sensitive) <= distinct_l(classes, sensitive)
    sizes = [sum(classes == c) for c in classes]
    assert class_sizes(classes).tolist() == sizes
    counts = [sum((classes == c) & (sensitive == s)) for c, s in zip(classes, sensitive, strict=True)]
    assert sensitive_counts(classes, sensitive).tolist() == counts
    assert spread_k(classes) == sum(sizes)
    assert spread_l(classes, sensitive) == sum(counts)


@given(classed(), st.integers(1, 4), st.floats(0.1, 5.0))
def test_recursive_diversity_is_the_definition(case: tuple[np.ndarray, np.ndarray], l: int, c: float) -> None:
    classes, sensitive = case

    def diverse(c: float, l: int) -> bool:
        for g in by_class(classes, sensitive):
            r = sorted(g.values(), reverse=True)
            if not r[0] < c * sum(r[l - 1 :]):
                return False
        return True

    bound = recursive_c(classes, sensitive, l=l)
    if math.isinf(bound):
        assert not diverse(1e9, l)
    else:
        assert diverse(bound * (1 + 1e-9), l)
        assert not diverse(bound * (1 - 1e-9), l)
    expected = 0
    while diverse(c, expected + 1):
        expected += 1
    assert recursive_l(classes, sensitive, c=c) == expected


def plain_closeness(classes: np.ndarray, sensitive: np.ndarray, distance: str, values: list[int]) -> list[float]:
    out = []
    for c in sorted(set(classes.tolist())):
        inside = sensitive[classes == c]
        p = [float(np.mean(inside == v)) for v in values]
        q = [float(np.mean(sensitive == v)) for v in values]
        if distance == "equal":
            out.append(0.5 * sum(abs(a - b) for a, b in zip(p, q, strict=True)))
        else:
            total = sum(abs(sum(p[: i + 1]) - sum(q[: i + 1])) for i in range(len(values)))
            out.append(total / max(len(values) - 1, 1))
    return out


@given(classed())
def test_closeness_is_the_plain_distance(case: tuple[np.ndarray, np.ndarray]) -> None:
    classes, sensitive = case
    present = sorted(set(sensitive.tolist()))
    for distance in ("equal", "ordered"):
        expected = plain_closeness(classes, sensitive, distance, present)
        np.testing.assert_allclose(class_closeness(classes, sensitive, distance=distance), expected, atol=1e-12)
        assert t_closeness(classes, sensitive, distance=distance) == pytest.approx(max(expected), abs=1e-12)
        expected = plain_closeness(classes, sensitive, distance, list(range(12)))
        found = class_closeness(classes, sensitive, distance=distance, n_values=12)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_closeness_in_doubles_agrees_with_whole_numbers(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where 64 bits would not hold the sums, doubles take over: forced here on sums that fit."""
    classes, sensitive = rng.integers(0, 20, size=3000), rng.integers(0, 40, size=3000)
    exact = [class_closeness(classes, sensitive, distance=d) for d in ("equal", "ordered")]
    monkeypatch.setattr(anonymity, "_EXACT", 0)
    rough = [class_closeness(classes, sensitive, distance=d) for d in ("equal", "ordered")]
    np.testing.assert_allclose(rough, exact, rtol=1e-9)


def test_a_class_distributed_as_the_table_has_distance_exactly_zero() -> None:
    classes = np.repeat([0, 1, 2], 7 * 3).astype(int)
    sensitive = np.tile([0, 1, 1, 2, 2, 2, 5], 9)
    assert t_closeness(classes, sensitive) == 0.0
    assert t_closeness(classes, sensitive, distance="ordered") == 0.0


def test_the_example_of_the_t_closeness_paper() -> None:
    """Salaries 3k … 11k: {3k,4k,5k} has ordered distance 0.375, {6k,8k,11k} 0.167 (Li et al. 2007, §5)."""
    salaries = np.array([3, 4, 5, 6, 7, 8, 9, 10, 11])
    classes = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])
    found = class_closeness(classes, salaries, distance="ordered")
    assert found[0] == pytest.approx(0.375)
    assert found[1] == pytest.approx(0.1666667)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_spread_index_orders_as_the_sums_do(pairs: list[tuple[int, int]]) -> None:
    """The observation of Dewri et al. (2010, §4.1)."""
    p, q = (np.array(v) for v in zip(*pairs, strict=True))
    assert (spread_index(p, q) > spread_index(q, p)) == (p.sum() > q.sum())
    assert spread_index(p, q) - spread_index(q, p) == p.sum() - q.sum()


@given(classed(), st.integers(0, 24))
def test_suppression_takes_whole_sizes_as_far_as_the_budget_goes(
    case: tuple[np.ndarray, np.ndarray], limit: int
) -> None:
    classes, _ = case
    n = len(classes)
    if limit >= n:
        with pytest.raises(SDCError, match="limit must be less than"):
            suppress_small_classes(classes, limit=limit)
        return
    sizes = class_sizes(classes)
    j = max(j for j in range(n + 1) if (sizes <= j).sum() <= limit)
    found = suppress_small_classes(classes, limit=limit)
    np.testing.assert_array_equal(found.mask, sizes <= j)
    assert found.mask.sum() <= limit
    assert found.k == k_anonymity(classes[~found.mask]) == sizes[sizes > j].min()
    assert found.largest == (sizes[sizes <= j].max() if (sizes <= j).any() else 0)


@given(st.integers(0, 2**32 - 1))
def test_generalising_never_makes_classes_smaller(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(30, 3))
    fine, coarse = equivalence_classes(X), equivalence_classes(X // 2)
    assert (class_sizes(coarse) >= class_sizes(fine)).all()
    assert spread_k(coarse) >= spread_k(fine)


def test_a_data_frame_gives_the_classes_of_its_values() -> None:
    frame = pd.DataFrame({"zip": ["a", "b", "a", "a"], "age": [30, 30, 30, 41]})
    assert len(set(equivalence_classes(frame).tolist())) == 3
    assert k_anonymity(equivalence_classes(frame)) == 1
    assert distinct_l(equivalence_classes(frame[["zip"]]), pd.Series(["flu", "flu", "cold", "flu"])) == 1
    codes, values = [[0, 0], [1, 0], [0, 0], [0, 1]], pd.Series([40, 10, 30, 20])
    ordered = t_closeness(equivalence_classes(codes), values, distance="ordered")
    assert ordered == t_closeness(equivalence_classes(codes), [3, 0, 2, 1], distance="ordered")


def test_missing_values_in_a_data_frame_are_named_not_guessed() -> None:
    frame = pd.DataFrame({"zip": ["a", None], "age": [30, 31]})
    with pytest.raises(SDCError, match=r"1 missing value.* in column 'zip'"):
        equivalence_classes(frame)
    with pytest.raises(SDCError, match="sensitive has 1 missing"):
        distinct_l([0, 0], frame["zip"])


def test_adult_has_30162_complete_records(public: object) -> None:
    adult = pd.read_csv(public("adult.csv"))  # type: ignore[operator]
    complete = adult[(adult != "?").all(axis=1)]
    assert len(complete) == 30162
    quasi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "income"]
    classes = equivalence_classes(complete[quasi])
    sizes = complete.groupby(quasi, observed=True).size()
    assert k_anonymity(classes) == sizes.min() == 1
    assert int(classes.max()) + 1 == len(sizes)
    assert spread_k(classes) == int((sizes**2).sum())
    distinct = complete.groupby(quasi, observed=True)["occupation"].nunique()
    assert distinct_l(classes, complete["occupation"]) == distinct.min()
    budget = suppress_small_classes(classes, limit=301)
    assert budget.mask.sum() <= 301
