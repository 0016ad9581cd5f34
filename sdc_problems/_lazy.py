"""Public names that import their module on first use, so that ``import sdc_problems`` costs almost nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def attach(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make a package's ``__getattr__`` and ``__dir__``.

    Parameters
    ----------
    package
        The package's ``__name__``.
    where
        Public name to the submodule (relative to the package) that defines it. A name that maps to itself
        with a leading dot, as in ``{"linkage": "."}``, is the submodule itself.
    """

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if where[name] == ".":
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(f"{package}.{where[name]}"), name)

    return load, lambda: sorted(where)
