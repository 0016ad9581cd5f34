from __future__ import annotations

import pickle
import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.spea2 import SPEA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.core.population import Population
from pymoo.optimize import minimize
from pymoo.problems import get_problem

from sdc_problems.algorithms.archives.box import AddStatus, ArrayStore, BoxArchive
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.boxes import boxes
from sdc_problems.testing import ArchiveContract


class TestBoxArchive(ArchiveContract):
    def make(self, n_obj: int) -> BoxArchive:
        return BoxArchive(1.0)


class PlainArchive:
    """Algorithm 1 of Dewri et al. (2010), one candidate at a time, word for word."""

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.members: list[tuple[float, ...]] = []

    def box(self, f: tuple[float, ...]) -> tuple[int, ...]:
        return tuple(int(v / self.epsilon) for v in f)

    @staticmethod
    def dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    def box_dominates(self, a: tuple[float, ...], b: tuple[float, ...]) -> bool:
        if self.box(a) != self.box(b):
            return self.dominates(self.box(a), self.box(b))
        return self.dominates(a, b)

    def add(self, f: tuple[float, ...]) -> AddStatus:
        before = {self.box(g) for g in self.members}
        self.members = [g for g in self.members if not self.box_dominates(f, g)]
        dominated = any(self.box_dominates(g, f) for g in self.members)
        same_box = any(self.box(g) == self.box(f) for g in self.members)
        if dominated or same_box:
            return AddStatus.REJECTED
        self.members.append(f)
        return AddStatus.IMPROVED if self.box(f) in before else AddStatus.NEW


@st.composite
def batches(draw: st.DrawFn) -> list[np.ndarray]:
    """A few batches of candidates on a small grid of quarters, so that ties and shared boxes are common."""
    n_obj = draw(st.integers(1, 4))
    sizes = [draw(st.integers(1, 12)), *draw(st.lists(st.integers(0, 12), max_size=4))]
    values = st.integers(-20, 20).map(lambda v: v / 4)
    return [draw(arrays(np.float64, (size, n_obj), elements=values)) for size in sizes]


EPSILON = st.sampled_from([0.5, 1.0, 2.5])


def ids(batch: np.ndarray, start: int) -> np.ndarray:
    return np.arange(start, start + len(batch), dtype=np.int32)[:, None]


def feed(archive: BoxArchive, parts: list[np.ndarray]) -> Iterator[np.ndarray]:
    start = 0
    for part in parts:
        yield archive.update(part, ids(part, start))
        start += len(part)


@given(batches(), EPSILON)
def test_one_by_one_is_algorithm_1(parts: list[np.ndarray], epsilon: float) -> None:
    rows = np.concatenate(parts)
    plain, archive = PlainArchive(epsilon), BoxArchive(epsilon)
    for i, f in enumerate(rows):
        expected = plain.add(tuple(f))
        assert archive.update(f[None], [[i]]).tolist() == [expected]
        assert sorted(map(tuple, archive.F)) == sorted(plain.members)


@given(batches(), EPSILON)
def test_a_batch_ends_as_one_by_one(parts: list[np.ndarray], epsilon: float) -> None:
    rows = np.concatenate(parts)
    single, batched = BoxArchive(epsilon), BoxArchive(epsilon)
    list(feed(single, [row[None] for row in rows]))
    for statuses in feed(batched, parts):
        held = batched.X[:, 0] if len(batched) else []
        last = np.arange(batched.n_added - len(statuses), batched.n_added)
        assert ((statuses != AddStatus.REJECTED) == np.isin(last, held)).all()
    np.testing.assert_array_equal(single.F, batched.F)
    np.testing.assert_array_equal(single.X, batched.X)
    assert single.n_added == batched.n_added == len(rows)


@given(batches(), EPSILON)
def test_theorem_1_members_are_minimal_among_all_candidates(parts: list[np.ndarray], epsilon: float) -> None:
    archive = BoxArchive(epsilon)
    list(feed(archive, parts))
    seen = np.concatenate(parts)
    for f in archive.F:
        assert not ((seen <= f).all(axis=1) & (seen < f).any(axis=1)).any()


@given(batches(), EPSILON)
def test_theorem_2_the_size_is_bounded(parts: list[np.ndarray], epsilon: float) -> None:
    archive = BoxArchive(epsilon)
    list(feed(archive, parts))
    seen = archive.box_of(np.concatenate(parts))
    per_objective = np.sort(np.ptp(seen, axis=0) + 1)[::-1]
    assert len(archive) <= per_objective[:-1].prod()


@given(batches(), EPSILON)
def test_every_candidate_is_represented(parts: list[np.ndarray], epsilon: float) -> None:
    archive = BoxArchive(epsilon)
    list(feed(archive, parts))
    boxes = [tuple(box) for box in archive.boxes]
    assert len(set(boxes)) == len(boxes)
    for box in archive.box_of(np.concatenate(parts)):
        assert (archive.boxes <= box).all(axis=1).any()


