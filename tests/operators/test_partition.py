"""Partition operators: limits of sizes, what is inherited, what is drawn how often."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.core.population import Population

from sdc_problems.errors import SDCError
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.partition import (
    GeneMutation,
    GroupSizes,
    OnePointCrossover,
    RandomPartitions,
    RecordMutation,
    RouletteSelection,
    WholeGroupCrossover,
    limited,
)


class Records:
    """What the operators ask of a problem."""

    def __init__(self, n: int, k: int, k_max: int | None = None, neighbours: np.ndarray | None = None) -> None:
        self.n_var, self.smallest, self.k_max = n, k, k_max or k
        self.largest = 2 * self.k_max - 1
        self.xl, self.xu, self.dtype = np.zeros(n), np.full(n, n // k - 1), np.int16
        self.neighbours = neighbours

    def has_var(self) -> bool:
        return True


def assert_valid(problem: Records, X: np.ndarray) -> None:
    np.testing.assert_array_equal(restricted_growth(X), X)
    for row in X:
        sizes = np.bincount(row)
        assert problem.smallest <= sizes.min()
        assert sizes.max() <= problem.largest


@st.composite
def any_rows(draw: st.DrawFn):
    k = draw(st.integers(2, 5))
    n = draw(st.integers(2 * k, 40))
    most = draw(st.integers(2 * k - 1, 4 * k))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, draw(st.integers(1, n)), size=(3, n)), k, most, rng


@given(case=any_rows(), drawn=st.booleans())
def test_any_row_is_brought_within_the_limits(case, drawn):
    rows, k, most, rng = case
    before = rows.copy()
    fitted = limited(rows, k, most, random_state=rng if drawn else None)
    np.testing.assert_array_equal(rows, before)
    for row in fitted:
        sizes = np.bincount(row)
        assert k <= sizes.min()
        assert sizes.max() <= most
    np.testing.assert_array_equal(restricted_growth(fitted), fitted)
    np.testing.assert_array_equal(limited(fitted, k, most), fitted)  # what is within the limits stays


@given(case=any_rows())
def test_equal_partitions_are_repaired_alike_whatever_their_labels(case):
    rows, k, most, rng = case
    order = rng.permutation(rows.max() + 1)
    np.testing.assert_array_equal(
        limited(restricted_growth(rows), k, most), limited(restricted_growth(order[rows]), k, most)
    )


def test_repair_keeps_what_it_can():
    assert limited(np.array([0, 0, 0, 1, 1, 2, 2, 2, 2]), 3, 5).tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 1]
    assert limited(np.zeros(7, dtype=np.int16), 2, 3).dtype == np.int16
    for wrong in ((np.zeros(4, dtype=int), 5, 9), (np.zeros(9, dtype=int), 3, 4)):
        with pytest.raises(SDCError, match="cannot hold"):
            limited(*wrong)
    with pytest.raises(SDCError, match="labels must be between"):
        limited(np.array([9, 0, 0, 0]), 2, 3)


@pytest.mark.parametrize(("k", "k_max"), [(3, None), (2, 6)])
def test_samples_are_within_the_limits_and_varied(rng, k, k_max):
    problem = Records(50, k, k_max)
    X = RandomPartitions()(problem, 60, random_state=rng).get("X")
    assert X.dtype == np.int16
    assert_valid(problem, X)
    assert len({row.tobytes() for row in X}) == 60
    assert len({int(np.bincount(row).min()) for row in X}) >= (5 if k_max else 1)


def test_algorithm_i_draws_evenly_among_groups_with_room(rng):
    """With room for all, every record meets every other equally often."""
    problem = Records(6, 3)
    X = RandomPartitions()(problem, 4000, random_state=rng).get("X")
    together = [(X[:, 0] == X[:, i]).mean() for i in range(1, 6)]
    assert max(together) - min(together) < 0.05


def test_one_point_crossover_exchanges_tails(rng):
    problem = Records(10, 2)
    parents = np.stack([np.zeros(10, dtype=np.int16), np.ones(10, dtype=np.int16)])
    pairs = [list(Population.new("X", parents.copy())) for _ in range(50)]
    children = OnePointCrossover(prob=1.0)(problem, pairs, random_state=rng).get("X")
    points = set()
    for child in children:
        change = np.flatnonzero(np.diff(child))
        assert len(change) == 1
        points.add(int(change[0]))
    assert points == set(range(9))
    assert children.dtype == np.int16


def test_gene_mutation_replaces_as_many_labels_as_its_rate_says(rng):
    problem = Records(200, 2)
    X = np.full((100, 200), 7, dtype=np.int16)
    out = GeneMutation(0.1)(problem, Population.new("X", X.copy()), random_state=rng).get("X")
    assert (out != 7).mean() == pytest.approx(0.1 * 99 / 100, abs=0.01)
    assert out.max() == 99
    same = GeneMutation(0.0)(problem, Population.new("X", X.copy()), random_state=rng).get("X")
    np.testing.assert_array_equal(same, X)
    with pytest.raises(SDCError, match="probability"):
        GeneMutation(1.5)


def line_neighbours(n: int) -> np.ndarray:
    return np.array([sorted((j for j in range(n) if j != i), key=lambda j: (abs(i - j), j))[:6] for i in range(n)])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("k_max", [None, 6])
def test_children_are_within_the_limits_without_any_repair(rng, known, k_max):
    problem = Records(41, 3, k_max, line_neighbours(41).astype(np.int32) if known else None)
    X = RandomPartitions()(problem, 40, random_state=rng).get("X")
    pairs = [list(Population.new("X", X[i : i + 2].copy())) for i in range(0, 40, 2)]
    for _ in range(5):
        assert_valid(problem, WholeGroupCrossover(prob=1.0)(problem, pairs, random_state=rng).get("X"))
        mutated = RecordMutation()(problem, Population.new("X", X.copy()), random_state=rng).get("X")
        assert_valid(problem, mutated)
        assert (mutated != X).any()


def test_whole_groups_are_inherited(rng):
    """A child of equal parents is their clone; of others it keeps about half of the giver's groups together."""
    problem = Records(60, 3, None, line_neighbours(60).astype(np.int32))
    X = RandomPartitions()(problem, 2, random_state=rng).get("X")
    clones = WholeGroupCrossover(prob=1.0)(problem, [list(Population.new("X", X[[0, 0]]))], random_state=rng).get("X")
    np.testing.assert_array_equal(clones, X[[0, 0]])
    pairs = [list(Population.new("X", X.copy())) for _ in range(50)]
    children = WholeGroupCrossover(prob=1.0)(problem, pairs, random_state=rng).get("X")
    groups = [np.flatnonzero(X[0] == g) for g in range(X[0].max() + 1)]
    together = [len(set(child[group])) == 1 for child in children[:50] for group in groups]
    assert 0.35 < np.mean(together) < 0.65


