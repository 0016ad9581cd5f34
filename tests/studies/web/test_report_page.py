"""The report in a real browser, from disk and without a network: every view, linked, by keyboard, for everybody."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.report.picture_types import (
    TYPES,
    Bars,
    Block,
    Blocks,
    Formula,
    Graph,
    Lattice,
    Levels,
    Line,
    Lines,
    Link,
    Matrix,
    Neighbour,
    Node,
    State,
    Table,
)
from sdc_problems.studies.web.payload import Source, overview
from sdc_problems.studies.web.report import render

pytestmark = pytest.mark.browser
VIEWS = ["map", "solution", "compare", "progress", "decide", "home"]


def some(page: Any, count: int = 3) -> list[str]:
    """Keys of solutions on the front that have a page."""
    keys = page.evaluate(
        """() => { const d = JSON.parse(document.getElementById('data').textContent);
        return d.points.id.map((id, i) => [d.points.run[i] + ':' + id, d.points.kind[i]])
          .filter(([k, kind]) => kind === 2 && d.details[k]).map(([k]) => k); }"""
    )
    return list(keys)[:count]


def with_choice(path: Path, keys: list[str], view: str) -> str:
    chosen = "".join(f"&s={key}&m={key}" for key in keys)
    return f"{path.as_uri()}#v={view}&c={keys[0]}{chosen}"


@pytest.mark.parametrize(
    ("task", "width", "scheme"),
    [
        *(("pbg", width, scheme) for width in (360, 1440) for scheme in ("light", "dark")),
        ("gomm", 360, "dark"),
        ("gomm", 1440, "light"),
        ("microaggregation", 360, "light"),
        ("microaggregation", 1440, "dark"),
        ("pram", 360, "dark"),
        ("pram", 1440, "light"),
        ("pram_equations", 1440, "dark"),
        ("social", 360, "light"),
        ("social", 1440, "dark"),
    ],
)
def test_every_view_is_usable_and_accessible(
    request: pytest.FixtureRequest, make_report: Callable[..., Path], open_tab: Any, task: str, width: int, scheme: str
) -> None:
    path = make_report(request.getfixturevalue(task), details=4)
    keys = some(open_tab(path.as_uri()).page)
    pictures = {"pbg": 2, "gomm": 1, "microaggregation": 1, "pram": 4, "pram_equations": 5, "social": 4}
    for view in VIEWS:
        tab = open_tab(with_choice(path, keys, view), width=width, scheme=scheme)
        tab.page.wait_for_selector("section.view:not([hidden]) h2", state="attached")
        tab.page.wait_for_load_state("networkidle")
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert tab.page.locator(".notice:visible").count() == 0, view
        if view == "solution":
            assert tab.page.locator(".figures figure").count() == pictures[task]
        assert tab.axe() == [], view


def every_picture() -> list[Any]:
    long = tuple(f"a label that is rather long {i}" for i in range(9))
    heights = tuple(float(i * i + 5) for i in range(9))
    return [
        Bars(title="Few bars", labels=("3", "4–5"), values=(89.0, 8.0), across="records", up="clusters"),
        Bars(title="Long labels", caption="Read them.", labels=long, values=heights, across="columns", up="number"),
        Lines(
            title="Course", places=heights, lines=(Line("first", heights), Line("second", heights[::-1])), across="k",
            up="loss",
        ),
        Matrix(
            title="Shares", name="town", row_labels=("a", "b"), column_labels=("a", "b", long[0]),
            shares=((0.5, 0.25, 0.25), (0.0, 1.0, 0.0)), records=((10.0, 3.0, 0.2), (0.0, 7.4, 4.6)),
        ),
        Matrix(title="Without records", name="x", row_labels=long, column_labels=long, shares=((0.1,) * 9,) * 9),
        Blocks(title="Blocks", blocks=(Block(long, 3.0), Block(("b",), float("nan"))), items="names", value="lost"),
        Lattice(title="Levels", attributes=(Levels("age", 1, ("as it is", "bands")),), across="level",
                neighbours=(Neighbour(0, -1, (1.0, 2.0, 3.0)),)),
        Graph(
            title="Mixing", nodes=Graph.around(["north", long[0], "others"]), size="nodes", value="links", unit="%",
            states=(
                State("original", (50.0, 30.0, 20.0), (Link(0, 0, 40.0), Link(0, 1, 60.0))),
                State("released", (60.0, 40.0, 0.0), (Link(0, 1, 95.0), Link(1, 2, None))),
            ),
        ),
        Graph(
            title="Clusters", nodes=tuple(Node("", i / 40, i * i / 1600) for i in range(41)), size="nodes", value="n",
            shade="changed", states=(State("41", (5.0,) * 41, (Link(0, 40, 5.0), Link(3, 3, 7.0)), (0.5,) * 41),),
        ),
        Table(title="Steps", caption="Every column.", head=("column", "method", "cost, %"),
              lines=(("age", "mdav", 2.5), (long[0], "as it is", 0.0))),
        Formula(title="Equation", caption="Weight:", text="N - freq_j"),
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
def test_every_picture_type_is_drawn(pbg: Path, tmp_path: Path, open_tab: Any, width: int, scheme: str) -> None:
    pictures = every_picture()
    assert {type(picture) for picture in pictures} == set(TYPES.values())
    source = Source.open(pbg)
    ident = source.run.front().ids[0]
    detail = {**source.detail(ident), "pictures": [picture.as_dict() for picture in pictures]}
    path = tmp_path / "report.html"
    path.write_text(render({**overview([source]), "details": {f"0:{ident}": detail}, "briefs": {}}), encoding="utf-8")
    tab = open_tab(f"{path.as_uri()}#v=solution&c=0:{ident}", width=width, scheme=scheme)
    tab.page.wait_for_selector(".figures figure")
    titles = tab.page.locator(".figures h3").all_inner_texts()
    shown = [picture.title for picture in pictures]
    shown.insert(shown.index("Shares") + 1, "town: records that move")
    shown.insert(shown.index("Levels") + 1, "Neighbors in the lattice")
    assert titles == shown
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.axe() == []


def test_map_table_and_ranges_are_linked_both_ways(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    rows = page.locator(".solutions tbody tr")
    everything = rows.count()
    stage = page.get_by_role("application")
    box = stage.bounding_box()

    # A brush on the map narrows the table and shows its ranges as numbers.
    page.mouse.move(box["x"] + 80, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => document.querySelectorAll('.solutions tbody tr').length < {everything}")
    least = page.get_by_label("smallest class (k), at least")
    assert float(least.input_value()) > 0
    assert "selected" in page.locator(".ranges").inner_text()
    page.get_by_role("button", name="Clear all ranges").click()
    page.wait_for_function(f"() => document.querySelectorAll('.solutions tbody tr').length === {everything}")

    # A typed range does the same.
    least.fill("3")
    least.press("Tab")
    page.wait_for_function(f"() => document.querySelectorAll('.solutions tbody tr').length < {everything}")
    page.get_by_role("button", name="Clear all ranges").click()

    # The pointer on a row finds its point on the map, and a click its description.
    row = rows.nth(2)
    row.hover()
    page.wait_for_selector(".tip:not([hidden])")
    assert page.locator("circle.cursor").get_attribute("visibility") == "visible"
    row.get_by_role("button").nth(1).click()
    page.wait_for_selector("tr[aria-current]")
    assert page.locator("aside.card .sentences p").count() > 2

    # The pointer on a point finds its row.
    stage.scroll_into_view_if_needed()
    box = stage.bounding_box()
    at = page.locator("circle.chosen")
    page.mouse.move(box["x"] + float(at.get_attribute("cx")), box["y"] + float(at.get_attribute("cy")))
    page.wait_for_selector("tr.hover")


def test_sorting_by_each_column(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    column = page.get_by_role("button", name=re.compile("general loss metric"))
    cells = ".solutions tbody tr td:nth-of-type(4)"
    for direction in ("ascending", "descending"):
        column.click()
        page.wait_for_selector(f"th[aria-sort={direction}]")
        values = [float(v.replace(",", "")) for v in page.locator(cells).all_inner_texts()]
        assert values == sorted(values, reverse=direction == "descending")


def test_everything_by_keyboard(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    stage = page.get_by_role("application")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('role')") == "application":
            break
    assert stage.evaluate("e => e === document.activeElement")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    said = page.locator("[aria-live]").inner_text()
    assert said.startswith("2 of ")
    assert "smallest class" in said
    page.keyboard.press("Enter")
    page.wait_for_selector("tr[aria-current]")
    page.keyboard.press("s")
    page.wait_for_selector("section.shortlist li")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")  # the original table stands in the same place, and is no solution
    assert "the original table" in page.locator("[aria-live]").inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    page.wait_for_function("() => document.querySelectorAll('section.shortlist li').length === 2")

    # On to the note and the comparison, by Tab, Space and Enter alone.
    page.locator("#note-0").focus()
    page.keyboard.type("for the board")
    for name in ("#compare-0", "#compare-1"):
        page.locator(name).focus()
        page.keyboard.press("Space")
        page.wait_for_function(f"() => document.querySelector('{name}').checked")
    page.get_by_role("button", name="Compare 2 side by side").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("table.compared")
    page.wait_for_function("() => document.activeElement.textContent === 'Side by side'")
    assert page.get_by_text("for the board").count() == 1
    page.get_by_label("differences only").focus()
    page.keyboard.press("Space")
    page.wait_for_function("() => !document.querySelector('table.compared tbody tr:not(.differs) th')")
    assert page.get_by_label("differences only").evaluate("e => e === document.activeElement")

    # The browser's own way back.
    page.go_back()
    page.wait_for_selector(".hero:visible")


def test_the_shortlist_travels_in_the_address(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    page.get_by_role("button", name=re.compile("^Shortlist solution")).first.click()
    note = "50 % & <b>bold</b> | “ü”"
    page.locator("#note-0").fill(note)
    page.wait_for_function("() => location.hash.includes('bold')")
    again = open_tab(page.url).page
    assert again.locator("#note-0").input_value() == note


def test_axes_layers_and_colours(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    page.get_by_role("combobox", name="Horizontal").select_option(label="suppressed records [records]")
    page.wait_for_function("() => document.querySelector('.overlay').textContent.includes('suppressed records')")
    page.get_by_role("combobox", name="Color").select_option(label="seed")
    before = page.locator("[role=application]").get_attribute("aria-label")
    page.get_by_label(re.compile("^dominated")).uncheck()
    page.wait_for_function(
        "before => document.querySelector('[role=application]').getAttribute('aria-label') !== before", arg=before
    )
    page.get_by_text("Seeds (2)").click()
    page.get_by_label("seed 2").uncheck()
    page.wait_for_function(
        "() => ![...document.querySelectorAll('.solutions tbody th')].some(e => e.textContent.startsWith('2-'))"
    )


def test_charts_are_saved_as_svg_and_png(pbg_report: Path, open_tab: Any, tmp_path: Path) -> None:
    page = open_tab(pbg_report.as_uri()).page
    keys = some(page)
    for view in ("map", "solution", "progress"):
        page = open_tab(with_choice(pbg_report, keys, view)).page
        page.wait_for_selector("figure:visible")
        figures = page.locator("figure:visible")
        for i in range(min(figures.count(), 4)):
            for kind, start in (("SVG", b"<?xml"), ("PNG", b"\x89PNG")):
                with page.expect_download() as waiting:
                    figures.nth(i).get_by_role("button", name=re.compile(f"as {kind}$")).click()
                path = tmp_path / waiting.value.suggested_filename
                waiting.value.save_as(path)
                content = path.read_bytes()
                assert content.startswith(start)
                if kind == "SVG":
                    assert b"var(--" not in content
                    assert b"class=" not in content


def test_what_leaves_as_it_was_stands_above_the_release(pbg_report: Path, open_tab: Any) -> None:
    page = open_tab(pbg_report.as_uri()).page
    for view in ("solution", "home"):
        page.goto(with_choice(pbg_report, some(page, 1), view))
        page.reload()
        page.wait_for_selector(".view:not([hidden]) .leaving:has-text('Unchanged: hours. In these columns')")


def test_take_home_gives_the_commands_and_the_front(pbg_report: Path, open_tab: Any, tmp_path: Path) -> None:
    keys = some(open_tab(pbg_report.as_uri()).page, 2)
    page = open_tab(with_choice(pbg_report, keys, "home")).page
    ident = keys[0].partition(":")[2]
    assert page.get_by_text(f"sdc release people --solution {ident} --out released-{ident}.csv").count() == 1
    assert page.get_by_text("sdc run people --out people-again").count() == 1
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the front and the shortlist as CSV").click()
    waiting.value.save_as(tmp_path / "front.csv")
    text = (tmp_path / "front.csv").read_text(encoding="utf-8")
    assert ident in text
    assert text.startswith("run,solution,seed,generation,shortlist,note,")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_hostile_run_is_harmless(hostile: Path, make_report: Callable[..., Path], open_tab: Any, scheme: str) -> None:
    path = make_report(hostile)
    keys = some(open_tab(path.as_uri()).page)
    for width in (360, 1440):
        for view in VIEWS:
            tab = open_tab(with_choice(path, keys, view), width=width, scheme=scheme)
            tab.page.wait_for_selector("section.view:not([hidden]) h2", state="attached")
            assert "pwned" not in tab.page.title().replace("document.title='pwned'", "")
            assert (
                tab.page.locator("#app img, #app iframe, #app script, #app object, #app a[href]:not(.skip)").count()
                == 0
            )
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, view
            assert "\u202e" not in tab.page.locator("#app").inner_text()
            assert tab.axe() == [], view


def test_hostile_text_in_the_address_is_harmless(pbg_report: Path, open_tab: Any) -> None:
    fragment = (
        "#v=map&c=0:<img src=x onerror=alert(1)>&s=0:</script><script>alert(1)</script>|<b>&r=0,NaN,1&x=__proto__"
    )
    page = open_tab(pbg_report.as_uri() + fragment).page
    page.wait_for_selector(".hero")
    assert page.locator("#app img, #app script").count() == 0


def test_several_runs_are_told_apart(
    pbg: Path, workbench: Any, pbg_text: Any, make_report: Callable[..., Path], open_tab: Any
) -> None:
    other = workbench.run("people-longer", pbg_text("Longer", 8))
    page = open_tab(make_report(pbg, other).as_uri()).page
    assert page.locator("h1").inner_text() == "2 runs"
    page.get_by_role("combobox", name="Color").select_option(label="run")
    box = page.get_by_label("Longer")
    box.uncheck()
    page.wait_for_function(
        "() => ![...document.querySelectorAll('.solutions tbody tr')].some(e => e.innerText.includes('Longer'))"
    )


def test_without_its_data_a_report_still_shows_the_front(
    gomm: Path, make_report: Callable[..., Path], open_tab: Any, workbench: Any
) -> None:
    data = workbench.root / "numbers.csv"
    hidden = data.rename(data.with_suffix(".away"))
    try:
        path = make_report(gomm)
    finally:
        hidden.rename(data)
    html = path.read_text(encoding="utf-8")
    assert str(workbench.root) not in html
    page = open_tab(path.as_uri()).page
    page.locator(".solutions tbody tr", has_text="front").first.locator("th button").click()
    page.get_by_role("button", name="Understand it").click()
    page.wait_for_selector(".notice:visible")
    assert "not at hand" in page.locator(".notice:visible").inner_text()
