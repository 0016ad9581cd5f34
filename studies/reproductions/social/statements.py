"""Statements of Marés (2013), section 6.5, compared with the runs; statements that do not hold are marked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems.studies.reproductions.report import ReportTable
from sdc_problems.studies.reproductions.social.runs import SETS, Measured

NOISE = 3.0
"""Standard errors of a difference of two means that are tolerated against a statement."""
TOPICS = ("topic 1", "topic 2", "topic 3")


class Against(NamedTuple):
    """Evidence against a statement on curves: the largest difference in the other direction, and its standard error."""

    difference: float
    error: float
    where: str = ""

    @property
    def refutes(self) -> bool:
        """Whether it is more than noise."""
        return self.difference > NOISE * self.error


def above(
    high: NDArray[np.float64],
    low: NDArray[np.float64],
    errors: tuple[float, float] = (0.0, 0.0),
    where: str = "",
) -> list[Against]:
    """Evidence against the statement that one curve of means, with its standard error, is above another."""
    return [Against(max(0.0, float(np.max(low - high))), float(np.hypot(*errors)), where)]


def rises(found: Measured, name: str, where: str = "", *, falls: bool = False) -> list[Against]:
    """Evidence against the statement that a curve rises (or falls) from K to K, and from the first K to the last."""
    values = {**found.losses, **found.risks, **found.microdata}[name] * (-1.0 if falls else 1.0)
    error = found.errors[name]
    return above(values[1:], values[:-1], (error, error), where) + above(values[-1:], values[:1], where=where)


def statements(first: Measured, second: Measured) -> ReportTable:
    """Each statement, whether it holds on the stand-ins, and the figures for it."""
    both = (first, second)
    place = first.risks["location"]
    rows = [
        _row("il grows with K in both graphs", [one for m in both for one in rises(m, "il_graph")],
             ", ".join(_ends(m.losses["il_graph"]) for m in both)),
        _row("il is lower in the second graph at every K", above(first.losses["il_graph"], second.losses["il_graph"]),
             f"largest ratio {np.max(second.losses['il_graph'] / first.losses['il_graph']):.2f}"),
        _row("cdil grows fastest in the first graph, as a ratio", _fastest(first, ratio=True), _growth(first)),
        _row("cdil grows fastest in the first graph, as a difference", _fastest(first, ratio=False), _growth(first)),
        _row("aamil is the lowest loss at almost every K of the second graph", _lowest(second) >= 0.8,
             f"at {100 * _lowest(second):.0f} % of the K; aamil is at least cdil weighted by degrees, so it is lower"
             " only where nodes of high degree change least"),
        _row("dr falls with K for every set of attributes",
             [one for m, of in zip(both, ("first", "second"), strict=True) for name in SETS
              for one in rises(m, name, f" ({name}, {of} graph)", falls=True)],
             ", ".join(f"{name} {_ends(first.risks[name])}" for name in SETS)),
        _row("dr of topic 1 is above topic 2, and that above topic 3",
             [one for m in both for a, b in pairwise(TOPICS) for one in _over(m, a, b)],
             ", ".join(f"{first.risks[name].mean():.2f}" for name in TOPICS) + " on average, first graph"),
        _row("dr of the location is below that of every single topic of the first graph",
             [one for name in TOPICS for one in _over(first, name, "location")], _ends(place)),
        _row("dr of all topics together is below each, and of all attributes lowest",
             [one for m in both for one in _together(m)], _ends(first.risks["all attributes"])),
        _row("dr is lower in the second graph",
             [one for name in SETS for one in above(
                 first.risks[name], second.risks[name], (first.errors[name], second.errors[name])
             )], ""),
        _row("microdata: loss grows and risk falls with K",
             [one for m in both for one in
              (*rises(m, "il_categorical"), *rises(m, "dr_categorical", falls=True))],
             ", ".join(_ends(m.microdata["dr_categorical"]) for m in both) + " (dr)"),
    ]  # fmt: skip
    note = (
        f"A statement on curves holds if none goes the other way by more than {NOISE:g} standard errors of the"
        " difference of two means; the error is that of a curve's draws, at all K together. Figures go from the"
        " smallest K to the largest. The crawled graphs were never public: these are their stand-ins."
    )
    return ReportTable(
        "statements", "Statements of section 6.5", ("Statement", "Verdict", "Figures"), tuple(rows), note
    )


def _row(statement: str, evidence: Sequence[Against] | bool, figures: str) -> tuple[str, str, str]:
    if isinstance(evidence, bool):
        return statement, "holds" if evidence else "does not hold", figures
    refuting = [one for one in evidence if one.refutes]
    worst = max(refuting or evidence, key=lambda one: one.difference)
    if worst.difference > 0:
        said = f"the other way by up to {worst.difference:.3g}{worst.where}, standard error {worst.error:.2g}"
        figures = f"{figures}; {said}" if figures else said
    return statement, "does not hold" if refuting else "holds", figures


def _ends(values: NDArray[np.float64]) -> str:
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
    """Share of the values of K for which aamil is the lowest loss."""
    others = np.minimum(found.losses["cdil"], found.losses["dbil_graph"])
    return float((found.losses["aamil"] <= others).mean())


def _over(found: Measured, high: str, low: str) -> list[Against]:
    return above(found.risks[high], found.risks[low], (found.errors[high], found.errors[low]))


def _together(found: Measured) -> list[Against]:
    """Evidence against the statement that more attributes find fewer nodes, in every draw, without noise."""
    risks = found.risks
    pairs = [*((name, "all topics") for name in TOPICS), ("all topics", "all attributes")]
    return [one for high, low in pairs for one in above(risks[high], risks[low])]
