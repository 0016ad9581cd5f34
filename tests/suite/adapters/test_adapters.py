"""Adapters: the contract of each, on every task; what is special about each; and what a missing framework says."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import io
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_problems import (
    GOMMProblem,
    MaskingProblem,
    MicroaggregationProblem,
    PBGProblem,
    PRAMEquationProblem,
    PRAMProblem,
    SDCError,
    SDCProblem,
    SocialGraphProblem,
    adapters,
)
from sdc_problems.datasets import crawl, people
from sdc_problems.suite import Recorder, instance
from sdc_problems.testing import AdapterContract

NUMBERS = ["age", "hours", "wage", "savings"]
FRAMEWORKS = ["deap", "jmetal", "nevergrad", "optuna", "platypus", "pygmo"]


@cache
def tables() -> Any:
    return people(60)


def pbg(**options: Any) -> PBGProblem:
    return PBGProblem(tables().data, tables().hierarchies, columns=["age", "sex", "education"], **options)


def numeric() -> Any:
    return tables().data.with_roles(quasi_identifiers=NUMBERS)


TASKS: dict[str, Callable[[], SDCProblem]] = {
    "generalization": lambda: pbg(objectives=("k", "l", "glm")),
    "requirements": lambda: pbg(suppression="budget", require={"k": {"min": 3, "max": 20}}),
    "grouping": lambda: GOMMProblem(numeric(), 4),
    "microaggregation": lambda: MicroaggregationProblem(numeric(), 4, objectives=("il_sse", "dbrl")),
    "pram": lambda: PRAMProblem(tables().data, columns=["workclass", "sex"]),
    "equations": lambda: PRAMEquationProblem(tables().data, columns=["workclass", "sex"], depth=3),
    "masking": lambda: MaskingProblem(numeric(), guard=False),
    "social": lambda: SocialGraphProblem(crawl(30).graph, 3),
}

LATER = ("pram", "equations", "masking", "social")  # their algorithms run among the slow tests


class OnEveryTask(AdapterContract):
    framework = ""

    @pytest.fixture(autouse=True)
    def _present(self) -> None:
        pytest.importorskip(self.framework)

    def make(self) -> SDCProblem:
        return pbg(suppression="budget")

    def adapt(self, source: Any, rng: np.random.Generator) -> Any:
        return getattr(adapters, f"to_{self.framework}")(source, rng)

    def nsga2(self, problem: Any, budget: int, rng: np.random.Generator) -> None:
        getattr(adapters, f"{self.framework}_nsga2")(problem, budget, rng)

    @pytest.mark.parametrize("task", TASKS)
    def test_values_of_every_task(self, task: str) -> None:
        self.check_values(TASKS[task]())

    @pytest.mark.parametrize("task", [pytest.param(t, marks=[pytest.mark.slow] * (t in LATER)) for t in TASKS])
    def test_algorithm_runs_on_every_task(self, task: str) -> None:
        """Its operators, too: a hundred rows are sampled, the others are children, and all are canonical."""
        recorder = self.run(TASKS[task](), 110, 1)
        assert recorder.evaluations == 110
        X = recorder.record().X
        np.testing.assert_array_equal(recorder.problem.genomes(X), X)

    def test_front_within_requirements_is_reached(self) -> None:
        problem = TASKS["requirements"]()
        front = problem.enumerate_front()
        assert 1 < len(front.F) < len(self.make().enumerate_front().F)
        record = self.run(problem, self.budget_for_front(), 1).record()
        np.testing.assert_array_equal(np.unique(record.F[record.front()], axis=0), np.unique(front.F, axis=0))


class TestPygmo(OnEveryTask):
    framework = "pygmo"

    def measure(self, adapted: Any, x: Any) -> Any:
        import pygmo

        found = pygmo.problem(adapted).fitness(x).tolist()
        return found[: adapted.task.n_obj], found[adapted.task.n_obj :]

    def bounds(self, adapted: Any) -> Any:
        import pygmo

        return pygmo.problem(adapted).get_bounds()

    def test_pygmo_knows_the_problem(self) -> None:
        import pygmo

        problem = pygmo.problem(self.adapt(TASKS["requirements"](), np.random.default_rng(1)))
        assert (problem.get_nx(), problem.get_nix(), problem.get_nobj(), problem.get_nic()) == (3, 3, 2, 2)
        assert problem.get_name() == "PBG"
        assert "age, sex, education" in problem.get_extra_info()
        assert "-k, glm" in problem.get_extra_info()

    def test_algorithms_of_real_numbers_measure_whole_ones(self) -> None:
        """MOEA/D leaves the whole numbers; what is measured is canonical, and the budget ends it."""
        import pygmo

        recorder = Recorder(self.make(), 210)
        problem = self.adapt(recorder, np.random.default_rng(1))
        with adapters.session(np.random.default_rng(1)):
            population = problem.population(100)
            pygmo.algorithm(pygmo.moead(gen=1, neighbours=10, seed=1)).evolve(population)
            pygmo.algorithm(pygmo.moead(gen=5, neighbours=10, seed=1)).evolve(population)
        assert recorder.evaluations == 210
        X = recorder.record().X
        np.testing.assert_array_equal(recorder.problem.genomes(X), X)

    def test_a_batch_is_measured_at_once(self) -> None:
        import pygmo

        problem = self.adapt(self.make(), np.random.default_rng(1))
        X = problem.task.vary.sample(20)
        found = pygmo.bfe(pygmo.member_bfe())(pygmo.problem(problem), X.ravel().astype(float))
        np.testing.assert_array_equal(found.reshape(20, -1), problem.task.problem.evaluate(X))


class TestJMetal(OnEveryTask):
    framework = "jmetal"

    def measure(self, adapted: Any, x: Any) -> Any:
        solution = adapted.create_solution()
        solution.variables = x
        adapted.evaluate(solution)
        return solution.objectives, [-value for value in solution.constraints]

    def bounds(self, adapted: Any) -> Any:
        return adapted.lower_bound, adapted.upper_bound

    def test_jmetal_knows_the_problem(self) -> None:
        problem = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        assert problem.number_of_variables() == 3
        assert (problem.number_of_objectives(), problem.number_of_constraints()) == (2, 2)
        assert (problem.name(), problem.labels) == ("PBG", ["-k", "glm"])
        assert problem.directions == [problem.MINIMIZE] * 2

    def test_what_meets_the_requirements_dominates(self) -> None:
        problem = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        top, bottom = problem.create_solution(), problem.create_solution()
        top.variables, bottom.variables = problem.upper_bound, problem.lower_bound
        for solution in (top, bottom):
            problem.evaluate(solution)
        assert bottom.constraints[0] < 0
        met = next(
            s for s in (problem.evaluate(problem.create_solution()) for _ in range(300)) if not any(s.constraints)
        )
        dominance = problem.operators()["dominance_comparator"]
        assert dominance.compare(met, bottom) == -1
        assert dominance.compare(bottom, met) == 1

    @pytest.mark.parametrize("name", ["SPEA2", "SMSEMOA"])
    def test_operators_are_those_of_other_algorithms_too(self, name: str) -> None:
        from jmetal.algorithm.multiobjective import smsemoa, spea2

        recorder = Recorder(self.make(), 90)
        problem = self.adapt(recorder, np.random.default_rng(1))
        options = {"population_size": 20, **problem.operators()}
        made = (
            spea2.SPEA2(problem, offspring_population_size=20, **options)
            if name == "SPEA2"
            else smsemoa.SMSEMOA(problem, **options)
        )
        with adapters.session(np.random.default_rng(1)):
            made.run()
        assert recorder.done


class TestPlatypus(OnEveryTask):
    framework = "platypus"

    def measure(self, adapted: Any, x: Any) -> Any:
        from platypus import Solution

        solution = Solution(adapted)
        solution.variables[:] = x.tolist()
        solution.evaluate()
        assert solution.feasible == (max(solution.constraints, default=0.0) == 0)
        return list(solution.objectives), list(solution.constraints)

    def bounds(self, adapted: Any) -> Any:
        return [variable.min_value for variable in adapted.types], [variable.max_value for variable in adapted.types]

    def test_platypus_knows_the_problem(self) -> None:
        from platypus import Direction

        problem = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        assert (problem.nvars, problem.nobjs, problem.nconstrs) == (3, 2, 2)
        assert list(problem.directions) == [Direction.MINIMIZE] * 2
        assert [variable.name for variable in problem.types] == ["age", "sex", "education"]
        low, high = self.bounds(problem)
        drawn = np.array([[variable.rand() for variable in problem.types] for _ in range(50)])
        assert (drawn.min(axis=0) == low).all()
        assert (drawn.max(axis=0) == high).all()

    def test_parents_stay_as_they_are(self) -> None:
        problem = self.adapt(self.make(), np.random.default_rng(1))
        operators = problem.operators()
        parents = [operators["generator"].generate(problem) for _ in range(2)]
        before = [list(parent.variables) for parent in parents]
        for parent in parents:
            parent.evaluate()
        children = operators["variator"].evolve(parents)
        assert [list(parent.variables) for parent in parents] == before
        assert not any(child.evaluated for child in children)
        assert all(parent.evaluated for parent in parents)

    def test_operators_are_those_of_other_algorithms_too(self) -> None:
        from platypus import SPEA2

        recorder = Recorder(self.make(), 90)
        problem = self.adapt(recorder, np.random.default_rng(1))
        with adapters.session(np.random.default_rng(1)):
            SPEA2(problem, population_size=20, **problem.operators()).run(1000)
        assert recorder.done


class TestDeap(OnEveryTask):
    framework = "deap"

    def measure(self, adapted: Any, x: Any) -> Any:
        individual = adapted.individual()
        individual[:] = x.tolist()
        losses = adapted.evaluate(individual)
        return list(losses), list(adapted.task.violations(x))

    def bounds(self, adapted: Any) -> Any:
        return adapted.task.bounds

    def test_what_is_measured_becomes_canonical(self) -> None:
        toolbox = self.adapt(TASKS["grouping"](), np.random.default_rng(1))
        individual = toolbox.individual()
        individual[:] = [3, 3, 1, 2]
        toolbox.evaluate(individual)
        assert individual == [0, 0, 1, 2]

    def test_what_violates_less_dominates(self) -> None:
        toolbox = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        better, worse, copied = (toolbox.individual() for _ in range(3))
        for individual, values, violation in ((better, (5.0, 5.0), 0.0), (worse, (1.0, 1.0), 2.0)):
            individual.fitness.values, individual.fitness.violation = values, violation
        assert better.fitness.dominates(worse.fitness)
        assert not worse.fitness.dominates(better.fitness)
        copied = toolbox.clone(worse)
        assert (copied.fitness.violation, copied.fitness.values) == (2.0, (1.0, 1.0))
        assert toolbox.select([worse, better], 1) == [better]

    def test_toolbox_works_with_the_algorithms_of_deap(self) -> None:
        from deap import algorithms

        recorder = Recorder(self.make(), 90)
        toolbox = self.adapt(recorder, np.random.default_rng(1))
        with adapters.session(np.random.default_rng(1)):
            algorithms.eaMuPlusLambda(toolbox.population(20), toolbox, 20, 20, 0.5, 0.5, 50, verbose=False)
        assert recorder.done


class TestOptuna(OnEveryTask):
    framework = "optuna"

    def measure(self, adapted: Any, x: Any) -> Any:
        import optuna

        params = dict(zip(adapted.search_space, x.tolist(), strict=True))
        losses = adapted(optuna.trial.FixedTrial(params))
        assert adapted.evaluate(params) == losses
        return losses, list(adapted.evaluate_constraints(params).values())

    def bounds(self, adapted: Any) -> Any:
        return tuple([getattr(space, end) for space in adapted.search_space.values()] for end in ("low", "high"))

    def test_optuna_knows_the_problem(self) -> None:
        import optuna

        problem = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        assert list(problem.search_space) == ["age", "sex", "education"]
        study = optuna.create_study(directions=problem.directions, sampler=problem.sampler(population_size=20))
        study.optimize(problem, n_trials=60)
        assert study.directions == [optuna.study.StudyDirection.MINIMIZE] * 2
        for trial in study.best_trials:
            row = [trial.params[name] for name in problem.search_space]
            F, G = problem.task.problem.evaluate(np.array([row]), return_values_of=["F", "G"])
            assert (G <= 0).all()
            assert trial.values == F[0].tolist()

    @pytest.mark.parametrize("name", ["pbg-people-k-glm", "gomm-firms9-il-dr"])
    def test_it_is_a_problem_of_optunahub(self, name: str) -> None:
        """OptunaHub's own way to call it measures what ours does, constraints by name included."""
        hub = pytest.importorskip("optunahub.benchmarks")
        import optuna

        problem = self.adapt(instance(name).problem(), np.random.default_rng(1))
        assert isinstance(problem, hub.BaseProblem)
        study = optuna.create_study(directions=problem.directions, sampler=optuna.samplers.RandomSampler(seed=1))
        with warnings.catch_warnings(action="error", category=FutureWarning):
            study.optimize(lambda trial: hub.BaseProblem.__call__(problem, trial), n_trials=20)
        rows = [[trial.params[name] for name in problem.search_space] for trial in study.trials]
        F = problem.task.problem.evaluate(problem.task.vary.canonical(rows), return_values_of=["F"])
        np.testing.assert_array_equal([trial.values for trial in study.trials], F)
        required = self.adapt(TASKS["requirements"](), np.random.default_rng(1))
        params = {name: space.low for name, space in required.search_space.items()}
        trial = optuna.create_study(directions=required.directions).ask(required.search_space)
        hub.BaseProblem.__call__(required, trial)
        assert list(required.evaluate_constraints(params)) == ["requirement 0", "requirement 1"]
        required(optuna.trial.FixedTrial(params))

    def test_spent_budget_stops_the_study(self) -> None:
        import optuna

        recorder = Recorder(self.make(), 30)
        problem = self.adapt(recorder, np.random.default_rng(1))
        study = optuna.create_study(directions=problem.directions, sampler=problem.sampler())
        study.optimize(problem, n_trials=100)
        states = [trial.state for trial in study.trials]
        assert states == [optuna.trial.TrialState.COMPLETE] * 30 + [optuna.trial.TrialState.PRUNED]

    def test_other_samplers_propose_rows_of_their_own(self) -> None:
        import optuna

        recorder = Recorder(TASKS["microaggregation"](), 30)
        problem = self.adapt(recorder, np.random.default_rng(1))
        sampler = optuna.samplers.RandomSampler(seed=1)
        optuna.create_study(directions=problem.directions, sampler=sampler).optimize(problem, n_trials=40)
        X = recorder.record().X
        np.testing.assert_array_equal(problem.task.vary.canonical(X), X)


