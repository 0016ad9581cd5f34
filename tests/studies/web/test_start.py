"""The start page: from a file of this machine to a protected one, by the functions of the commands."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems._slices import tell
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.web.start._demand import Demand, Search, protected, searched, searches, study_text
from sdc_problems.studies.web.start._tables import Given, listed, scanned
from sdc_problems.studies.web.start._work import STOPPED, Work

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


def demand(table: Path, **change: Any) -> Demand:
    how = {"delimiter": ";"}
    return Demand.of({"path": str(table), "roles": ROLES, "k": 4, "max_suppression": 2, "reading": how, **change})


def search(table: Path, **change: Any) -> Search:
    return Search.of({"task": "pbg", "minutes": 0.1, "folder": str(table.parent / "runs" / "people"), **change})


def test_files_are_listed_and_scanned_without_a_cell(table: Path) -> None:
    found = listed(table.parent)
    assert (found["files"], found["folders"]) == (["people.csv"], ["sub"])
    with pytest.raises(SDCError, match="does not exist"):
        listed(table.parent / "nowhere")
    said = scanned(Given.of({"path": str(table)}))
    assert [column["name"] for column in said["columns"]] == list(ROLES)
    assert said["columns"][0]["role"] == "identifier"
    assert said["columns"][1]["hierarchy"].startswith("numbers: bands of")
    assert (said["reading"]["delimiter"], said["reading"]["decimal"]) == (";", ".")
    assert SECRET not in json.dumps(said)
    assert all(one["singled_out"] % 5 == 0 for one in said["combinations"])
    with pytest.raises(SDCError, match="no file"):
        scanned(Given.of({"path": str(table.with_name("other.csv"))}))


def test_a_file_is_read_as_the_page_says(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_text("wage\ttown\n" + "".join(f"{i},5\tR\u00e9us\n" for i in range(30)), encoding="latin-1")
    how = {"encoding": "latin-1", "delimiter": "\\t", "decimal": ","}
    said = scanned(Given.of({"path": str(path), "reading": how, "kinds": {"town": "ordinal"}}))
    assert [(column["name"], column["kind"]) for column in said["columns"]] == [
        ("wage", "numeric"),
        ("town", "ordinal"),
    ]
    assert {name: said["reading"][name] for name in how} == how
    with pytest.raises(SDCError, match="Encoding") as refused:
        scanned(Given.of({"path": str(path), "reading": {"encoding": "utf-8"}}))
    assert "--" not in str(refused.value)
    for wrong in ({"boss": "x"}, {"missing": "why"}, {"decimal": 3}, "utf-8"):
        with pytest.raises(SDCError):
            Given.of({"path": str(path), "reading": wrong})


def test_a_file_is_protected_into_the_private_folder(table: Path, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    wanted = demand(table, hierarchies={"age": {"intervals": [20]}, "town": {"suppression": True}})
    result, files = protected(wanted, private, Work())
    assert any(line.startswith("k ") for line in result["promises"])
    with files["table"].open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    sizes: dict[Any, int] = {}
    for row in rows:
        sizes[row["age"], row["town"]] = sizes.get((row["age"], row["town"]), 0) + 1
    assert min(sizes.values()) >= 4
    assert "name" not in rows[0]
    assert "Hierarchies made from the values" not in " ".join(result["sentences"])
    assert all(private in path.parents for path in files.values())
    assert sorted(path.name for path in table.parent.iterdir() if path.is_file()) == [".hidden.csv", "people.csv"]


@pytest.mark.parametrize(
    "change",
    [{"k": 1}, {"k": True}, {"k": "5"}, {"max_suppression": 100}, {"roles": {"age": "boss"}}, {"roles": {}}, {"x": 1},
     {"path": 3}, {"kinds": {"age": "huge"}}, {"hierarchies": {"age": {"intervals": [5], "masking": 1}}}],
)  # fmt: skip
def test_what_is_no_demand_is_refused(table: Path, change: dict[str, Any]) -> None:
    with pytest.raises(SDCError):
        demand(table, **change)


@pytest.mark.parametrize("change", [{"minutes": 0}, {"minutes": "1"}, {"folder": " "}, {"task": "magic"}, {"x": 1}])
def test_what_is_no_search_is_refused(table: Path, change: dict[str, Any]) -> None:
    with pytest.raises(SDCError):
        search(table, **change)


def test_the_study_of_the_page_is_one_that_sdc_run_takes(table: Path) -> None:
    for each in searches():
        how = search(table, task=each["name"], folder=str(table.parent / each["name"]))
        wanted = demand(table, hierarchies={"age": {"intervals": [5, 10]}}, kinds={"age": "numeric"})
        study = Study.from_text(study_text(wanted, how), folder=table.parent)
        assert study.task == each["name"]
        assert study.sections.data.keep == []
        assert study.sections.data.decimal == "."
        said = study.values()["problem"].get("k") or study.values().get("require", {}).get("k", {}).get("min")
        assert said == (4 if each["k"] else None)
    first = searches()[0]["name"]
    assert (table.parent / f"{first}-hierarchies" / "town.csv").is_file()
    assert not (table.parent / f"{first}-hierarchies" / "age.csv").exists()


def test_a_search_leaves_the_run_folder_of_sdc_run(table: Path) -> None:
    work = Work()
    how = search(table)
    wanted = demand(table)
    work.begin(lambda own: searched(wanted, how, own))
    work.wait(120)
    told = work.told()
    assert (told["error"], told["run"], told["result"]) == ("", str(how.folder), {"interrupted": False})
    with Run(how.folder) as run:
        assert run.finished
        assert run.study["require"] == {"k": {"min": 4.0}}
    assert (how.folder / "front.csv").is_file()
    assert (how.folder / "pictures" / "ru-map.png").is_file()
    work.begin(lambda own: searched(wanted, how, own))
    work.wait(120)
    assert "already exists" in work.told()["error"]


@pytest.mark.parametrize("fault", [False, True])
def test_a_search_that_is_refused_late_is_not_in_the_way_of_the_corrected_one(
    table: Path, fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One asks for a larger k than there are records; one fails while it begins to search."""
    how, work = search(table), Work()
    kept = table.parent / "runs" / "people-hierarchies" / "age.csv"  # somebody's own: it stays as it is
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    before = sorted(table.parent.rglob("*"))
    if fault:

        def broken(*_: Any, **__: Any) -> None:
            raise MemoryError

        monkeypatch.setattr("sdc_problems.studies.run.runner.work", broken)
        monkeypatch.setattr(threading, "excepthook", lambda _: None)
    wanted = demand(table, k=4 if fault else 301)
    work.begin(lambda own: searched(wanted, how, own))
    work.wait(120)
    told = work.told()
    assert told["run"] is None
    assert ("it ended without a result" if fault else "ask for a smaller k") in told["error"]
    assert sorted(table.parent.rglob("*")) == before
    monkeypatch.undo()
    Study.from_text(study_text(demand(table), how), folder=table.parent)
    assert kept.read_text() == "mine"


