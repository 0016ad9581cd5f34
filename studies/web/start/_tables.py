"""Tables of the start page: files of a folder, and the results of `sdc scan` for one. No cell reaches the page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sdc_problems._tables.formats import format_of
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Kind, Microdata, Role
from sdc_problems.studies.commands.files._reading import Reading, naming_options
from sdc_problems.studies.report.small_counts import LEAST

READABLE = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".xlsx", ".sav", ".dta", ".sas7bdat")
_MOST_LISTED = 500
_MOST = 4_000  # most characters of a path or of an option
_FIELDS = {
    "encoding": "Encoding",
    "delimiter": "Cells are separated by",
    "decimal": "Decimal mark",
    "thousands": "Mark between thousands",
    "na-values": "Further texts that mean missing",
    "missing": "Missing cells",
    "kinds": "Kind",
}
"""Names on the page for options of the commands."""


def listed(folder: Path) -> dict[str, Any]:
    """Folders and readable files in a folder, without hidden ones."""
    folder = folder.expanduser()
    try:
        folder = folder.resolve(strict=True)
        entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())[: 4 * _MOST_LISTED]
        shown = [path for path in entries if not path.name.startswith(".")]
        folders = [path.name for path in shown if path.is_dir()][:_MOST_LISTED]
        files = [path.name for path in shown if path.name.lower().endswith(READABLE) and path.is_file()][:_MOST_LISTED]
    except (OSError, ValueError, RuntimeError):
        raise SDCError("this folder does not exist, or cannot be read") from None
    return {"folder": str(folder), "parent": str(folder.parent), "folders": folders, "files": files}


@dataclass(frozen=True)
class Given:
    """File chosen on the page, and how to read it.

    Attributes
    ----------
    path
        The file.
    reading
        Options on its format, as far as given.
    kinds
        Kinds of columns that are not as inferred.
    """

    path: Path
    reading: Reading
    kinds: dict[str, str]

    @classmethod
    def of(cls, given: dict[str, Any]) -> Given:
        """Check the data of a request."""
        path, how, kinds = given.get("path"), given.get("reading", {}), given.get("kinds", {})
        known = [field.name for field in fields(Reading)]
        if not isinstance(path, str):
            raise SDCError("name a file")
        if not _texts(how) or not set(how) <= set(known):
            raise SDCError(f"how a file is written is said by texts, of {', '.join(known)}")
        if not _texts(kinds) or not {*kinds.values()} <= {kind.value for kind in Kind}:
            raise SDCError(f"the kind of a column is one of {', '.join(kind.value for kind in Kind)}")
        said: dict[str, Any] = {name: how.get(name) or None for name in known}
        said["delimiter"] = "\t" if said["delimiter"] in (r"\t", "tab") else said["delimiter"]
        said["decimal"], said["missing"] = said["decimal"] or ".", said["missing"] or "category"
        if said["missing"] not in ("error", "category", "star", "drop"):
            raise SDCError("missing must be error, category, star or drop")
        return cls(Path(path[:_MOST]).expanduser(), Reading(**said), dict(kinds))

    @property
    def plain(self) -> bool:
        """Whether it is a text file, whose format may have to be given."""
        return format_of(self.path) is None

    def table(self, **roles: Any) -> tuple[Microdata, dict[str, Any]]:
        """Read the table; return it with the encoding and delimiter that were detected."""
        if not self.path.is_file():
            raise SDCError(f"there is no file {self.path.name!r} in {str(self.path.parent)!r}")
        with naming_fields(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.reading.table(self.path, kinds=self.kinds, **roles)


def _texts(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(text, str) and len(text) <= _MOST for text in given.values())


@contextmanager
def naming_fields() -> Iterator[None]:
    """Make errors of the readers name fields of the page instead of a command's options."""
    try:
        with naming_options("the quasi-identifiers"):
            yield
    except SDCError as error:
        options = rf"--({'|'.join(_FIELDS)})\b"
        raise type(error)(re.sub(options, lambda found: f"“{_FIELDS[found[1]]}”", str(error))) from error


def scanned(given: Given) -> dict[str, Any]:
    """Proposals of ``sdc scan`` and ``sdc hierarchy suggest``, and the format of the file."""
    from sdc_problems.hierarchy import suggest
    from sdc_problems.roles import scan

    data, form = given.table()
    found = scan(data, largest=3)
    reading = {
        **{field.name: getattr(given.reading, field.name) or "" for field in fields(Reading)},
        **{name: r"\t" if value == "\t" else value for name, value in form.items()},
    }

    def levels(name: str, role: Role) -> str:
        if role is Role.IDENTIFIER:
            return ""
        try:
            return suggest(data, name).reason
        except SDCError:
            return ""

    return {
        "path": str(given.path),
        "name": given.path.name,
        "reading": reading if given.plain else None,
        "records": found.records,
        "columns": [
            {
                "name": c.name,
                "kind": c.kind.value,
                "values": c.distinct,
                "role": c.role.value,
                "reason": c.reason,
                "hierarchy": levels(c.name, c.role),
            }
            for c in found.columns
        ],
        "combinations": [
            {"columns": list(c.columns), "singled_out": c.singled_out // LEAST * LEAST}
            for c in found.combinations
            if c.singled_out >= LEAST
        ],
    }
