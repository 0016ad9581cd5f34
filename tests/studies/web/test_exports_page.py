"""What leaves the page: exported pictures, print, commands; and what a report holds of a solution without pictures."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sdc_problems.studies.report.picture_types import Bars, Matrix
from sdc_problems.studies.web.payload import Source, overview
from sdc_problems.studies.web.report import render, report

pytestmark = pytest.mark.browser
UNKNOWN = "a\ufffeb"  # no character of XML


@pytest.fixture(scope="module")
def few(pbg: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report that holds pictures of one solution of the front only."""
    path = tmp_path_factory.mktemp("few") / "report.html"
    path.write_text(report([Source.open(pbg)], details=1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def ids(few: Path, pbg: Path) -> tuple[str, str]:
    """The solution with pictures, and one without."""
    front = Source.open(pbg).run.front().ids
    text = few.read_text(encoding="utf-8")
    stored = [ident for ident in front if f'"0:{ident}":{{' in text]  # of the others there is a list of sentences
    return stored[0], next(ident for ident in front if ident not in stored)


def saved(page: Any, title: str) -> ET.Element:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save “{title}” as SVG").click()
    return ET.fromstring(waiting.value.path().read_bytes())


def texts(picture: ET.Element) -> list[str]:
    return [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}text")]


def test_a_solution_without_pictures_is_marked_and_says_what_it_does(
    few: Path, ids: tuple[str, str], open_tab: Any
) -> None:
    page = open_tab(f"{few.as_uri()}#v=solution&c=0:{ids[1]}&s=0:{ids[0]}&s=0:{ids[1]}&m=0:{ids[0]}&m=0:{ids[1]}").page
    page.wait_for_selector(".notice:visible")
    assert page.locator(".sentences.lead p").count() > 4
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector(".compared")
    missing = page.locator(".compared tbody tr", has_text="–")
    assert missing.count() > 3
    assert missing.locator(".unlike").count() == 0, "what is missing in one is no difference"
    assert page.locator(".columns article").nth(1).locator(".sentences p").count() > 4
    page.get_by_role("button", name="Map", exact=True).click()
    rows = page.locator(".solutions tbody tr")
    rows.filter(has=page.get_by_text(ids[1], exact=True)).locator(".unpictured").wait_for()  # drawn in the next frame
    assert rows.filter(has=page.get_by_text(ids[0], exact=True)).locator(".unpictured").count() == 0


def test_exported_pictures_have_title_and_legend_and_are_light(few: Path, open_tab: Any) -> None:
    page = open_tab(few.as_uri(), scheme="dark").page
    for title, legend in (
        ("Risk–utility map", {"front", "dominated", "baseline", "original"}),
        ("All objectives", {"front", "dominated", "baseline", "original"}),
    ):
        picture = saved(page, title)
        assert texts(picture)[0] == title
        assert legend < set(texts(picture))
        assert picture[0].attrib["fill"] == "#fbfaf7"
        assert "#0b5f6e" in {element.get("fill") for element in picture.iter()} | {
            e.get("stroke") for e in picture.iter()
        }
    page.get_by_role("button", name="Progress").click()
    picture = saved(page, "Hypervolume")
    assert {"Hypervolume", "seed 1", "seed 2"} < set(texts(picture))
    assert "rgb(11, 95, 110)" in ET.tostring(picture).decode()  # the curve, as the light theme has it
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(21, 24, 27)"


def test_any_category_can_be_exported_and_flows_keep_their_labels_apart(
    pbg: Path, ids: tuple[str, str], tmp_path: Path, open_tab: Any
) -> None:
    names = tuple(f"category {i}" for i in range(12))
    moved = tuple(
        tuple(900.0 if (i, j) == (0, 0) else 5.0 if abs(i - j) < 2 else 0.0 for j in range(12)) for i in range(12)
    )
    shares = tuple(tuple(cell / sum(row) for cell in row) for row in moved)
    pictures = [
        Bars(title="Bars", labels=(UNKNOWN, "b"), values=(5.0, 6.0), across="x", up="records"),
        Matrix(title="Shares", name="town", row_labels=names, column_labels=names, shares=shares, records=moved),
    ]
    source = Source.open(pbg)
    detail = {**source.detail(ids[0]), "pictures": [picture.as_dict() for picture in pictures]}
    document = {**overview([source]), "details": {f"0:{ids[0]}": detail}, "briefs": {}}
    path = tmp_path / "report.html"
    path.write_text(render(document), encoding="utf-8")
    page = open_tab(f"{path.as_uri()}#v=solution&c=0:{ids[0]}").page
    assert "a\ufffdb" in texts(saved(page, "Bars"))
    page.wait_for_selector("text.flown")
    boxes = page.locator("text.flown").evaluate_all(
        "all => all.map(e => { const b = e.getBBox(); return [Math.round(b.x / 300), b.y, b.y + b.height]; })"
    )
    assert len(boxes) == 24
    for side in {box[0] for box in boxes}:
        ends = sorted(box[1:] for box in boxes if box[0] == side)
        assert all(above[1] <= below[0] + 0.5 for above, below in itertools.pairwise(ends))


def test_print_keeps_names_and_shortlist_on_white(few: Path, ids: tuple[str, str], open_tab: Any) -> None:
    page = open_tab(f"{few.as_uri()}#s=0:{ids[0]}|for the board", scheme="dark").page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(251, 250, 247)"
    assert page.locator(".solutions tbody th button", has_text=ids[0]).first.is_visible()
    assert page.get_by_role("button", name=re.compile("general loss")).first.is_visible()
    assert page.locator("#pick-0").is_visible()
    assert page.locator("#note-0").is_visible()
    assert not page.locator("nav").is_visible()
    assert not page.get_by_role("button", name="PNG").first.is_visible()


def test_the_command_that_repeats_a_run_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_report: Callable[..., Path], open_tab: Any
) -> None:
    import shlex

    from click.testing import CliRunner

    from sdc_problems.studies.cli import cli
    from sdc_problems.studies.store.reader import Run

    home = tmp_path / "home"
    home.mkdir()
    (home / "mine.csv").write_text("age,town\n" + "".join(f"{20 + i % 9},{'ab'[i % 2]}\n" for i in range(40)))
    text = (
        '[data]\nfile = "mine.csv"\nquasi_identifiers = ["age", "town"]\n[data.hierarchies]\nage = {intervals = [5]}\n'
    )
    text += 'town = {suppression = true}\n[problem]\ntask = "pbg"\n[algorithm]\nname = "NSGA2"\npop_size = 4\n'
    (home / "study.toml").write_text(text + "[termination]\ngenerations = 1\n")
    folder = tmp_path / "runs" / "my run"
    done = CliRunner().invoke(cli, ["run", str(home / "study.toml"), "--out", str(folder), "--no-pictures"])
    assert done.exit_code == 0, done.output
    page = open_tab(make_report(folder).as_uri() + "#v=home&c=0:1-0").page
    line = page.get_by_label("Repeat the run", exact=True).inner_text()
    monkeypatch.chdir(folder.parent)
    done = CliRunner().invoke(cli, [*shlex.split(line)[1:], "--no-pictures"])
    assert done.exit_code == 0, done.output
    with Run(folder) as first, Run("my run-again") as second:
        assert first.fingerprint() == second.fingerprint()
