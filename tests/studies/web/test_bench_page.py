"""The benchmark of the page: whatever it drags over is there, and a drag selects."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sdc_problems.studies.web.payload import Source, overview
from sdc_problems.studies.web.report import render

pytestmark = pytest.mark.browser
FILE = Path(__file__).parents[3] / "benchmarks" / "bench_page.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_page", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_page"] = module
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_of_the_page_brushes(bench: ModuleType, pbg: Path, tmp_path: Path, open_tab: Any) -> None:
    source = Source.open(pbg)
    document = bench.large(overview([source]), 300)
    source.run.close()
    path = tmp_path / "page.html"
    path.write_text(render(document), encoding="utf-8")
    page = open_tab(path.as_uri()).page
    page.wait_for_selector(".solutions tbody tr")
    drawn, longest = page.evaluate(bench.DRAWN)
    assert 0 < longest < drawn
    found = list(bench.brushed(page, 1440, slowed=[1], seconds=0.4))
    assert [one.what for one in found] == ["map", "axis"]
    for one in found:
        many, _, rest = one.tally.partition(" of ")
        assert 0 < int(many) < 300
        assert rest == "300 points selected"
        assert min(one.frames, one.busy) > 0


def test_table_guide_and_address_follow_a_drag_when_it_rests(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    box = page.locator(".stage:not(.parallel) .brush .overlay").bounding_box()
    before = page.locator(".solutions tbody tr").count()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2, steps=4)
    page.wait_for_selector(".guide .answer:has-text('No solution meets all of this')")  # while the button is down
    assert "r=" in page.url
    assert page.locator(".solutions tbody tr").count() < before
    page.mouse.up()
