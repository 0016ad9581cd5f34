"""Leaderboard: what it says of each entry, and that text from a submission stays text."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from sdc_problems.studies.benchmark.check import SUBMISSION
from sdc_problems.studies.benchmark.page import SCRIPT, STYLE, leaderboard
from sdc_problems.studies.benchmark.runs import jobs, run_all
from sdc_problems.suite import instance

NAME = "pbg-people-k-glm@1"
TEXT = """
algorithm = "Mine <img src=x onerror=alert(1)>"
version = "1.0"
source = "https://example.org/mine"
license = "MIT"
authors = ["A. & B."]
machine = "a laptop"
tuned = "all of it, on core"
tuned_on_suite = true
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    made = []
    for name, algorithm in (("theirs", "PBGEA"), ("ours", "random")):
        folder = tmp_path_factory.mktemp(name)
        run_all(jobs([instance(NAME)], [algorithm], seeds=3, budget="short"), folder)
        made.append(folder)
    (made[0] / SUBMISSION).write_text(TEXT, encoding="utf-8")
    return made


def rows(page: str) -> list[list[str]]:
    tables = re.findall(r"<tbody>(.*?)</tbody>", page)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", tables[0])]


def test_entries_say_whether_they_were_verified_and_tuned(folders: list[Path]) -> None:
    page = leaderboard(folders, budget="short", verify=True)
    first, second = rows(page)
    assert first[0] == "PBGEA"
    assert "verified" in first[3]
    assert "tuned on the suite" in first[3]
    assert (second[0], second[1]) == ("random", "Random search: the problem&#x27;s own sampling")
    assert "no submission" in second[3]
    assert "not verified" in rows(leaderboard(folders, budget="short"))[0][3]
    record = next(folders[0].rglob("*.npz"))
    content = record.read_bytes()
    record.write_bytes(content[:-30])
    try:
        with pytest.raises(ValueError, match="is not a record"):
            leaderboard(folders, budget="short", verify=True)
    finally:
        record.write_bytes(content)


def test_text_of_a_submission_is_no_markup(folders: list[Path]) -> None:
    page = leaderboard(folders, budget="short")
    assert "<img" not in page
    assert "Mine &lt;img" in page
    assert "A. &amp; B." in page
    for text in (STYLE, SCRIPT):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"sha256-{digest}" in page
    assert "unsafe" not in page
    assert not re.findall(r'(?:src|href)="', page)


def test_shipped_results_have_a_leaderboard_and_stand_beside_others(folders: list[Path]) -> None:
    alone = {row[0]: row[3] for row in rows(leaderboard([], budget="short"))}
    assert "comes with the suite" in alone["NSGA2"]
    both = {row[0]: row for row in rows(leaderboard(folders, budget="short", beside=True))}
    assert {"PBGEA", "random", "shipped/NSGA2", "shipped/random"} <= set(both)
    assert "no submission" in both["random"][3]
    assert both["shipped/random"][4] == "1"  # instances: those of the folders only
