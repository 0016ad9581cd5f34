"""Searches that a study can name, of pymoo and of this package, and their construction for a problem."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._plugins import entries, loaded
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.searches._pymoo import PYMOO, REFUSED
from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import given, refused_as
from sdc_problems.studies.study.validation import Section, shown, validated
from sdc_problems.studies.tasks import available_tasks

if TYPE_CHECKING:
    from sdc_problems.problem import SDCProblem


GROUP = "sdc_problems.searches"
"""Entry point group for searches of other packages; each entry has the name of its search and leads to a `Search`."""


FOR_EVERY_TASK = (
    *PYMOO,
    Search(
        "ExactFront", "Every solution measured, or a program: the exact front",
        "sdc_problems.algorithms.exact_front:ExactFront", operators=(), own=True, archive=False, ends=True,
        objectives="any",
    ),
)  # fmt: skip


def available_searches() -> dict[str, Search]:
    """Every search by name: those for every task (most are pymoo's), and those of tasks and other packages.

    A search that cannot be loaded is left out with a warning.
    """
    found = {search.name: search for search in FOR_EVERY_TASK}
    for task in available_tasks().values():
        for search in task.searches:
            known = found.get(search.name)
            if known is None:
                found[search.name] = replace(search, tasks=(task.name,))
            elif known.target == search.target and known.tasks is not None:  # the same search for several tasks
                found[search.name] = replace(known, tasks=(*known.tasks, task.name))
    for name, entry in entries(GROUP, found).items():
        try:
            found[name] = loaded(entry, Search)
        except SDCError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def find_search(name: str) -> Search:
    """Find a search by name.

    Examples
    --------
    >>> find_search("GOMM").tasks, find_search("NSGA2").tasks
    (('gomm',), None)
    """
    for search in FOR_EVERY_TASK:
        if search.name == name:
            return search
    known = available_searches()
    if name not in known:
        raise SDCError(f"there is no search {shown(name)}{did_you_mean(str(name), known)} (known: {', '.join(known)})")
    return known[name]


def search_options(section: Mapping[str, Any]) -> Section:
    """Check an algorithm section."""
    name = section.get("name")
    known = available_searches()
    if name is None:
        raise SDCError(f"algorithm.name is missing (known: {', '.join(known)})")
    if isinstance(name, str) and name in REFUSED:
        raise SDCError(f"algorithm.name {name!r} cannot be used in a study: {REFUSED[name]}")
    if not isinstance(name, str) or name not in known:
        named = [key for key, search in known.items() if search.title.casefold() == str(name).casefold()]
        hint = did_you_mean(named[0] if named else str(name), known)
        raise SDCError(f"algorithm.name {shown(name)} is unknown{hint} (known: {', '.join(known)})")
    return validated(known[name].options, {k: v for k, v in section.items() if k != "name"}, "algorithm")


def build_search(
    name: str,
    options: Section,
    problem: SDCProblem,
    task: str,
    operators: Mapping[str, Any],
    epsilon: Sequence[float] | None,
) -> Any:
    """Make the algorithm, with the problem's operators or those that the study names instead."""
    from sdc_problems.studies.searches.operators import BaselinesFirst, chosen_operators

    search = find_search(name)
    named = chosen_operators(operators, task)
    _check_fit(search, problem, task, named, epsilon)
    arguments = given(options)
    names = list(arguments)
    start = arguments.pop("start", "random")
    if "directions" in arguments:
        arguments["ref_dirs"] = _directions(problem.n_obj, arguments.pop("directions")).copy()
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
    """Say why an algorithm cannot be used for a problem, before anything runs."""
    name = search.name
    if search.tasks is not None and task not in search.tasks:
        raise SDCError(f"algorithm {name} is for the task {' or '.join(search.tasks)}, not for {task}")
    if search.objectives == "several" and problem.n_obj == 1:
        known = available_searches()
        others = [n for n, s in known.items() if s.objectives != "several" and task in (s.tasks or (task,))]
        raise SDCError(f"algorithm {name} needs at least two objectives; with one, use {' or '.join(others)}")
    if search.objectives == "one" and problem.n_obj > 1:
        raise SDCError(f"algorithm {name} is for one objective, not for {problem.n_obj}; use for example NSGA2")
    unused = [kind for kind in operators if kind not in search.operators]
    if unused:
        raise SDCError(f"algorithm {name} does not use {' or '.join(unused)} of [operators]: remove it")
    if epsilon is not None and not search.archive:
        raise SDCError(f"algorithm {name} has its own archive: give algorithm.epsilon instead of [archive]")


@functools.cache
def _directions(n_obj: int, count: int) -> NDArray[np.float64]:
    from pymoo.util.ref_dirs import get_reference_directions

    if n_obj == 2:  # evenly spaced directions cost nothing
        return np.asarray(get_reference_directions("das-dennis", 2, n_partitions=count - 1))
    return np.asarray(get_reference_directions("energy", n_obj, count, seed=1))


def _points(problem: SDCProblem, points: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    for point in points:
        if len(point) != problem.n_obj:
            names = ", ".join(o.name for o in problem.objectives)
            raise SDCError(
                f"algorithm.reference_points: each point has {problem.n_obj} numbers ({names}), not {len(point)}"
            )
    return problem.minimized(np.array(points))


def _archive(problem: SDCProblem, epsilon: Sequence[float]) -> Any:
    from sdc_problems.algorithms.archives.box import BoxArchive

    if len(epsilon) != problem.n_obj:
        raise SDCError(f"archive.epsilon has {len(epsilon)} numbers for {problem.n_obj} objectives")
    return BoxArchive(list(epsilon))
