"""The decision record on the live page: filled in, kept in the run folder, printed, and taken along by a release."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.report.decision import FILE
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web import decision


@pytest.fixture
def folder(pbg: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pbg, tmp_path / "people"))


def safest(folder: Path) -> tuple[str, str]:
    with Run(folder) as run:
        front = run.front()
    order = front.values[:, 0].argsort()[::-1]
    return front.ids[order[0]], front.ids[order[1]]


@pytest.mark.parametrize(
    "change",
    [{"id": 3}, {"why": ""}, {"rejected": ["1-2"]}, {"rejected": {"1-2": 5}}, {"more": ""}, {"id": "../x"}],
)
def test_what_is_no_record_is_not_kept(folder: Path, change: dict[str, Any]) -> None:
    given = {"id": safest(folder)[0], "why": "it is enough", "notes": "", "by": "", "rejected": {}}
    with Run(folder) as run:
        with pytest.raises(SDCError):
            decision._kept(run, {**given, **change})
        assert not (folder / FILE).exists()
        with pytest.raises(SDCError, match="keep one first"):
            decision._page(run)
        decision._kept(run, given)
        assert "it is enough" in decision._page(run)
        (folder / FILE).write_text("{}")
        assert "cannot be read" in decision._told(run)["error"]


@pytest.mark.browser
def test_a_decision_is_kept_printed_and_released(folder: Path, explore: Callable[..., str], open_tab: Any) -> None:
    chosen, other = safest(folder)
    tab = open_tab(explore(folder), offline=False)
    page = tab.page
    for name in (other, chosen):
        page.locator(".solutions tbody th button").get_by_text(name, exact=True).click()
        page.locator(".card [data-action=shortlist][aria-pressed=false]").click()
    page.get_by_role("button", name="Decide", exact=True).click()
    page.get_by_label("Why this one").fill("Nobody is alone <i>and</i> enough is left.")
    page.get_by_label(f"Why not solution {other}").fill("less safe")
    page.get_by_label("Decided by").fill("The board")
    assert "The study states no requirement." in page.locator(".decide").inner_text()
    assert tab.axe() == []
    page.get_by_role("button", name="Keep the record").click()
    page.wait_for_selector(".decide [role=status]:has-text('Kept')")
    kept = json.loads((folder / FILE).read_text())
    assert (kept["solution"], kept["rejected"][0]["why"], kept["by"]) == (chosen, "less safe", "The board")

    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the page to print").click()
    saved = folder.parent / "saved.html"
    waiting.value.save_as(saved)
    printed = open_tab(saved.as_uri(), width=360, scheme="dark")
    assert "enough is left" in printed.page.locator("body").inner_text()
    assert printed.page.locator("i").count() == 0
    assert printed.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert printed.axe() == []

    page.get_by_role("button", name="Release & export").click()
    page.get_by_role("button", name="Release this solution now").first.click()
    page.wait_for_selector("text=Counted in the file")
    (certificate,) = folder.with_name(f"{folder.name}-released").glob("*.certificate.json")
    entry = json.loads(certificate.read_text())["decision"]
    assert entry["sha256"] == hashlib.sha256(saved.read_bytes()).hexdigest()

    page.reload()  # what is kept comes back
    page.get_by_role("button", name="Decide", exact=True).click()
    page.wait_for_selector("#decide-why")
    assert page.locator("#decide-by").input_value() == "The board"
