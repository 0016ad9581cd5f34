"""Reading of a command's files: options, detection where they are not given, and errors that name the options."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    from sdc_problems.microdata import Microdata

F = TypeVar("F", bound=Callable[..., Any])

_ARGUMENTS = (
    (re.compile(r"\b(delimiter|encoding|decimal|thousands|missing)=('(?:[^'\\]|\\.)*')"), r"--\1 \2"),
    (re.compile(r"^(delimiter|decimal|thousands)(?= (?:cannot|must) be)"), r"--\1"),
    (re.compile(r"^decimal and thousands(?= are both)"), "--decimal and --thousands"),
    (re.compile(r"(--decimal ',') to from_csv"), r"\1"),
    (re.compile(r"\bthousands= (or|and) decimal= (?:to|of) from_csv"), r"--thousands \1 --decimal"),
    (re.compile(r"\bkinds=\{'([^']*)': '(\w+)'\}"), r"--kinds '\1=\2'"),
    (re.compile(r"\bna_values\b=?"), "--na-values"),
    (re.compile(r"\borders\b(?:\['[^']*'\])?"), "--order"),
    (re.compile(r"\bkinds\b(?:\['[^']*'\])?(?= (?:names|declares|must))"), "--kinds"),
    (re.compile(r"\b(sensitive|identifiers)(?= names a column)"), r"--\1"),
)


def reading_options(of: str) -> Callable[[F], F]:
    """Options on the format of a CSV file, and on its missing cells."""

    def add(function: F) -> F:
        for option in reversed(
            [
                click.option("--encoding", help=f"Encoding of {of}. Default: found."),
                click.option(
                    "--delimiter",
                    callback=_tab,
                    help=f"Delimiter of {of} (\\t: tab). Default: found.",
                ),
                click.option("--decimal", default=".", show_default=True, help=f"Decimal mark of {of}."),
                click.option("--thousands", help=f"Thousands separator of {of}. Default: none."),
                click.option("--na-values", help="More texts that mean missing, as in NA,-9."),
                click.option(
                    "--missing",
                    type=click.Choice(["error", "category", "star", "drop"]),
                    default="category",
                    show_default=True,
                    help="Missing cells: refuse, own category, any value, or drop.",
                ),
            ]
        ):
            function = option(function)
        return function

    return add


def _tab(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return "\t" if value == r"\t" else value


def _empty_texts(text: str | None) -> tuple[str, ...]:
    """Texts that stand for a missing value."""
    from sdc_problems._tables.columns import NA_VALUES

    return NA_VALUES if text is None else ("", *(part.strip() for part in text.split(",")))


def format_of(path: Path, *, encoding: str | None, delimiter: str | None, otherwise: str = ",") -> dict[str, Any]:
    """Encoding and delimiter of a file, given or detected; a detected delimiter other than a comma is reported."""
    from sdc_problems._files import check_encoding
    from sdc_problems._tables.formats import format_of as table_format
    from sdc_problems._tables.look import found_delimiter, found_encoding

    if encoding is not None:
        check_encoding(encoding)
    if table_format(path) is not None:
        return {"encoding": encoding or "utf-8", "delimiter": delimiter or ","}
    told = found_encoding(path) if encoding is None else encoding
    if delimiter is None:
        delimiter = found_delimiter(path, encoding=told) or otherwise
        if delimiter != ",":
            click.echo(f"note: {path.name} is read with --delimiter {delimiter!r}", err=True)
    return {"encoding": told, "delimiter": delimiter}


@dataclass(frozen=True)
class Reading:
    """Values of `reading_options`, and the reader of a table with them.

    Attributes
    ----------
    encoding, delimiter
        As given; None to detect them.
    decimal, thousands, na_values, missing
        As given.
    """

    encoding: str | None
    delimiter: str | None
    decimal: str
    thousands: str | None
    na_values: str | None
    missing: str

    @property
    def marks(self) -> dict[str, Any]:
        """Marks of numbers and texts of missing cells, for the readers."""
        return {"decimal": self.decimal, "thousands": self.thousands, "na_values": _empty_texts(self.na_values)}

    def refuse_marks(self, path: Path) -> None:
        """Refuse options on the format of a CSV file if the file has another format."""
        usual = {"encoding": None, "delimiter": None, "decimal": ".", "thousands": None}
        for name, value in usual.items():
            if getattr(self, name) != value:
                raise SDCError(f"--{name} is for CSV files, and {path.name} is not one: omit it")

    def table(self, path: Path, **options: Any) -> tuple[Microdata, dict[str, Any]]:
        """Read a file; return it with encoding and delimiter, and report columns with a category of missing cells."""
        from sdc_problems._tables.formats import markup_format
        from sdc_problems.microdata import Microdata

        if markup_format(path) is not None:  # its nodes
            self.refuse_marks(path)
            from sdc_problems.studies.study.links import LinksSection, read_graph

            table = {**options, **self.marks, "missing": self.missing}
            data = read_graph(path, None, LinksSection(self_loops="drop", repeated="sum"), table).data
            say_gaps(data, self.missing)
            return data, {}
        form = format_of(path, encoding=self.encoding, delimiter=self.delimiter)
        data = Microdata.from_file(path, missing=self.missing, **options, **form, **self.marks)
        say_gaps(data, self.missing)
        return data, form


def say_gaps(data: Microdata, missing: str) -> None:
    """Report the columns with a category of missing cells."""
    from sdc_problems.microdata import Kind

    gaps = [a.name for a in data.attributes if a.has_missing and a.kind is not Kind.NUMERIC]
    if gaps and missing == "category":
        click.echo(
            f"note: missing cells of {', '.join(gaps)} count as a category of their own (see --missing)", err=True
        )


@contextmanager
def naming_options(columns: str = "--quasi-identifiers") -> Iterator[None]:
    """Let errors of the readers name the command's options instead of a function's arguments.

    Parameters
    ----------
    columns
        The command's option for the quasi-identifiers.
    """

    def said(text: str) -> str:
        for argument, option in _ARGUMENTS:
            text = argument.sub(option, text)
        return re.sub(r"\bquasi_identifiers\b=?", columns, text)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        except SDCError as error:
            raise type(error)(said(str(error))) from error
    for warning in caught:
        warnings.warn(said(str(warning.message)), warning.category, stacklevel=3)
