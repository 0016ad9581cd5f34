"""Fixed counts, attribution, the retirement rule, and the genealogy of births and deaths."""

from __future__ import annotations

import numpy as np
import pytest
from pymoo.core.population import Population

from sdc_problems.errors import SDCError
from sdc_problems.operators.grouping import ElementMove, GroupCrossover, GroupSplit, RandomGroupings, inject
from sdc_problems.operators.portfolio import Genealogy, Portfolio, Share, efficiency


class Grouping:
    n_var = 6
    dtype = np.dtype(np.int16)


def portfolio(**options: int) -> Portfolio:
    shares = [Share("crossover", GroupCrossover(), 3), Share("split", GroupSplit(), 4), Share("move", ElementMove(), 0)]
    return Portfolio(shares, **options)


def parents(n: int = 8) -> Population:
    return RandomGroupings()(Grouping(), n, random_state=np.random.default_rng(0))


def test_every_operator_makes_its_number_of_children() -> None:
    children = portfolio().breed(Grouping(), parents(), random_state=np.random.default_rng(1))
    assert np.bincount(children.get("sdc_operator")).tolist() == [6, 4]
    assert portfolio().active == ("crossover", "split")


def test_children_name_their_parents() -> None:
    pop = parents()
    children = portfolio().breed(Grouping(), pop, random_state=np.random.default_rng(1))
    for child in children:
        first, second = child.get("sdc_parents")
        if child.get("sdc_operator") == 0:
            assert first != second
            possible = set()
            for giver, receiver in ((pop[first].X, pop[second].X), (pop[second].X, pop[first].X)):
                n = int(giver.max()) + 1
                possible |= {
                    inject(giver, receiver, np.arange(a, b + 1)).tobytes() for a in range(n) for b in range(a, n)
                }
            assert child.X.tobytes() in possible
        else:
            assert second == -1
            assert child.X.max() - pop[first].X.max() in (0, 1)


def test_parents_are_not_changed_nor_shared() -> None:
    pop = parents()
    before = pop.get("X").copy()
    children = portfolio().breed(Grouping(), pop, random_state=np.random.default_rng(1))
    np.testing.assert_array_equal(pop.get("X"), before)
    assert not any(np.shares_memory(child.X, parent.X) for child in children for parent in pop)


def test_five_useless_generations_in_a_row_retire_an_operator() -> None:
    watched = portfolio(patience=5)
    for _ in range(4):
        assert watched.observe({"crossover": 1, "split": 0}) == ()
    assert watched.observe({"crossover": 1, "split": 1}) == ()  # one survivor: the count begins again
    for _ in range(4):
        assert watched.observe({"crossover": 1}) == ()
    assert watched.observe({"crossover": 1}) == ("split",)
    assert watched.active == ("crossover",)
    children = watched.breed(Grouping(), parents(), random_state=np.random.default_rng(1))
    assert set(children.get("sdc_operator")) == {0}
    for _ in range(5):
        watched.observe({})
    assert len(watched.breed(Grouping(), parents(), random_state=np.random.default_rng(1))) == 0


def test_nobody_retires_without_patience() -> None:
    watched = portfolio()
    for _ in range(20):
        watched.observe({})
    assert watched.active == ("crossover", "split")


def test_wrong_portfolios_are_refused() -> None:
    with pytest.raises(SDCError, match="at least one"):
        Portfolio([])
    with pytest.raises(SDCError, match="twice"):
        Portfolio([Share("split", GroupSplit(), 1), Share("split", GroupSplit(), 1)])
    with pytest.raises(SDCError, match="count"):
        Portfolio([Share("split", GroupSplit(), -1)])
    with pytest.raises(SDCError, match="patience"):
        portfolio(patience=0)
    with pytest.raises(SDCError, match="needs 2 parents"):
        portfolio().breed(Grouping(), parents(1), random_state=np.random.default_rng(1))


def test_genealogy_counts_lives() -> None:
    genealogy = Genealogy(width=2)
    assert genealogy.born(0, np.array([[5.0], [6.0]])).tolist() == [0, 1]
    children = genealogy.born(
        1,
        np.array([[4.0], [9.0]]),
        operator=np.array([0, 1]),
        parents=np.array([[0, 1], [1, -1]]),
        clone=np.array([False, False]),
        evaluated=np.array([True, True]),
    )
    genealogy.discarded(np.array([1, 3]), 1)  # an old one and the second child die in the selection of generation 1
    grandchild = genealogy.born(2, np.array([[3.0]]), operator=np.array([0]), parents=np.array([[2, 0]]))
    table = genealogy.table(3)
    assert len(genealogy) == 5
    assert children.tolist() == [2, 3]
    assert grandchild.tolist() == [4]
    assert table["lifetime"].tolist() == [3, 1, 2, 0, 1]  # generations beyond that of birth, up to the third
    assert table["survived"].tolist() == [True, True, True, False, True]
    assert table["used"].tolist() == [True, True, True, False, False]
    assert table["operator"].tolist() == [-1, -1, 0, 1, 0]


def test_efficiency_is_that_of_equations_4_2_and_4_3() -> None:
    child = np.array([[30.0], [50.0], [40.0]])
    both = np.array([[[40.0], [60.0]], [[40.0], [40.0]], [[40.0], [np.nan]]])
    np.testing.assert_allclose(efficiency(child, both), [100 * (1 - 30 / 50), 100 * (1 / (50 / 40) - 1), 0.0])


def test_efficiency_of_costs_of_zero() -> None:
    zero, one = np.array([[0.0]]), np.array([[1.0]])
    assert efficiency(zero, zero[None, :, :]) == 0.0
    assert efficiency(zero, one[None, :, :]) == 100.0
    assert efficiency(one, zero[None, :, :]) == -100.0


def test_efficiency_of_several_costs_is_their_mean() -> None:
    assert efficiency(np.array([[5.0, 20.0]]), np.array([[[10.0, 10.0]]])) == pytest.approx((50 - 50) / 2)
