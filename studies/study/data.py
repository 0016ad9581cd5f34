"""The data section of a study: a table by name or from a CSV file, its roles and its hierarchies."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from sdc_problems._files import check_encoding, resolved
from sdc_problems._tables.formats import format_of, holds_links
from sdc_problems.errors import SDCError, SDCWarning, did_you_mean
from sdc_problems.studies.study.links import LinksSection, read_graph
from sdc_problems.studies.study.validation import Section, shown

if TYPE_CHECKING:
    from sdc_problems.datasets import Dataset
    from sdc_problems.graph import SocialGraph
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata


class HierarchySection(Section):
    """Hierarchy of an attribute: one of file, intervals, masking, levels, suppression."""

    file: str | None = Field(default=None, description="ARX-format CSV file: value; label; more general label; …")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = Field(default=";", description="What separates it.")
    intervals: list[float | str] | None = Field(
        default=None,
        description="Widths of the bands, each a multiple of the one before; of dates day, week, month, quarter, year,"
        " decade, or several, as in '5 years'.",
    )
    origin: float = Field(default=0.0, description="Where a band begins.")
    top: bool = Field(default=True, description="Whether the bands end in a level of all values.")
    masking: int | None = Field(default=None, ge=1, description="Number of trailing characters to hide, one per level.")
    levels: dict[str, list[str]] | None = Field(default=None, description="Labels of each value, from level 1 on.")
    suppression: bool = Field(default=False, description="Two levels only: the value, or nothing.")

    @model_validator(mode="after")
    def _one_way(self) -> HierarchySection:
        given = [self.file is not None, self.intervals is not None, self.masking is not None, self.levels is not None,
                 self.suppression]  # fmt: skip
        if sum(given) != 1:
            raise ValueError("give exactly one of file, intervals, masking, levels, suppression = true")
        return self


class DataSection(Section):
    """Source of the records, and roles and kinds of their columns."""

    name: str | None = Field(default=None, description='A table by name ("people" is embedded; see `sdc data list`).')
    records: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description='Number of records of "people" or "crawl".'
    )
    file: str | None = Field(
        default=None,
        description="A CSV file with a header line, or a graph as GraphML or GML; relative paths start at the study"
        " file.",
    )
    edges: str | None = Field(
        default=None,
        description="File of the links between the records of file: pairs of their identifiers, as Gephi (CSV), SNAP"
        " (blanks or tabs) and spreadsheets write them.",
    )
    links: LinksSection | None = Field(default=None, description="Reading of the links.")
    quasi_identifiers: list[str] | None = Field(
        default=None, description="Columns that may identify a person together."
    )
    sensitive: list[str] | None = Field(default=None, description="Columns that must not be learned about a person.")
    identifiers: list[str] | None = Field(default=None, description="Columns that identify a person directly.")
    keep: list[str] | None = Field(
        default=None,
        description="All columns without a role that a release leaves as they are; the others without a role are left"
        " out. If not given all of them leave, and one whose values are nearly all different is refused.",
    )
    kinds: dict[str, Literal["numeric", "ordinal", "nominal"]] = Field(
        default_factory=dict,
        description="Kind of a column: numeric, ordinal or nominal; judged by its values if not given.",
    )
    orders: dict[str, list[str | int | float]] = Field(
        default_factory=dict, description="Categories of ordinal columns, from first to last."
    )
    missing: Literal["error", "category", "star", "drop"] = Field(
        default="error",
        description="Meaning of an empty cell: a mistake (error), a category of its own, any value (star), or a reason"
        " to leave the record out (drop).",
    )
    na_values: list[str] | None = Field(default=None, description="Text that stands for a missing value.")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = Field(
        default=None, description="What separates the cells; found where it is plain if not given, else a comma."
    )
    encoding: str | None = Field(
        default=None, description="UTF-8 if not given, or what a byte order mark at the file's beginning says."
    )
    decimal: Annotated[str, Field(min_length=1, max_length=1)] = Field(
        default=".", description="Decimal mark of numbers, such as a comma."
    )
    thousands: str | None = Field(default=None, description="Mark between thousands, such as a point.")
    hierarchies: dict[str, HierarchySection] = Field(
        default_factory=dict,
        description="Hierarchy of a column: {intervals = [5, 10]}, {masking = 3}, {suppression = true}, {levels = {…}}"
        ' or {file = "town.csv"}.',
    )

    @model_validator(mode="after")
    def _one_source(self) -> DataSection:
        if (self.name is None) == (self.file is None):
            raise ValueError('give either name (such as "people") or file')
        if self.records is not None and self.name not in ("people", "crawl"):
            raise ValueError('records is for name = "people" or "crawl" only')
        if self.file is not None and holds_links(self.file) and self.edges is not None:
            raise ValueError(f"{shown(self.file)} already contains the links: omit edges")
        if self.file is not None and self.links is not None and self.edges is None and not holds_links(self.file):
            raise ValueError("links says how to read links, but edges names no file: add edges")
        if self.name is not None:
            given = {"kinds", "orders", "missing", "na_values", "delimiter", "encoding", "decimal", "thousands"}
            given |= {"edges", "links"}
            for key in sorted(given & self.model_fields_set):
                raise ValueError(f"{key} is for a file only, and {shown(self.name)} has its own: remove it")
        return self


@dataclass(frozen=True)
class Table:
    """The loaded data of a study.

    Attributes
    ----------
    data, hierarchies
        The records, and the hierarchies of their attributes.
    digest
        SHA-256 of both, whatever file they came from.
    file
        The file; None for a table by name.
    graph
        The records with their links; None for a table without links.
    edges
        The file of the links, if it is a separate one.
    """

    data: Microdata
    hierarchies: Mapping[str, Hierarchy]
    digest: str
    file: Path | None
    graph: SocialGraph | None = None
    edges: Path | None = None


def load_table(section: DataSection, folder: Path) -> Table:
    """Load the records and hierarchies that a study names; relative paths start at ``folder``."""
    file = edges = graph = None
    if section.name is not None:
        dataset = _by_name(section)
        data, hierarchies = dataset.data, dict(dataset.hierarchies)
        graph = None if dataset.edges is None else dataset.graph
    else:
        assert section.file is not None
        file = resolved(folder / section.file)
        edges = None if section.edges is None else resolved(folder / section.edges)
        hierarchies = {}
        if edges is None and not holds_links(file):
            data = _from_file(section, file)
        else:
            graph = read_graph(file, edges, section.links or LinksSection(), _reading(section, file))
            data = graph.data
    for name, how in section.hierarchies.items():
        if name not in data.names:
            raise SDCError(f"[data.hierarchies] has no column {shown(name)}{did_you_mean(name, data.names)}")
        hierarchies[name] = load_hierarchy(how, data, name, folder)
    whole = data.digest if graph is None else graph.digest
    facts = [whole, sorted((name, h.digest) for name, h in hierarchies.items())]
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return Table(data, hierarchies, digest, file, graph, edges)


def _by_name(section: DataSection) -> Dataset:
    from sdc_problems import datasets

    assert section.name is not None
    if section.records is None:
        dataset = datasets.load(section.name)
    else:
        dataset = (datasets.crawl if section.name == "crawl" else datasets.people)(section.records)
    data = dataset.data
    if not (section.quasi_identifiers is section.sensitive is section.identifiers is None):
        quasi = data.quasi_identifiers if section.quasi_identifiers is None else section.quasi_identifiers
        sensitive = data.sensitive if section.sensitive is None else section.sensitive
        identifiers = data.identifiers if section.identifiers is None else section.identifiers
        taken = [*(section.quasi_identifiers or ()), *(section.sensitive or ()), *(section.identifiers or ())]
        data = data.with_roles(
            quasi_identifiers=[n for n in quasi if section.quasi_identifiers is not None or n not in taken],
            sensitive=[n for n in sensitive if section.sensitive is not None or n not in taken],
            identifiers=[n for n in identifiers if section.identifiers is not None or n not in taken],
        )
    kept = set(data.quasi_identifiers)
    hierarchies = {name: h for name, h in dataset.hierarchies.items() if name in kept}
    return replace(dataset, data=data, hierarchies=hierarchies)


def _from_file(section: DataSection, file: Path) -> Microdata:
    from sdc_problems.microdata import Microdata

    return Microdata.from_file(file, **_reading(section, file))


def written_as(section: DataSection, file: Path) -> dict[str, str]:
    """Delimiter and encoding of a table's file, given in the study or detected."""
    from sdc_problems._tables.look import found_delimiter, found_encoding

    encoding = section.encoding
    plain = not holds_links(file) and format_of(file) is None  # other formats define them
    if encoding is None:
        encoding = found_encoding(file) if plain else "utf-8"
    else:
        check_encoding(encoding)
    delimiter = section.delimiter
    if delimiter is None:
        delimiter = (found_delimiter(file, encoding=encoding) if plain else None) or ","
    return {"delimiter": delimiter, "encoding": encoding}


