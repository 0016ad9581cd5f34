"""The start page: from a file of this machine to a protected one, by the functions of the commands."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.web.start import Wanted, Work, listed, protected, scanned

SECRET = "Xylophonia"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of three hundred people, one of whom lives where nobody else does."""
    draw = random.Random(8)
    path = tmp_path / "people.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream, delimiter=";")
        rows.writerow(["name", "age", "town", "illness"])
        for i in range(300):
            town = SECRET if i == 7 else draw.choice(["Olot", "Reus", "Vic"])
            rows.writerow([f"person {i}", draw.randint(20, 60), town, draw.choice(["flu", "none", "cold"])])
    (tmp_path / ".hidden.csv").write_text("a\n1\n")
    (tmp_path / "sub").mkdir()
    return path


ROLES = {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}


def test_files_are_listed_and_scanned_without_a_cell(table: Path) -> None:
    found = listed(table.parent)
    assert (found["files"], found["folders"]) == (["people.csv"], ["sub"])
    with pytest.raises(SDCError, match="is not there"):
        listed(table.parent / "nowhere")
    said = scanned(table)
    assert [column["name"] for column in said["columns"]] == list(ROLES)
    assert said["columns"][0]["role"] == "identifier"
    assert SECRET not in json.dumps(said)
    assert all(one["singled_out"] % 5 == 0 for one in said["combinations"])
    with pytest.raises(SDCError, match="no file"):
        scanned(table.with_name("other.csv"))


def test_a_file_is_protected_into_the_private_folder(table: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    said: list[str] = []
    wanted = Wanted.of({"path": str(table), "roles": ROLES, "k": 4, "max_suppression": 2})
    result, files = protected(wanted, private, said.append)
    assert any(line.startswith("trying") for line in said)
    assert any(line.startswith("k ") for line in result["promises"])
    with files["table"].open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    sizes: dict[Any, int] = {}
    for row in rows:
        sizes[row["age"], row["town"]] = sizes.get((row["age"], row["town"]), 0) + 1
    assert min(sizes.values()) >= 4
    assert "name" not in rows[0]
    assert all(private in path.parents for path in files.values())
    assert sorted(path.name for path in table.parent.iterdir() if path.is_file()) == [".hidden.csv", "people.csv"]


@pytest.mark.parametrize(
    "change",
    [{"k": 1}, {"k": True}, {"k": "5"}, {"max_suppression": 100}, {"roles": {"age": "boss"}}, {"roles": {}}, {"x": 1},
     {"path": 3}],
)  # fmt: skip
def test_what_is_no_demand_is_refused(table: Path, change: dict[str, Any]) -> None:
    with pytest.raises(SDCError):
        Wanted.of({"path": str(table), "roles": ROLES, "k": 4, "max_suppression": 2, **change})


def test_work_is_done_once_at_a_time_and_its_error_is_told() -> None:
    work, go = Work(), [False]

    def slow(say: Callable[[str], None]) -> tuple[dict[str, Any], dict[str, Path]]:
        say("waiting")
        while not go[0]:
            time.sleep(0.01)
        raise SDCError("no such luck")

    work.begin(slow)
    with pytest.raises(SDCError, match="already"):
        work.begin(slow)
    go[0] = True
    while work.told()["busy"]:
        time.sleep(0.01)
    assert work.told()["error"] == "no such luck"


@pytest.mark.parametrize("arguments", [["--host", "192.0.2.1"], ["--read-only"], ["--data", "x.csv"]])
def test_the_start_page_is_for_this_machine_only(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sdc_problems", "explore", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "start page" in done.stderr or "for a run" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.browser
def test_a_file_is_chosen_protected_and_saved(
    table: Path, tmp_path: Path, explore: Callable[..., str], open_tab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    tab = open_tab(explore(), offline=False)
    page = tab.page
    page.get_by_role("button", name="people.csv").click()
    page.wait_for_selector("text=300 records")
    assert tab.axe() == []
    assert page.get_by_label("Role of name").input_value() == "identifier"
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.get_by_label("Role of age").select_option("quasi-identifier")
    page.locator("#k").fill("1")
    page.get_by_role("button", name="Protect").click()
    page.wait_for_selector(".notice:has-text('k is a whole number from 2')")
    page.locator("#k").fill("3")
    page.get_by_role("button", name="Protect").click()
    page.wait_for_selector("text=Counted in the file", timeout=60_000)
    assert SECRET not in page.locator("body").inner_text()
    with page.expect_download() as waiting:
        page.locator("[data-kind=table]").click()
    waiting.value.save_as(tmp_path / "saved.csv")
    assert (tmp_path / "saved.csv").read_text().startswith("age;town;illness")
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.axe() == []
    page.locator("#upload").set_input_files(str(tmp_path / "saved.csv"))  # and back in again, handed over
    page.wait_for_selector("text=table.csv")
    assert [text for text in tab.complaints if "400" not in text] == []
    tab.complaints.clear()
