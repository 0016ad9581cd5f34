"""Colors of the page: seen by everybody, on both papers, and told apart without red or green."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

STYLE = (Path(__file__).parents[3] / "studies" / "web" / "src" / "style.css").read_text(encoding="utf-8")
PAPERS = ("paper", "card")
KINDS = ("dominated", "own", "front", "baseline", "original")
MARKS = (*KINDS, "accent", "better", "worse", "focus", *(f"series-{i}" for i in range(1, 9)))
# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "deuteranope": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "protanope": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
Color = NDArray[np.float64]


def palette(scheme: str) -> dict[str, Color]:
    light, dark = (dict(re.findall(r"--([a-z0-9-]+): #([0-9a-f]{6})", part)) for part in STYLE.split("@media", 2)[:2])
    chosen = light if scheme == "light" else {**light, **dark}
    return {name: np.array([int(text[i : i + 2], 16) for i in (0, 2, 4)]) / 255 for name, text in chosen.items()}


def linear(color: Color) -> Color:
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def contrast(a: Color, b: Color) -> float:
    low, high = sorted(float(linear(c) @ XYZ[1]) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def lab(color: Color, sight: str) -> Color:
    x = XYZ @ np.clip(SIGHT[sight] @ linear(color), 0, 1) / np.array([0.95047, 1, 1.08883])
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def opacity(selector: str) -> float:
    rule = re.search(rf"(?m)^(?:svg )?{re.escape(selector)} {{([^}}]*)}}", STYLE)
    assert rule is not None
    return float(re.search(r"stroke-opacity: ([.\d]+)", rule[1])[1])  # type: ignore[index]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_stand_out_from_the_paper(scheme: str) -> None:
    colors = palette(scheme)
    assert all(contrast(colors[mark], colors[paper]) >= 3 for mark in MARKS for paper in PAPERS)
    for selector, mark in ((".flow", "muted"), (".flow", "accent"), (".link", "muted")):
        alpha = opacity(selector)
        for paper in PAPERS:
            seen = alpha * colors[mark] + (1 - alpha) * colors[paper]
            assert contrast(seen, colors[paper]) >= 3, (selector, paper)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_colors_are_told_apart(scheme: str, sight: str) -> None:
    colors = palette(scheme)
    for names, least in ((tuple(f"series-{i}" for i in range(1, 9)), 25), (KINDS, 11)):
        for a, b in itertools.combinations(names, 2):
            assert np.linalg.norm(lab(colors[a], sight) - lab(colors[b], sight)) >= least, (a, b)
