"""Contract of problems: what pymoo, and a person who releases a solution, may rely on."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pymoo.algorithms.moo.moead import MOEAD
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.algorithms.moo.nsga3 import NSGA3
from pymoo.algorithms.moo.sms import SMSEMOA
from pymoo.algorithms.moo.spea2 import SPEA2
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.constraints.as_obj import ConstraintsAsObjective
from pymoo.decomposition.weighted_sum import WeightedSum
from pymoo.optimize import minimize
from pymoo.problems.multi_to_single import MultiToSingleObjective
from pymoo.problems.static import StaticProblem
from pymoo.problems.zero_to_one import ZeroToOne
from pymoo.util.ref_dirs import get_reference_directions

from sdc_problems._genomes import row_keys
from sdc_problems.errors import SDCError
from sdc_problems.problem import STAR, Objective, SDCProblem
from sdc_problems.testing._release import ReleaseContract

PICKLE_LIMIT = 100_000  # bytes: a problem is sent with every task, but its data must not be
GENERATIONS = 4
ENUMERATED = 5000  # most candidates that the suite enumerates


def _changed(released: NDArray[Any], original: NDArray[Any]) -> float:
    return float((released != original).mean())


def _same_rows(released: NDArray[Any], original: NDArray[Any]) -> float:
    return float(np.unique(released, axis=0, return_counts=True)[1].max())


CHANGED = Objective("changed", "share of cells changed", "min", (0.0, 1.0), function=_changed)
SAME_ROWS = Objective("same_rows", "records in the largest class", "max", (1.0, np.inf), function=_same_rows)


@cache
def reference_directions(n_obj: int) -> NDArray[np.float64]:
    """Twelve directions; spreading them takes seconds, so every suite uses the same."""
    directions: NDArray[np.float64] = get_reference_directions("energy", n_obj, 12, seed=1)
    return directions


class ProblemContract(ReleaseContract):
    """Inherit and define ``make``, and ``check_release`` for the guarantee that your problem promises.

    Notes
    -----
    What is checked, in addition to what `OperatorContract` checks:

    - *objectives*: each has a meaning and a formula; values are finite, within their bounds, and the same bytes for
      one row or many, in any order, in a copy and after a pickle; every row within the bounds can be measured, and
      other rows are refused;
    - *requirements*: they become constraints in natural units and change no objective; a search meets them;
    - *canonical form*: a row in canonical form, changed in one variable and repaired, is another solution with another
      release;
    - *releases*: equal seeds release equal tables, with all columns, stars in the identifiers and no index; the
      original is not changed; then your ``check_release``, which is required;
    - *measures*: every cell of ``release`` agrees with ``_tables`` (equal cells have equal codes, and are changed or
      not in both), and a figure named ``k`` is the size of the smallest class, counted in both. A release that is
      drawn at random each time is compared only by the share of the cells that it changes;
    - *reading*: ``decode`` needs no engine, ``describe`` has sentences, ``figures`` has the objectives;
    - *searches*: pymoo's algorithms run and are repeatable, nothing is measured twice, pymoo's wrappers do not change
      the problem; the exact front is a front, or is refused;
    - *pickles*: they are small, because the data are not in them.

    What is not: whether objectives other than ``k`` are right (compare them with a plain computation), whether the
    promise in ``check_release`` is sufficient, and whether the operators are good ones.

    Examples
    --------
    A file ``test_mine.py``, for ``python -m pytest test_mine.py``::

        from mine import MyProblem
        from sdc_problems import load
        from sdc_problems.testing import ProblemContract

        class TestMyProblem(ProblemContract):
            def make(self):  # small: the problem is made for every test
                return MyProblem(load("people").data.take(range(200)))

            def check_release(self, problem, x, released):
                protected = list(problem.data.quasi_identifiers)
                assert released.groupby(protected).size().min() >= 3
    """

    def assert_publishable(self, problem: SDCProblem, released: pd.DataFrame) -> None:
        """Assert what every problem promises of a released table."""
        assert list(released.columns) == list(problem.data.names), "a release keeps the columns"
        assert isinstance(released.index, pd.RangeIndex), "the original's index may identify records"
        assert released.index.start == 0
        for name in problem.data.identifiers:
            assert (released[name] == STAR).all(), f"identifier {name!r} is published"

    def algorithm(self, name: str, problem: SDCProblem) -> Any:
        """Return one of pymoo's algorithms, set up with the problem's operators in one line."""
        operators = self.operators(problem)
        directions = None
        if name in ("NSGA3", "MOEAD"):
            directions = reference_directions(problem.n_obj)
        if name == "NSGA3":
            return NSGA3(directions, **operators)
        if name == "MOEAD":
            operators.pop("eliminate_duplicates")  # as problem.operators(eliminate_duplicates=False)
            return MOEAD(directions, n_neighbors=4, **operators)
        return {"NSGA2": NSGA2, "SPEA2": SPEA2, "SMSEMOA": SMSEMOA, "GA": GA}[name](pop_size=12, **operators)

    # -- evaluation -----------------------------------------------------------------------------------------------

    def test_objectives_say_what_they_are(self) -> None:
        problem = self.make()
        assert problem.n_obj == len(problem.objectives)
        for objective in problem.objectives:
            assert objective.name
            assert objective.label
            assert objective.sense in ("min", "max")
            assert objective.meaning, f"{objective.name} has no meaning: a sentence that a data steward understands"
            assert objective.formula, f"{objective.name} has no formula"
            assert objective.bounds[0] < objective.bounds[1]

    def test_f_is_deterministic_and_leaves_x_alone(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        before = X.copy()
        first, second = problem.evaluate(X), self.make().evaluate(X)
        assert first.tobytes() == second.tobytes()
        np.testing.assert_array_equal(X, before)

    def test_batch_equals_one_by_one_in_any_order(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        F = problem.evaluate(X)
        order = np.random.default_rng(5).permutation(len(X))
        other = self.make()
        single = np.array([np.atleast_1d(other.evaluate(X[i])) for i in order])
        assert single.tobytes() == F[order].tobytes()

    def test_f_is_within_its_bounds(self) -> None:
        problem = self.make()
        values = problem.natural(problem.evaluate(self.sample(problem)))
        np.testing.assert_array_equal(problem.minimized(values), problem.evaluate(self.sample(problem)))
        for column, objective in zip(values.T, problem.objectives, strict=True):
            slack = 1e-9 * max(1.0, float(np.abs(column).max()))
            assert column.min() >= objective.bounds[0] - slack, objective.name
            assert column.max() <= objective.bounds[1] + slack, objective.name

    def test_any_row_within_bounds_can_be_measured(self) -> None:
        """Check rows that operators of other packages may make, which know only the bounds."""
        problem = self.make()
        X = np.random.default_rng(2).integers(
            problem.xl.astype(int), problem.xu.astype(int), size=(10, problem.n_var), endpoint=True
        )
        assert np.isfinite(problem.evaluate(X)).all()
        assert problem.evaluate(X.astype(float)).tobytes() == problem.evaluate(X).tobytes()

    def test_rows_that_are_not_genomes_are_refused(self) -> None:
        problem = self.make()
        x = self.sample(problem, 1)[0].astype(float)
        for bad in (np.nan, problem.xu[0] + 1, problem.xl[0] - 1, problem.xl[0] + 0.5):
            wrong = x.copy()
            wrong[0] = bad
            with pytest.raises(SDCError, match=r"X\[0, 0\]"):
                problem.evaluate(wrong[None, :])
            with pytest.raises(SDCError):
                problem.decode(wrong)
        with pytest.raises(SDCError):
            problem.decode(np.zeros(problem.n_var + 1, dtype=problem.dtype))

    # -- objectives and requirements ----------------------------------------------------------------------------------

    def test_requirements_are_constraints_in_natural_units(self) -> None:
        problem = self.make()
        assert problem.n_ieq_constr == 0
        X = self.sample(problem)
        F = problem.evaluate(X)
        values = problem.natural(F)
        both = {"return_values_of": ["F", "G"]}
        for column, objective in zip(values.T, problem.objectives, strict=True):
            bound = float(np.median(column))
            enough = column >= bound if objective.sense == "max" else column <= bound
            other = problem.with_objectives(problem.objectives, require={objective.name: bound})
            assert other.n_ieq_constr == 1
            again, G = other.evaluate(X, **both)
            assert again.tobytes() == F.tobytes(), "a requirement changes no objective"
            np.testing.assert_array_equal(G[:, 0] <= 0, enough)
            np.testing.assert_array_equal(np.abs(G[:, 0]), np.abs(column - bound))
            low, high = float(column.min()), bound
            other = problem.with_objectives(problem.objectives, require={objective.name: {"min": low, "max": high}})
            assert other.n_ieq_constr == 2
            met = (other.evaluate(X, **both)[1] <= 0).all(axis=1)
            np.testing.assert_array_equal(met, (column >= low) & (column <= high))
        assert problem.n_ieq_constr == 0
        assert problem.evaluate(X).tobytes() == F.tobytes()

    def test_what_is_required_need_not_be_optimized(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        values = problem.natural(problem.evaluate(X))
        if problem.n_obj == 1:
            return
        first, last = problem.objectives[0], problem.objectives[-1]
        bound = float(np.median(values[:, -1]))
        other = problem.with_objectives([first.name], require={last.name: bound})
        F, G = other.evaluate(X, return_values_of=["F", "G"])
        assert F.tobytes() == np.ascontiguousarray(problem.evaluate(X)[:, :1]).tobytes()
        wanted = values[:, -1] >= bound if last.sense == "max" else values[:, -1] <= bound
        np.testing.assert_array_equal(G[:, 0] <= 0, wanted)
        assert pickle.loads(pickle.dumps(other)).evaluate(X, return_values_of=["G"]).tobytes() == G.tobytes()  # noqa: S301

    def test_a_search_keeps_to_the_requirements(self) -> None:
        problem = self.make()
        objective = problem.objectives[0]
        bound = float(np.median(problem.natural(problem.evaluate(self.sample(problem)))[:, 0]))
        other = problem.with_objectives(problem.objectives, require={objective.name: bound})
        search = GA if problem.n_obj == 1 else NSGA2
        found = [
            minimize(other, search(pop_size=24, **other.operators()), ("n_gen", GENERATIONS), seed=3) for _ in range(2)
        ]
        assert found[0].pop.get("X").tobytes() == found[1].pop.get("X").tobytes()
        value = problem.natural(np.atleast_2d(found[0].F))[:, 0]
        assert (value >= bound if objective.sense == "max" else value <= bound).all()

    def test_requirements_that_mean_nothing_are_refused(self) -> None:
        problem = self.make()
        name = problem.objectives[0].name
        for require, match in (
            ({"beauty": 1}, "unknown require objective 'beauty'"),
            ({name: "much"}, "must be a finite number"),
            ({name: {}}, "takes min, max or both"),
            ({name: {"least": 1}}, "takes min, max or both, not 'least'"),
            ({name: {"min": 2, "max": 1}}, "is larger than max"),
            ([name], "must map names"),
        ):
            with pytest.raises(SDCError, match=match):
                problem.with_objectives(problem.objectives, require=require)  # type: ignore[arg-type]

    def test_objectives_of_ones_own_are_measured_on_the_released_codes(self) -> None:
        problem = self.make()
        own = [*problem.objectives, CHANGED, SAME_ROWS]
        other = problem.with_objectives(own, require={"changed": 1.0})
        X = self.sample(problem, 8)
        F, G = other.evaluate(X, return_values_of=["F", "G"])
        assert F[:, : problem.n_obj].tobytes() == problem.evaluate(X).tobytes()
        values = other.natural(F)
        np.testing.assert_array_equal(G[:, 0], values[:, -2] - 1.0)
        assert ((values[:, -2] >= 0) & (values[:, -2] <= 1)).all()
        assert (values[:, -1] >= 1).all()
        for x, row in zip(X, values, strict=True):
            figures = other.figures(x)
            assert [figures[o.name] for o in other.objectives] == row.tolist()
            tables = list(other._tables(x))
            assert tables
            for released, original in tables:
                assert released.shape == original.shape
                assert len(original) == len(problem.data)
                assert released.dtype.kind == original.dtype.kind == "i"
                assert original.min() >= 0
                assert released.min() >= -1
        again = pickle.loads(pickle.dumps(other))  # noqa: S301 -- our own bytes
        assert again.evaluate(X, return_values_of=["F"]).tobytes() == F.tobytes()
        with pytest.raises(SDCError, match="has no function to measure it"):
            problem.with_objectives([Objective("beauty", "beauty", "max")])
        with pytest.raises(SDCError, match=r"their order is that of the columns\s+of F"):
            problem.with_objectives({problem.objectives[0].name})  # type: ignore[arg-type]

    # -- the exact front ------------------------------------------------------------------------------------------

    def test_front_is_enumerated_or_refused(self) -> None:
        problem = self.make()
        with pytest.raises(SDCError, match=r"more than limit=1\b"):
            problem.enumerate_front(limit=1)
        if problem.n_candidates > ENUMERATED:
            return
        told: list[tuple[int, int]] = []
        front = problem.enumerate_front(lambda done, n: told.append((done, n)))
        assert told[-1] == (problem.n_candidates, problem.n_candidates)
        self.assert_valid(problem, front.X)
        assert problem.evaluate(front.X).tobytes() == front.F.tobytes()
        np.testing.assert_array_equal(front.F, np.unique(front.F, axis=0), err_msg="sorted by F, each F once")
        for f in problem.evaluate(self.sample(problem)):
            assert not ((f <= front.F).all(axis=1) & (f < front.F).any(axis=1)).any(), "a sampled row dominates it"
        ties = problem.enumerate_front(ties=True)
        assert ties.n_candidates == front.n_candidates <= problem.n_candidates
        np.testing.assert_array_equal(np.unique(ties.F, axis=0), front.F)
        assert len(np.unique(ties.X, axis=0)) == len(ties.X)

    # -- search ---------------------------------------------------------------------------------------------------

    def test_runs_under_pymoo_with_the_same_bytes_for_a_seed(self) -> None:
        n_obj = self.make().n_obj
        for name in ["GA"] if n_obj == 1 else ["NSGA2", "NSGA3", "SPEA2", "SMSEMOA", "MOEAD"]:
            X, F = zip(*(self.run(name) for _ in range(2)), strict=True)
            assert F[0].tobytes() == F[1].tobytes(), name
            assert X[0].tobytes() == X[1].tobytes(), name
            self.assert_valid(self.make(), X[0])
            assert self.make().evaluate(X[0]).tobytes() == F[0].tobytes(), name

    def run(self, name: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Final population of a short run on a new problem."""
        problem = self.make()
        pop = minimize(problem, self.algorithm(name, problem), ("n_gen", GENERATIONS), seed=3).pop
        return pop.get("X"), pop.get("F")

    def test_asking_gives_a_population_as_long_as_the_search_goes_on_and_nothing_twice(self) -> None:
        problem = self.make()
        measured: set[bytes] = set()
        algorithm = NSGA2(pop_size=40, **self.operators(problem)).setup(problem, termination=("n_gen", 5), seed=1)
        while algorithm.has_next():
            children = algorithm.ask()
            assert children is not None
            assert len(children)
            keys = set(row_keys(children.get("X")))
            algorithm.evaluator.eval(problem, children)
            algorithm.tell(infills=children)
            if algorithm.has_next() or len(children) > 1:  # one known solution ends a search that has measured them all
                assert len(keys) == len(children)
                assert not keys & measured
            measured |= keys

    def test_moead_takes_the_operators_without_duplicate_elimination(self) -> None:
        problem = self.make()
        operators = problem.operators(eliminate_duplicates=False)
        if problem.n_obj > 1:
            MOEAD(reference_directions(problem.n_obj), **operators)
        assert {**operators, "eliminate_duplicates": None}.keys() == problem.operators().keys()

    def test_a_copy_is_another_problem_over_the_same_data_and_engine(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        F = problem.evaluate(X)
        for other in (copy.copy(problem), copy.deepcopy(problem)):
            assert other is not problem
            assert other.data is problem.data
            assert other.engine is problem.engine
            assert other.evaluate(X).tobytes() == F.tobytes()
            other.n_obj, other.xl, other.xu[:] = 7, None, 0
            other.cache = {"pareto_front": None}
        assert problem.evaluate(X).tobytes() == F.tobytes()

    def test_pymoos_wrappers_leave_the_problem_as_it_was(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        F, before = problem.evaluate(X), {name: repr(value) for name, value in vars(problem).items()}
        weights = np.ones((1, problem.n_obj))
        wrapped = [
            ConstraintsAsObjective(problem),
            MultiToSingleObjective(problem, WeightedSum(), {"weights": weights}),
            StaticProblem(problem, F=F),
            ZeroToOne(problem),
        ]
        asked = {"return_values_of": ["F", "G", "H"], "return_as_dictionary": True}  # as in pymoo's evaluator
        shapes = [w.evaluate(X, **asked)["F"].shape[1] for w in wrapped[:3]]
        assert shapes == [problem.n_obj + 1, 1, problem.n_obj]
        assert wrapped[3].xu.max() == 1
        assert all(w.engine is problem.engine for w in wrapped)
        assert {name: repr(value) for name, value in vars(problem).items()} == before
        assert problem.evaluate(X).tobytes() == F.tobytes()

    def test_pickle_is_small_and_evaluates_the_same(self) -> None:
        problem = self.make()
        X = self.sample(problem)
        F = problem.evaluate(X)
        data = pickle.dumps(problem)
        assert len(data) < PICKLE_LIMIT, f"{len(data)} bytes"
        again = pickle.loads(data)  # noqa: S301 -- our own bytes, of a line above
        assert again.evaluate(X).tobytes() == F.tobytes()

    # -- reading and releasing ------------------------------------------------------------------------------------

    def test_baselines_are_valid_solutions(self) -> None:
        problem = self.make()
        baselines = problem.baselines()
        assert baselines
        for name, x in baselines.items():
            assert isinstance(name, str)
            self.assert_valid(problem, np.asarray(x)[None, :])
            assert np.isfinite(problem.evaluate(x)).all()

    def test_decode_reads_without_an_engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problem = self.make()
        X = [*self.sample(problem, 3), *list(problem.baselines().values())[:2]]
        read = [repr(problem.decode(x)) for x in X]

        def explode(problem: SDCProblem) -> None:
            raise AssertionError("decode asks for the engine: it reads, figures(x) measures")

        monkeypatch.setattr(type(problem), "engine", property(explode))
        monkeypatch.setattr(type(problem), "_compile", explode)
        fresh = self.make()
        assert [repr(fresh.decode(x)) for x in X] == read

    def test_figures_are_finite_numbers_and_have_the_objectives(self) -> None:
        problem = self.make()
        for x in [*self.sample(problem, 3), *list(problem.baselines().values())[:2]]:
            figures = problem.figures(x)
            assert all(type(value) is float and np.isfinite(value) for value in figures.values()), figures
            values = problem.natural(np.atleast_1d(problem.evaluate(x)))
            assert [figures[o.name] for o in problem.objectives] == values.tolist()

    def test_decode_describe_release_are_total(self) -> None:
        problem = self.make()
        before = problem.data.frame()
        for x in [*self.sample(problem, 3), *list(problem.baselines().values())[:2]]:
            assert problem.decode(x) is not None
            sentences = problem.describe(x)
            assert sentences
            assert all(isinstance(s, str) and s.strip() for s in sentences)
            first, second = problem.release(x, seed=1), problem.release(x, seed=1)
            assert first.equals(second), "the same seed must release the same table"
            self.assert_publishable(problem, first)
            self.check_release(problem, x, first)
        assert problem.data.frame().equals(before), "release changed the original"