def test_a_search_stops_after_its_generation(table: Path) -> None:
    work = Work()
    how = search(table)
    stopped = work.stopped

    def after_two() -> bool:
        with Run(how.folder) as run:
            if sum(state.generations for state in run.progress()) >= 2:
                work.stop()
        return stopped()

    work.stopped = after_two  # type: ignore[method-assign]
    wanted = demand(table)
    work.begin(lambda own: searched(wanted, how, own))
    work.wait(120)
    assert work.told()["result"] == {"interrupted": True}
    with Run(how.folder) as run:
        assert 2 <= sum(state.generations for state in run.progress()) < 10
        assert not run.finished


def test_work_is_done_once_at_a_time_and_its_error_is_told() -> None:
    work, go = Work(), threading.Event()

    def slow(own: Work) -> tuple[dict[str, Any], dict[str, Path]]:
        own.say("waiting")
        go.wait(20)
        raise SDCError("no such luck")

    work.begin(slow)
    with pytest.raises(SDCError, match="other work is in progress"):
        work.begin(slow)
    go.set()
    work.wait(20)
    assert work.told()["error"] == "no such luck"


def test_work_stops_where_it_tells_how_far_it_is() -> None:
    work, begun = Work(), threading.Event()

    def endless(own: Work) -> tuple[dict[str, Any], dict[str, Path]]:
        for done in range(10**9):
            tell("sheep", done, 10**9)
            begun.set()
        return {}, {}

    work.begin(endless)
    assert begun.wait(20)
    assert work.told()["said"] == "sheep"
    work.stop()
    work.wait(20)
    assert work.told()["error"] == STOPPED


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
    page.wait_for_selector("text=300 records", timeout=60_000)
    page.get_by_text("cells separated by “;”").click()
    assert page.locator("#reading-delimiter").input_value() == ";"
    page.get_by_role("button", name="Read it so").click()
    page.wait_for_selector("text=300 records")
    assert tab.axe() == []
    assert page.get_by_label("Role of name").input_value() == "identifier"
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.get_by_label("Role of age").select_option("quasi-identifier")
    page.get_by_label("Hierarchy of age").select_option("intervals")
    page.get_by_label("Its value for age").fill("20")
    page.locator("#k").fill("1")
    page.get_by_role("button", name="Protect it now").click()
    page.wait_for_selector(".notice:has-text('k is a whole number from 2')")
    page.locator("#k").fill("3")
    page.get_by_role("button", name="Protect it now").click()
    page.wait_for_selector("text=Counted in the file", timeout=60_000)
    page.wait_for_selector(".report h4:has-text('Risk before and after')")
    assert page.locator(".report svg rect").count() > 3
    assert SECRET not in page.locator("body").inner_text()
    with page.expect_download() as waiting:
        page.locator("[data-kind=table]").click()
    waiting.value.save_as(tmp_path / "saved.csv")
    assert (tmp_path / "saved.csv").read_text().startswith("age;town;illness")
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.axe() == []
    page.reload()
    page.wait_for_selector("text=Counted in the file")  # it is there until the server ends
    page.locator("#upload").set_input_files(str(tmp_path / "saved.csv"))  # and back in again, handed over
    page.wait_for_selector("text=saved.csv: 300 records")
    assert [text for text in tab.complaints if "400" not in text] == []
    tab.complaints.clear()


@pytest.mark.browser
def test_a_search_begins_on_the_start_page_and_goes_on_in_the_explorer(
    table: Path, explore: Callable[..., str], open_tab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    tab = open_tab(explore(), offline=False)
    page = tab.page
    page.get_by_role("button", name="people.csv").click()
    page.wait_for_selector("text=300 records", timeout=60_000)
    page.get_by_label("Role of town").select_option("quasi-identifier")
    page.get_by_label("Role of age").select_option("quasi-identifier")
    assert page.locator("#run").input_value() == str(table.parent / "runs" / "people")
    page.locator("#minutes").fill("0.1")
    page.get_by_role("button", name="Search").click()
    page.wait_for_selector("h1:has-text('people: How far')", timeout=60_000)
    page.wait_for_selector(".status:has-text('finished')")
    page.wait_for_selector(".candidate")
    page.reload()
    page.wait_for_selector("h1:has-text('people: How far')")
    page.get_by_role("button", name="Another table").click()
    page.wait_for_selector("h1:has-text('Protect a table')")
    page.get_by_role("button", name="Open its page").click()
    page.wait_for_selector("h1:has-text('people: How far')")
