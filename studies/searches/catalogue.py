"""The searches that a study can name: pymoo's multi-objective algorithms and our own, with typed options."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.searches.options import (
    DifferentialDirectionOptions,
    DifferentialOptions,
    DirectionOptions,
    ElitistOptions,
    GOMMSearchOptions,
    GPOptions,
    HybridOptions,
    ManyObjectiveOptions,
    MemeticOptions,
    MOEADOptions,
    OmniOptions,
    ParticleOptions,
    PBGEAOptions,
    PBGSearchOptions,
    PopulationOptions,
    RNSGA2Options,
    RNSGA3Options,
    RVEAOptions,
    SolanasOptions,
)
from sdc_problems.studies.study.validation import Section, shown, validated

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem

# pymoo's algorithms that are no searches for a study, and why.
REFUSED = {
    "CMOPSO": "in pymoo 0.6.2 it draws numbers from generators of its own: no run of it could be repeated",
    "PINSGA2": "it asks a person questions while it runs",
    "DNSGA2": "it is made for problems that change over time",
    "KGB": "it is made for problems that change over time",
}


@dataclass(frozen=True)
class Search:
    """A search by name.

    Attributes
    ----------
    title
        What it is.
    module
        Where its class is.
    options
        Its options; but for ``start``, ``directions`` and ``reference_points`` they are its constructor's.
    operators
        What it takes of the operators.
    own
        Whether it has operators of its own, so that it gets only those that a study names.
    real
        Whether it proposes real numbers, which are rounded.
    archive
        Whether a study may give it a box archive; some have their own.
    ends
        Whether it has a budget of its own, so that a study needs no [termination].
    objectives
        How many objectives it is for.
    tasks
        The tasks it is for; all if None.
    """

    title: str
    module: str
    options: type[Section]
    operators: tuple[str, ...] = ("sampling", "crossover", "mutation", "repair", "eliminate_duplicates")
    own: bool = False
    real: bool = False
    archive: bool = True
    ends: bool = False
    objectives: Literal["one", "several", "any"] = "several"
    tasks: tuple[str, ...] | None = None


_DE = ("sampling",)
_MOO = "pymoo.algorithms.moo."
_OURS = "sdc_problems.algorithms."
SEARCHES: dict[str, Search] = {
    "NSGA2": Search("NSGA-II", _MOO + "nsga2", PopulationOptions),
    "NSGA3": Search("NSGA-III", _MOO + "nsga3", ManyObjectiveOptions),
    "UNSGA3": Search("U-NSGA-III", _MOO + "unsga3", ManyObjectiveOptions),
    "RNSGA2": Search("R-NSGA-II, towards reference points", _MOO + "rnsga2", RNSGA2Options),
    "RNSGA3": Search("R-NSGA-III, towards reference points", _MOO + "rnsga3", RNSGA3Options),
    "SPEA2": Search("SPEA2", _MOO + "spea2", PopulationOptions),
    "SMSEMOA": Search("SMS-EMOA", _MOO + "sms", PopulationOptions),
    "AGEMOEA": Search("AGE-MOEA", _MOO + "age", PopulationOptions),
    "AGEMOEA2": Search("AGE-MOEA-II", _MOO + "age2", PopulationOptions),
    "RVEA": Search("RVEA", _MOO + "rvea", RVEAOptions),
    "CTAEA": Search("C-TAEA", "sdc_problems.studies.searches.operators", DirectionOptions),
    "MOEAD": Search("MOEA/D", _MOO + "moead", MOEADOptions, ("sampling", "crossover", "mutation", "repair")),
    "ParallelMOEAD": Search(
        "MOEA/D, a generation at a time", _MOO + "moead", MOEADOptions, ("sampling", "crossover", "mutation", "repair")
    ),
    "OmniOptimizer": Search("Omni-Optimizer", _MOO + "omni", OmniOptions),
    "GDE3": Search("GDE3", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE3MNN": Search("GDE3, M-NN crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE32NN": Search("GDE3, 2-NN crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "GDE3PCD": Search("GDE3, pruned crowding", _MOO + "gde3", DifferentialOptions, _DE, real=True),
    "NSDE": Search("NSDE", _MOO + "nsde", DifferentialOptions, _DE, real=True),
    "NSDER": Search("NSDE-R", _MOO + "nsder", DifferentialDirectionOptions, _DE, real=True),
    "MOPSO_CD": Search("MOPSO-CD", _MOO + "mopso_cd", ParticleOptions, _DE, real=True),
    "GA": Search(
        "Genetic algorithm, for one objective", "pymoo.algorithms.soo.nonconvex.ga", PopulationOptions, objectives="one"
    ),
    "GOMM": Search(
        "GOMM and D-GOMM", _OURS + "grouping.gomm", GOMMSearchOptions, (), own=True, objectives="any", tasks=("gomm",)
    ),
    "SolanasGA": Search(
        "Genetic algorithm for microaggregation, up to about 50 records",
        _OURS + "microaggregation.solanas_ga",
        SolanasOptions,
        (),
        own=True,
        objectives="one",
        tasks=("microaggregation",),
    ),
    "HybridMicroaggregation": Search(
        "MDAV, then a genetic algorithm in each macrogroup",
        _OURS + "microaggregation.hybrid",
        HybridOptions,
        (),
        own=True,
        objectives="one",
        tasks=("microaggregation",),
    ),
    "PBGEA": Search(
        "PBG-EA, as published",
        _OURS + "generalization.pbg_ea",
        PBGEAOptions,
        (),
        own=True,
        archive=False,
        objectives="any",
        tasks=("pbg",),
    ),
    "PBGSearch": Search(
        "Model-guided search for minimal generalisations",
        _OURS + "generalization.pbg_search",
        PBGSearchOptions,
        (),
        own=True,
        archive=False,
        ends=True,
        objectives="any",
        tasks=("pbg",),
    ),
    "MemeticMicroaggregation": Search(
        "Annealing, ruin and recreate, and crossover of groups",
        _OURS + "microaggregation.memetic",
        MemeticOptions,
        (),
        own=True,
        ends=True,
        objectives="one",
        tasks=("microaggregation",),
    ),
    "ElitistEA": Search(
        "Elitist (1+1) EA for transition matrices",
        _OURS + "pram.elitist_ea",
        ElitistOptions,
        ("sampling", "crossover", "mutation"),
        own=True,
        objectives="one",
        tasks=("pram",),
    ),
    "SteadyStateGP": Search(
        "Steady-state genetic programming",
        _OURS + "pram.steady_state_gp",
        GPOptions,
        ("sampling", "crossover", "mutation"),
        own=True,
        objectives="one",
        tasks=("pram-equations",),
    ),
}


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
    _check_fit(name, search, problem, task, named, epsilon)
    given = {key: getattr(options, key) for key in type(options).model_fields}
    given = {key: value for key, value in given.items() if value is not None}
    start = given.pop("start", "random")
    if "directions" in given:
        given["ref_dirs"] = _directions(problem.n_obj, given.pop("directions"))
    if "reference_points" in given:
        given["ref_points"] = _points(problem, given.pop("reference_points"))
    chosen = {} if search.own else problem.operators()
    chosen |= named
    kept = {kind: value for kind, value in chosen.items() if kind in search.operators}
    if start == "baselines":
        kept["sampling"] = BaselinesFirst(kept["sampling"], list(problem.baselines().values()))
    algorithm = getattr(importlib.import_module(search.module), name)(**given, **kept)
    if epsilon is not None:
        algorithm.archive = _archive(problem, epsilon)
    return algorithm


def _check_fit(
    name: str,
    search: Search,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> None:
    """Say before anything runs why an algorithm cannot be used for a problem."""
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