class TestNevergrad(OnEveryTask):
    framework = "nevergrad"

    def measure(self, adapted: Any, x: Any) -> Any:
        child = adapted.spawn_child(new_value=x)
        losses = adapted.measure(child.value)
        assert adapted.violation(child.value) == sum(adapted.task.violations(x))
        return losses, adapted.task.violations(x)

    def bounds(self, adapted: Any) -> Any:
        return tuple(np.rint(end) for end in adapted.bounds)

    def test_optimizers_of_real_numbers_measure_whole_ones(self) -> None:
        import nevergrad

        recorder = Recorder(self.make(), 60)
        problem = self.adapt(recorder, np.random.default_rng(1))
        with adapters.session(np.random.default_rng(1)):
            nevergrad.optimizers.TwoPointsDE(problem, budget=100).minimize(problem.measure)
        assert recorder.done

    def test_violations_are_told_without_measuring_twice(self) -> None:
        import nevergrad

        recorder = Recorder(TASKS["requirements"](), 1000)
        problem = self.adapt(recorder, np.random.default_rng(1))
        with adapters.session(np.random.default_rng(1)):
            nevergrad.optimizers.DiscreteOnePlusOne(problem, budget=50).minimize(
                problem.measure, constraint_violation=[problem.violation]
            )
        assert recorder.evaluations == 50


