"""Pages of the tasks: what each decides, its options, objectives, searches, and its example study.

Problems that a study cannot name have a page of the same kind, without the parts that are about studies.
"""

from __future__ import annotations

import inspect

import tables

import sdc_problems
from generate.reference import home
from sdc_problems._signature import REQUIRED, parameters
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
    "precluster": "preclustering",
}
OTHERS = {"precluster": ("PreclusterProblem", "How to cluster the records before each cluster is protected")}
"""Problems that no study can name: the class in `sdc_problems`, and the title."""


def head(name: str, title: str, cls: type) -> str:
    """First part of a page: title, docstring, links to reference and guide."""
    text = f"# {name}\n\n*{title}.*\n\n"
    doc = (inspect.getdoc(cls) or "").split("\n\nParameters\n")[0].replace("``", "`")
    text += f"{doc}\n\n"
    where = home("sdc_problems", cls.__name__, cls)
    text += f"**Problem.** [`{cls.__name__}`](../reference/{where}.rst). "
    if name in GUIDES:
        text += f"**Guide.** [How to use it](../../{GUIDES[name]}.md).\n\n"
    return text


def objectives(cls: type) -> str:
    """Tables of the objectives that a problem can have."""
    text = ""
    for problem, catalogue in tables.CATALOGUES.items():
        if cls.__name__ in problem:
            rows = [(f"[`{o.name}`](../measures/{o.name}.md)", o.sentence) for o in catalogue.values()]
            kind = problem.partition(", ")[2]
            text += f"## Objectives{', ' + kind + ' columns' if kind else ''}\n\n"
            text += f"{tables.table(('name', 'how to read it'), rows)}\n"
    return text


def page(task: Task) -> str:
    """Page of one task."""
    cls = task.problem_class
    text = head(task.name, task.title, cls)
    text += f"**Random numbers in a release.** {'Yes: keep the seed secret.' if task.random else 'No.'} "
    text += f"**Records left out.** {'It may.' if task.suppresses else 'None.'}\n\n"
    if task.searches:
        rows = [(f"`{search.name}`", search.title) for search in task.searches]
        text += f"## Searches made for it\n\nBeside those of pymoo:\n\n{tables.table(('name', 'what it is'), rows)}\n"
    text += objectives(cls)
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


def other(name: str) -> str:
    """Page of a problem that no study can name."""
    class_name, title = OTHERS[name]
    cls = getattr(sdc_problems, class_name)
    text = head(name, title, cls) + objectives(cls)
    rows = [
        (f"`{option.name}`", "required" if option.default is REQUIRED else f"`{option.default!r}`", option.help)
        for option in parameters(cls).values()
    ]
    return text + f"## Arguments\n\n{tables.table(('argument', 'default', 'meaning'), rows)}\n"


def pages() -> dict[str, str]:
    """All pages by their file's name."""
    known = available_tasks()
    found = {f"tasks/{name}.md": page(task) for name, task in known.items()}
    found |= {f"tasks/{name}.md": other(name) for name in OTHERS}
    rows = [(f"[`{t.name}`]({t.name}.md)", t.title, f"`{t.problem_class.__name__}`") for t in known.values()]
    index = "# Tasks\n\nA task is a problem that a study can name.\n\n"
    index += tables.table(("task", "what is decided", "problem"), rows)
    rows = [(f"[`{name}`]({name}.md)", title, f"`{problem}`") for name, (problem, title) in OTHERS.items()]
    index += "\n## Problems without a task\n\nThey are used from Python: studies cannot name them.\n\n"
    index += tables.table(("page", "what is decided", "problem"), rows)
    index += "\n```{toctree}\n:hidden:\n" + "\n".join([*known, *OTHERS]) + "\n```\n"
    found["tasks/index.md"] = index
    return found