def test_boxes_of_a_maximised_objective_are_counted_from_zero() -> None:
    sizes = np.arange(1, 16)
    F = np.column_stack([-sizes, sizes]).astype(float)
    assert (BoxArchive(5).box_of(F) == np.column_stack([-(sizes // 5), sizes // 5])).all()
    np.testing.assert_array_equal(BoxArchive(5).box_of(F), boxes(F, 5, maximized=np.array([True, False])))
    assert BoxArchive(5, offset=2).box_of([[6.9], [7.0], [2.0]]).tolist() == [[0], [1], [0]]
    assert not np.signbit(BoxArchive(5).box_of([[-1.0]])).any()


def test_it_meets_its_speed_on_a_front_where_everything_stays(rng: np.random.Generator) -> None:
    points = np.abs(rng.normal(size=(20_000, 3)))
    points /= np.linalg.norm(points, axis=1)[:, None]
    archive = BoxArchive(1e-9)
    start = time.process_time()
    archive.update(points, np.arange(20_000)[:, None])
    seconds = time.process_time() - start
    assert len(archive) == 20_000
    # Looking at the 2·10^8 pairs with numpy, one candidate after the other, takes seconds: so many that a
    # thousandth of the work is enough to compare with.
    start = time.process_time()
    for f in points[:20]:
        (points <= f).all(axis=1).any()
    assert seconds < 1000 * (time.process_time() - start)


def test_it_survives_pickling_and_goes_on(rng: np.random.Generator) -> None:
    F, X = rng.integers(0, 30, size=(200, 3)).astype(float), np.arange(200)[:, None]
    archive = BoxArchive([1, 2, 3])
    archive.update(F[:100], X[:100])
    copy = pickle.loads(pickle.dumps(archive))
    assert copy.update(F[100:], X[100:]).tolist() == archive.update(F[100:], X[100:]).tolist()
    assert copy.F.tobytes() == archive.F.tobytes()
    assert copy.X.tobytes() == archive.X.tobytes()


@pytest.mark.parametrize("algorithm", [NSGA2, SPEA2])
def test_any_pymoo_algorithm_takes_it(algorithm: type) -> None:
    result = minimize(
        get_problem("zdt1", n_var=5), algorithm(pop_size=20, archive=BoxArchive(0.05)), ("n_gen", 15), seed=1
    )
    archive = result.algorithm.archive
    assert result.archive is archive
    assert archive.n_added == 300
    assert 3 < len(archive) <= 300
    assert archive.X.shape == (len(archive), 5)
    assert [tuple(f) for _, f in archive] == [tuple(f) for f in archive.F]


def test_single_objective_and_infeasible_candidates() -> None:
    result = minimize(get_problem("g1"), GA(pop_size=20, archive=BoxArchive(1e-6)), ("n_gen", 20), seed=3)
    archive = result.algorithm.archive
    assert archive.n_added == 400
    assert len(archive) == 1
    assert archive.F[0, 0] == result.F[0]  # the best infeasible individuals have much better objective values
    pop = Population.new(X=np.eye(2), F=np.array([[1.0], [0.0]]), G=np.array([[-1.0], [1.0]]))
    archive = BoxArchive().add(pop)
    assert archive.statuses.tolist() == [AddStatus.NEW, AddStatus.REJECTED]
    assert archive.n_added == 2


def test_members_cannot_be_edited_and_candidates_are_not() -> None:
    F, X = np.array([[1.0, 2.0]]), np.array([[7]], dtype=np.int16)
    archive = BoxArchive()
    archive.update(F, X)
    assert archive.X.dtype == np.int16
    with pytest.raises(ValueError, match="read-only"):
        archive.F[0, 0] = 0
    F[0, 0] = 99
    assert archive.F[0, 0] == 1


@pytest.mark.parametrize(
    ("F", "X", "message"),
    [
        ([[1.0, np.nan]], [[0]], "objective 1 of candidate 0 is nan"),
        ([[1.0, 2.0]], [[0], [1]], "one row per candidate"),
        ([1.0, 2.0], [[0], [1]], "one row per candidate"),
        ([[1.0, 2.0, 3.0]], [[0]], "epsilon has 2 entries for 3 objectives"),
        ([[1.0, 2.0]], [[0, 1]], "another problem"),
    ],
)
def test_bad_candidates(F: list, X: list, message: str) -> None:
    archive = BoxArchive([1.0, 1.0])
    archive.update([[0.0, 0.0]], [[0]])
    with pytest.raises(SDCError, match=message):
        archive.update(F, X)
    assert len(archive) == 1


@pytest.mark.parametrize("epsilon", [0, -1, [1, 0], np.inf, "wide", [[1]], []])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises(SDCError, match="epsilon"):
        BoxArchive(epsilon)


def test_store_fields_are_declared() -> None:
    store = ArrayStore({"F": (float, (2,)), "X": (np.int16, (1,))})
    with pytest.raises(SDCError, match="fields F, X"):
        store.append(F=np.zeros((1, 2)))
    with pytest.raises(SDCError, match=r"entries of shape \(1,\)"):
        store.append(F=np.zeros((1, 2)), X=np.zeros((1, 2)))
    assert len(store) == 0
