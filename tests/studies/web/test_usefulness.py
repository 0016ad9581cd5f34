"""What users will lose, beside the solutions that are compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.usefulness import used


def test_only_columns_of_the_page_are_crossed(pbg: Path) -> None:
    source = Source.open(pbg)
    ident = source.run.front().ids[0]
    assert [one["name"] for one in used(source, [ident], "age", "income")["tables"]] == ["original", ident]
    for idents, across in (([], "age"), ([ident] * 5, "age"), ([ident], "nothing"), (["1-99999"], "age")):
        with pytest.raises(SDCError):
            used(source, idents, across, "income")
    source.run.close()


@pytest.mark.browser
def test_two_columns_are_crossed_for_two_solutions(pbg: Path, explore: Callable[..., str], open_tab: Any) -> None:
    with Run(pbg) as run:
        ids = run.front().ids[:2]
    tab = open_tab(explore(pbg, "--read-only"), offline=False, width=360, scheme="dark")
    page = tab.page
    chosen = "".join(f"&s=0:{ident}&m=0:{ident}" for ident in ids)
    page.evaluate("chosen => { location.hash = `#v=compare${chosen}`; }", chosen)
    page.wait_for_selector(".use h3", timeout=30_000)
    page.locator(".use").get_by_label("Columns").select_option(label="sex")
    page.locator(".use").get_by_role("button", name="Show").click()
    page.wait_for_selector(".use .crossed", timeout=30_000)
    assert page.locator(".use .legend li").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert tab.axe() == []
