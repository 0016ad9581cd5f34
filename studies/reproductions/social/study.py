"""Marés (2013), chapter 6: k-anonymous attributes of a social graph, what its links reveal, and super-nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import datasets
from sdc_problems.errors import SDCError
from sdc_problems.problems.social import SocialGraphProblem
from sdc_problems.studies.report.plots import COLOURS, STYLE
from sdc_problems.studies.reproductions.report import Cell, Entry, Picture, Report, ReportTable
from sdc_problems.studies.reproductions.social.runs import (
    CASES,
    FULL,
    LOSSES,
    QUICK,
    SETS,
    Case,
    Measured,
    Scale,
    gathered,
    measured,
)
from sdc_problems.studies.reproductions.social.statements import statements

SOURCE = (
    'J. Marés (2013), "Categorical Data Protection on Statistical Datasets and Social Networks", PhD thesis, chapter 6.'
)
PUBLIC = {"caltech36": "dorm", "lazega": "practice"}
"""Public graphs, and the attribute whose homophily is measured."""


def reproduce(*, quick: bool, say: Callable[[str], None]) -> Report:
    """Compute the curves of Figures 6.10 to 6.15 on stand-ins, check the statements, and add measures it lacks."""
    scale = QUICK if quick else FULL
    found = []
    for case in CASES:
        rows = []
        for k in scale.ks:
            say(f"{case.title}, K = {k}")
            rows.append(measured(case, k, scale.draws))
        found.append(gathered(scale.ks, rows))
    public, absent = _public(say)
    say("a front and its super-nodes")
    front = _front(CASES[0], scale)
    tables = [graphs(), *(curves(case, m) for case, m in zip(CASES, found, strict=True)), statements(*found)]
    return Report(
        "Social graphs: attributes made k-anonymous, links kept",
        SOURCE,
        setting(scale, quick, absent),
        (*tables, *public, front),
        tuple(pictures(found)),
        CASES[0].problem(2, (*LOSSES, "ego_risk", "dr_degree", "nsil", "homophily")).objectives,
    )


def setting(scale: Scale, quick: bool, absent: list[str]) -> tuple[str, ...]:
    """Setting of the runs, and how it differs from the source."""
    lines = [
        "The two graphs were crawled and never published, and Figures 6.10 to 6.15 carry no numbers: compared are the"
        " statements in words, on seeded graphs of the printed size (datasets.crawl).",
        f"Algorithm 14, K = {', '.join(map(str, scale.ks))}, {scale.draws} draws of each, means; places by their"
        " closest common ancestor, topics by Borda's rule.",
        "aamil as Figure 6.6 counts it, with one end of each link replaced. dr: the share of nodes whose neighborhood,"
        " with the original values of some attributes, is found in the release.",
        "Microdata are the released attributes without links, by the categorical measures of chapter 4; section 6.5.2"
        " does not say which it used.",
    ]
    lines += [f"{name} is not on this machine, so its tables are left out." for name in absent]
    return (*lines, "Quick: few K and draws, and a short search.") if quick else tuple(lines)


def graphs() -> ReportTable:
    """Structure of the stand-ins beside the printed structure."""
    rows = []
    for case in CASES:
        s = case.structure
        degree = 2 * s.links / s.nodes
        rows.append(
            (
                case.title, Cell(s.nodes, case.nodes, "d"), Cell(s.links, case.links, "d"),
                Cell(s.diameter, case.diameter, "d"), Cell(s.mean_path, case.mean_path, ".3f"),
                Cell(degree, case.degree, ".2f"),
            )
        )  # fmt: skip
    head = ("", "Nodes", "Links", "Diameter", "Mean path", "Average degree")
    return ReportTable("graphs", "The two graphs", head, tuple(rows))


def curves(case: Case, found: Measured) -> ReportTable:
    """Curves of the figures of one graph, as numbers."""
    rows: list[tuple[Entry, ...]] = []
    for i, k in enumerate(found.ks):
        parts = [*found.losses.values(), *found.risks.values()]
        rows.append((k, *(Cell(float(values[i]), None, ".3f") for values in parts)))
    name = case.title.replace(" ", "-")
    head = ("K", *found.losses, *(f"dr, {name}" for name in SETS))
    return ReportTable(name, f"Losses and risks of the {case.title} (its figures carry no numbers)", head, tuple(rows))


def _public(say: Callable[[str], None]) -> tuple[list[ReportTable], list[str]]:
    """Tables of measures that the chapter does not have, on public graphs."""
    rows: list[tuple[Entry, ...]] = []
    absent = []
    for name, attribute in PUBLIC.items():
        try:
            made = datasets.load(name, download=False)
        except SDCError:
            absent.append(name)
            continue
        kinds = made.data.quasi_identifiers
        for k in (2, 3, 10):
            say(f"{name}, k = {k}")
            problem = SocialGraphProblem(made.graph, k, objectives=("il_graph", "dr_degree", "homophily", "nsil"))
            x = problem.baselines()["Algorithm 14, seed 1"]
            figures = problem.figures(x)
            j = problem.attributes.index(attribute)
            before, after = problem.engine.homophily_before[j], problem.engine.homophily_after(problem.labels(x))[j]
            told = problem.exposure
            rows.append(
                (
                    name, len(kinds), k, Cell(figures["il_graph"]), Cell(figures["dr_degree"]),
                    f"{attribute} {before:.3f} to {after:.3f}",
                    f"{told.degree} / {told.links} / {told.ego} of {len(problem.data)}",
                )
            )  # fmt: skip
    head = ("Graph", "Attributes", "k", "il_graph", "dr_degree", "Assortativity", "Exposed by degree / triangles / ego")
    note = (
        "dr_degree: who knows the released attributes and the number of links finds this share of the nodes, although"
        " every combination of attributes is shared by k. Exposed are nodes that fewer than k look like by links alone."
    )
    table = ReportTable("public", "Beyond the source: what k-anonymous attributes do not hide", head, tuple(rows), note)
    return ([table] if rows else []), absent


def _front(case: Case, scale: Scale) -> ReportTable:
    """Ends of a front of loss and risk by degree, and the super-nodes of their clusters."""
    problem = case.problem(3, ("il_graph", "dr_degree"))
    algorithm = NSGA2(pop_size=20, **problem.operators())
    result = minimize(problem, algorithm, ("n_eval", scale.evaluations), seed=1)
    order = np.argsort(result.F[:, 0])
    chosen = {"Algorithm 14": problem.baselines()["Algorithm 14, seed 1"]}
    picks = (("least loss", order[0]), ("between", order[len(order) // 2]), ("least risk", order[-1]))
    chosen |= {name: result.X[at] for name, at in picks}
    rows: list[tuple[Entry, ...]] = []
    for name, x in chosen.items():
        figures = problem.figures(x)
        rows.append((name, *(Cell(figures[key], None, ".3f") for key in ("il_graph", "dr_degree", "nsil", "ngil"))))
    return ReportTable(
        "front",
        f"Beyond the source: a front on the {case.title}, K = 3, and its super-nodes",
        ("Solution", "il_graph", "dr_degree", "nsil of its super-nodes", "ngil"),
        tuple(rows),
        f"NSGA-II, {scale.evaluations} evaluations. Super-nodes hide all links of single nodes; nsil is what a reader"
        " of them gets wrong.",
    )


def pictures(found: list[Measured]) -> list[Picture]:
    """Figures 6.10 to 6.15."""
    drawn = []
    for i, (case, m) in enumerate(zip(CASES, found, strict=True)):
        for number, what, values in (
            (10 + i, "information loss", m.losses),
            (12 + i, "disclosure risk", m.risks),
            (14 + i, "microdata, percent", m.microdata),
        ):
            title = f"Figure 6.{number}: {what}, {case.title}"
            drawn.append(Picture(f"figure-6.{number}", title, _lines(m.ks, values, what)))
    return sorted(drawn, key=lambda picture: picture.name)


def _lines(ks: tuple[int, ...], curves: Mapping[str, NDArray[np.float64]], what: str) -> Figure:
    with rc_context(STYLE):
        figure = Figure(figsize=(6.0, 3.8), layout="constrained")
        FigureCanvasAgg(figure)
        panel = figure.subplots()
        for colour, (name, values) in zip(COLOURS, curves.items(), strict=False):
            panel.plot(ks, values, marker="o", markersize=3, color=colour, label=name)
        panel.set_xlabel("K")
        panel.set_ylabel(what)
        panel.set_ylim(bottom=0)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend(frameon=False, fontsize=8)
    return figure
