"""Public names that import their module on first use, so that ``import sdc_problems`` costs almost nothing."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make a package's ``__getattr__``, ``__dir__`` and ``__all__`` from the imports that only type checkers see.

    The lines ``from module import name as name`` below ``if TYPE_CHECKING:`` are the only list of what the package
    exports: type checkers read them, and they are read here to import a name when it is asked for.

    Parameters
    ----------
    package, file
        The package's ``__name__`` and ``__file__``.
    """
    return _lazily(package, exports(file))


def attach_part(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the same for a package whose names are exported by the package above it, in that package's list.

    Parameters
    ----------
    package
        The package's ``__name__``.
    """
    above = importlib.import_module(package.rpartition(".")[0])
    assert above.__file__ is not None
    return _lazily(package, {k: v for k, v in exports(above.__file__).items() if v[0].startswith(f"{package}.")})


def exports(file: str) -> dict[str, tuple[str, str]]:
    """Module and name of each export of an ``__init__.py``, in order."""
    for node in ast.parse(Path(file).read_bytes()).body:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return {
                alias.asname or alias.name: (line.module or "", alias.name)
                for line in node.body
                if isinstance(line, ast.ImportFrom)
                for alias in line.names
            }
    return {}


def _lazily(
    package: str, where: dict[str, tuple[str, str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = where[name]
        if module == package:
            return importlib.import_module(f"{module}.{original}")
        return getattr(importlib.import_module(module), original)

    return load, lambda: sorted(where), list(where)
