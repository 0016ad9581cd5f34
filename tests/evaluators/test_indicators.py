from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import SDCError
from sdc_problems.evaluators.boxes import boxes, nondominated_boxes
from sdc_problems.evaluators.indicators import (
    additive_epsilon,
    convergence_error,
    hypervolume,
    igd_plus,
    representation_ratio,
    stored_negated,
)

POINTS = st.lists(st.tuples(st.integers(-30, 0), st.integers(0, 30)), min_size=1, max_size=15).map(
    lambda rows: np.array(rows, dtype=float)
)
SIDES = st.tuples(st.sampled_from([0.5, 1.0, 4.0]), st.sampled_from([1.0, 3.0, 10.0]))


@given(POINTS, SIDES)
def test_boxes_are_those_of_the_natural_values(F: np.ndarray, epsilon: tuple[float, float]) -> None:
    index = boxes(F, epsilon, maximized=[True, False])
    for (k, loss), (box_k, box_loss) in zip(F, index, strict=True):
        assert -box_k == math.floor(-k / epsilon[0])
        assert box_loss == math.floor(loss / epsilon[1])


@given(POINTS, SIDES)
def test_a_better_value_is_never_in_a_worse_box(F: np.ndarray, epsilon: tuple[float, float]) -> None:
    index = boxes(F, epsilon, maximized=[True, False])
    for j in range(2):
        order = np.argsort(F[:, j], kind="stable")
        assert (np.diff(index[order, j]) >= 0).all()


def test_one_side_and_one_flag_serve_all_objectives() -> None:
    F = [[1.0, 2.9], [3.0, 4.0]]
    np.testing.assert_array_equal(boxes(F, 2, maximized=False), boxes(F, [2, 2], maximized=[False, False]))
    assert boxes([5.0, 7.0], 2, maximized=False).shape == (1, 2)


@pytest.mark.parametrize(
    ("epsilon", "maximized", "message"),
    [
        ([1.0], False, "epsilon has 1 entries where 2"),
        ([1.0, 0.0], False, "epsilon must be positive"),
        ([1.0, float("inf")], False, "epsilon has 1 non-finite"),
        (1e-300, False, "epsilon is too small"),
        (1.0, [True], r"maximized needs one flag per objective \(2\)"),
        (1.0, [1, 0], "maximized must be booleans"),
    ],
)
def test_bad_grids_are_refused(epsilon: object, maximized: object, message: str) -> None:
    with pytest.raises(SDCError, match=message):
        boxes([[1.0, 2.0]], epsilon, maximized=maximized)


@given(POINTS)
def test_nondominated_boxes_are_the_plain_ones(F: np.ndarray) -> None:
    distinct = sorted(set(map(tuple, F.astype(int).tolist())))

    def dominated(b: tuple[int, ...]) -> bool:
        return any(o != b and all(x <= y for x, y in zip(o, b, strict=True)) for o in distinct)

    expected = [b for b in distinct if not dominated(b)]
    assert [tuple(b) for b in nondominated_boxes(F).tolist()] == expected


@given(POINTS, POINTS, SIDES)
def test_representation_ratio_is_the_plain_share(
    F: np.ndarray, front: np.ndarray, epsilon: tuple[float, float]
) -> None:
    def box(f: np.ndarray) -> tuple[int, int]:
        return -math.floor(-f[0] / epsilon[0]), math.floor(f[1] / epsilon[1])

    cells = {box(f) for f in front}
    marked = {b for b in cells if not any(o != b and o[0] <= b[0] and o[1] <= b[1] for o in cells)}
    expected = len(marked & {box(f) for f in F}) / len(marked)
    assert representation_ratio(F, front, epsilon, maximized=[True, False]) == expected
    assert representation_ratio(front, front, epsilon) == 1.0


def test_the_sense_is_read_off_the_front() -> None:
    front = np.array([[-10.0, 50.0, 0.0], [-5.0, 20.0, 0.0]])
    assert stored_negated(front).tolist() == [True, False, False]
    step = np.array([[0.9, 0.0, 0.0], [0.0, 0.0, 0.0]])
    near, nearer = front + step, front - step  # k = 9.1 is in box 9, k = 10.9 in box 10
    assert representation_ratio(near, front, 1) == 0.5
    assert representation_ratio(near, front, 1, maximized=False) == 1.0
    assert representation_ratio(nearer, front, 1) == 1.0
    assert representation_ratio(nearer, front, 1, maximized=False) == 0.5


@given(POINTS, POINTS)
def test_convergence_error_is_the_plain_sum(F: np.ndarray, front: np.ndarray) -> None:
    largest = [max(abs(front[:, j])) or 1.0 for j in range(2)]
    expected = sum(min(math.dist(f / largest, m / largest) for m in front) for f in F)
    assert convergence_error(F, front) == pytest.approx(expected, abs=1e-9)
    assert convergence_error(front, front) == 0.0


@given(POINTS, POINTS)
def test_the_sign_of_a_stored_objective_does_not_change_the_error(F: np.ndarray, front: np.ndarray) -> None:
    natural = [-1.0, 1.0]
    assert convergence_error(F * natural, front * natural) == pytest.approx(convergence_error(F, front))


def test_convergence_error_in_blocks(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    F, front = rng.random((50, 3)), rng.random((20, 3))
    whole = convergence_error(F, front)
    monkeypatch.setattr("sdc_problems.evaluators.indicators._BLOCK", 60)
    assert convergence_error(F, front) == pytest.approx(whole)


def test_hypervolume_of_two_overlapping_rectangles() -> None:
    assert hypervolume([[1.0, 2.0], [2.0, 1.0]], [3.0, 3.0]) == 3.0
    assert hypervolume([[1.0, 2.0], [2.0, 1.0], [2.5, 2.5]], [3.0, 3.0]) == 3.0
    assert hypervolume([[4.0, 4.0]], [3.0, 3.0]) == 0.0


@given(POINTS, POINTS)
def test_igd_plus_and_additive_epsilon_are_the_plain_ones(F: np.ndarray, front: np.ndarray) -> None:
    gaps = [[np.maximum(f - m, 0.0) for f in F] for m in front]
    igd = np.mean([min(float(np.linalg.norm(g)) for g in row) for row in gaps])
    assert igd_plus(F, front) == pytest.approx(igd, abs=1e-9)
    eps = max(min(max(f - m) for f in F) for m in front)
    assert additive_epsilon(F, front) == pytest.approx(eps, abs=1e-9)


def test_sets_must_have_the_same_objectives() -> None:
    with pytest.raises(SDCError, match="F and front must have the same objectives: 2 and 3"):
        convergence_error([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(SDCError, match="reference_point has 1 entries"):
        hypervolume([[1.0, 2.0]], [3.0])
