"""Owner's facts of the project: ``python docs/owner.py`` lists what is missing, ``--write`` passes it on.

``[tool.sdc-problems.owner]`` of pyproject.toml is its one home. The distribution reads it there (``hatch_build.py``);
CITATION.cff and .zenodo.json hold a copy, which a test compares.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CFF = {"homepage": "url", "repository": "repository-code", "doi": "doi"}


def owner() -> dict[str, str]:
    """Read the table."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, str] = tomllib.load(file)["tool"]["sdc-problems"]["owner"]
    return table


def cff(text: str, table: dict[str, str]) -> str:
    """Text of CITATION.cff with what the owner has said, behind its license."""
    known = "|".join(CFF.values())
    text = re.sub(rf"^(?:{known}): .*\n", "", text, flags=re.MULTILINE)
    said = "".join(f'{name}: "{table[key]}"\n' for key, name in CFF.items() if table.get(key))
    return re.sub(r"^(license: .*\n)", rf"\g<1>{said}", text, count=1, flags=re.MULTILINE)


def zenodo(text: str, table: dict[str, str]) -> str:
    """Text of .zenodo.json with the repository as what it is a version of."""
    record = json.loads(text)
    record.pop("related_identifiers", None)
    if table.get("repository"):
        record["related_identifiers"] = [{"identifier": table["repository"], "relation": "isSupplementTo"}]
    return json.dumps(record, indent=2, ensure_ascii=False)


if __name__ == "__main__":
    table = owner()
    if "--write" in sys.argv[1:]:
        for name, change in (("CITATION.cff", cff), (".zenodo.json", zenodo)):
            path = ROOT / name
            path.write_text(change(path.read_text(encoding="utf-8"), table).rstrip("\n") + "\n", encoding="utf-8")
    missing = [key for key, value in table.items() if not value]
    print(f"missing in [tool.sdc-problems.owner]: {', '.join(missing)}" if missing else "the owner has said everything")
