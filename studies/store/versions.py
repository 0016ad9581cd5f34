"""Versions and digests that say what something was made with, and from."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path

from sdc_problems import __version__

_VERSIONED = ("pymoo", "numpy", "scipy", "pandas", "numba", "moocore")


@functools.cache
def versions() -> dict[str, str]:
    """Versions that results may depend on."""
    found = {name: importlib.metadata.version(name) for name in _VERSIONED}
    return {"sdc-problems": __version__, **found, "python": platform.python_version()}


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
