"""Tables of the guides that come from the code: ``python docs/tables.py`` writes them anew.

A table stands between ``<!-- table: NAME -->`` and ``<!-- end of table -->``; a test says when one is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from sdc_problems.methods.registry import Method, built_in
from sdc_problems.objective import Objective
from sdc_problems.problems._generalization_objectives import generalization_objectives
from sdc_problems.problems._masking_objectives import masking_objectives, preclustering_objectives
from sdc_problems.problems._microaggregation_objectives import grouping_objectives, partition_objectives
from sdc_problems.problems.pram._objectives import CATALOGUE
from sdc_problems.problems.recipe._objectives import recipe_objectives
from sdc_problems.problems.social._objectives import graph_objectives

HERE = Path(__file__).parent
MARKED = re.compile(r"(<!-- table: (.+?) -->\n)(.*?)(<!-- end of table -->)", re.DOTALL)


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown table; bars in the cells are escaped."""
    cells = [list(header), *(list(row) for row in rows)]
    lines = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in cells]
    lines.insert(1, " | ".join(["---"] * len(cells[0])))
    return "".join(f"| {line} |\n" for line in lines)


def objectives(catalogue: Mapping[str, Objective]) -> str:
    """Table of a problem's objectives, each with its sentence, formula and source."""
    return table(
        ("objective", "meaning", "formula", "source"),
        ((f"`{o.name}`", o.sentence, f"`{o.formula}`", o.source) for o in catalogue.values()),
    )


def methods() -> str:
    """Table of the registered methods."""

    def needs(method: Method) -> str:
        own = [f"`{option.name}`" for option in method.options]
        given = ["`k`"] if method.takes_k else []
        given += [
            f"`{name}`"
            for name in ("l", "entropy_l", "t", "within", "max_suppression", "seconds")
            if method.takes(name)
        ]
        return ", ".join([*given, *(["hierarchies"] if method.takes("hierarchies") else []), *own])

    def drawn(method: Method) -> str:
        return "" if not method.random else "keep the seed secret" if method.secret_seed else "search"

    return table(
        ("`--method`", "what it does", "columns", "promises", "random numbers", "options"),
        (
            (
                f"`{m.name}`",
                m.title,
                f"one, {m.kinds[0]}" if m.one_column else "any" if len(m.kinds) == 3 else ", ".join(m.kinds),
                m.guarantee or "",
                drawn(m),
                needs(m),
            )
            for m in built_in().values()
        ),
    )


def keys_of_data() -> str:
    """Table of what a study's ``[data]`` may say."""
    from sdc_problems.studies.study.data import DataSection

    def default(value: object) -> str:
        return f"`{value}`" if isinstance(value, str) else ""

    fields = DataSection.model_fields.items()
    return table(
        ("key", "meaning", "default"),
        ((f"`{name}`", field.description or "", default(field.default)) for name, field in fields),
    )


def suite_instances(suite: str) -> str:
    """Table of a suite's instances, with all that is frozen of each."""
    from sdc_problems.suite import instances

    return table(
        ("instance", "objectives", "solutions", "front", "known", "how", "what is hard"),
        (
            (
                f"`{found.id}`",
                ", ".join(f"`{name}`" for name in found.objectives),
                found.space_in_words,
                str(found.n_points),
                found.known,
                found.proof,
                found.what_is_hard,
            )
            for found in instances(suite)
        ),
    )


def shipped_results() -> str:
    """Table of the results that come with the suite, at the long budget: the best, and NSGA-II with both operators."""
    from sdc_problems.studies.benchmark.shipped import samples_of, shipped
    from sdc_problems.studies.benchmark.show import short
    from sdc_problems.studies.benchmark.tables import best_of

    frame = shipped((), "long")
    marks = best_of(samples_of(frame))
    rows = []
    for name, group in frame.groupby("instance"):
        by = group.set_index("algorithm")
        ours, whole = by.loc["NSGA2"], by.loc["NSGA2-integer"]
        exact = len(ours["shares"]) > 0
        rows.append(
            (
                f"`{name}`",
                ", ".join(f"`{algorithm}`" for algorithm, mark in marks[str(name)].items() if mark == "*"),
                ", ".join(f"`{algorithm}`" for algorithm, mark in marks[str(name)].items() if mark == "~"),
                short(by["gap"].min()),
                *(short(row["gap"]) for row in (ours, whole)),
                *(f"{100 * row['found']:.0f} %" if exact else "" for row in (ours, whole)),
            )
        )
    heads = (
        "best",
        "not told from it",
        "its gap",
        "gap: `NSGA2`",
        "`NSGA2-integer`",
        "found: `NSGA2`",
        "`NSGA2-integer`",
    )
    return table(("instance", *heads), rows)


RECORDS, ATTRIBUTES, SECRETS = 1000, 8, 12
"""Size of the table for which pages say an objective's range."""

CATALOGUES: dict[str, Mapping[str, Objective]] = {
    "PBGProblem": generalization_objectives(RECORDS, ATTRIBUTES, SECRETS),
    "GOMMProblem": grouping_objectives(ATTRIBUTES),
    "MaskingProblem, numeric": masking_objectives(numeric=True, guard=True),
    "MaskingProblem, categorical": masking_objectives(numeric=False, guard=True),
    "MicroaggregationProblem": partition_objectives(2, RECORDS),
    "PRAMProblem and PRAMEquationProblem": CATALOGUE,
    "PreclusterProblem": preclustering_objectives(n=RECORDS, guard=True),
    "RecipeProblem": recipe_objectives(RECORDS, numbers=True, categories=True),
    "SocialGraphProblem": graph_objectives(2, RECORDS),
}
"""Objectives by the problems that have them."""

TABLES: dict[str, Callable[[], str]] = {
    "methods": methods,
    "keys of data": keys_of_data,
    **{f"objectives of {problem}": partial(objectives, found) for problem, found in CATALOGUES.items()},
    "core instances": partial(suite_instances, "core"),
    "public instances": partial(suite_instances, "public"),
    "shipped results": shipped_results,
}


def written(text: str) -> str:
    """Text of a guide with its tables written anew."""
    return MARKED.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[4]}", text)


if __name__ == "__main__":
    for guide in sorted(HERE.glob("*.md")):
        before = guide.read_text(encoding="utf-8")
        after = written(before)
        if after != before:
            guide.write_text(after, encoding="utf-8")
            print(f"{guide.name}: tables written anew")
