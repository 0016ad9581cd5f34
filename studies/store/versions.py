"""Versions of the software and digests of the data behind a result."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sdc_problems.suite._versions import versions as versions


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
