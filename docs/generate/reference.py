"""Reference of the Python interface: one page per public name, grouped by the module that defines it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

ROOMS = {
    "sdc_problems": "Tables, problems, releases",
    "sdc_problems.algorithms": "Searches and archives",
    "sdc_problems.operators": "Operators",
    "sdc_problems.evaluators": "Measures and engines",
    "sdc_problems.methods": "Protection methods",
    "sdc_problems.hierarchy": "Hierarchies",
    "sdc_problems.graph": "Social graphs",
    "sdc_problems.parallel": "Parallel evaluation",
    "sdc_problems.suite": "Benchmark suite",
    "sdc_problems.adapters": "Adapters to other frameworks",
    "sdc_problems.studies.tasks": "Tasks of studies",
    "sdc_problems.studies.release": "Releases",
    "sdc_problems.studies.verdict": "Verdicts",
    "sdc_problems.testing": "Contract suites",
}
"""Public rooms with what each holds. A test says when a package that exports names is not here."""


def summary(value: Any) -> str:
    """First sentence of a docstring, on one line."""
    lines = []
    for line in (inspect.getdoc(value) or "").splitlines():
        if not line.strip():
            break
        lines.append(line.strip())
    return " ".join(lines)


def public(room: str) -> Iterator[tuple[str, Any]]:
    """Names that a room exports, in its own order."""
    module = importlib.import_module(room)
    for name in module.__all__:
        yield name, getattr(module, name)


def home(room: str, name: str, value: Any) -> str:
    """Page of a name: that of the first room that exports it."""
    return next(f"{other}.{name}" for other in ROOMS if getattr(importlib.import_module(other), name, None) is value)


def heading(text: str, line: str = "=") -> str:
    """Heading of a page in reStructuredText."""
    return f"{text}\n{line * len(text)}\n\n"


def page(room: str, name: str, value: Any) -> str:
    """Page of one name."""
    text = f".. py:currentmodule:: {room}\n\n" + heading(name)
    if inspect.isclass(value):
        options = "   :members:\n   :show-inheritance:\n"
        return f"{text}.. autoclass:: {room}.{name}\n{options}"
    if inspect.isroutine(value) or callable(value):
        return f"{text}.. autofunction:: {room}.{name}\n"
    return f"{text}.. autodata:: {room}.{name}\n   :no-value:\n"


def theme(value: Any) -> str:
    """Title of the module that defines a name: its docstring up to the colon or full stop."""
    module = importlib.import_module(getattr(value, "__module__", "") or "builtins")
    first = summary(module)
    for mark in (":", ". ", ";"):
        first = first.partition(mark)[0]
    return first.rstrip(".")


def room_page(room: str, title: str) -> str:
    """Page of a room: its names by theme, with their first sentences."""
    text = heading(title)
    text += f"``{room}``: {summary(importlib.import_module(room))}\n\n"
    groups: dict[str, list[tuple[str, Any]]] = {}
    for name, value in public(room):
        groups.setdefault(theme(value), []).append((name, value))
    for called, members in groups.items():
        if len(groups) > 1:
            text += f".. rubric:: {called}\n\n"
        text += ".. list-table::\n   :widths: 30 70\n\n"
        for name, value in members:
            text += f"   * - :doc:`{name} <{home(room, name, value)}>`\n     - {summary(value)}\n"
        text += "\n"
    text += ".. toctree::\n   :hidden:\n\n"
    text += "".join(
        f"   {room}.{name}\n" for name, value in public(room) if home(room, name, value) == f"{room}.{name}"
    )
    return text


def pages() -> dict[str, str]:
    """All pages by their file's name."""
    found = {}
    index = heading("Python reference")
    index += "Every public name, by the package that exports it.\n\n.. list-table::\n   :widths: 30 20 50\n\n"
    for room, title in ROOMS.items():
        found[f"reference/{room}.rst"] = room_page(room, title)
        index += f"   * - :doc:`{title} <{room}>`\n     - ``{room}``\n     - {len(list(public(room)))} names\n"
        for name, value in public(room):
            found[f"reference/{home(room, name, value)}.rst"] = page(*home(room, name, value).rsplit(".", 1), value)
    index += "\n.. toctree::\n   :hidden:\n\n" + "".join(f"   {room}\n" for room in ROOMS)
    found["reference/index.rst"] = index
    return found
