"""Pictures of the page of every task and of the start page, to be looked at: 1440 and 360 px wide, light and dark.

Run it: ``python benchmarks/page_pictures.py OUT [TASK …]``. Each task's example is searched for a few generations, and
its map and its best-spread solution are drawn into OUT as ``TASK-map-1440-light.png`` and so on. The question to ask of
each: is it plain within 30 seconds what to do next?
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from sdc_problems._tables.toml_text import toml_key, toml_value
from sdc_problems.studies.run.runner import work
from sdc_problems.studies.run.start import start
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.tasks import available_tasks
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.report import report

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
SIZES = ((1440, 900), (360, 740))
RECORDS, GENERATIONS, POPULATION = 300, 4, 16
OVERFLOW = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def shortened(example: Path) -> str:
    """Example study of a task that takes seconds, whatever the task."""
    values: dict[str, Any] = tomllib.loads(example.read_text(encoding="utf-8"))
    values["data"]["records"] = min(values["data"].get("records", RECORDS), RECORDS)
    if "pop_size" in values["algorithm"]:
        values["algorithm"]["pop_size"] = min(values["algorithm"]["pop_size"], POPULATION)
    values["termination"] = {"generations": GENERATIONS}
    values["run"] = {"seeds": 1}
    lines = [f"title = {toml_value(values.pop('title'))}"]
    for name, section in values.items():
        lines += [f"[{name}]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in section.items())]
    return "\n".join(lines) + "\n"


def page_of(name: str, example: Path, home: Path) -> Path:
    """Report of a short run of a task."""
    text, folder = shortened(example), home / name
    study = Study.from_text(text, folder=home)
    work(folder, built=(study, start(study, text, folder)))
    path = home / f"{name}.html"
    path.write_text(report([Source.open(folder)], details=3), encoding="utf-8")
    return path


def drawn(browser: Any, name: str, url: str, out: Path, views: dict[str, Any]) -> None:
    """Draw views of a page in all sizes and colors."""
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_default_timeout(120_000)
            page.goto(url)
            page.wait_for_selector("h1")
            for view, go in views.items():
                go(page)
                page.wait_for_timeout(400)
                page.screenshot(path=out / f"{name}-{view}-{width}-{scheme}.png", full_page=view != "map")
                if page.evaluate(OVERFLOW):
                    print(f"{name}-{view}-{width}: wider than the screen")
            page.close()
    print(f"{name}: drawn", flush=True)


def solution(page: Any) -> None:
    """Open the page of the solution that the guide would take."""
    picks = page.locator(".candidate .pick")
    (picks if picks.count() else page.locator(".solutions tbody th button")).first.click()
    page.locator(".tab[data-view=solution]").click()


def scanned(page: Any) -> None:
    """Choose the table on the start page."""
    page.get_by_role("button", name="people.csv").click()
    page.get_by_role("button", name="Protect it now").wait_for()


def protect(page: Any) -> None:
    """Protect the table on the start page."""
    page.get_by_role("button", name="Protect it now").click()
    page.wait_for_selector(".report h4")


def main(out: Path, names: list[str]) -> None:
    """Draw all."""
    from playwright.sync_api import sync_playwright

    from sdc_problems.datasets import people

    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", headless=True, args=FLAGS)
        for name, task in available_tasks().items():
            if names and name not in names:
                continue
            path = page_of(name, task.example, home)
            drawn(browser, name, path.as_uri(), out, {"map": lambda page: None, "solution": solution})
        if not names or "start" in names:
            people(500).data.frame().to_csv(home / "people.csv", index=False)
            command = [sys.executable, "-m", "sdc_problems", "explore"]
            views = {"begin": lambda page: None, "scan": scanned, "protected": protect}
            for width, scheme in itertools.product([width for width, _ in SIZES], ("light", "dark")):
                server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=home)
                try:
                    assert server.stdout is not None
                    one(browser, server.stdout.readline().strip(), out, width, scheme, views)
                finally:
                    server.terminate()
                    server.wait()
        browser.close()


def one(browser: Any, url: str, out: Path, width: int, scheme: str, views: dict[str, Any]) -> None:
    """Draw views of the start page in one size and color: its address opens it once."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(120_000)
    page.goto(url)
    for view, go in views.items():
        go(page)
        page.wait_for_timeout(400)
        page.screenshot(path=out / f"start-{view}-{width}-{scheme}.png", full_page=True)
        if page.evaluate(OVERFLOW):
            print(f"start-{view}-{width}: wider than the screen")
    page.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("tasks", nargs="*", choices=[*available_tasks(), "start"], default=[], metavar="task")
    asked = parser.parse_args()
    main(asked.out, asked.tasks)
