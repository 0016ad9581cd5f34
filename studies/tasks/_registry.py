"""Registry of tasks: those of this package in a table, those of other packages by entry points.

A task is a folder with a `Task`, and a line here. Another package registers its `Task` in the entry point group
``sdc_problems.tasks`` under the task's name.
"""

from __future__ import annotations

import functools
import importlib
import warnings

from sdc_problems._plugins import entries, loaded
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.study.validation import shown
from sdc_problems.studies.tasks._task import Task

GROUP = "sdc_problems.tasks"
"""Entry point group for tasks of other packages; each entry has the name of its task and leads to a `Task`."""

BUILT_IN = {
    "pbg": "sdc_problems.studies.tasks.generalization:TASK",
    "gomm": "sdc_problems.studies.tasks.grouping:TASK",
    "microaggregation": "sdc_problems.studies.tasks.microaggregation:TASK",
    "social": "sdc_problems.studies.tasks.social:TASK",
    "pram": "sdc_problems.studies.tasks.pram:TASK",
    "pram-equations": "sdc_problems.studies.tasks.pram:EQUATIONS_TASK",
    "masking": "sdc_problems.studies.tasks.masking:TASK",
    "recipe": "sdc_problems.studies.tasks.recipe:TASK",
}


@functools.cache
def _built_in(name: str) -> Task:
    module, _, attribute = BUILT_IN[name].partition(":")
    found: Task = getattr(importlib.import_module(module), attribute)
    return found


def available_tasks() -> dict[str, Task]:
    """Every task by name, those of other packages last; a task that cannot be loaded is left out with a warning."""
    found = {name: _built_in(name) for name in BUILT_IN}
    for name, entry in entries(GROUP, BUILT_IN).items():
        try:
            found[name] = loaded(entry, Task)
        except SDCError as error:
            warnings.warn(str(error), stacklevel=2)
    return found


def find_task(name: str) -> Task:
    """Find a task by name.

    Examples
    --------
    >>> find_task("microaggregation").title
    'Which records to merge'
    >>> find_task("generalization")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: task 'generalization' is unknown (known: pbg: how far to generalize each ...)
    """
    if isinstance(name, str) and name in BUILT_IN:  # in a study file, it may be anything
        return _built_in(name)
    others = entries(GROUP, BUILT_IN)
    if isinstance(name, str) and name in others:
        return loaded(others[name], Task)
    raise SDCError(f"task {shown(name)} is unknown{did_you_mean(str(name), [*BUILT_IN, *others])} (known: {titles()})")


def titles() -> str:
    """Names of all tasks with their titles, because names such as ``pbg`` cannot be guessed."""
    return "; ".join(f"{name}: {task.title[0].lower()}{task.title[1:]}" for name, task in available_tasks().items())
