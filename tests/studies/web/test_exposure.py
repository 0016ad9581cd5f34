"""Who could still be found, on the page of a solution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.web.payload import Source

pytestmark = pytest.mark.browser


def test_a_solution_says_who_could_still_be_found(pbg: Path, pbg_report: Path, open_tab: Any) -> None:
    source = Source.open(pbg)
    front = source.run.front()
    ident = front.ids[int(front.values[:, 0].argmin())]
    told = source.detail(ident)["exposure"]
    tab = open_tab(f"{pbg_report.as_uri()}#v=solution&c=0:{ident}", width=360, scheme="dark")
    page = tab.page
    page.wait_for_selector(".exposure")
    said = page.locator(".exposure").inner_text()
    assert [risk["name"] for risk in told["risks"]] == page.locator(".risks tbody strong").all_inner_texts()
    assert "Who could still be found?" in said
    assert told["combinations"][0]["columns"][0] in said
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.axe() == []
