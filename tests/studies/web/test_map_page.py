"""The map: what it shows first, several runs, one objective, heaps of points, fingers, and small screens."""

from __future__ import annotations

import copy
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import BASELINE, FRONT, ORIGINAL, OWN_FRONT, Source, overview
from sdc_problems.studies.web.report import render

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def document(pbg: Path) -> dict[str, Any]:
    source = Source.open(pbg)
    found = {**overview([source]), "details": {}, "briefs": {}}
    source.run.close()
    return found


@pytest.fixture
def show(document: dict[str, Any], tmp_path: Path, open_tab: Any) -> Callable[..., Any]:
    def make(change: Callable[[dict[str, Any]], Any], fragment: str = "", **options: Any) -> Any:
        changed = copy.deepcopy(document)
        change(changed)
        path = tmp_path / "report.html"
        path.write_text(render(changed), encoding="utf-8")
        return open_tab(path.as_uri() + fragment, **options)

    return make


def only(document: dict[str, Any], *axes: int) -> None:
    """Leave these objectives, in this order."""
    document["axes"] = [document["axes"][a] for a in axes]
    document["points"]["values"] = [[row[a] for a in axes] for row in document["points"]["values"]]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0)])
def test_loss_is_across_and_risk_up_whatever_comes_first(show: Any, order: tuple[int, ...]) -> None:
    page = show(lambda document: only(document, *order)).page
    across, up = (page.get_by_role("combobox", name=name) for name in ("Horizontal", "Vertical"))
    chosen = [box.evaluate("box => box.selectedOptions[0].textContent") for box in (across, up)]
    assert chosen[1] == "smallest class (k) [records]"
    assert chosen[0] in ("general loss metric (GLM)", "suppressed records [records]")
    assert page.locator("h1 + p").inner_text().startswith("How far to generalize each attribute, searched by NSGA-II")
    assert "Type" in page.locator(".solutions thead").inner_text()


def test_one_objective_is_a_ranked_strip(show: Any) -> None:
    page = show(lambda document: only(document, 1)).page
    assert page.locator(".overlay text.title", has_text="rank").count() == 1
    assert page.get_by_role("combobox", name="Vertical").count() == 0
    stage = page.get_by_role("application")
    stage.focus()
    places = []
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        cursor = page.locator("circle.cursor")
        places.append([float(cursor.get_attribute(side)) for side in ("cx", "cy")])
    assert places == sorted(places), "the worse the value, the further right and the further down"
    assert len({y for _, y in places}) == 4


def test_points_in_one_place_are_listed(show: Any) -> None:
    def pile(document: dict[str, Any]) -> None:
        points = document["points"]
        front = [i for i, kind in enumerate(points["kind"]) if kind == FRONT][:3]
        for i in front:
            points["values"][i] = points["values"][front[0]]

    tab = show(pile)
    page = tab.page
    first = page.evaluate(
        "() => { const p = JSON.parse(document.getElementById('data').textContent).points;"
        " return p.run[p.kind.indexOf(2)] + ':' + p.id[p.kind.indexOf(2)]; }"
    )
    page.evaluate("key => { location.hash = `#c=${encodeURIComponent(key)}`; }", first)
    page.wait_for_selector("circle.chosen[visibility=visible]")
    box = page.get_by_role("application").bounding_box()
    chosen = page.locator("circle.chosen")
    page.mouse.click(*(box[side] + float(chosen.get_attribute(f"c{side}")) for side in ("x", "y")))
    listed = page.get_by_role("dialog", name="Points in the same place")
    assert listed.get_by_role("button").count() >= 3
    assert tab.axe() == []
    name = listed.get_by_role("button").nth(1).inner_text().partition(",")[0]
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("name => document.querySelector('.card h3').textContent === name", arg=name)
    assert not listed.is_visible()
    assert page.evaluate("document.activeElement.getAttribute('role')") == "application"


def test_a_logarithmic_scale_holds_in_both_plots(show: Any) -> None:
    page = show(lambda document: None).page
    ticks = ".parallel .overlay g.axis:nth-of-type(1) text.halo, .parallel svg > g.axis:nth-of-type(1) text.halo"
    log = page.get_by_label("vertical: logarithmic scale")
    log.set_checked(False)
    page.wait_for_function("() => !document.querySelector('[aria-label^=vertical]').checked")
    page.wait_for_timeout(50)
    before = page.locator(ticks).all_text_contents()
    log.check()
    page.wait_for_timeout(50)
    assert page.locator(ticks).all_text_contents() != before
    values = [float(text.replace(",", "")) for text in page.locator(ticks).all_text_contents()]
    assert values[1] / values[0] == pytest.approx(values[2] / values[1], rel=1.6)


def test_a_finger_selects_and_taps(show: Any) -> None:
    page = show(lambda document: None, width=360, touch=True).page
    session = page.context.new_cdp_session(page)
    stage = page.get_by_role("application")
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = box["x"] + 60, box["y"] + 40
    touch("touchStart", x, y)
    for step in range(1, 6):
        touch("touchMove", x + 40 * step, y + 20 * step)
    touch("touchEnd")
    page.wait_for_function("() => location.hash.includes('r=')")
    assert "selected" in page.locator(".ranges").inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Clear all ranges").click()
    page.locator(".solutions tbody th button").first.click()
    page.wait_for_selector("circle.chosen[visibility=visible]")
    before = page.locator(".card h3").inner_text()
    stage.focus()
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    cursor = page.locator("circle.cursor")
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    page.touchscreen.tap(*(box[side] + float(cursor.get_attribute(f"c{side}")) for side in ("x", "y")))
    page.wait_for_function(
        "before => document.querySelector('.card h3').textContent !== before"
        " || document.querySelector('.tip.list:not([hidden])')",
        arg=before,
    )


