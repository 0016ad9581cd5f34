"""Speed of the page: drawing and brushing 5,000 points with four objectives in Debian's Chromium, without a GPU.

Run it: ``python benchmarks/bench_page.py``. It prints the size of the page, the time from the start of loading to the
first complete picture, and the frames per second while a region is dragged over the map and over an axis, as it is and
with the processor slowed down four times (Chromium's throttle), as on a phone or an old notebook. Beside other work
the frames per second say little; the processor's own time for a frame stays what it is.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdc_problems.studies.run.runner import work
from sdc_problems.studies.run.start import start
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.web.payload import DOMINATED, FRONT, Source, overview
from sdc_problems.studies.web.report import render

POINTS, OBJECTIVES = 5_000, 4
BAR = 30.0
"""Frames per second that brushing has to reach with the processor slowed down four times."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
MAP, AXIS = ".stage:not(.parallel) .brush .overlay", ".stage.parallel .brush .overlay"
STUDY = """
[data]
name = "people"
records = 200
[problem]
task = "pbg"
[algorithm]
name = "NSGA2"
pop_size = 8
[termination]
generations = 2
"""

# Moves the pointer once per frame and counts the frames: a frame that takes longer than 1/60 s lowers the count.
BRUSH = """
async ([selector, fx, fy, across, seconds]) => {
  const target = document.querySelector(selector);
  const box = target.getBoundingClientRect();
  const say = (type, x, y) => { target.dispatchEvent(new MouseEvent(type, {clientX: box.left + x * box.width,
    clientY: box.top + y * box.height, bubbles: true, cancelable: true, button: 0, view: window})); };
  say('mousedown', fx, fy);
  const times = [];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    times.push(await new Promise(requestAnimationFrame));
    const t = (performance.now() - start) / (seconds * 1000);
    say('mousemove', fx + across * t, fy + 0.5 * t);
  }
  say('mouseup', fx + across, fy + 0.5);
  const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
  return [1000 * gaps.length / gaps.reduce((a, b) => a + b, 0), gaps[Math.floor(gaps.length * 0.95)], times.length];
}
"""
DRAWN = """
() => { const m = performance.getEntriesByType('measure').filter(e => e.name.startsWith('sdc '));
  return [Math.max(...m.map(e => e.startTime + e.duration)), Math.max(...m.map(e => e.duration))]; }
"""


@dataclass(frozen=True)
class Brushed:
    """Speed of one drag.

    Attributes
    ----------
    what
        What was dragged over: the map or an axis.
    width
        Of the window.
    slower
        How many times the processor was slowed down.
    frames
        Frames per second.
    slow
        Milliseconds within which 95 % of the frames came.
    busy
        Milliseconds of processor time that a frame takes the page's main thread.
    tally
        What the page says of the selection.
    """

    what: str
    width: int
    slower: int
    frames: float
    slow: float
    busy: float
    tally: str


def large(document: dict[str, Any], points: int) -> dict[str, Any]:
    """The document of a small run with as many points as the page is made for.

    Parameters
    ----------
    document
        Overview of a run: whatever the page reads is in it.
    points
        How many points it gets instead of its own.
    """
    rng = np.random.default_rng(7)
    values = rng.gamma(2.0, 1.0, (points, OBJECTIVES)).round(6)
    kinds = np.where(np.arange(points) < min(400, points // 2), FRONT, DOMINATED)
    plain = {**document["axes"][0], "sense": "min", "unit": "%", "bounds": [0, None]}
    axes = [{**plain, "name": f"f{i}", "label": f"objective {i}"} for i in range(OBJECTIVES)]
    every: dict[str, list[Any]] = {
        **{name: [column[0]] * points for name, column in document["points"].items()},
        "id": [f"1-{i}" for i in range(points)],
        "kind": kinds.tolist(),
        "feasible": [1] * points,
        "values": values.tolist(),
    }
    return {**document, "axes": axes, "points": every, "details": {}, "briefs": {}}


def brushed(page: Any, width: int, *, slowed: Sequence[int] = (1, 4), seconds: float = 3.0) -> Iterator[Brushed]:
    """Drag over the map and over an axis of a page that is open."""
    browser = page.context.new_cdp_session(page)
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent() -> float:
        found = browser.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))

    for what, selector, x, y, across in (("map", MAP, 0.2, 0.2, 0.6), ("axis", AXIS, 0.5, 0.2, 0.0)):
        page.evaluate("s => document.querySelector(s).scrollIntoView({block: 'center'})", selector)
        for slower in slowed:
            browser.send("Emulation.setCPUThrottlingRate", {"rate": slower})
            before = spent()
            frames, slow, many = page.evaluate(BRUSH, [selector, x, y, across, seconds])
            busy = 1000 * (spent() - before) / many
            browser.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            page.wait_for_timeout(200)
            tally = page.locator(".ranges .muted").last.inner_text()
            yield Brushed(what, width, slower, frames, slow, busy, tally)
            page.get_by_role("button", name="Clear all ranges").click()
            page.wait_for_timeout(200)


def main() -> None:
    """Print the figures."""
    from playwright.sync_api import sync_playwright

    print(f"page without data: {len(render({}).encode()) / 1000:.0f} kB")
    least = np.inf
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        study = Study.from_text(STUDY, folder=home)
        work(home / "run", built=(study, start(study, STUDY, home / "run")))
        path = home / "page.html"
        path.write_text(render(large(overview([Source.open(home / "run")]), POINTS)), encoding="utf-8")
        print(f"with {POINTS:,} points × {OBJECTIVES} objectives: {path.stat().st_size / 1000:.0f} kB")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", headless=True, args=FLAGS)
        for width in (1440, 360):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(path.as_uri())
            page.wait_for_selector(".solutions tbody tr")
            page.wait_for_timeout(500)
            drawn, longest = page.evaluate(DRAWN)
            print(f"{width} px wide: drawn {drawn:.0f} ms after loading began; longest chart {longest:.0f} ms")
            for one in brushed(page, width):
                print(
                    f"  brushing the {one.what}, processor slowed down {one.slower} times: {one.frames:.0f} frames/s,"
                    f" 95 % of frames within {one.slow:.0f} ms, {one.busy:.1f} ms of processor time each ({one.tally})"
                )
                if one.slower == 4:
                    least = min(least, one.frames)
        browser.close()
    print(f"slowest at 4 times: {least:.0f} frames/s; the bar is {BAR:.0f}: {'met' if least >= BAR else 'MISSED'}")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
