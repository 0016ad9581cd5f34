"""The guided choice: limits, three candidates and the price of a step, with the keyboard alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.test_blocks import ROOT

pytestmark = pytest.mark.browser


def test_limits_lead_to_three_candidates(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    guide = page.locator(".guide")
    assert page.locator("main section.view h3").first.inner_text() == "What do you need?"  # before all else
    assert guide.locator(".pick").all_inner_texts() == ["Safest", "Balanced", "Most useful"]
    assert "smallest class" in guide.locator(".price").first.inner_text()

    page.locator("#need-0").focus()
    page.keyboard.type("5")
    page.keyboard.press("Enter")  # the focus goes on to what was found
    page.wait_for_function("() => document.activeElement.matches('.pick')")
    assert "solutions meet this" in guide.inner_text()
    assert page.get_by_label("smallest class (k), at least", exact=True).input_value() == "5"  # the same range
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector(".pick[aria-pressed=true]:has-text('Balanced')")
    assert page.evaluate("document.activeElement.matches('.pick[aria-pressed=true]')")
    assert "c=0%3A" in page.url
    assert page.locator(".card .measures dd").count() == 3

    page.locator("#need-1").fill("1")
    page.keyboard.press("Enter")
    page.wait_for_selector(".guide:has-text('No solution meets all of this.')")
    assert "With smallest class at least 5\u00a0records, the smallest" in guide.inner_text()
    guide.get_by_role("button", name="Clear").click()
    page.wait_for_function("() => document.querySelectorAll('.pick').length === 3")


@pytest.mark.parametrize("task", ["pram", "social"])
def test_the_words_are_those_of_the_objectives(
    request: pytest.FixtureRequest, make_report: Any, open_tab: Any, task: str
) -> None:
    page = open_tab(make_report(request.getfixturevalue(task), details=2).as_uri(), width=360).page
    said = page.locator(".guide .asks label").all_inner_texts()
    first = {"pram": "disclosure risk at most", "social": "nodes found by values and degree at most"}[task]
    assert said[0].startswith(first)
    assert said[1].startswith("information loss at most")
    assert page.locator(".candidate").count() >= 1


MASKING = """
title = "Masked"
[data]
name = "people"
records = 80
quasi_identifiers = ["education", "income"]
[problem]
task = "masking"
objectives = ["il_categorical", "dr_guarded"]
start = "few"
[algorithm]
name = "CellSearch"
move_limit = 2_000
weights = [0.5]
[run]
seeds = 1
"""


def test_the_table_as_it_was_is_no_candidate(workbench: Any, make_report: Any, open_tab: Any) -> None:
    page = open_tab(make_report(workbench.run("masked", MASKING), details=2).as_uri()).page
    names = page.locator(".guide .pick").all_inner_texts()
    assert names[-1] == "Most useful"
    page.get_by_role("button", name="Most useful").click()
    page.wait_for_selector(".card .measures dd")
    loss = page.locator(".card .measures dd").first.inner_text()
    assert loss.endswith("%")
    assert not loss.startswith("0 ")  # what the baseline "untouched" has


def test_figure_of_the_texts_finds_its_way_on_the_page(pbg_report: Path, tmp_path: Path) -> None:
    picture = tmp_path / "explorer.png"
    draw = [sys.executable, str(ROOT / "docs" / "figures.py"), "--screenshot", str(pbg_report), str(picture)]
    subprocess.run(draw, check=True, timeout=120)
    assert picture.read_bytes().startswith(b"\x89PNG")
