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
    page.wait_for_function("() => !location.hash.includes('code')")
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

    # A new load still holds the cookie; the shortlist comes from the folder.
    page.reload()
    page.get_by_role("button", name="Map", exact=True).click()
    page.wait_for_selector("#note-0")
    assert page.locator("#note-0").input_value() == "for the board"


def test_a_refused_release_asks_for_a_reason(folder: Path, explore: Callable[..., str], open_tab: Any) -> None:
    tab = open_tab(explore(folder), offline=False)
    page = tab.page
    name = "baseline-nothing generalised"
    page.evaluate("key => { location.hash = `#v=solution&c=${encodeURIComponent(key)}`; }", f"0:{name}")
    page.wait_for_selector(".leaving:has-text('records are unique; together with')")
    page.wait_for_selector(".notice:has-text('k is 1')")  # before anything is clicked
    assert page.get_by_role("button", name="Release this solution now").count() == 0
    assert tab.axe() == []
    page.get_by_role("button", name="Release it in spite of this").click()  # without a reason nothing is asked for
    page.get_by_label("Reason to release it in spite of this").fill("a public register")
    page.get_by_role("button", name="Release it in spite of this").click()
    page.wait_for_selector("text=Released although k is 1")
    (certificate,) = folder.with_name(f"{folder.name}-released").glob("*.certificate.json")
    assert json.loads(certificate.read_text())["override"]["reason"] == "a public register"


def test_the_address_opens_once_and_its_browser_stays_in(
    folder: Path, explore: Callable[..., str], open_tab: Any
) -> None:
    url = explore(folder)
    first = open_tab(url, offline=False)
    second = first.page.context.new_page()  # a tab of the same browser needs no code
    second.goto(url.partition("#")[0])
    second.wait_for_selector("h1:has-text('People')")
    assert "code" not in second.url

    elsewhere = open_tab(url, offline=False)
    assert "was used before" in elsewhere.page.locator(".notice").inner_text()
    assert [text for text in elsewhere.complaints if "401" not in text] == []
    elsewhere.complaints.clear()

    # A link on another page explains itself; the address bar, with the code in it, goes on from there.
    first.page.route("http://elsewhere.example/", lambda route: route.fulfill(
        content_type="text/html", body=f'<h1>mail</h1><a href="{url}">the explorer</a>'))  # fmt: skip
    first.page.goto("http://elsewhere.example/")
    first.page.get_by_role("link").click()
    first.page.wait_for_selector("h1:has-text('Not opened')")
    assert "click into it and press Enter" in first.page.locator("p").inner_text()
    first.page.goto("about:blank")
    first.page.goto(url)
    first.page.wait_for_selector("h1:has-text('People')")
    first.requests.clear()
    first.complaints.clear()  # the browser's own note of the refusal


def test_two_tabs_share_the_shortlist_and_the_comparison_survives(
    folder: Path, explore: Callable[..., str], open_tab: Any
) -> None:
    with Run(folder) as run:
        ids = run.front().ids[:3]
    page = open_tab(explore(folder), offline=False).page
    other = page.context.new_page()
    other.goto(page.url.partition("#")[0])
    for tab, ident in ((page, ids[0]), (other, ids[1])):
        tab.get_by_role("button", name=f"Shortlist solution {ident}", exact=True).click()
        tab.wait_for_selector("#compare-0")
    # The original table is no solution: it cannot get there, and so never stops the others from being kept.
    page.locator(".solutions tbody th button", has_text="original").click()
    page.get_by_role("application").focus()
    page.keyboard.press("s")
    for tab in (page, other):
        tab.bring_to_front()
        tab.wait_for_selector("#compare-1")
        assert tab.locator("#compare-2").count() == 0
    page.wait_for_function("() => document.querySelector('.status').textContent === 'shortlist kept'")
    assert sorted(entry["id"] for entry in json.loads((folder / SHORTLIST).read_text())) == sorted(ids[:2])

    page.bring_to_front()
    page.locator("#compare-0").check()
    page.locator("#compare-1").check()
    page.get_by_role("button", name="Compare 2 side by side").click()
    page.wait_for_selector(".compared")
    page.get_by_role("button", name="Back to the map").click()
    page.wait_for_selector("#compare-0:visible")
    for travel in (page.go_back, page.go_forward, page.go_back, page.reload):
        travel()
        page.wait_for_selector(".compared:visible, #compare-0:visible")
        assert page.get_by_role("button", name="Compare 2 side by side", include_hidden=True).count() == 1
    page.wait_for_selector(".compared:visible")


def test_an_update_keeps_the_point_in_hand_and_the_place(
    folder: Path, explore: Callable[..., str], open_tab: Any
) -> None:
    """Points get other numbers when a search goes on: here they come in the opposite order."""
    tab = open_tab("about:blank#", offline=False, heading=False)
    page = tab.page
    sent: list[str] = []
    go_on: list[Any] = []

    def payload(route: Any) -> None:
        document = route.fetch().json()
        if sent:
            document["points"] = {key: column[::-1] for key, column in document["points"].items()}
        sent.append("payload")
        route.fulfill(json=document)

    page.route("**/api/payload", payload)
    page.route("**/api/events", lambda route: go_on.append(route))
    page.goto(explore(folder))
    page.wait_for_selector("h1:has-text('People')")
    page.get_by_role("application").focus()
    for _ in range(8):  # past the original table and the baselines beside it
        page.keyboard.press("ArrowRight")
    pointed = page.locator(".tip strong").inner_text()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")  # what has the focus is far above
    seen = page.locator("tbody tr").last  # what is looked at; the guide above it may need more or fewer lines
    place = seen.bounding_box()["y"]
    go_on[0].fulfill(content_type="text/event-stream", body="data: changed\n\n")
    page.wait_for_function("() => document.querySelector('.status').textContent.startsWith('finished')")
    for _ in range(100):
        if len(sent) > 1:
            break
        page.wait_for_timeout(20)
    page.wait_for_timeout(100)
    assert seen.bounding_box()["y"] == pytest.approx(place, abs=1)
    assert page.locator(".tip strong").inner_text() == pointed
    page.keyboard.press("s")
    page.wait_for_selector("#pick-0")
    assert page.locator("#pick-0").inner_text() == pointed

    # The same while a row of the table has the focus.
    page.locator(".solutions tbody th button").first.focus()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(1500)  # until it asks again
    go_on[-1].fulfill(content_type="text/event-stream", body="data: changed\n\n")
    for _ in range(100):
        if len(sent) > 2:
            break
        page.wait_for_timeout(20)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight - scrollY") < 2
    tab.requests.clear()


def test_read_only_offers_no_release(folder: Path, explore: Callable[..., str], open_tab: Any) -> None:
    page = open_tab(explore(folder, "--read-only"), offline=False).page
    choose_first(page)
    page.get_by_role("button", name="Understand it").click()
    page.wait_for_selector("text=Release & export")
    page.wait_for_selector("text=Measures")
    assert page.get_by_role("button", name="Release this solution now").count() == 0


def test_a_hostile_run_is_harmless_live(hostile: Path, explore: Callable[..., str], open_tab: Any) -> None:
    page = open_tab(explore(hostile), offline=False).page
    choose_first(page)
    page.get_by_role("button", name="Understand it").click()
    page.wait_for_selector("text=Release & export")
    assert page.locator("#app :is(img, iframe, object)").count() == 0
