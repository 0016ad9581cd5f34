"""Options of commands that read links between records, and the names in their errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._options import names, pairs
from sdc_problems.studies.commands.files._reading import Reading, format_of, say_gaps

if TYPE_CHECKING:
    from sdc_problems.graph import SocialGraph

F = TypeVar("F", bound=Callable[..., Any])

EDGES = "File of links: CSV pairs, GraphML or GML."
HOW = "Options of links: id=…,directed=true,…"


def links_options(function: F) -> F:
    """Options on the file of links and how it is read."""
    for option in reversed(
        [
            click.option("--edges", type=click.Path(path_type=Path), help=EDGES),
            click.option("--links", metavar="NAME=VALUE,…", help=HOW),
        ]
    ):
        function = option(function)
    return function


def _said(name: str, value: str) -> str:
    return f"--links {name}=" + (value.strip('"').lower() if value else "")


@dataclass(frozen=True)
class Linked:
    """Values of `links_options`.

    Attributes
    ----------
    edges
        The file, or None.
    options
        Options for reading it.
    """

    edges: Path | None
    options: dict[str, str | bool]

    @classmethod
    def of(cls, edges: Path | None, links: str | None) -> Linked:
        """Take the values of the options."""
        found: dict[str, str | bool] = dict(pairs(tuple(names(links or "")), "--links"))
        if "directed" in found:
            found["directed"] = {"true": True, "false": False}.get(str(found["directed"]).lower(), found["directed"])
        return cls(edges, found)

    def there(self, file: Path) -> bool:
        """Whether a file is read with links; options for links without links are refused."""
        from sdc_problems._tables.formats import holds_links

        if holds_links(file) and self.edges is not None:
            raise SDCError(f"{file.name} already contains the links: omit --edges")
        found = holds_links(file) or self.edges is not None
        if self.options and not found:
            raise SDCError("--links says how to read links: name their file by --edges")
        return found

    def read(self, file: Path, reading: Reading, **roles: Any) -> tuple[SocialGraph, dict[str, Any]]:
        """Read a graph; return it with the encoding and delimiter of its table, and report gaps.

        Parameters
        ----------
        file
            The table, or a graph as GraphML or GML.
        reading
            How the table is read.
        **roles
            Roles, kinds and orders of its columns.
        """
        from sdc_problems._tables.formats import holds_links
        from sdc_problems.studies.study.links import LinksSection, read_graph
        from sdc_problems.studies.study.validation import validated

        links = validated(LinksSection, self.options, "--links")
        form: dict[str, Any] = {}
        if holds_links(file):
            reading.refuse_marks(file)
        else:
            form = format_of(file, encoding=reading.encoding, delimiter=reading.delimiter)
        table = {**roles, **reading.marks, "missing": reading.missing, **form}
        graph = read_graph(file, self.edges, links, table, _said)
        say_gaps(graph.data, reading.missing)
        return graph, form
