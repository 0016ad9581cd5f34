"""The operators of the thesis' section 3.4: its examples, every possible outcome, and what never changes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.core.population import Population

from sdc_problems.errors import SDCError
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.grouping import (
    MUTATIONS,
    AnyGroupingMutation,
    ElementMove,
    ElementSwap,
    GroupCreate,
    GroupCrossover,
    GroupEliminate,
    GroupSplit,
    RandomGroupings,
    inject,
)


class Grouping:
    """As much of a problem as the operators look at."""

    def __init__(self, n_var: int) -> None:
        self.n_var = n_var
        self.dtype = np.dtype(np.int16)


def row(letters: str) -> np.ndarray:
    """The object part of a chromosome as the thesis writes it: ABCABA."""
    return restricted_growth(np.array([ord(c) - ord("A") for c in letters], dtype=np.int16))


def letters(x: np.ndarray) -> str:
    return "".join(chr(ord("A") + label) for label in x)


def outcomes(mutation: Any, parent: str, draws: int = 2000) -> Counter[str]:
    """Every child that comes out, and how often."""
    x = row(parent)
    pop = Population.new("X", np.tile(x, (draws, 1)))
    return Counter(map(letters, mutation(Grouping(len(x)), pop, random_state=np.random.default_rng(0)).get("X")))


groupings = st.lists(st.integers(0, 9), min_size=1, max_size=12).map(lambda v: row("".join(chr(65 + i) for i in v)))


# -- encoding (figures 3.1 and 3.2) -----------------------------------------------------------------------------------


def test_clones_have_one_canonical_form() -> None:
    """Attributes 1, 2 and 5 in one group, 3 and 4 in another, whatever the groups are called."""
    assert letters(row("AABBA")) == letters(row("BBAAB")) == letters(row("CCZZC")) == "AABBA"


# -- crossover (figures 3.3 and 3.4) ----------------------------------------------------------------------------------


def test_injected_groups_arrive_whole_and_the_rest_is_grouped_as_in_the_other_parent() -> None:
    giver, receiver = row("ABCABA"), row("DDEEFF")
    child = inject(giver, receiver, np.array([1, 2]))  # groups B and C: attributes 2, 5 and 3
    assert letters(child) == letters(row("DBCEBF"))


def test_shared_names_do_not_confuse_groups() -> None:
    """Both parents call a group A; without renaming the child would merge them (figure 3.4 a)."""
    giver, receiver = row("AABB"), row("ABAB")
    assert letters(inject(giver, receiver, np.array([0]))) == "AABC"


def test_crossover_makes_every_pair_of_section_children() -> None:
    first, second = row("ABCC"), row("AABB")
    sections = {1: [(0, 0)], 2: [(0, 0), (1, 1), (0, 1)], 3: [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)]}

    def possible(giver: np.ndarray, receiver: np.ndarray) -> set[str]:
        spans = sections[int(giver.max()) + 1]
        return {letters(inject(giver, receiver, np.arange(a, b + 1))) for a, b in spans}

    pop = Population.new("X", np.array([first, second]))
    matings = np.tile([0, 1], (500, 1))
    children = GroupCrossover()(Grouping(4), pop, matings, random_state=np.random.default_rng(1)).get("X")
    assert set(map(letters, children[:500])) == possible(first, second)
    assert set(map(letters, children[500:])) == possible(second, first)
    assert letters(first) in possible(first, second)  # the whole group part was the section: a clone


@given(groupings, st.data())
def test_crossover_children_inherit_groups(first: np.ndarray, data: st.DataObject) -> None:
    second = row("".join(chr(65 + data.draw(st.integers(0, 9))) for _ in first))
    seed = data.draw(st.integers(0, 1000))
    pop = Population.new("X", np.array([first, second]))
    children = GroupCrossover()(
        Grouping(len(first)), pop, np.array([[0, 1]]), random_state=np.random.default_rng(seed)
    ).get("X")
    for child, giver, receiver in ((children[0], first, second), (children[1], second, first)):
        given_groups = [g for g in range(giver.max() + 1) if len(set(child[giver == g])) == 1]
        whole = [g for g in given_groups if ((child == child[giver == g][0]) == (giver == g)).all()]
        assert whole, "at least one group came over whole"
        together = [
            (a, b) for a in range(len(child)) for b in range(a) if child[a] == child[b] and giver[a] != giver[b]
        ]
        assert all(receiver[a] == receiver[b] for a, b in together), "what is together was together in a parent"
        assert (restricted_growth(child) == child).all()


# -- mutations (figure 3.5) -------------------------------------------------------------------------------------------


def test_group_create_takes_any_attributes_and_leaves_the_rest() -> None:
    found = outcomes(GroupCreate(), "AABB")
    x = row("AABB")
    expected = set()
    for chosen in range(1, 16):
        child = x.copy()
        child[[bool(chosen >> j & 1) for j in range(4)]] = 9
        expected.add(letters(restricted_growth(child)))
    assert set(found) == expected
    assert "AAAA" in found, "one step can reach the grouping of one group"


def test_group_create_sizes_are_uniform() -> None:
    """From groups of one attribute each, the size of the new group can be read off."""
    n = 8
    found = outcomes(GroupCreate(), "ABCDEFGH", draws=8000)
    sizes = Counter(max(Counter(child).values()) for child in found.elements())
    for size in range(1, n + 1):
        assert abs(sizes[size] / 8000 - 1 / n) < 0.02


def test_group_eliminate_distributes_one_group_among_the_others() -> None:
    found = outcomes(GroupEliminate(), "AABBCD")
    x = row("AABBCD")
    expected = set()
    for gone in range(4):
        where = np.flatnonzero(x == gone)
        others = [g for g in range(4) if g != gone]
        for choice in np.ndindex(*[3] * len(where)):
            child = x.copy()
            child[where] = [others[c] for c in choice]
            expected.add(letters(restricted_growth(child)))
    assert set(found) == expected
    assert all(len(set(child)) == 3 for child in found), "one group less"


def test_group_split_halves_a_group() -> None:
    found = outcomes(GroupSplit(), "AAAAAB")
    for child in found:
        sizes = sorted(Counter(child).values())
        assert sizes in ([1, 2, 3], [1, 5])  # five attributes: two and three; a singleton stays, a clone
    assert found["AAAAAB"]
    assert len(found) == 1 + 10  # the clone, and each of the ten choices of two among five
    assert all(sorted(Counter(child).values()) == [2, 2] for child in outcomes(GroupSplit(), "AAAA"))


def test_element_swap_keeps_the_group_part() -> None:
    found = outcomes(ElementSwap(), "AABC")
    x = row("AABC")
    expected = set()
    for a in range(4):
        for b in range(a):
            child = x.copy()
            child[a], child[b] = x[b], x[a]
            expected.add(letters(restricted_growth(child)))
    assert set(found) == expected
    assert found["AABC"], "two attributes of the same group give a clone"
    assert all(sorted(Counter(child).values()) == [1, 1, 2] for child in found)


def test_element_move_goes_to_another_existing_group() -> None:
    found = outcomes(ElementMove(), "AAB")
    assert set(found) == {"ABB", "ABA", "AAA"}  # attribute 1 or 2 to B, or 3 to A: then B is gone
    assert "AAB" not in found


@pytest.mark.parametrize(
    ("mutation", "parent"),
    [(GroupEliminate(), "AAAA"), (ElementMove(), "AAAA"), (GroupSplit(), "ABCD"), (ElementSwap(), "AAAA")],
)
def test_degenerate_parents_give_clones(mutation: Any, parent: str) -> None:
    assert set(outcomes(mutation, parent, 50)) == {parent}


@given(groupings, st.sampled_from(sorted(MUTATIONS)), st.integers(0, 10_000))
def test_mutations_promise_their_number_of_groups(x: np.ndarray, name: str, seed: int) -> None:
    pop = Population.new("X", x[None, :].copy())
    child = MUTATIONS[name]()(Grouping(len(x)), pop, random_state=np.random.default_rng(seed))[0].X
    before, after = int(x.max()) + 1, int(child.max()) + 1
    assert child.dtype == x.dtype
    assert (restricted_growth(child) == child).all()
    allowed = {
        "group_create": range(1, before + 2),
        "group_eliminate": [max(1, before - 1)],
        "group_split": [before, before + 1],
        "element_swap": [before],
        "element_move": [before - 1, before] if before > 1 else [1],
    }
    assert after in allowed[name]


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_parents_stay_as_they_are(name: str, unchanged: Any) -> None:
    X = np.array([row("ABCABA"), row("AABBCC")])
    unchanged(lambda X: MUTATIONS[name]()._do(Grouping(6), X, random_state=np.random.default_rng(0)), X)


# -- the rest ---------------------------------------------------------------------------------------------------------


def test_random_groupings_draw_one_of_n_labels_for_every_attribute() -> None:
    X = RandomGroupings()(Grouping(5), 4000, random_state=np.random.default_rng(0)).get("X")
    assert X.dtype == np.int16
    assert (restricted_growth(X) == X).all()
    together = (X[:, 0] == X[:, 3]).mean()
    assert abs(together - 1 / 5) < 0.02
    # The number of groups is that of different labels in n draws from n: n·(1 - (1 - 1/n)^n) on average.
    assert abs((X.max(axis=1) + 1).mean() - 5 * (1 - 0.8**5)) < 0.05


def test_any_mutation_draws_by_weight() -> None:
    only = AnyGroupingMutation(weights={"group_split": 1, "element_move": 0})
    assert all(len(set(child)) == 2 for child in outcomes(only, "AAAA", 50))
    both = outcomes(AnyGroupingMutation(weights={"group_split": 3, "group_eliminate": 1}), "AABB")
    merged = both["AAAA"] / sum(both.values())
    assert abs(merged - 1 / 4) < 0.03


def test_any_mutation_refuses_what_it_cannot_draw() -> None:
    with pytest.raises(SDCError, match="element_swap"):
        AnyGroupingMutation(weights={"element_swop": 1})
    with pytest.raises(SDCError, match="≥ 0"):
        AnyGroupingMutation(weights={"element_swap": -1})
    with pytest.raises(SDCError, match="all weights are 0"):
        AnyGroupingMutation(weights={"element_swap": 0})
