"""Citation: BibTeX that holds together, and files that say the version there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import sdc_problems
from sdc_problems.suite import instances
from sdc_problems.suite._citation import PAPERS, SUITE_VERSION, TASKS, citation

ROOT = Path(__file__).parents[2]


def test_every_entry_is_closed_and_named_once() -> None:
    chosen = instances("core")
    text = citation(chosen)
    entries = text.split("\n\n")[1:]
    keys = [match[1] for entry in entries if (match := re.match(r"@\w+\{([\w-]+),\n", entry))]
    assert len(keys) == len(set(keys)) == len(entries)
    for entry in entries:
        assert entry.count("{") == entry.count("}")
    assert f"{len(chosen)} instances" in text
    assert f"core@{SUITE_VERSION}" in text
    assert sdc_problems.__version__ in text
    for found in chosen:
        assert found.id in text
        assert TASKS[found.task], f"no paper is named for {found.task}"
        assert set(TASKS[found.task]) <= set(keys)


def test_every_paper_is_of_a_task() -> None:
    assert set(PAPERS) == {key for keys in TASKS.values() for key in keys}
    assert all(text.startswith("@") and f"{{{key},\n" in text for key, text in PAPERS.items())


def test_files_for_citing_say_the_versions_that_there_are() -> None:
    cff = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sdc_problems.__version__}\n" in cff
    assert f"version: core@{SUITE_VERSION}\n" in cff
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert zenodo["version"] == sdc_problems.__version__
    assert f"core@{SUITE_VERSION}" in zenodo["description"]
