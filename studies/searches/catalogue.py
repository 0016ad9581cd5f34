"""Searches that a study can name, pymoo's and ours, and how one is made for a problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.searches._pymoo import PYMOO, REFUSED
from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import given, refused_as
from sdc_problems.studies.study.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem

_OURS = "sdc_problems.algorithms."
_OWN = (
    Search(
        "GOMM", "GOMM and D-GOMM", _OURS + "grouping.gomm:GOMM", operators=(), own=True, objectives="any",
        tasks=("gomm",),
    ),
    Search(
        "SolanasGA", "Genetic algorithm for microaggregation, up to about 50 records",
        _OURS + "microaggregation.solanas_ga:SolanasGA", operators=(), own=True, objectives="one",
        tasks=("microaggregation",),
    ),
    Search(
        "HybridMicroaggregation", "MDAV, then a genetic algorithm in each macrogroup",
        _OURS + "microaggregation.hybrid:HybridMicroaggregation", operators=(), own=True, objectives="one",
        tasks=("microaggregation",),
    ),
    Search(
        "PBGEA", "PBG-EA, as published", _OURS + "generalization.pbg_ea:PBGEA", operators=(), own=True, archive=False,
        objectives="any", tasks=("pbg",),
    ),
    Search(
        "PBGSearch", "Model-guided search for minimal generalisations",
        _OURS + "generalization.pbg_search:PBGSearch", operators=(), own=True, archive=False, ends=True,
        objectives="any", tasks=("pbg",),
    ),
    Search(
        "MemeticMicroaggregation", "Annealing, ruin and recreate, and crossover of groups",
        _OURS + "microaggregation.memetic:MemeticMicroaggregation", without=("time_limit",), operators=(), own=True,
        ends=True, objectives="one", tasks=("microaggregation",),
    ),
    Search(
        "ElitistEA", "Elitist (1+1) EA for transition matrices", _OURS + "pram.elitist_ea:ElitistEA",
        operators=("sampling", "crossover", "mutation"), own=True, objectives="one", tasks=("pram",),
    ),
    Search(
        "SteadyStateGP", "Steady-state genetic programming", _OURS + "pram.steady_state_gp:SteadyStateGP",
        operators=("sampling", "crossover", "mutation"), own=True, objectives="one", tasks=("pram-equations",),
    ),
)  # fmt: skip
SEARCHES: dict[str, Search] = {search.name: search for search in (*PYMOO, *_OWN)}


def search_options(section: Mapping[str, Any]) -> Section:
    """Check an algorithm section."""
    name = section.get("name")
    if name is None:
        raise SDCError(f"algorithm.name is missing (known: {', '.join(SEARCHES)})")
    if isinstance(name, str) and name in REFUSED:
        raise SDCError(f"algorithm.name {name!r} cannot be used in a study: {REFUSED[name]}")
    if not isinstance(name, str) or name not in SEARCHES:
        named = [key for key, search in SEARCHES.items() if search.title.casefold() == str(name).casefold()]
        hint = did_you_mean(named[0] if named else str(name), SEARCHES)
        raise SDCError(f"algorithm.name {shown(name)} is unknown{hint} (known: {', '.join(SEARCHES)})")
    return validated(SEARCHES[name].options, {k: v for k, v in section.items() if k != "name"}, "algorithm")


def build_search(
    name: str,
    options: Section,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> Any:
    """Make the algorithm, with the problem's operators or those that the study puts in their place."""
    from sdc_problems.studies.searches.operators import BaselinesFirst, chosen_operators

    search = SEARCHES[name]
    named = chosen_operators(operators, task)
    _check_fit(search, problem, task, named, epsilon)
    arguments = given(options)
    names = list(arguments)
    start = arguments.pop("start", "random")
    if "directions" in arguments:
        arguments["ref_dirs"] = _directions(problem.n_obj, arguments.pop("directions"))
    if "reference_points" in arguments:
        arguments["ref_points"] = _points(problem, arguments.pop("reference_points"))
    chosen = {} if search.own else problem.operators()
    chosen |= named
    kept = {kind: value for kind, value in chosen.items() if kind in search.operators}
    if start == "baselines":
        kept["sampling"] = BaselinesFirst(kept["sampling"], list(problem.baselines().values()))
    with refused_as("algorithm", names):
        algorithm = search.load()(**arguments, **kept)
    if epsilon is not None:
        algorithm.archive = _archive(problem, epsilon)
    return algorithm


def _check_fit(
    search: Search,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> None:
    """Say before anything runs why an algorithm cannot be used for a problem."""
    name = search.name
    if search.tasks is not None and task not in search.tasks:
        raise SDCError(f"algorithm {name} is for the task {' or '.join(search.tasks)}, not for {task}")
    if search.objectives == "several" and problem.n_obj == 1:
        others = [n for n, s in SEARCHES.items() if s.objectives != "several" and task in (s.tasks or (task,))]
        raise SDCError(f"algorithm {name} needs at least two objectives; with one, use {' or '.join(others)}")
    if search.objectives == "one" and problem.n_obj > 1:
        raise SDCError(f"algorithm {name} is for one objective, not for {problem.n_obj}; use for example NSGA2")
    unused = [kind for kind in operators if kind not in search.operators]
    if unused:
        raise SDCError(f"algorithm {name} takes no {' and no '.join(unused)} from [operators]")
    if epsilon is not None and not search.archive:
        raise SDCError(f"algorithm {name} has an archive of its own: give algorithm.epsilon instead of [archive]")


def _directions(n_obj: int, count: int) -> NDArray[np.float64]:
    from pymoo.util.ref_dirs import get_reference_directions

    if n_obj == 2:  # evenly spaced, at no cost
        return np.asarray(get_reference_directions("das-dennis", 2, n_partitions=count - 1))
    return np.asarray(get_reference_directions("energy", n_obj, count, seed=1))


def _points(problem: SDCProblem, points: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    for point in points:
        if len(point) != problem.n_obj:
            names = ", ".join(o.name for o in problem.objectives)
            raise SDCError(
                f"algorithm.reference_points: each point has {problem.n_obj} numbers ({names}), not {len(point)}"
            )
    return problem.minimised(np.array(points))


def _archive(problem: SDCProblem, epsilon: Sequence[float]) -> Any:
    from sdc_problems.algorithms.archives.box import BoxArchive

    if len(epsilon) != problem.n_obj:
        raise SDCError(f"archive.epsilon has {len(epsilon)} numbers for {problem.n_obj} objectives")
    return BoxArchive(list(epsilon))
