"""Contract of a set of operators: bounds, dtype, canonical form, unchanged parents, seeded randomness."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population

from sdc_problems.operators.arrays import variation
from sdc_problems.problem import SDCProblem

ROWS = 40


class OperatorContract:
    """Inherit and define ``make``; override ``operators`` to test a set other than ``problem.operators()``.

    Notes
    -----
    What is checked: the set has the operators that pymoo's algorithms take; samples and children have the problem's
    dtype, are within its bounds and in canonical form (the repair does not change them); parents are unchanged and
    share no memory with children; operators work on arrays of any number type; a mutation changes something; the same
    seed gives the same bytes; only the generator that is passed in is used; duplicates are found by their
    bytes.

    What is not: whether the operators reach every solution, or find good ones.

    Examples
    --------
    Your own mutation among a problem's other operators::

        from mine import MyMutation
        from sdc_problems import PBGProblem, load
        from sdc_problems.testing import OperatorContract

        class TestMyMutation(OperatorContract):
            def make(self):
                people = load("people")
                return PBGProblem(people.data.take(range(200)), people.hierarchies)

            def operators(self, problem):
                return {**problem.operators(), "mutation": MyMutation()}
    """

    def make(self) -> SDCProblem:
        """Build the problem under test; called again for every test."""
        raise NotImplementedError("a contract suite needs make(): return the problem under test")

    def operators(self, problem: SDCProblem) -> dict[str, Any]:
        """Return the operators under test."""
        return problem.operators()

    # -- helpers --------------------------------------------------------------------------------------------------

    def sample(self, problem: SDCProblem, n: int = ROWS, *, seed: int = 1) -> NDArray[Any]:
        """Rows from which an algorithm would start: sampled and repaired."""
        operators = self.operators(problem)
        rng = np.random.default_rng(seed)
        pop = operators["sampling"](problem, n, random_state=rng)
        if operators.get("repair") is not None:
            pop = operators["repair"](problem, pop, random_state=rng)
        X: NDArray[Any] = pop.get("X")
        return X

    def assert_valid(self, problem: SDCProblem, X: NDArray[Any]) -> None:
        """Assert that rows have the problem's dtype, are within bounds and are in canonical form."""
        assert X.dtype == problem.dtype, f"dtype {X.dtype} instead of {problem.dtype}"
        np.testing.assert_array_equal(problem.genomes(X), X)
        repair = self.operators(problem).get("repair")
        if repair is not None:
            again = repair(problem, Population.new("X", X.copy()), random_state=np.random.default_rng(0)).get("X")
            assert again.dtype == X.dtype
            np.testing.assert_array_equal(again, X, err_msg="not in canonical form: the repair changes it")

    def vary(self, problem: SDCProblem, name: str, X: NDArray[Any], seed: int) -> NDArray[Any]:
        """Children of one operator, repaired; the parents must not change."""
        operators = self.operators(problem)
        operator, repair = operators[name], operators.get("repair")
        rng = np.random.default_rng(seed)
        parents = Population.new("X", X.copy())
        if name == "crossover":
            n = operator.n_parents
            matings = [list(parents[i : i + n]) for i in range(0, len(X) - n + 1, n)]  # as pymoo's Mating does
            children = operator(problem, matings, random_state=rng)
        else:
            children = operator(problem, Population.new("X", X.copy()), random_state=rng)
        if repair is not None:
            children = repair(problem, children, random_state=rng)
        np.testing.assert_array_equal(parents.get("X"), X, err_msg=f"the {name} modified its parents")
        for child in children:
            for parent in parents:
                assert not np.shares_memory(child.X, parent.X), f"the {name} hands out its parent's own array"
        out: NDArray[Any] = children.get("X")
        return out

    # -- the promises ---------------------------------------------------------------------------------------------

    def test_operators_name_what_pymoo_expects(self) -> None:
        names = set(self.operators(self.make()))
        assert names == {"sampling", "crossover", "mutation", "repair", "eliminate_duplicates"}

    def test_samples_are_valid(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        assert X.shape == (ROWS, problem.n_var)
        self.assert_valid(problem, X)

    def test_children_are_valid_and_parents_untouched(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        for name in ("crossover", "mutation"):
            for seed in range(5):
                self.assert_valid(problem, self.vary(problem, name, X, seed))

    def test_operators_work_on_arrays(self) -> None:
        """Check calls by other frameworks: one row or many, numbers of any kind, and unchanged arguments."""
        problem, rng = self.make(), np.random.default_rng(5)
        vary = variation(problem, rng)
        X = vary.sample(ROWS)
        given = X.copy()
        pairs = vary.cross(X[:10], X[10:20])
        for rows in (X, *pairs, vary.mutate(X[:10]), *vary.cross(X[0], X[1]), vary.sample(1)):
            self.assert_valid(problem, rows)
        assert [len(rows) for rows in pairs] == [10, 10]
        np.testing.assert_array_equal(X, given, err_msg="a parent was modified")
        np.testing.assert_array_equal(vary.canonical(X.astype(float)), X)
        anything = rng.uniform(problem.xl - 2, problem.xu + 2, size=(5, problem.n_var))
        self.assert_valid(problem, vary.canonical(anything))
        again = variation(problem, np.random.default_rng(5))
        np.testing.assert_array_equal(again.sample(ROWS), X)
        np.testing.assert_array_equal(again.cross(X[:10], X[10:20]), pairs)

    def test_mutation_changes_something(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        assert any((self.vary(problem, "mutation", X, seed) != X).any() for seed in range(20))

    def test_same_seed_same_bytes(self) -> None:
        problem = self.make()
        first, second = self.sample(problem, seed=7), self.sample(problem, seed=7)
        assert first.tobytes() == second.tobytes()
        for name in ("crossover", "mutation"):
            one, two = (self.vary(problem, name, first, seed=7) for _ in range(2))
            assert one.tobytes() == two.tobytes()

    def test_operators_take_the_generator_they_are_given(self) -> None:
        """Check that the given generator is used: an operator that makes its own would not advance it."""
        problem = self.make()
        X = self.sample(problem)
        for name in ("sampling", "crossover", "mutation"):
            rng = np.random.default_rng(3)
            before = rng.bit_generator.state
            operator = self.operators(problem)[name]
            if name == "sampling":
                operator(problem, ROWS, random_state=rng)
            elif name == "mutation":
                operator(problem, Population.new("X", X.copy()), random_state=rng)
            else:
                operator(problem, [list(Population.new("X", X[: operator.n_parents].copy()))], random_state=rng)
            assert rng.bit_generator.state != before

    def test_duplicates_are_found_by_bytes(self) -> None:
        problem = self.make()
        X = np.unique(self.sample(problem), axis=0)
        doubled = Population.new("X", np.concatenate([X, X[::-1]]))
        kept = self.operators(problem)["eliminate_duplicates"].do(doubled)
        np.testing.assert_array_equal(kept.get("X"), X)
        assert len(self.operators(problem)["eliminate_duplicates"].do(doubled, Population.new("X", X))) == 0
