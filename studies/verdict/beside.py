"""Files next to a protected one: its certificate, and the private file that says which record each row is."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems._files import input_file
from sdc_problems.studies.release.row_order import SHUFFLED, read_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def certificate_of(protected: str | os.PathLike[str]) -> dict[str, Any] | None:
    """Certificate next to a protected file; None if there is none for exactly this file.

    It may come from a stranger: do not rely on the type of anything in it.
    """
    path = Path(protected)
    try:
        content = json.loads(input_file(path.with_name(f"{path.name}.certificate.json")).read_text(encoding="utf-8"))
        with path.open("rb") as stream:
            same = content["output"]["sha256"] == hashlib.file_digest(stream, "sha256").hexdigest()
        return dict(content) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def says_shuffled(certificate: dict[str, Any] | None) -> bool:
    """Whether a certificate says that the rows of its file were shuffled."""
    return certificate is not None and certificate["output"].get("row_order") == SHUFFLED


def rows_of_file(protected: Path, named: Path | None = None) -> NDArray[np.int64] | None:
    """Record of the original, counted from 0, of each row of a protected file; None if this is unknown.

    Parameters
    ----------
    protected
        The protected file.
    named
        Its rows file; by default ``<protected>.rows.csv``, if it exists.
    """
    if named is None:
        named = protected.with_name(f"{protected.name}.rows.csv")
        if not named.exists():
            return None
    return read_rows(named, protected)
