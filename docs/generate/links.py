"""Links of the site: names of the package in docstrings and texts, and files of the repository that are pages."""

from __future__ import annotations

import inspect
import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.inspect import stringify_signature

# Files on top of the repository, and the page that shows each.
TOP = {"CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog", "SECURITY.md": "security", "README.md": "index"}


def rewrite(app: Any, page: str, source: list[str]) -> None:
    """Lead links to files on top of the repository to the pages that show them."""
    up = "../" * page.count("/")
    for name, target in TOP.items():
        source[0] = re.sub(rf"\]\((?:\.\./)+{re.escape(name)}", f"]({up}about/{target}.md", source[0])


def name_links(app: Any, doctree: Any, page: str) -> None:
    """Turn literals that are public names into links, outside of headings and links."""
    known = app.env.domains.python_domain.objects
    short: dict[str, str] = {}
    for full, entry in known.items():
        if entry.objtype in ("class", "function", "exception") and not entry.aliased:
            short.setdefault(full.rpartition(".")[2], full)
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        name = re.sub(r"\(.*\)$", "", text).rpartition(".")[2]
        parent = literal.parent
        if isinstance(parent, (nodes.reference, pending_xref, nodes.title)) or "xref" in literal.get("classes", []):
            continue
        if name not in short or not re.fullmatch(r"(sdc_problems\.)?[\w.]+(\([^()]*\))?", text) or name.islower():
            continue
        entry = known[short[name]]
        if entry.docname == page:
            continue
        uri = app.builder.get_relative_uri(page, entry.docname) + "#" + entry.node_id
        link = nodes.reference("", "", internal=True, refuri=uri)
        parent.replace(literal, link)
        link += literal


def missing(app: Any, env: Any, node: Any, child: Any) -> Any:
    """Find a name of another room: `MDAV` in a docstring need not say where it lives."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains.python_domain
    wanted = node["reftarget"].lstrip(".~").removesuffix("()")
    found = [full for full, entry in domain.objects.items() if full.endswith("." + wanted) and not entry.aliased]
    if not found:
        return None
    full = min(found, key=lambda name: (name.count("."), name))
    entry = domain.objects[full]
    uri = app.builder.get_relative_uri(node.get("refdoc"), entry.docname) + "#" + entry.node_id
    link = nodes.reference("", "", internal=True, refuri=uri)
    link += child
    return link


def bars(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Keep the bars of a formula: ``|D|`` is a size, not a substitution."""
    for number, line in enumerate(lines):
        parts = re.split(r"(``.*?``)", line)
        parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
        lines[number] = "".join(parts)


def signature(app: Any, what: str, name: str, value: Any, *rest: Any) -> tuple[str, None] | None:
    """Signature of a constructor: problems have a ``__new__`` that would hide it."""
    if what != "class" or "__init__" not in dir(value):
        return None
    if not any("__new__" in vars(base) for base in value.__mro__[:-1] if base.__module__.startswith("sdc_problems")):
        return None
    found = inspect.signature(value.__init__)
    given = list(found.parameters.values())[1:]
    return stringify_signature(found.replace(parameters=given), show_annotation=False), None


def setup(app: Any) -> None:
    """Connect the rules."""
    app.connect("source-read", rewrite)
    app.connect("doctree-resolved", name_links)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", bars)
    app.connect("missing-reference", missing)
