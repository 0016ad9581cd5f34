"""Who answers for the project, said once; the files that repeat it, and the form that they must have."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
TABLE = {"homepage": "https://a.org", "repository": "https://b.org/c", "doi": "10.5281/zenodo.1"}
# Keys of the Citation File Format 1.2.0 for the whole file, and those that each must have.
KEYS = {
    "abstract", "authors", "cff-version", "commit", "contact", "date-released", "doi", "identifiers", "keywords",
    "license", "license-url", "message", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "title", "type", "url", "version",
}  # fmt: skip
REFERENCE = {"authors", "title", "type"}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


OWNER = load("owner")


def test_files_say_what_the_owner_says() -> None:
    table = OWNER.owner()
    for name, change in (("CITATION.cff", OWNER.cff), (".zenodo.json", OWNER.zenodo)):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert change(text, table).rstrip("\n") == text.rstrip("\n"), "python docs/owner.py --write"


def test_what_the_owner_fills_in_arrives_and_what_is_empty_is_left_out() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    filled = OWNER.cff(text, TABLE)
    said = 'url: "https://a.org"\nrepository-code: "https://b.org/c"\ndoi: "10.5281/zenodo.1"\n'
    assert f"license: Apache-2.0\n{said}" in filled
    assert OWNER.cff(filled, {"homepage": ""}) == OWNER.cff(text, {})
    record = json.loads(OWNER.zenodo((ROOT / ".zenodo.json").read_text(encoding="utf-8"), TABLE))
    assert record["related_identifiers"][0]["identifier"] == "https://b.org/c"


def test_distribution_takes_authors_and_urls_from_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """hatchling is there where a wheel is built, and not here: its interface is only a constructor."""

    class Interface:
        def __init__(self, root: str, config: dict[str, object]) -> None:
            self.root = root

    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin", "hatchling.metadata.plugin.interface"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["hatchling.metadata.plugin.interface"].MetadataHookInterface = Interface  # type: ignore[attr-defined]
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    said = 'homepage = ""\nrepository = "https://b.org/c"\ncontact = "a@b.org"\ndoi = "10.1/2"\n'
    text = f"[tool.sdc-problems.owner]\n{said}"
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    metadata: dict[str, object] = {}
    module.OwnerHook(str(tmp_path), {}).update(metadata)
    assert metadata == {
        "authors": [{"name": "The sdc-problems developers", "email": "a@b.org"}],
        "urls": {"Repository": "https://b.org/c", "DOI": "https://doi.org/10.1/2"},
    }


def test_citation_file_has_the_form_that_readers_expect() -> None:
    import yaml  # comes with distributed

    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert set(citation) <= KEYS
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    known = {"name", "given-names", "family-names", "orcid", "email"}
    assert all(set(author) <= known for author in citation["authors"])
    assert all(isinstance(word, str) for word in citation["keywords"])
    for reference in citation["references"]:
        assert set(reference) >= REFERENCE


def test_the_authors_are_the_same_everywhere() -> None:
    from sdc_problems.suite._citation import AUTHORS

    name = re.search(r'^NAME = "(.+)"$', (ROOT / "hatch_build.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert name is not None
    assert AUTHORS == f"{{{name[1]}}}"
    assert f"  - name: {name[1]}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))["creators"] == [{"name": name[1]}]


def test_every_community_file_is_in_the_source_distribution() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        included = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "hatch_build.py", "CHANGELOG.md"):
        assert (ROOT / name).is_file()
        assert f"/{name}" in included


def test_works_that_objectives_cite_are_in_the_bibliography() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    tables = importlib.import_module("tables")
    bibliography = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    cited = {
        found
        for catalogue in tables.CATALOGUES.values()
        for objective in catalogue.values()
        for found in re.findall(r"([A-ZÀ-Ž][\w-]+)(?:[^;()]*?) \((\d{4})\)", objective.source)
    }
    assert len(cited) > 8
    for author, year in cited:
        assert re.search(rf"^- .*{author}.*\({year}\)", bibliography, re.MULTILINE), f"{author} ({year})"


def test_changelog_has_the_version_that_there_is_and_how_to_come_to_it() -> None:
    from sdc_problems import __version__

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = text.partition(f"## [{__version__}]")[2].partition("\n## [")[0]
    assert "### Migrating from 0.1.0" in section
    assert "### Added" in section
    assert re.findall(r"^## \[(.+?)\]", text, re.MULTILINE)[0] == "Unreleased"
