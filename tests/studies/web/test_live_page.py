"""The live page in a real browser, while a study runs in another process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import SHORTLIST

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(pbg: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pbg, tmp_path / "people"))


def choose_first(page: Any) -> str:
    button = page.locator(".solutions tbody th button").first
    name = str(button.inner_text())
    button.click()
    page.wait_for_selector("tr[aria-current]")
    return name


def choose_largest_k(page: Any, folder: Path) -> str:
    """A solution that can be released: one with k = 1 is refused."""
    with Run(folder) as run:
        front = run.front()
    name = front.ids[int(front.values[:, 0].argmax())]
    page.locator(".solutions tbody th button").get_by_text(name, exact=True).click()
    page.wait_for_selector("tr[aria-current]")
    return name


def test_a_study_is_followed_while_it_runs(
    workbench: Any, pbg_text: Callable[..., str], explore: Callable[..., str], open_tab: Any
) -> None:
    folder = workbench.begin("followed", pbg_text(generations=25))
    page = open_tab(explore(folder), offline=False).page
    assert "0 solutions measured" in page.locator("header").inner_text()
    page.get_by_role("button", name="Progress").click()
    page.wait_for_selector("h2:has-text('How the search went')")
    subprocess.run([sys.executable, "-m", "sdc_problems", "resume", str(folder), "--no-pictures"], check=True)
    page.wait_for_function("() => document.querySelector('.status').textContent === 'finished'")
    assert page.get_by_text("finished (limit reached)").count() == 2
    page.get_by_role("button", name="Map", exact=True).click()
    page.wait_for_function("() => document.querySelectorAll('.solutions tbody tr').length > 3")


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1440, "light")])
def test_the_shortlist_stays_in_the_folder_and_a_solution_is_released(
    folder: Path, explore: Callable[..., str], open_tab: Any, width: int, scheme: str
) -> None:
    url = explore(folder)
    tab = open_tab(url, offline=False, width=width, scheme=scheme)
    page = tab.page
    page.wait_for_function("() => !location.hash.includes('token')")
    assert tab.axe() == []
    name = choose_largest_k(page, folder)
    page.locator("[data-action=shortlist]").click()
    page.locator("#note-0").fill("for the board")
    page.wait_for_function("() => document.querySelector('.status').textContent === 'shortlist kept'")
    assert json.loads((folder / SHORTLIST).read_text()) == [{"id": name, "note": "for the board"}]
    assert "board" not in page.url

    page.get_by_role("button", name="Understand it").click()
    page.get_by_role("button", name="Release this solution now").click()
    page.wait_for_selector("text=Counted in the file")
    assert tab.axe() == []
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"released-{name}.csv", exact=True).click()
    saved = folder.parent / "saved.csv"
    waiting.value.save_as(saved)
    assert saved.read_bytes() == (folder.with_name(f"{folder.name}-released") / f"released-{name}.csv").read_bytes()

    # A new load of the same tab still holds the token; the shortlist comes from the folder.
    page.reload()
    page.get_by_role("button", name="Map", exact=True).click()
    page.wait_for_selector("#note-0")
    assert page.locator("#note-0").input_value() == "for the board"


def test_a_refused_release_asks_for_a_reason(folder: Path, explore: Callable[..., str], open_tab: Any) -> None:
    tab = open_tab(explore(folder), offline=False)
    page = tab.page
    name = "baseline-nothing generalised"
    page.evaluate("key => { location.hash = `#v=solution&c=${encodeURIComponent(key)}`; }", f"0:{name}")
    page.wait_for_selector(".leaving:has-text('records alone with their values')")
    page.get_by_role("button", name="Release this solution now").click()
    page.wait_for_selector(".notice:has-text('k is 1')")
    assert tab.axe() == []
    page.get_by_role("button", name="Release it in spite of this").click()  # without a reason nothing is asked for
    page.get_by_label("Reason to release it in spite of this").fill("a public register")
    page.get_by_role("button", name="Release it in spite of this").click()
    page.wait_for_selector("text=Released in spite of this: k is 1")
    assert [text for text in tab.complaints if "400" not in text] == []
    tab.complaints.clear()  # the browser's own note of the refusal
    (certificate,) = folder.with_name(f"{folder.name}-released").glob("*.certificate.json")
    assert json.loads(certificate.read_text())["override"]["reason"] == "a public register"


def test_read_only_offers_no_release(folder: Path, explore: Callable[..., str], open_tab: Any) -> None:
    page = open_tab(explore(folder, "--read-only"), offline=False).page
    choose_first(page)
    page.get_by_role("button", name="Understand it").click()
    page.wait_for_selector("text=Take it home")
    page.wait_for_selector("text=Measures")
    assert page.get_by_role("button", name="Release this solution now").count() == 0


def test_a_hostile_run_is_harmless_live(hostile: Path, explore: Callable[..., str], open_tab: Any) -> None:
    page = open_tab(explore(hostile), offline=False).page
    choose_first(page)
    page.get_by_role("button", name="Understand it").click()
    page.wait_for_selector("text=Take it home")
    assert page.locator("#app :is(img, iframe, object)").count() == 0
