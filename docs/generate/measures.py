"""Pages of the measures: what each objective says, its formula, source and range, and the function that computes it."""

from __future__ import annotations

import tables

from generate.reference import home, public, summary
from sdc_problems.objective import Objective

CONCERNS = {"risk": "Disclosure risk", "loss": "Information loss", "": "Both, or neither"}


def objectives() -> dict[str, dict[str, Objective]]:
    """Objectives by name, each with the problems that have it."""
    found: dict[str, dict[str, Objective]] = {}
    for problem, catalogue in tables.CATALOGUES.items():
        for name, objective in catalogue.items():
            found.setdefault(name, {})[problem] = objective
    return found


def interval(objective: Objective) -> str:
    """Range of an objective's values, as text."""
    low, high = (f"{bound:,.10g}".replace("inf", "∞") for bound in objective.bounds)
    return f"{low} … {high}{' ' + objective.unit if objective.unit else ''}"


def facts(objective: Objective) -> str:
    """Part of an objective that one problem says."""
    better = {"min": "smaller", "max": "larger"}[objective.sense]
    rows = [
        ("How to read it", objective.sentence),
        ("Formula", f"`{objective.formula}`"),
        ("Source", objective.source or "this package"),
        (
            "Range",
            f"{interval(objective)}, in a table of {tables.RECORDS:,} records and {tables.ATTRIBUTES} attributes",
        ),
        ("Better", better),
    ]
    return "".join(f"**{name}.** {text}\n\n" for name, text in rows if text)


def page(name: str, by_problem: dict[str, Objective]) -> str:
    """Page of one objective; problems that say the same share a paragraph."""
    first = next(iter(by_problem.values()))
    text = f"# {name}\n\n*{first.label[0].upper()}{first.label[1:]}.*\n\n"
    same: dict[tuple[str, str], list[str]] = {}
    for problem, objective in by_problem.items():
        same.setdefault((objective.meaning, objective.formula), []).append(problem)
    for problems in same.values():
        if len(same) > 1:
            text += f"## In {', '.join(problems)}\n\n"
        text += facts(by_problem[problems[0]])
    text += f"**Objective of.** {', '.join(by_problem)}\n\n"
    functions = dict(public("sdc_problems.evaluators"))
    if name in functions:
        where = home("sdc_problems.evaluators", name, functions[name])
        text += f"**As a function of arrays.** [`{name}`](../reference/{where}.rst): {summary(functions[name])}\n"
    return text


def pages() -> dict[str, str]:
    """All pages by their file's name."""
    known = objectives()
    found = {f"measures/{name}.md": page(name, problems) for name, problems in known.items()}
    index = (
        "# Measures\n\nEvery objective that a problem can be searched by, and that studies and reports state. "
        "The [reference](../reference/sdc_problems.evaluators.rst) has these and all other measures as functions of "
        "arrays.\n\n"
    )
    for concern, title in CONCERNS.items():
        chosen = {
            name: next(iter(problems.values()))
            for name, problems in known.items()
            if (next(iter(problems.values())).concerns or "") == concern
        }
        rows = [(f"[`{name}`]({name}.md)", one.label, one.sentence) for name, one in chosen.items()]
        index += f"## {title}\n\n{tables.table(('name', 'what it is', 'how to read it'), rows)}\n"
    index += "```{toctree}\n:hidden:\n" + "\n".join(known) + "\n```\n"
    found["measures/index.md"] = index
    return found
