"""Speed of the page: drawing and brushing 5,000 points with four objectives in Debian's Chromium, without a GPU.

Run it: ``python benchmarks/bench_page.py``. It prints the size of the page, the time from the start of loading to the
first complete picture, and the frames per second while a region is dragged over the map and over an axis, as it is and
with the processor slowed down four times (Chromium's throttle), as on a phone or an old notebook.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from sdc_problems.studies.web.report import render

POINTS, OBJECTIVES = 5_000, 4
THROTTLE = 1, 4
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

# Moves the pointer once per frame and counts the frames: a frame that takes longer than 1/60 s lowers the count.
BRUSH = """
async ([selector, fx, fy, seconds]) => {
  const element = document.querySelector(selector);
  const box = element.getBoundingClientRect();
  const at = (x, y) => ({clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true,
    button: 0, pointerId: 1, pointerType: 'mouse'});
  element.setPointerCapture = () => {};
  const target = document.elementFromPoint(at(fx, fy).clientX, at(fx, fy).clientY) ?? element;
  target.dispatchEvent(new PointerEvent('pointerdown', at(fx, fy)));
  const times = [];
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    times.push(await new Promise(requestAnimationFrame));
    const t = (performance.now() - start) / (seconds * 1000);
    target.dispatchEvent(new PointerEvent('pointermove', at(fx + (selector === '.grip' ? 0 : 0.6 * t),
      fy + 0.5 * t)));
  }
  target.dispatchEvent(new PointerEvent('pointerup', at(fx, fy)));
  const gaps = times.slice(1).map((t, i) => t - times[i]).sort((a, b) => a - b);
  return [1000 * gaps.length / gaps.reduce((a, b) => a + b, 0), gaps[Math.floor(gaps.length * 0.95)]];
}
"""


def document() -> dict[str, Any]:
    """A run with as many points as the page is made for."""
    rng = np.random.default_rng(7)
    values = rng.gamma(2.0, 1.0, (POINTS, OBJECTIVES)).round(6)
    kinds = np.where(np.arange(POINTS) < 400, 2, 0)
    axes = [
        {"name": f"f{i}", "label": f"objective {i}", "sense": "min", "unit": "%", "bounds": [0, None], "sentence": ""}
        for i in range(OBJECTIVES)
    ]
    run = {
        "name": "run", "label": "Benchmark", "task": "none", "algorithm": "none", "seeds": [1], "finished": True,
        "found": POINTS, "fingerprint": "", "created": "", "versions": {}, "records": None, "data_digest": "",
        "require": {}, "states": [], "history": [], "band": {"evaluated": [], "quantiles": [], "seeds": 0},
        "attributes": [], "closed": "", "shortlist": [],
    }  # fmt: skip
    points = {
        "id": [f"1-{i}" for i in range(POINTS)], "run": [0] * POINTS, "seed": [1] * POINTS,
        "generation": [1] * POINTS, "kind": kinds.tolist(), "feasible": [1] * POINTS, "values": values.tolist(),
    }  # fmt: skip
    return {"schema": "sdc-explorer/1", "made_with": "", "axes": axes, "runs": [run], "points": points, "details": {}}


def main() -> None:
    """Print the figures."""
    from playwright.sync_api import sync_playwright

    empty = len(render({}).encode())
    print(f"page without data: {empty / 1000:.0f} kB")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(render(document()), encoding="utf-8")
        print(f"with {POINTS:,} points × {OBJECTIVES} objectives: {path.stat().st_size / 1000:.0f} kB")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", headless=True, args=FLAGS)
        for width in (1440, 360):
            page = browser.new_page(viewport={"width": width, "height": 900})
            throttle = page.context.new_cdp_session(page)
            page.goto(path.as_uri())
            page.wait_for_selector("tbody tr")
            page.wait_for_timeout(500)
            first = page.evaluate(
                "() => { const m = performance.getEntriesByType('measure').filter(e => e.name.startsWith('sdc '));"
                " return [Math.max(...m.map(e => e.startTime + e.duration)), ...m.map(e => e.duration)]; }"
            )
            print(
                f"{width} px wide: drawn {first[0]:.0f} ms after loading began; longest chart {max(first[1:]):.0f} ms"
            )
            for name, selector, x, y in (("map", "[role=application]", 0.2, 0.2), ("axis", ".grip", 0.5, 0.2)):
                page.evaluate("s => document.querySelector(s).scrollIntoView({block: 'center'})", selector)
                for slower in THROTTLE:
                    throttle.send("Emulation.setCPUThrottlingRate", {"rate": slower})
                    rate, slow = page.evaluate(BRUSH, [selector, x, y, 3])
                    throttle.send("Emulation.setCPUThrottlingRate", {"rate": 1})
                    tally = page.locator(".ranges .muted").last.inner_text()
                    print(
                        f"  brushing the {name}, processor slowed down {slower} times: {rate:.0f} frames/s, 95 % of"
                        f" frames within {slow:.0f} ms ({tally})"
                    )
                    page.get_by_role("button", name="Clear all ranges").click()
        browser.close()


if __name__ == "__main__":
    main()