def _reading(section: DataSection, file: Path) -> dict[str, Any]:
    """Options for reading a table; a detected delimiter is reported unless it is the usual one."""
    written = written_as(section, file)
    if section.delimiter is None and written["delimiter"] != ",":
        found = json.dumps(written["delimiter"])
        warnings.warn(f"{file.name} is read with delimiter = {found}, which was detected", SDCWarning, stacklevel=2)
    options: dict[str, Any] = {} if section.na_values is None else {"na_values": section.na_values}
    roles = {name: getattr(section, name) or () for name in ("quasi_identifiers", "sensitive", "identifiers")}
    same = ("kinds", "orders", "missing", "decimal", "thousands")
    return {**roles, **written, **{name: getattr(section, name) for name in same}, **options}


def load_hierarchy(how: HierarchySection, data: Microdata, name: str, folder: Path) -> Hierarchy:
    """Make the hierarchy of a column from a study's section; a relative path starts at `folder`."""
    from sdc_problems.hierarchy import Hierarchy

    if how.file is not None:
        return Hierarchy.from_csv(folder / how.file, name=name, delimiter=how.delimiter)
    if how.intervals is not None:
        _check_dates(how.intervals, data, name)
        return Hierarchy.intervals(data.categories(name), how.intervals, how.origin, top=how.top, name=name)
    if how.masking is not None:
        return Hierarchy.masking(data.attribute(name).labels, levels=how.masking, name=name)
    if how.levels is not None:
        return Hierarchy.from_levels(how.levels, name=name)
    return Hierarchy.suppression(data.attribute(name).labels, name=name)


def _check_dates(widths: Sequence[object], data: Microdata, name: str) -> None:
    """Name the record that has no date if bands of dates are wanted."""
    from sdc_problems._tables.dates import NO_DATE, are_dates, no_date

    labels = data.attribute(name).labels
    if are_dates(labels, widths) and (odd := no_date(labels)) is not None:
        record = int(data.rows[data.codes(name)[:, 0].tolist().index(odd)]) + 1
        raise SDCError(f"hierarchy {name!r}: the value of record {record:,} (not shown: it is data) {NO_DATE}")
