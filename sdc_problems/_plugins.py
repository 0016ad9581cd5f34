"""Objects that other packages add by entry points: methods, tasks, searches, folders of instances."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Container
from typing import TypeVar

from sdc_problems.errors import SDCError

Named = TypeVar("Named")


def import_from_here() -> None:
    """Make modules of the current folder importable, as ``python -m`` does."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def entries(group: str, taken: Container[str]) -> dict[str, importlib.metadata.EntryPoint]:
    """Entry points of a group by name, without those whose names are taken.

    Parameters
    ----------
    group
        Name of the group.
    taken
        Names that are taken, such as the package's own.
    """
    found = importlib.metadata.entry_points(group=group)
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name) if entry.name not in taken}


def loaded(entry: importlib.metadata.EntryPoint, kind: type[Named]) -> Named:
    """Load the object of an entry point; the error for a wrong class or name says which package it is from.

    Parameters
    ----------
    entry
        The entry point.
    kind
        Class of the object.
    """
    package = entry.dist.name if entry.dist is not None else entry.value
    what = kind.__name__
    try:
        found = entry.load()
    except Exception as error:
        raise SDCError(f"{what.lower()} {entry.name!r} of {package} cannot be loaded: {error}") from error
    if not isinstance(found, kind) or getattr(found, "name", None) != entry.name:
        raise SDCError(f"entry point {entry.name!r} of {package} must lead to a {what} of that name, not to {found!r}")
    return found
