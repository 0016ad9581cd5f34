from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.information_loss import (
    average_class_size,
    cm,
    discernibility,
    entropy_loss,
    entropy_loss_percent,
    glm,
    glm_percent,
)


@st.composite
def classed(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(1, 20))
    ints = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    classes, target = draw(ints), draw(ints)
    out = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    return np.array(classes), np.array(target), np.array(out)


@given(classed())
def test_cm_is_the_plain_count(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    classes, target, out = case
    expected = int(out.sum())
    for label in set(classes[~out].tolist()):
        values = target[(classes == label) & ~out].tolist()
        expected += len(values) - max(values.count(v) for v in values)
    assert cm(classes, target, suppressed=out) == expected


@given(classed())
def test_discernibility_is_the_plain_sum(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    classes, _, out = case
    expected = sum(len(out) if out[i] else int(((classes == classes[i]) & ~out).sum()) for i in range(len(out)))
    assert discernibility(classes, suppressed=out) == expected
    assert len(out) <= expected <= len(out) ** 2


@given(classed())
def test_average_class_size_is_the_plain_mean(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    classes, _, out = case
    left = classes[~out].tolist()
    expected = len(left) / len(set(left)) if left else 0.0
    assert average_class_size(classes, suppressed=out) == pytest.approx(expected)
    assert average_class_size(classes, suppressed=out, k=2) == pytest.approx(expected / 2)


@given(st.integers(0, 2**32 - 1))
def test_glm_is_the_plain_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=3)
    leaves = rng.integers(1, sizes + 1, size=(10, 3))
    out = rng.random(10) < 0.3
    expected = 0.0
    for i in range(10):
        for j in range(3):
            if out[i]:
                expected += 1.0
            elif sizes[j] > 1:
                expected += (leaves[i, j] - 1) / (sizes[j] - 1)
    assert glm(leaves, sizes, suppressed=out) == pytest.approx(expected)
    assert glm_percent(leaves, sizes, suppressed=out) == pytest.approx(100 * expected / 30)


def test_glm_runs_from_untouched_to_suppressed() -> None:
    sizes = [5, 3]
    assert glm(np.ones((4, 2), dtype=int), sizes) == 0.0
    assert glm_percent(np.tile(sizes, (4, 1)), sizes) == 100.0
    assert glm_percent(np.ones((4, 2), dtype=int), sizes, suppressed=[True] * 4) == 100.0


def test_glm_refuses_values_wider_than_the_domain() -> None:
    with pytest.raises(SDCError, match="leaves must lie between 1 and"):
        glm([[6]], [5])
    with pytest.raises(SDCError, match="leaves must lie between 1 and"):
        glm([[0]], [5])


def test_a_mask_must_be_boolean_and_complete() -> None:
    with pytest.raises(SDCError, match=r"suppressed must hold one boolean per record \(3\)"):
        cm([0, 0, 1], [0, 1, 1], suppressed=[0, 1, 0])
    with pytest.raises(SDCError, match="suppressed must hold"):
        discernibility([0, 0, 1], suppressed=[True])


@given(st.integers(0, 2**32 - 1))
def test_entropy_loss_is_the_plain_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(15, 2))
    Y = X // 2
    out = rng.random(15) < 0.3
    stars = rng.random(X.shape) < 0.2
    Y[stars] = 9  # a star is a label that tells nothing, however few there are
    bits = worst = 0.0
    for i in range(15):
        for j in range(2):
            overall = -math.log2(np.mean(X[:, j] == X[i, j]))
            worst += overall
            same = Y[:, j] == Y[i, j]
            bits += overall if out[i] or stars[i, j] else -math.log2(np.mean(X[same, j] == X[i, j]))
    assert entropy_loss(X, Y, suppressed=out, stars=stars) == pytest.approx(bits, abs=1e-9)
    assert entropy_loss_percent(X, Y, suppressed=out, stars=stars) == pytest.approx(100 * min(bits / worst, 1.0))


def test_entropy_loss_without_suppression_agrees_with_an_empty_mask(rng: np.random.Generator) -> None:
    X = rng.integers(0, 6, size=(50, 2))
    mask = np.zeros(50, dtype=bool)
    mask[7] = True
    one = entropy_loss(X, X // 3, suppressed=mask)
    none = entropy_loss(X, X // 3)
    difference = sum(
        -math.log2(np.mean(X[:, j] == X[7, j])) + math.log2(np.mean(X[X[:, j] // 3 == X[7, j] // 3, j] == X[7, j]))
        for j in range(2)
    )
    assert one - none == pytest.approx(difference)


def test_renaming_loses_nothing_and_merging_rare_values_loses_less() -> None:
    X = np.array([[0]] * 50 + [[1]] * 50 + [[2], [3]])
    assert entropy_loss(X, 3 - X) == 0.0
    assert entropy_loss_percent(X, X) == 0.0
    frequent, rare = X.copy(), X.copy()
    frequent[X == 1] = 0
    rare[X == 3] = 2
    assert entropy_loss(X, rare) < entropy_loss(X, frequent)
    assert entropy_loss_percent(X, np.zeros_like(X)) == 100.0


def test_large_tables_are_measured_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.evaluators.information_loss import _pairs, ctbil, dbil, ebil

    rng = np.random.default_rng(1)
    X, Y = rng.integers(0, 9, (50, 3)).astype(np.int32), rng.integers(0, 3, (50, 3)).astype(np.int32)
    leaves, lost = rng.integers(1, 9, (50, 3)), rng.random(50) < 0.2
    whole = glm(leaves, [9, 9, 9], suppressed=lost), entropy_loss(X, Y, suppressed=lost)
    losses = [measure(X, Y) for measure in (ctbil, dbil, ebil)]
    monkeypatch.setattr(_pairs, "RECORDS", 7)
    monkeypatch.setattr(_pairs, "CELLS", 1)
    assert glm(leaves, [9, 9, 9], suppressed=lost) == pytest.approx(whole[0], rel=1e-14)
    assert entropy_loss(X, Y, suppressed=lost) == whole[1]
    assert [measure(X, Y) for measure in (ctbil, dbil, ebil)] == losses
    with pytest.raises(SDCError, match="negative code"):
        entropy_loss(np.where(np.arange(50)[:, None] == 40, -1, X), Y)
    with pytest.raises(SDCError, match="leaves must lie"):
        glm(np.where(np.arange(50)[:, None] == 40, 0, leaves), [9, 9, 9])
