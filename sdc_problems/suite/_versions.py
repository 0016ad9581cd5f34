"""Versions on which results may depend."""

from __future__ import annotations

import functools
import importlib.metadata
import platform

_VERSIONED = ("pymoo", "numpy", "scipy", "pandas", "numba", "moocore")


@functools.cache
def versions() -> dict[str, str]:
    """Versions of this package, of the packages that it computes with, and of Python."""
    from sdc_problems import __version__

    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"sdc-problems": __version__, **found, "python": platform.python_version()}
