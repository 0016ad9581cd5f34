"""Runs to look at, and a browser that notices every error and every request."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.run.runner import work
from sdc_problems.studies.run.start import start
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.report import report

WEB = Path(__file__).parents[3] / "studies" / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
# What a stranger may call a column or a category.
NASTY = [
    "<img src=x onerror=document.title='pwned'>",
    "</script><script>document.title='pwned'</script>",
    "\u202eevil\u202c",
    "=cmd()|' /C calc'!A0",
    "../../etc/passwd",
    "x" * 3000,
    "a&b\"c'd`e{{f}}<!--",
    "constructor",
]

PBG = """
title = {title!r}
[data]
name = "people"
records = 400
keep = ["hours"]
[problem]
task = "pbg"
objectives = ["k", "glm", "suppressed"]
[algorithm]
name = "NSGA2"
pop_size = 20
[termination]
generations = {generations}
[run]
seeds = 2
"""

GOMM = """
title = "Groups of numbers"
[data]
file = "numbers.csv"
quasi_identifiers = ["height", "weight", "income", "age"]
[problem]
task = "gomm"
k = 3
objectives = ["il_sse", "dld", "id_value"]
[algorithm]
name = "NSGA2"
pop_size = 10
[termination]
generations = 5
[run]
seeds = 1
"""


SOCIAL = """
[data]
name = "crawl"
records = 120
[problem]
task = "social"
k = 5
ranked = [["topic1", "topic2", "topic3"]]
objectives = ["il_graph", "dr_degree"]
[algorithm]
name = "NSGA2"
pop_size = 8
[termination]
generations = 2
[run]
seeds = 1
"""


MICROAGGREGATION = """
[data]
name = "people"
records = 200
quasi_identifiers = ["age", "hours", "wage"]
[problem]
task = "microaggregation"
k = 3
k_max = 6
objectives = ["il_sse", "dbrl"]
[algorithm]
name = "NSGA2"
pop_size = 8
start = "baselines"
[termination]
generations = 3
"""

PRAM = """
[data]
name = "people"
records = 300
[problem]
task = "{task}"
columns = ["workclass", "marital_status"]
replicates = 1
[algorithm]
name = "NSGA2"
pop_size = 8
[termination]
generations = 3
"""


@dataclass
class Workbench:
    """Makes run folders under one roof."""

    root: Path

    def begin(self, name: str, text: str) -> Path:
        """A run folder in which nothing has been computed."""
        return start_run(text, self.root, self.root / name)[0]

    def run(self, name: str, text: str) -> Path:
        """A finished run."""
        folder, study, built = start_run(text, self.root, self.root / name)
        work(folder, built=(study, built))
        return folder


def start_run(text: str, home: Path, folder: Path) -> tuple[Path, Study, Any]:
    study = Study.from_text(text, folder=home)
    built = start(study, text, folder)
    return folder, study, built


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def pbg_text() -> Callable[..., str]:
    def make(title: str = "People", generations: int = 6) -> str:
        return PBG.format(title=title, generations=generations)

    return make


@pytest.fixture(scope="session")
def pbg(workbench: Workbench, pbg_text: Callable[..., str]) -> Path:
    return workbench.run("people", pbg_text())


@pytest.fixture(scope="session")
def gomm(workbench: Workbench) -> Path:
    draw = random.Random(3)
    with (workbench.root / "numbers.csv").open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["height", "weight", "income", "age"])
        for _ in range(120):
            tall = draw.gauss(170, 10)
            age = draw.randint(18, 90)
            rows.writerow(
                [round(tall, 1), round(tall - 100 + draw.gauss(0, 8), 1), round(draw.lognormvariate(10, 1)), age]
            )
    return workbench.run("groups", GOMM)


@pytest.fixture(scope="session")
def microaggregation(workbench: Workbench) -> Path:
    return workbench.run("merged", MICROAGGREGATION)


@pytest.fixture(scope="session")
def social(workbench: Workbench) -> Path:
    return workbench.run("friends", SOCIAL)


@pytest.fixture(scope="session")
def pram(workbench: Workbench) -> Path:
    return workbench.run("randomised", PRAM.format(task="pram"))


@pytest.fixture(scope="session")
def pram_equations(workbench: Workbench) -> Path:
    return workbench.run("equations", PRAM.format(task="pram-equations"))


@pytest.fixture(scope="session")
def hostile(workbench: Workbench) -> Path:
    """A run whose columns, categories, title and folder are called as a stranger would."""
    draw = random.Random(4)
    columns = NASTY[:4]
    with (workbench.root / "hostile.csv").open("w", newline="", encoding="utf-8") as stream:
        rows = csv.writer(stream)
        rows.writerow(columns)
        rows.writerows([[draw.choice(NASTY) for _ in columns] for _ in range(200)])
    quoted = ", ".join(toml(c) for c in columns[:3])
    hierarchies = "\n".join(f"[data.hierarchies.{toml(c)}]\nsuppression = true" for c in columns[:3])
    text = f"""