def test_on_a_small_screen_the_map_comes_before_its_controls(show: Any) -> None:
    tab = show(lambda document: only(document, 0, 1), width=360)
    page = tab.page
    stage = page.get_by_role("application").bounding_box()
    assert stage["y"] < page.locator(".controls").bounding_box()["y"]
    assert stage["y"] < page.locator(".guide").bounding_box()["y"]
    assert stage["y"] + 200 < 740, "most of the map is seen at once"
    order = page.evaluate(
        "() => [...document.querySelectorAll('.stage[role], .controls, .guide')].map(e => e.className.split(' ')[0])"
    )
    assert order[0] == "stage", "for the keyboard, too"
    assert page.evaluate("(s => s.scrollWidth <= s.clientWidth)(document.querySelector('.solutions .scroll'))")
    assert page.locator(".solutions tbody tr").first.locator("th .small").is_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function(
        "() => document.querySelector('.controls').compareDocumentPosition(document.querySelector('.stage')) & 4"
    )


@pytest.mark.parametrize("width", [360, 1440])
def test_the_original_s_label_covers_no_point(show: Any, width: int) -> None:
    def crowd(document: dict[str, Any]) -> None:
        """Baselines run away from the original to the right, where its label would stand."""
        only(document, 1, 2)
        points = document["points"]
        for column in points.values():
            del column[60:]
        many = len(points["kind"])
        points["kind"] = [BASELINE] * (many - 1) + [ORIGINAL]
        points["id"] = [f"baseline-{i}" for i in range(many - 1)] + ["original"]
        points["values"] = [[i + 1, 100 - i / 9] for i in range(many - 1)] + [[0, 100]]

    page = show(crowd, width=width).page
    page.wait_for_selector(".stage .mark")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save “Risk–utility map” as SVG").click()
    picture = ET.fromstring(Path(waiting.value.path()).read_text())
    space = "{http://www.w3.org/2000/svg}"
    label = next(text for text in picture.iter(f"{space}text") if text.text == "original" and text.get("text-anchor"))
    x, y = float(label.attrib["x"]), float(label.attrib["y"]) - 4
    marks = [mark.attrib["points"].split() for mark in picture.iter(f"{space}polygon")]
    assert len(marks) > 50
    for mark in marks:
        corners = [tuple(map(float, corner.split(","))) for corner in mark]
        left, top = (sum(c[i] for c in corners) / len(corners) for i in (0, 1))
        assert abs(left - x) > 23 + 4 or abs(top - y) > 7 + 4


def test_several_runs_have_one_front_and_one_box(
    pbg: Path, workbench: Any, pbg_text: Any, make_report: Callable[..., Path], open_tab: Any
) -> None:
    other = Path(
        shutil.copytree(workbench.run("people-longest", pbg_text("People", 9)), workbench.root / "b" / "people")
    )
    with Source.open(pbg).run as one, Source.open(other).run as two:
        from sdc_problems.studies.report.compare import compare

        expected = compare([one, two])
    found = overview([Source.open(pbg), Source.open(other)])
    kinds = found["points"]["kind"]
    assert kinds.count(FRONT) == expected["common_front"]
    ends = [max(history["hypervolume"][-1] for history in run["history"]) for run in found["runs"]]
    assert ends == pytest.approx([row["hypervolume"]["max"] for row in expected["runs"]], rel=1e-6)
    equal = [n for n, kind in zip(found["points"]["found"], kinds, strict=True) if kind == OWN_FRONT and n]
    assert max(equal) == 4, "both seeds of both runs find the ends of the front"

    page = open_tab(make_report(pbg, other, details=1).as_uri()).page
    names = page.get_by_role("group", name="Runs").locator("label").all_inner_texts()
    assert len(set(names)) == 2
    shapes = page.get_by_role("group", name="Runs").locator("svg > *").evaluate_all("all => all.map(e => e.tagName)")
    assert shapes == ["circle", "polygon"]
    assert page.get_by_role("combobox", name="Color").input_value() == "run"
    page.get_by_label(re.compile("off the front")).check()
    page.wait_for_selector("td:has-text('as good as the front, found by 4 of 4 seeds')")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save “Risk–utility map” as SVG").click()
    assert waiting.value.path().read_text().count("<polygon") > 3


def test_a_stopped_run_is_called_stopped(
    workbench: Any, pbg_text: Any, make_report: Any, open_tab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workbench.begin("stopped", pbg_text("Stopped"))
    begun = [replace(state, status="running") for state in Source.open(folder).run.progress()]
    monkeypatch.setattr(Run, "progress", lambda run: tuple(begun))
    run = overview([Source.open(folder)])["runs"][0]
    assert (run["status"], {state["status"] for state in run["states"]}) == ("unfinished", {"stopped"})
    page = open_tab(make_report(folder).as_uri() + "#v=progress").page
    assert page.locator("td", has_text="stopped: no process works on it").count() == 2
