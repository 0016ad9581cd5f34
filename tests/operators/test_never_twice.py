"""What was evaluated once is never let through again; what was cut off before is."""

from __future__ import annotations

import copy
import pickle

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.optimize import minimize

from sdc_problems.operators.canonical import CanonicalLabels
from sdc_problems.operators.grouping import AnyGroupingMutation, GroupCrossover, RandomGroupings
from sdc_problems.operators.never_twice import NeverTwice


def population(*rows: list[int], evaluated: bool = False) -> Population:
    pop = Population.new("X", np.array(rows, dtype=np.int16))
    if evaluated:
        for individual in pop:
            individual.evaluated = {"F"}
    return pop


def test_remembers_what_was_evaluated_and_discarded() -> None:
    memory = NeverTwice()
    first = memory.do(population([0, 0], [0, 1], [0, 0]))
    assert first.get("X").tolist() == [[0, 0], [0, 1]]
    for individual in first:
        individual.evaluated = {"F"}
    survivors = first[:1]
    assert len(memory.do(population([0, 1]), survivors, Population())) == 0


def test_forgets_what_was_cut_off_before_it_was_evaluated() -> None:
    memory = NeverTwice()
    memory.do(population([0, 0]))
    made = memory.do(population([0, 1], [1, 0]), Population(), Population())
    made[0].evaluated = {"F"}  # the second one was one child too many
    again = memory.do(population([0, 1], [1, 0]), made[:1], Population())
    assert again.get("X").tolist() == [[1, 0]]


def test_what_waits_to_be_evaluated_counts() -> None:
    memory = NeverTwice()
    memory.do(population([0, 0], evaluated=True))
    waiting = memory.do(population([0, 1]), population([0, 0], evaluated=True), Population())
    assert len(memory.do(population([0, 1]), population([0, 0], evaluated=True), waiting)) == 0


def test_a_new_search_begins_with_an_empty_memory() -> None:
    memory = NeverTwice()
    memory.do(population([0, 0], evaluated=True))
    assert len(memory.do(population([0, 0]))) == 1


def test_another_dtype_is_no_other_genome() -> None:
    memory = NeverTwice()
    memory.do(population([5, 5]))
    present = Population.new("X", np.array([[0, 1]], dtype=np.int64))
    assert len(memory.do(population([0, 1]), present)) == 0


def test_what_was_evaluated_elsewhere_is_remembered_from_the_population() -> None:
    """As with ``ask`` and ``tell``: the individuals that were let through are not those that come back."""
    memory = NeverTwice()
    memory.do(population([0, 0]))
    memory.do(population([1, 1]), population([0, 0], evaluated=True), Population())
    assert len(memory.do(population([0, 0]), population([2, 2], evaluated=True), Population())) == 0


def test_the_genome_that_measuring_has_written_is_remembered_too() -> None:
    memory = NeverTwice()
    first = memory.do(population([0, 5]))
    first[0].X, first[0].evaluated = np.array([0, 3], dtype=np.int16), {"F"}
    memory.do(Population(), first)
    assert len(memory.do(population([0, 5], [0, 3], [0, 4]), Population())) == 1


def test_those_let_through_are_let_through_when_asked_about_again() -> None:
    memory = NeverTwice()
    first = memory.do(population([0, 0], [0, 1]))
    assert len(memory.do(first, Population())) == 2


def test_a_copy_knows_what_was_known_when_it_was_made() -> None:
    memory = NeverTwice()
    memory.do(population([0, 0]))
    memory.do(Population(), population([0, 0], evaluated=True))
    for other in (copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))):
        memory.do(Population(), population([1, 1], evaluated=True))
        assert other.do(population([0, 0], [1, 1]), Population()).get("X").tolist() == [[1, 1]]
        other.do(Population(), population([2, 2], evaluated=True))
        assert memory.do(population([1, 1], [2, 2]), Population()).get("X").tolist() == [[2, 2]]
        assert len(other.do(population([0, 0], [2, 2]), Population())) == 0


def test_long_genomes_are_remembered_by_a_digest() -> None:
    memory = NeverTwice()
    rows = np.random.default_rng(0).integers(0, 9, size=(40, 5000)).astype(np.int16)
    measured = Population.new("X", rows)
    for individual in measured:
        individual.evaluated = {"F"}
    memory.do(Population(), measured)
    assert len(pickle.dumps(memory)) < 2000
    rows[0, -1] += 1
    assert memory.do(Population.new("X", rows), Population()).get("X").tolist() == [rows[0].tolist()]


def test_places_of_the_new_and_the_known_are_given() -> None:
    memory = NeverTwice()
    kept, new, known = memory.do(population([0, 0], [0, 1], [0, 0]), return_indices=True)
    assert (len(kept), new, known) == (2, [0, 1], [2])


def test_an_empty_population_stays_empty() -> None:
    assert len(NeverTwice().do(Population(), population([0, 1]))) == 0


def test_nothing_is_evaluated_twice_in_a_search() -> None:
    seen: list[bytes] = []

    class Counting(Problem):
        dtype = np.dtype(np.int16)

        def __init__(self) -> None:
            super().__init__(n_var=8, n_obj=2, xl=0, xu=7, vtype=int)

        def _evaluate(self, X: np.ndarray, out: dict[str, np.ndarray], *args: object, **kwargs: object) -> None:
            seen.extend(x.tobytes() for x in X.astype(np.int16))
            out["F"] = np.column_stack([X.sum(axis=1), -X.max(axis=1)]).astype(float)

    algorithm = NSGA2(
        pop_size=20,
        sampling=RandomGroupings(),
        crossover=GroupCrossover(),
        mutation=AnyGroupingMutation(),
        repair=CanonicalLabels(),
        eliminate_duplicates=NeverTwice(),
    )
    minimize(Counting(), algorithm, ("n_gen", 30), seed=1)
    assert len(seen) == 600
    assert len(set(seen)) == 600
