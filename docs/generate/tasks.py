"""Pages of the tasks: what each decides, its options, objectives, searches, and its example study."""

from __future__ import annotations

import inspect

import tables

from generate.reference import home
from sdc_problems._signature import parameters
from sdc_problems.studies.tasks import Task, available_tasks

GUIDES = {
    "pbg": "generalization",
    "gomm": "gomm",
    "microaggregation": "microaggregation",
    "social": "graphs",
    "pram": "pram",
    "pram-equations": "pram",
    "masking": "masking",
    "recipe": "recipes",
}


def page(task: Task) -> str:
    """Page of one task."""
    cls = task.problem_class
    text = f"# {task.name}\n\n*{task.title}.*\n\n"
    doc = (inspect.getdoc(cls) or "").split("\n\nParameters\n")[0].replace("``", "`")
    text += f"{doc}\n\n"
    where = home("sdc_problems", cls.__name__, cls)
    text += f"**Problem.** [`{cls.__name__}`](../reference/{where}.rst). "
    if task.name in GUIDES:
        text += f"**Guide.** [How to use it](../../{GUIDES[task.name]}.md).\n\n"
    text += f"**Random numbers in a release.** {'Yes: keep the seed secret.' if task.random else 'No.'} "
    text += f"**Records left out.** {'It may.' if task.suppresses else 'None.'}\n\n"
    if task.searches:
        rows = [(f"`{search.name}`", search.title) for search in task.searches]
        text += f"## Searches made for it\n\nBeside those of pymoo:\n\n{tables.table(('name', 'what it is'), rows)}\n"
    for problem, catalogue in tables.CATALOGUES.items():
        if cls.__name__ in problem:
            rows = [(f"[`{o.name}`](../measures/{o.name}.md)", o.sentence) for o in catalogue.values()]
            kind = problem.partition(", ")[2]
            text += f"## Objectives{', ' + kind + ' columns' if kind else ''}\n\n"
            text += f"{tables.table(('name', 'how to read it'), rows)}\n"
    known = parameters(cls)
    rows = [
        (f"`{name}`", "required" if field.is_required() else f"`{known[name].default!r}`", known[name].help)
        for name, field in task.options.model_fields.items()
        if name in known
    ]
    text += f"## Options\n\nKeys of `[problem]` in a study, and arguments of `{cls.__name__}`:\n\n"
    text += f"{tables.table(('option', 'default', 'meaning'), rows)}\n"
    study = task.example.read_text(encoding="utf-8")
    text += f"## An example study\n\n`sdc schema --example {task.name}` prints it.\n\n```toml\n{study}```\n"
    return text


def pages() -> dict[str, str]:
    """All pages by their file's name."""
    known = available_tasks()
    found = {f"tasks/{name}.md": page(task) for name, task in known.items()}
    rows = [(f"[`{t.name}`]({t.name}.md)", t.title, f"`{t.problem_class.__name__}`") for t in known.values()]
    index = "# Tasks\n\nA task is a problem that a study can name.\n\n"
    index += tables.table(("task", "what is decided", "problem"), rows)
    index += "\n```{toctree}\n:hidden:\n" + "\n".join(known) + "\n```\n"
    found["tasks/index.md"] = index
    return found
