"""``sdc data``: list and describe the tables, and fetch the public ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from sdc_problems import datasets
from sdc_problems.datasets import Listing
from sdc_problems.studies.commands._options import json_option

DATA_SCHEMA = "sdc.data/1"


@click.group(name="data", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, describe and fetch the tables that a study can use."""


@command.command(name="list")
@json_option
def list_tables(as_json: bool) -> None:
    """List every table with its size and where it is."""
    if as_json:
        _print_json(
            cache=str(datasets.cache_home()),
            tables=[
                {
                    "name": listing.name,
                    "title": listing.title,
                    "records": listing.records,
                    "columns": listing.columns,
                    "where": _where(listing),
                    "path": None if listing.place is None else str(listing.place),
                }
                for listing in datasets.catalogue()
            ],
        )
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name", no_wrap=True)
    table.add_column("records", justify="right", no_wrap=True)
    table.add_column("columns", justify="right", no_wrap=True)
    table.add_column("where", no_wrap=True)
    table.add_column("what", overflow="fold")
    for listing in datasets.catalogue():
        table.add_row(listing.name, f"{listing.records:,}", str(listing.columns), _where(listing), listing.title)
    Console(markup=False, highlight=False).print(table)
    click.echo(
        f"The cache is {datasets.cache_home()}. `sdc data fetch NAME` fetches a table, or says how to get it by hand.",
        err=True,
    )


@command.command(name="show")
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Describe a table: origin, license or citation, columns, roles and hierarchies."""
    dataset = datasets.load(name, download=False)
    if as_json:
        _print_json(
            name=name,
            about=dataset.about,
            records=dataset.data.n_records,
            columns=[
                {"name": a.name, "kind": a.kind.value, "role": a.role.value, "values": a.n_categories}
                for a in dataset.data.attributes
            ],
            hierarchies={attribute: hierarchy.length for attribute, hierarchy in dataset.hierarchies.items()},
        )
        return
    click.echo(f"{dataset.about}\n\n{dataset.data.summary()}")
    if dataset.hierarchies:
        heights = (f"{attribute} {hierarchy.length}" for attribute, hierarchy in dataset.hierarchies.items())
        click.echo(f"\nhierarchies and their heights: {', '.join(heights)}")


@command.command(name="fetch")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Fetch every table that can be downloaded.")
@json_option
def fetch(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Fetch public tables into the cache, unless they are on this machine, and check them.

    Prints the name and the path of each. An interrupted download is continued.
    """
    if everything == bool(names):
        raise click.UsageError("name the tables to fetch, or give --all; `sdc data list` lists them")
    wanted = [listing.name for listing in datasets.catalogue() if listing.downloadable] if everything else names
    places = {}
    for name in wanted:
        with _bar(name) as progress:
            places[name] = str(datasets.ensure(name, progress=progress))
        if not as_json:
            click.echo(f"{name}\t{places[name]}")
    if as_json:
        _print_json(files=places)


def _print_json(**content: Any) -> None:
    from sdc_problems.studies.report.text import as_json

    click.echo(as_json({"schema": DATA_SCHEMA, **content}))


def _where(listing: Listing) -> str:
    if listing.place is not None:
        return "cache" if listing.place.parent == datasets.cache_home() else "SDC_DATA_HOME"
    if listing.name in datasets.EMBEDDED:
        return "embedded"
    return "to fetch" if listing.downloadable else "by hand"


@contextmanager
def _bar(name: str) -> Iterator[datasets.Progress]:
    """Show a progress bar if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bars:
        task = bars.add_task(name, total=None)
        yield lambda received, total: bars.update(task, completed=received, total=total)
