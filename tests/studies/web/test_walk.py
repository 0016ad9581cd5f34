"""The walk through a lattice: every node is measured as the problem does, and moves on the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.run.nodes import WALKED
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.walk import node_of


@pytest.fixture
def source(pbg: Path) -> Iterator[Source]:
    opened = Source.open(pbg)
    yield opened
    opened.run.close()


def test_a_node_is_measured_and_recognised(source: Source) -> None:
    problem: Any = source.problem
    ident = source.run.front().ids[0]
    node = node_of(source, ident)
    assert node["id"] == ident
    stepped = [*node["x"]]
    way = 1 if stepped[0] < problem.xu[0] else -1
    stepped[0] += way
    there = node_of(source, "", ",".join(map(str, stepped)))
    neighbor = next(n for n in node["picture"]["neighbours"] if (n["attribute"], n["step"]) == (0, way))
    assert there["values"] == pytest.approx(neighbor["values"])
    assert there["values"] == pytest.approx(problem.natural(problem.evaluate(np.array([stepped])))[0])
    known = source.run.solutions(genomes=True)
    assert known.X is not None
    same = [
        i
        for i, x in zip(known.ids, known.X, strict=True)
        if problem.effective(x).tobytes() == problem.effective(np.array(stepped)).tobytes()
    ]
    assert there["id"] == (same[0] if same else "")


@pytest.mark.parametrize("row", ["", "1", "1,2,x", "-1,0,0,0,0,0,0,0,0", "99999999,0,0,0,0,0,0,0,0", "1;2"])
def test_what_is_no_node_is_refused(source: Source, row: str) -> None:
    with pytest.raises(SDCError):
        node_of(source, "", row)


@pytest.mark.browser
def test_a_walk_moves_on_the_map(pbg: Path, explore: Callable[..., str], open_tab: Any) -> None:
    tab = open_tab(explore(pbg), offline=False)
    page = tab.page
    page.locator(".solutions tbody th button").first.click()
    page.get_by_role("button", name="Understand it").click()
    page.locator(".node.goes").first.press("Enter")  # a neighbor of the picture: the walk goes there
    page.wait_for_selector(".walk :text('Back to where the walk began')")
    page.get_by_role("button", name="Back to where the walk began").click()
    page.wait_for_selector("text=Here the walk begins.")
    where = (
        "() => document.querySelector('.walkmap .here').style.cx + document.querySelector('.walkmap .here').style.cy"
    )
    before = page.evaluate(where)
    told = page.locator(".walk p").nth(1).inner_text()
    page.locator(".step").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Back to where the walk began")
    assert page.evaluate("document.activeElement.matches('.step')")
    assert (page.evaluate(where) != before) == (page.locator(".walk p").nth(1).inner_text() != told)
    assert "," in page.locator(".walkmap .trail").get_attribute("points")
    assert tab.axe() == []
    page.get_by_role("button", name="Back to where the walk began").click()
    page.wait_for_selector("text=Here the walk begins.")
    assert page.evaluate(where) == before


@pytest.mark.browser
def test_a_node_that_was_walked_to_is_released(pbg: Path, explore: Callable[..., str], open_tab: Any) -> None:
    from playwright.sync_api import expect

    tab = open_tab(explore(pbg), offline=False)
    page = tab.page
    page.locator(".solutions tbody th button").first.click()
    page.get_by_role("button", name="Understand it").click()
    page.get_by_role("button", name="Walk from here").click()
    page.wait_for_selector("text=Here the walk begins.")
    mine = page.get_by_role("button", name="Release this node")
    for attribute in range(8):  # until the search has not been there
        if mine.count():
            break
        before = page.locator(".walkmap .trail").get_attribute("points")
        page.locator(f"[data-step='step-{attribute}-1'], [data-step='step-{attribute}--1']").first.click()
        expect(page.locator(".walkmap .trail")).not_to_have_attribute("points", before)
    mine.click()
    walk = page.locator(".walk")
    assert "--solution node:" in walk.locator("pre").inner_text()
    now, reason = (
        walk.get_by_role("button", name="Release this solution now"),
        walk.get_by_label("Reason to release it"),
    )
    now.or_(reason).wait_for()
    if reason.count():
        reason.fill("the board has seen it")
        walk.get_by_role("button", name="Release it in spite of this").click()
    else:
        now.click()
    walk.get_by_text("Save a copy:").wait_for()
    assert WALKED in walk.inner_text()
    assert tab.axe() == []
    with page.expect_download() as waiting:
        walk.get_by_role("button", name=re.compile("certificate")).click()
    certificate = json.loads(Path(waiting.value.path()).read_text())
    assert certificate["walked"]
    assert certificate["solution"].startswith("node:")
