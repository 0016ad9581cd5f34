"""Pages of the benchmark instances: what each is, its front and what is known of it."""

from __future__ import annotations

import tables

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
    file = found.path.read_text(encoding="utf-8")
    text += f"## Its file\n\n```toml\n{file}```\n"
    return text


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
