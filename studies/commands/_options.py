"""Options that commands share, with values that are lists or pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic in newer versions of click only

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def row_options(function: F) -> F:
    """Options on the order of the rows of a released file."""
    for option in (
        click.option(
            "--rows-seed",
            type=click.IntRange(min=0),
            help="Seed of the rows. Default: drawn.",
        ),
        click.option("--no-rows", is_flag=True, help="Write no OUT.rows.csv (for sdc evaluate)."),
        click.option("--keep-order", is_flag=True, help="Keep the row order: all rows are linkable."),
    ):
        function = option(function)
    return function


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print warnings of a command as notes on stderr."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in warned:
        if issubclass(warning.category, UserWarning):
            click.echo(f"note: {warning.message}", err=True)


def names(text: str) -> list[str]:
    """Names of columns, as in ``age,zip``."""
    return [name.strip() for name in text.split(",") if name.strip()]


def kinds_by_name(text: str) -> dict[str, str]:
    """Kinds of columns, as in ``age=numeric,zip=nominal``."""
    found = {}
    for part in names(text):
        name, equals, kind = part.rpartition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{part!r} is not NAME=KIND", param_hint="--kinds")
        found[name.strip()] = kind.strip()
    return found


def pairs(given: tuple[str, ...], option: str) -> list[tuple[str, str]]:
    """Names and values of an option that may be repeated, as in ``age=3``."""
    found = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise SDCError(f"{option} {text!r} is not NAME=VALUE")
        found.append((name.strip(), value.strip()))
    return found
