"""Algorithms that a benchmark can run: searches by name, a random search, and functions of anybody's."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from pymoo.core.evaluator import Evaluator

from sdc_problems._plugins import import_from_here
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.parallel.backend import measure, set_measures
from sdc_problems.problem import SDCProblem
from sdc_problems.studies.searches.catalogue import available_searches, build_search
from sdc_problems.studies.searches.search import Search
from sdc_problems.suite import BudgetSpent, Recorder

Function = Callable[[Any, int, np.random.Generator], object]
"""Algorithm of anybody's: ``(problem, budget, rng)``; what it measures with the problem is recorded."""

AT_ONCE = 100
"""Candidates that the random search measures together."""


def random_search(problem: SDCProblem, budget: int, rng: np.random.Generator) -> None:
    """Measure what the problem's own sampling draws, until the budget is spent."""
    from pymoo.core.population import Population

    operators = problem.operators()
    while True:
        drawn = operators["sampling"](problem, AT_ONCE, random_state=rng)
        X = drawn.get("X") if isinstance(drawn, Population) else np.asarray(drawn)
        problem.evaluate(X)


def integer_nsga2(problem: SDCProblem, budget: int, rng: np.random.Generator) -> None:
    """NSGA-II with pymoo's operators for whole numbers, which know nothing of the encoding."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.operators.crossover.sbx import SBX
    from pymoo.operators.mutation.pm import PM
    from pymoo.operators.repair.rounding import RoundingRepair
    from pymoo.operators.sampling.rnd import IntegerRandomSampling

    algorithm = NSGA2(
        pop_size=100,
        sampling=IntegerRandomSampling(),
        crossover=SBX(vtype=float, repair=RoundingRepair()),
        mutation=PM(vtype=float, repair=RoundingRepair()),
    )
    search_with(algorithm, problem, budget, int(rng.integers(2**31)))


_HERE = "sdc_problems.studies.benchmark.algorithms"
_ADAPTERS = "sdc_problems.adapters"

OWN: dict[str, tuple[str, str]] = {
    "random": ("Random search: the problem's own sampling", f"{_HERE}:random_search"),
    "NSGA2-integer": ("NSGA-II with pymoo's operators for whole numbers", f"{_HERE}:integer_nsga2"),
    "pygmo-NSGA2": ("NSGA-II by pygmo's sorting, with our operators", f"{_ADAPTERS}:pygmo_nsga2"),
    "jMetalPy-NSGA2": ("NSGA-II of jMetalPy with our operators", f"{_ADAPTERS}:jmetal_nsga2"),
    "Platypus-NSGA2": ("NSGA-II of Platypus with our operators", f"{_ADAPTERS}:platypus_nsga2"),
    "DEAP-NSGA2": ("NSGA-II of DEAP with our operators", f"{_ADAPTERS}:deap_nsga2"),
    "Optuna-NSGA2": ("NSGA-II of Optuna with our operators", f"{_ADAPTERS}:optuna_nsga2"),
    "nevergrad-ES": ("Evolution strategy of nevergrad with our operators", f"{_ADAPTERS}:nevergrad_nsga2"),
}
"""Names beside those of searches: what each is, and where it is imported from when it is asked for."""


class _Rounding(Evaluator):
    """Evaluator of searches that propose real numbers: the nearest genome is measured."""

    def _eval(self, problem: Any, pop: Any, evaluate_values_of: list[str], **kwargs: Any) -> None:
        X = np.clip(np.rint(np.array([individual.X for individual in pop], dtype=float)), problem.xl, problem.xu)
        measures = measure(problem, X)
        measures.pop("X", None)  # the search goes on with its real numbers
        set_measures(pop, measures)


def search_with(algorithm: Any, problem: Any, budget: int, seed: int, *, rounded: bool = False) -> None:
    """Run an algorithm of pymoo's kind on a recorded problem until the budget is spent, or it has come to its end."""
    from pymoo.termination import get_termination

    evaluator = _Rounding() if rounded else Evaluator()
    # Some of pymoo's default arguments are objects that a search changes (SPEA2's survival): work on a copy, always.
    algorithm = copy.deepcopy(algorithm)
    algorithm.setup(problem, termination=get_termination("n_eval", budget), seed=seed, evaluator=evaluator)
    while algorithm.has_next():
        algorithm.next()


def find_algorithm(name: str) -> Search | Function:
    """Find what a name, or ``module:function``, stands for.

    Parameters
    ----------
    name
        A search, one of ``OWN``, or a function that can be imported, also from the current folder.

    Examples
    --------
    >>> find_algorithm("random") is random_search
    True
    >>> find_algorithm("nsga2")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: there is no algorithm 'nsga2'; did you mean 'NSGA2'? (or module:function)
    """
    if name in OWN:
        return _function(OWN[name][1])
    if ":" in name:
        return _function(name)
    known = available_searches()
    if name not in known:
        raise SDCError(f"there is no algorithm {name!r}{did_you_mean(name, [*OWN, *known])} (or module:function)")
    return known[name]


def _function(name: str) -> Function:
    module, _, attribute = name.partition(":")
    import_from_here()
    try:
        found = getattr(importlib.import_module(module), attribute)
    except SDCError:
        raise  # a framework is missing: it says how to install it
    except Exception as error:
        raise SDCError(f"algorithm {name!r} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise SDCError(f"algorithm {name!r} is not a function of (problem, budget, rng)")
    function: Function = found
    return function


def named() -> list[dict[str, Any]]:
    """List the algorithms that have a name: name, title, and the tasks that they are for (None: all)."""
    rows = [{"name": name, "title": title, "tasks": None} for name, (title, _) in OWN.items()]
    searches = [
        search
        for search in available_searches().values()
        if search.objectives != "one" and "reference_points" not in search.study
    ]
    return rows + [{"name": search.name, "title": search.title, "tasks": search.tasks} for search in searches]


def unfit(name: str, task: str, n_objectives: int) -> str:
    """Say why an algorithm cannot run on an instance; empty if it can."""
    if name in OWN:  # for every task; a framework need not be installed to be planned with
        return ""
    found = find_algorithm(name)
    if not isinstance(found, Search):
        return ""
    if found.tasks is not None and task not in found.tasks:
        return f"{name} is for {' or '.join(found.tasks)} only"
    if found.objectives == "one" and n_objectives > 1:
        return f"{name} is for one objective"
    return ""


def run_algorithm(name: str, recorder: Recorder, task: str, seed: int) -> None:
    """Run an algorithm on a recorded problem until its budget is spent, or it has come to its end.

    Parameters
    ----------
    name
        As for ``find_algorithm``.
    recorder
        What records it.
    task, seed
        The problem's task, and the seed of all that is drawn.
    """
    found = find_algorithm(name)
    try:
        if isinstance(found, Search):
            algorithm = build_search(name, found.options(), recorder.problem, task, {}, None)
            search_with(algorithm, recorder.problem, recorder.budget, seed, rounded=found.real)
        else:
            found(recorder.problem, recorder.budget, np.random.default_rng(seed))
    except BudgetSpent:
        pass
