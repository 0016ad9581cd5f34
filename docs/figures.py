"""Figures of the texts, drawn anew: ``python docs/figures.py [NAME …]``; ``--list`` says which there are.

``FIGURES`` is the one list of the files in docs/figures and of the commands that draw them. A test compares it with the
texts, which name the same command beside each figure. Kinds: ``quick`` takes seconds (``.ci/docs`` draws these into the
site that it builds), ``browser`` needs Chromium (``.ci/nightly`` draws it where there is one), ``long`` takes from
minutes to hours, ``measured`` shows times of the machine that draws it. ``--into FOLDER`` writes there instead.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "figures"
CHROMIUM = "/usr/bin/chromium"


@dataclass(frozen=True)
class Figure:
    """A figure: the command as the texts name it, and how it is called to draw one file.

    ``run`` has ``{out}`` for a new folder or file; ``made`` is what it leaves there (``.`` if the file itself).
    """

    shown: str
    run: str
    made: str
    kind: str
    public: bool = False  # whether it needs public data (SDC_DATA_HOME, or fetched)


FIGURES = {
    "demo_front": Figure("sdc demo", "sdc demo --out {out}", "pictures/ru-map.png", "quick"),
    "masking_ru_map": Figure(
        "sdc run examples/mask-cells.toml",
        "sdc run examples/mask-cells.toml --out {out}",
        "pictures/ru-map.png",
        "quick",
    ),
    "suite": Figure(
        "python benchmarks/bench_suite.py --gallery docs/figures/suite.png",
        "python benchmarks/bench_suite.py --gallery {out}",
        ".",
        "quick",
    ),
    "explorer": Figure(
        "python docs/figures.py explorer",
        "sdc run examples/generalise.toml --no-pictures --out {out}.run && sdc report {out}.run -o {out}.html"
        " && python docs/figures.py --screenshot {out}.html {out}",
        ".",
        "browser",
    ),
    "lattice-growth": Figure(
        "python benchmarks/tasks/bench_lattice.py --growth",
        "python benchmarks/tasks/bench_lattice.py --growth --figure {out}",
        ".",
        "measured",
    ),
    "mdav-growth": Figure(
        "python benchmarks/tasks/bench_microaggregation.py growth",
        "python benchmarks/tasks/bench_microaggregation.py growth --figure {out}",
        ".",
        "measured",
    ),
    "pram_ru_map": Figure(
        "sdc reproduce pram",
        "sdc reproduce pram --out {out}",
        "figure-4.20-german_credit.png",
        "long",
        public=True,
    ),
    "gomm_hypervolume": Figure(
        "sdc reproduce gomm", "sdc reproduce gomm --out {out}", "fronts-hypervolume.png", "long", public=True
    ),
    "recipes": Figure(
        "python benchmarks/tasks/bench_recipes.py --fronts",
        "python benchmarks/tasks/bench_recipes.py --fronts --files people census eia tarragona german_credit adult"
        " --seeds 20 --out {out}.results/all.json"
        " && python benchmarks/tasks/bench_recipes.py --tables {out}.results --figure {out}",
        ".",
        "long",
        public=True,
    ),
}
KINDS = ("quick", "browser", "long", "measured")


def draw(name: str, into: Path) -> Path:
    """Draw one figure by its command, in a folder of its own, and put it into ``into``."""
    figure = FIGURES[name]
    with tempfile.TemporaryDirectory() as work:
        out = Path(work) / ("made" if figure.made != "." else "made.png")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
        subprocess.run(
            ["bash", "-ec", figure.run.format(out=out)],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        into.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(out if figure.made == "." else out / figure.made, into / f"{name}.png"))


def screenshot(page: Path, out: Path) -> None:
    """Picture of a page that ``sdc report`` wrote, as the texts show it: one solution selected."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 1280, "height": 1400})
        tab.goto(page.resolve().as_uri())
        tab.get_by_role("link", name="Balanced").or_(tab.get_by_role("button", name="Balanced")).first.click()
        tab.get_by_role("button", name="☆ Shortlist").click()
        tab.screenshot(path=str(out))
        browser.close()


def main() -> None:
    """Command line of this module."""
    parser = argparse.ArgumentParser(description="Draw figures of the texts anew.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures to draw")
    parser.add_argument("--kind", choices=KINDS, help="all figures of this kind")
    parser.add_argument("--into", type=Path, default=FOLDER, help="folder to write to")
    parser.add_argument("--list", action="store_true", help="list the figures, and draw nothing")
    parser.add_argument("--screenshot", nargs=2, type=Path, metavar=("PAGE", "PNG"), help="picture of a page")
    given = parser.parse_args()
    if given.screenshot:
        screenshot(*given.screenshot)
        return
    if unknown := [name for name in given.names if name not in FIGURES]:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    if given.list:
        for name, figure in FIGURES.items():
            print(f"{name:18} {figure.kind:9} {'public data' if figure.public else '':12} {figure.shown}")
        return
    chosen = given.names or [name for name, figure in FIGURES.items() if figure.kind == given.kind]
    if not chosen:
        parser.error("name figures, or a --kind")
    for name in chosen:
        print(draw(name, given.into), flush=True)


if __name__ == "__main__":
    main()