def asked(problem: Any, text: str) -> list[list[str]]:
    out = io.StringIO()
    adapters.serve(problem, np.random.default_rng(1), stdin=io.StringIO(text), stdout=out)
    return [line.split("\t") for line in out.getvalue().splitlines()]


class TestLines(OnEveryTask):
    """Lines on stdin and stdout, with a client that searches."""

    framework = "io"

    def adapt(self, source: Any, rng: np.random.Generator) -> Any:
        return source

    def measure(self, adapted: Any, x: Any) -> Any:
        (found,) = asked(adapted, " ".join(map(str, x)) + "\n")
        values = [float(text) for text in found]
        return values[: adapted.n_obj], values[adapted.n_obj :]

    def bounds(self, adapted: Any) -> Any:
        return tuple([float(text) for text in row] for row in asked(adapted, "lower\nupper\n"))

    def nsga2(self, problem: Any, budget: int, rng: np.random.Generator) -> None:
        """A client: samples, crosses, mutates and measures by lines, and keeps what is not dominated."""
        client = Client(rng)
        adapters.serve(problem, rng, stdin=client, stdout=client)

    def test_lines_tell_what_the_task_is(self) -> None:
        problem = TASKS["requirements"]()
        assert asked(problem, "names\nobjectives\n") == [["age", "sex", "education"], ["-k", "glm"]]

    def test_operators_answer_in_rows(self) -> None:
        problem = TASKS["grouping"]()
        assert asked(problem, "canonical 3 3.2 0.9 2\n\nnames\n") == [["0", "0", "1", "2"]]
        assert [len(row) for row in asked(problem, "sample 3\ncross 0 1 2 3 0 0 0 0\nmutate 0 0 0 0")] == [4] * 6

    @pytest.mark.parametrize("line", ["1 2", "sample", "samples 3", "cross 1 2 3", "0 0 x 0", "mutate 1", "names 1"])
    def test_other_lines_are_refused(self, line: str) -> None:
        with pytest.raises(SDCError, match=r"a line is 4 numbers|must have 4 columns"):
            asked(TASKS["grouping"](), line)


