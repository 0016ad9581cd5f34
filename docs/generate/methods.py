"""Pages of the protection methods: what registry and docstring say of each, and what it does to a column."""

from __future__ import annotations

import inspect
import shlex
from pathlib import Path

import tables

from generate import pictures
from generate.reference import ROOMS, public
from sdc_problems.methods.registry import Method, built_in
from sdc_problems.studies.commands.files.protect._method_options import as_typed


def story(method: Method) -> str:
    """Docstring of the function up to its parameters, without the first sentence."""
    text = inspect.getdoc(method.function) or ""
    paragraphs = text.split("\n\nParameters\n")[0].split("\n\n")[1:]
    return "\n\n".join(paragraph.replace("``", "`") for paragraph in paragraphs)


def notes(method: Method) -> str:
    """Notes of the docstring: source and complexity."""
    text = inspect.getdoc(method.function) or ""
    if "\nNotes\n-----\n" not in text:
        return ""
    return text.split("\nNotes\n-----\n")[1].split("\n\nExamples\n")[0].replace("``", "`").replace("|", "\\|").strip()


def function_page(method: Method) -> str:
    """Link to the function's page, if it is public."""
    for room in ROOMS:
        for name, value in public(room):
            if value is method.function:
                return f"The function is [`{room}.{name}`](../reference/{room}.{name}.rst).\n"
    return ""


def command(method: Method) -> str:
    """A command that can be copied."""
    parts = ["sdc", "protect", "people.csv", "--method", method.name]
    parts += ["--k", "5"] if method.takes_k else []
    parts += as_typed(method.example)
    named = [name for value in method.example.values() if isinstance(value, dict) for name in value]
    numbers, words = ["age", "hours"], ["town", "illness"]
    columns = named or ([*numbers] if "numeric" in method.kinds else [*words])
    parts += ["--quasi-identifiers", ",".join(columns[:1] if method.one_column else columns)]
    return shlex.join([*parts, "--out", f"{method.name}.csv"])


def page(method: Method, picture: str | None) -> str:
    """Page of one method."""
    text = f"# {method.name}\n\n*{method.title[0].upper()}{method.title[1:]}.*\n\n"
    text += f"{story(method)}\n\n" if story(method) else ""
    if picture:
        text += f"![What {method.name} does to a column]({picture})\n\n*Drawn with this page: {pictures.SAYS}.*\n\n"
    kinds = f"one {method.kinds[0]} column" if method.one_column else f"{', '.join(method.kinds)} columns"
    drawn = "no"
    if method.random:
        drawn = "yes; who knows the seed can undo it" if method.secret_seed else "yes, for its search only"
    text += f"**Formula.** {method.formula.replace('*', chr(92) + '*')}\n\n"
    text += f"**Guarantee.** {method.promise[0].upper()}{method.promise[1:]}.\n\n"
    text += f"**Use it when.** {method.use}\n\n**Use another one when.** {method.avoid}\n\n"
    text += f"**Columns.** {kinds}. **Random numbers.** {drawn}.\n\n"
    text += f"```{{code-block}} bash\n{command(method)}\n```\n\n"
    if method.options:
        rows = [
            (f"`{o.name}`", "required" if repr(o.default) == "REQUIRED" else f"`{o.default}`", o.help)
            for o in method.options
        ]
        text += f"## Options\n\n{tables.table(('option', 'default', 'meaning'), rows)}\n"
    if notes(method):
        text += f"## Source and cost\n\n{notes(method)}\n\n"
    return text + function_page(method)


def pages(folder: Path) -> dict[str, str]:
    """All pages by their file's name; pictures are drawn beside them."""
    found = {}
    for method in built_in().values():
        picture = pictures.column(method, folder / "methods")
        found[f"methods/{method.name}.md"] = page(method, picture)
    rows = [(f"[`{m.name}`]({m.name}.md)", m.title, m.guarantee or "", m.use) for m in built_in().values()]
    index = "# Protection methods\n\nEach is a method of `sdc protect` and `sdc_problems.protect`.\n\n"
    index += tables.table(("method", "what it does", "promises", "use it when"), rows)
    index += "\n```{toctree}\n:hidden:\n" + "\n".join(built_in()) + "\n```\n"
    found["methods/index.md"] = index
    return found
