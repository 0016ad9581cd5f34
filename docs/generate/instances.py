"""Pages of the benchmark instances: what each is, its front and what is known of it."""

from __future__ import annotations

import tables

from sdc_problems.studies.benchmark.shipped import shipped
from sdc_problems.studies.benchmark.show import short
from sdc_problems.suite import Instance, instances

SUITES = ("core", "public")


def page(found: Instance) -> str:
    """Page of one instance."""
    name = found.id
    rows = [
        ("task", f"`{found.task}`"),
        ("objectives", ", ".join(f"`{objective}`" for objective in found.objectives)),
        ("solutions", found.space_in_words),
        ("front", f"{found.n_points} points, {found.known}"),
        ("proof", found.proof),
        ("budgets", ", ".join(f"{key} {value:,} evaluations" for key, value in found.budgets.items())),
        ("ideal", ", ".join(f"{value:.6g}" for value in found.ideal)),
        ("nadir", ", ".join(f"{value:.6g}" for value in found.nadir)),
        ("reference point", ", ".join(f"{value:.6g}" for value in found.reference)),
    ]
    text = f"# {name}\n\n{found.title}.\n\n**What is hard.** {found.what_is_hard}\n\n"
    text += tables.table(("", ""), rows)
    text += "\nObjectives are minimized in the front as it is stored; larger-is-better ones are negated.\n\n"
    command = f"sdc benchmark run --instance {name} --algorithm NSGA2 --seeds 5 --budget short --out results"
    text += f"```{{code-block}} bash\n{command}\n```\n\n"
    code = f'from sdc_problems.suite import instance\n\nproblem = instance("{name}").problem()'
    text += f"```{{code-block}} python\n{code}\n```\n\n"
    text += results(found)
    file = found.path.read_text(encoding="utf-8")
    text += f"## Its file\n\n```toml\n{file}```\n"
    return text


def results(found: Instance) -> str:
    """Section with the results that come with the suite, best first; empty if there are none of the instance."""
    table = shipped((), "long")
    table = table[table["instance"] == found.id].sort_values("gap", kind="stable")
    if not len(table):
        return ""
    heads = ("algorithm", "seeds", "gap", "found", "solved")
    rows = (
        (
            f"`{row['algorithm']}`",
            str(row["seeds"]),
            short(row["gap"]),
            f"{100 * row['found']:.0f} %" if row["shares"] else "",
            str(row["solved"]),
        )
        for row in table.to_dict("records")
    )
    after = f"After {int(table['budget'].iloc[0]):,} evaluations, medians of the seeds: "
    text = f"## Results\n\n{tables.table(heads, rows)}\n{after}"
    text += "share of the front's hypervolume that is missing, share of its points, seeds that found all of it. "
    return text + "[How to read them](../../benchmarking.md#read-the-table).\n\n"


def pages() -> dict[str, str]:
    """All pages by their file's name."""
    found = {}
    index = "# Benchmark instances\n\n[The guide](../../suite.md) says what an instance promises.\n\n"
    listed = []
    for suite in SUITES:
        index += f"## {suite.capitalize()}\n\n"
        known = list(instances(suite))
        for one in known:
            found[f"instances/{one.id.replace('@', '-v')}.md"] = page(one)
            listed.append(one.id.replace("@", "-v"))
        rows = [(f"[`{i.id}`]({i.id.replace('@', '-v')}.md)", i.title, str(i.n_points), i.known) for i in known]
        index += f"{tables.table(('instance', 'what it is', 'points', 'front'), rows)}\n"
    index += "```{toctree}\n:hidden:\n" + "\n".join(listed) + "\n```\n"
    found["instances/index.md"] = index
    return found