class Client:
    """Both ends of the lines: what it is asked to read it has decided to ask."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.waiting, self.known = rng, [], {}
        self.asked = ""

    def readline(self) -> str:
        if not self.known and not self.waiting:
            self.asked = "sample 100"
        elif self.waiting:
            self.asked = self.waiting.pop()
        else:
            parents = list(self.known)
            self.asked = f"cross {self.rng.choice(parents)} {self.rng.choice(parents)}"
            if self.rng.random() < 0.7:
                self.asked = f"mutate {self.rng.choice(parents)}"
        return self.asked + "\n"

    def writelines(self, lines: Any) -> None:
        if self.asked[0].isalpha():
            self.waiting += [line.strip().replace("\t", " ") for line in lines]
            return
        (answer,) = lines
        self.known[self.asked] = np.array(answer.split(), dtype=float)
        F = np.array(list(self.known.values()))
        kept = [not ((F <= f).all(axis=1) & (F < f).any(axis=1)).any() for f in F]
        self.known = {x: f for (x, f), keep in zip(self.known.items(), kept, strict=True) if keep}

    def flush(self) -> None:
        pass


# -- what is missing, and what is public -------------------------------------------------------------------------------


def test_an_instance_is_refused_with_the_way_out() -> None:
    with pytest.raises(SDCError, match=r"takes a problem, such as instance\.problem\(\), .* not Instance"):
        adapters.serve(instance("pbg-people-k-glm"), np.random.default_rng(1))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_missing_framework_is_one_sentence(framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = f"sdc_problems.suite.adapters.{framework}"

    class Missing:
        @staticmethod
        def find_spec(name: str, *rest: object) -> None:
            if name == framework:
                raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(sys, "meta_path", [Missing, *sys.meta_path])
    for name in [name for name in sys.modules if name in (module, framework) or name.startswith(f"{framework}.")]:
        monkeypatch.delitem(sys.modules, name)
    pip = {"jmetal": "jmetalpy", "platypus": "platypus-opt"}.get(framework, framework)
    with pytest.raises(SDCError, match=f"^this adapter needs {pip}: pip install {pip}$"):
        getattr(adapters, f"to_{framework}")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_another_version_of_a_framework_is_not_called_missing(framework: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.suite.adapters._base import needs

    with pytest.raises(ModuleNotFoundError), needs(framework):
        importlib.import_module(f"{framework}.no_such_part" if importlib.util.find_spec(framework) else "email.none")


def test_frameworks_are_imported_only_when_asked_for() -> None:
    code = f"""