title = {toml(NASTY[1])}
[data]
file = "hostile.csv"
quasi_identifiers = [{quoted}]
sensitive = [{toml(columns[3])}]
{hierarchies}
[problem]
task = "pbg"
[algorithm]
name = "NSGA2"
pop_size = 6
[termination]
generations = 3
"""
    return workbench.run("<img src=x onerror=alert(1)> $(id)", text)


def toml(text: str) -> str:
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text)
    return f'"{escaped}"'


@pytest.fixture(scope="session")
def make_report(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    def make(*folders: Path, **options: Any) -> Path:
        path = tmp_path_factory.mktemp("report") / "report.html"
        path.write_text(report([Source.open(folder) for folder in folders], **options), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def pbg_report(pbg: Path, make_report: Callable[..., Path]) -> Path:
    return make_report(pbg)


# ---------------------------------------------------------------------- the browser


@dataclass
class Tab:
    """A page with everything that it complained about and asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def axe(self) -> list[str]:
        """Violations that axe-core finds, in words."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate(
            "() => axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map("
            "v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 200) + ' ' + n.failureSummary).join(' | ')))"
        )
        return list(found)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """``open_tab(url, width=…)``; at the end no tab may have complained, or asked for anything else."""
    tabs: list[Tab] = []

    def open_(
        url: str, *, width: int = 1440, scheme: str = "light", offline: bool = True, touch: bool = False,
        heading: bool = True,
    ) -> Tab:  # fmt: skip
        context = browser.new_context(
            viewport={"width": width, "height": 900 if width > 600 else 740},
            color_scheme=scheme,
            offline=offline,
            has_touch=touch,
            reduced_motion="reduce",
            accept_downloads=True,
        )
        page = context.new_page()
        page.set_default_timeout(10_000)
        tab = Tab(page)
        own = url.partition("#")[0].rpartition("/")[0]
        page.on("console", lambda m: tab.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: tab.complaints.append(str(e)))
        page.on("dialog", lambda d: tab.complaints.append(f"a dialog: {d.message}"))
        page.on("request", lambda r: None if r.url.startswith((own, "blob:", "data:")) else tab.requests.append(r.url))
        page.goto(url)
        if heading:
            page.wait_for_selector("h1")
        tabs.append(tab)
        return tab

    yield open_
    for tab in tabs:
        tab.page.context.close()
        assert tab.complaints == []
        assert tab.requests == []


@pytest.fixture
def explore() -> Iterator[Callable[..., str]]:
    """``explore(folder, "--read-only")``: the address that a server of its own printed."""
    servers: list[subprocess.Popen[str]] = []

    def serve(*arguments: object) -> str:
        server = subprocess.Popen(
            [sys.executable, "-m", "sdc_problems", "explore", *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
        )
        servers.append(server)
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), url
        return url

    yield serve
    for server in servers:
        server.terminate()
        server.wait(timeout=20)
