"""Links of a study's data section, whose records are then the nodes of a social graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from sdc_problems._tables.formats import markup_format
from sdc_problems.errors import SDCError
from sdc_problems.studies.study.validation import Section

if TYPE_CHECKING:
    from sdc_problems.graph import SocialGraph

_ARGUMENT = re.compile(r"\b(id|source|target|weight|directed|self_loops|repeated)=(\"\w+\"|True)?")


class LinksSection(Section):
    """Options for reading links: columns of the file of links, and the meaning of its lines."""

    id: str = Field(default="id", description="Column of the records that links name them by; it is never released.")
    source: str | None = Field(default=None, description="Column of a link's first end; by default found by its name.")
    target: str | None = Field(default=None, description="Column of its other end.")
    weight: str | None = Field(default=None, description="Column of weights: kept and released, not measured.")
    directed: bool | None = Field(
        default=None, description="Whether a link leads one way; by default as the file says."
    )
    self_loops: Literal["error", "drop"] = Field(default="error", description="Links from a record to itself.")
    repeated: Literal["error", "sum"] = Field(default="error", description="Links that stand there more than once.")


@contextmanager
def said_as(how: Callable[[str, str], str]) -> Iterator[None]:
    """Make errors of the graph's readers name the options that a person can set.

    Parameters
    ----------
    how
        Function from an argument's name and value (which may be empty) to the option as a person writes it.
    """
    try:
        yield
    except SDCError as error:
        text = _ARGUMENT.sub(lambda found: how(found[1], found[2] or ""), str(error))
        raise type(error)(text) from error


def _key(name: str, value: str) -> str:
    return f"data.links.{name}" + (f" = {value.lower()}" if value else "")


def read_graph(
    file: Path,
    edges: Path | None,
    links: LinksSection,
    table: Mapping[str, Any],
    how: Callable[[str, str], str] = _key,
) -> SocialGraph:
    """Read persons and their links.

    Parameters
    ----------
    file
        The records: CSV; or GraphML or GML, which also hold the links.
    edges
        The links, if they are in a separate file.
    links
        Options for reading them.
    table
        Options of `Microdata.from_csv`.
    how
        As for `said_as`.
    """
    from sdc_problems.graph import SocialGraph

    with said_as(how):
        if edges is not None:
            options = links.model_dump()
            return SocialGraph.from_csv(file, edges, **options, **table)
        known = ("quasi_identifiers", "sensitive", "identifiers", "kinds", "orders", "missing", "na_values")
        given = {name: value for name, value in table.items() if name in known}
        for name in ("source", "target", "directed"):
            if getattr(links, name) is not None:
                raise SDCError(f"{file.name} defines its links itself: omit {name}=")
        reader = SocialGraph.from_gml if markup_format(file) == "GML" else SocialGraph.from_graphml
        options = {name: getattr(links, name) for name in ("id", "weight", "self_loops", "repeated")}
        return reader(file, **options, **given)