import sys
import sdc_problems, sdc_problems.adapters, sdc_problems.suite, sdc_problems.studies.cli
sdc_problems.adapters.serve
assert not set({FRAMEWORKS}) & set(sys.modules)
assert len(sdc_problems.adapters.__all__) == 2 * len({FRAMEWORKS}) + 3
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("framework", [*FRAMEWORKS, "lines"])
def test_an_adapter_is_short(framework: str) -> None:
    """At most forty lines of code beside the imports: what more is needed belongs to ``_base``, or to the operators."""
    source = (Path(adapters.serve.__code__.co_filename).parent / f"{framework}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    apart = set()
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        guarded = isinstance(node, (ast.With, ast.Try)) and all(
            isinstance(n, ast.ImportFrom | ast.Import) for n in node.body
        )
        if text or guarded or isinstance(node, ast.ImportFrom | ast.Import):
            apart.update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = [n for n, line in enumerate(source.splitlines(), 1) if line.strip() and n not in apart]
    assert len(lines) <= 40, f"{len(lines)} lines"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_public_names_are_documented(framework: str) -> None:
    pytest.importorskip(framework)
    for name in (f"to_{framework}", f"{framework}_nsga2"):
        text = inspect.getdoc(getattr(adapters, name)) or ""
        parameters = inspect.signature(getattr(adapters, name)).parameters
        assert all(parameter in text for parameter in parameters), name
