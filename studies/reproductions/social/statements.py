"""Statements of Marés (2013), section 6.5, beside what the runs show; those that do not hold are named as such."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.reproductions.report import ReportTable
from sdc_problems.studies.reproductions.social.runs import SETS, Measured

NOISE = 0.03
"""Share by which a mean of a few draws may fall where it should rise, or rise where it should fall."""


def rises(values: NDArray[np.float64]) -> bool:
    """Whether a curve rises, up to the noise of the draws."""
    return bool(values[-1] > values[0] and (np.diff(values) > -NOISE).all())


def statements(first: Measured, second: Measured) -> ReportTable:
    """Each statement, whether it holds on the stand-ins, and the figures that say so."""
    rows = [
        _row("il grows with K in both graphs", [rises(m.losses["il_graph"]) for m in (first, second)],
             ", ".join(_ends(m, m.losses["il_graph"]) for m in (first, second))),
        _row("il is lower in the second graph at every K", second.losses["il_graph"] < first.losses["il_graph"],
             f"largest ratio {np.max(second.losses['il_graph'] / first.losses['il_graph']):.2f}"),
        _row("cdil grows fastest in the first graph, as a ratio", [_fastest(first, ratio=True)], _growth(first)),
        _row("cdil grows fastest in the first graph, as a difference", [_fastest(first, ratio=False)], _growth(first)),
        _row("aamil is the lowest loss at almost every K of the second graph", [_lowest(second) >= 0.8],
             f"at {100 * _lowest(second):.0f} % of the K; aamil is at least cdil weighted by degrees, so it is lower"
             " only where nodes of high degree change least"),
        _row("dr falls with K for every set of attributes", [rises(-m.risks[s]) for m in (first, second) for s in SETS],
             ", ".join(f"{s} {first.risks[s][0]:.2f} to {first.risks[s][-1]:.2f}" for s in SETS)),
        _row("dr of topic 1 is above topic 2, and that above topic 3", [_ordered(m) for m in (first, second)],
             ", ".join(f"{first.risks[f'topic {i}'].mean():.2f}" for i in (1, 2, 3)) + " on average, first graph"),
        _row("dr of the location is below that of every single topic of the first graph",
             [bool((first.risks["location"] < first.risks[f"topic {i}"] + NOISE).all()) for i in (1, 2, 3)],
             _ends(first, first.risks["location"])),
        _row("dr of all topics together is below each, and of all attributes lowest",
             [_together(m) for m in (first, second)], _ends(first, first.risks["all attributes"])),
        _row("dr is lower in the second graph",
             [bool((second.risks[s] < first.risks[s] + NOISE).all()) for s in SETS], ""),
        _row("microdata: loss grows and risk falls with K", [
            rises(m.microdata["il_categorical"] / 100) and rises(-m.microdata["dr_categorical"] / 100)
            for m in (first, second)
        ], ", ".join(_ends(m, m.microdata["dr_categorical"]) for m in (first, second)) + " (dr)"),
    ]  # fmt: skip
    note = (
        f"A statement on curves holds if they keep to it up to {NOISE}, the noise of a few draws. Figures go from the"
        " smallest K to the largest. The crawled graphs were never public: these are their stand-ins."
    )
    return ReportTable(
        "statements", "Statements of section 6.5", ("Statement", "Verdict", "Figures"), tuple(rows), note
    )


def _row(statement: str, holds: Iterable[object], figures: str) -> tuple[str, str, str]:
    return statement, "holds" if all(bool(one) for one in holds) else "does not hold", figures


def _ends(found: Measured, values: NDArray[np.float64]) -> str:
    return f"{values[0]:.3g} to {values[-1]:.3g}"


def _growth(found: Measured) -> str:
    names = ("aamil", "cdil", "dbil_graph")
    return ", ".join(
        f"{name} ×{found.losses[name][-1] / found.losses[name][0]:.2f} (+{np.ptp(found.losses[name][[0, -1]]):.2f})"
        for name in names
    )


def _fastest(found: Measured, *, ratio: bool) -> bool:
    def growth(name: str) -> float:
        begin, end = float(found.losses[name][0]), float(found.losses[name][-1])
        return end / begin if ratio else end - begin

    return growth("cdil") > max(growth("aamil"), growth("dbil_graph"))


def _lowest(found: Measured) -> float:
    """Share of the K at which aamil is the lowest loss."""
    others = np.minimum(found.losses["cdil"], found.losses["dbil_graph"])
    return float((found.losses["aamil"] <= others).mean())


def _ordered(found: Measured) -> bool:
    one, two, three = (found.risks[f"topic {i}"] for i in (1, 2, 3))
    return bool((one > two - NOISE).all() and (two > three - NOISE).all())


def _together(found: Measured) -> bool:
    singles = np.min([found.risks[f"topic {i}"] for i in (1, 2, 3)], axis=0)
    everything = found.risks["all attributes"]
    return bool((found.risks["all topics"] < singles).all() and (everything <= found.risks["all topics"]).all())