def test_mutation_reaches_other_numbers_of_groups(rng):
    problem = Records(30, 2, 5)
    X = RandomPartitions()(problem, 1, random_state=rng).get("X").repeat(300, axis=0)
    out = RecordMutation(mean_moves=4)(problem, Population.new("X", X.copy()), random_state=rng).get("X")
    change = out.max(axis=1).astype(int) - int(X[0].max())
    assert change.min() < 0 < change.max()
    with pytest.raises(SDCError, match="mean_moves"):
        RecordMutation(mean_moves=0.5)


def test_roulette_draws_in_proportion_to_fitness(rng):
    pop = Population.new("F", np.array([[0.0], [1.0], [3.0], [1e30]]))
    drawn = RouletteSelection()(None, pop, 20_000, 2, random_state=rng, to_pop=False)
    share = np.bincount(drawn.ravel(), minlength=4) / drawn.size
    np.testing.assert_allclose(share, [4 / 7, 2 / 7, 1 / 7, 0.0], atol=0.01)
    for wrong, why in ((np.zeros((3, 2)), "one objective"), (np.array([[-1.0]]), "at least 0")):
        with pytest.raises(SDCError, match=why):
            RouletteSelection()(None, Population.new("F", wrong), 2, 2, random_state=rng)


def test_the_repair_is_the_problems_own(rng):
    problem = Records(20, 3)
    X = rng.integers(0, 6, size=(10, 20)).astype(np.int16)
    repaired = GroupSizes()(problem, Population.new("X", X.copy()), random_state=rng).get("X")
    np.testing.assert_array_equal(repaired, limited(X, 3, 5))
