"""``sdc hierarchy``: suggest hierarchies for the columns of a file, and check existing ones."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sdc_problems.errors import SDCError
from sdc_problems.studies.commands._options import json_option, kinds_by_name, names, pairs
from sdc_problems.studies.commands.files._reading import Reading, naming_options, reading_options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata

F = TypeVar("F", bound=Callable[..., Any])

SCHEMA = "sdc.hierarchy/1"
_SHOWN = 10  # most rows that are named


@click.group(name="hierarchy", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Suggest hierarchies for the columns of a file, or check existing ones."""


def _typing_options(function: F) -> F:
    function = click.option(
        "--order", multiple=True, metavar="NAME=A,B,…", help="Categories of an ordinal column, first to last."
    )(function)
    return click.option(
        "--kinds",
        default="",
        help="Kinds of columns, where the detected ones are wrong, as in age=numeric,zip=nominal.",
    )(function)


@command.command(name="suggest")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--columns", required=True, help="Columns that get a hierarchy, separated by commas.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("hierarchies"),
    show_default=True,
    help="Folder for the files COLUMN.csv.",
)
@_typing_options
@reading_options("FILE")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@json_option
def suggest_command(
    file: Path,
    columns: str,
    out: Path,
    kinds: str,
    order: tuple[str, ...],
    overwrite: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Write a hierarchy for each named column of FILE, made from its values.

    Numbers get nested intervals; dates get month, quarter, year and decade; postal codes lose digits; codes are cut
    to their beginnings; of other categories, the frequent ones stay. The files have the format of ARX, and you can
    edit them. They contain the values of the column, so they are as private as FILE.
    """
    from sdc_problems.hierarchy import suggest
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.folder import refuse_run

    data = _table(file, kinds, order, reading)
    wanted = names(columns)
    if not wanted:
        raise SDCError("--columns names no column")
    for name in wanted:
        data.attribute(name)
    refuse_run(out)
    places = {name: _place(out, name, overwrite=overwrite, source=file) for name in wanted}
    found = [suggest(data, name) for name in wanted]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SDCError(f"cannot make the folder {str(out)!r}: {error.strerror}") from None
    for suggestion in found:
        suggestion.hierarchy.to_csv(places[suggestion.column])
    if as_json:
        click.echo(
            to_json(
                {
                    "schema": SCHEMA,
                    "hierarchies": [
                        {
                            "column": s.column,
                            "file": str(places[s.column]),
                            "reason": s.reason,
                            "groups": [s.hierarchy.n_groups(level) for level in range(s.hierarchy.n_levels)],
                        }
                        for s in found
                    ],
                }
            )
        )
        return
    screen = console()
    for s in found:
        groups = " → ".join(f"{s.hierarchy.n_groups(level):,}" for level in range(s.hierarchy.n_levels))
        screen.print(f"{plain(s.column)}: {s.reason}")
        screen.print(f"  {groups} groups, {plain(str(places[s.column]), 500)}")
    use = " ".join(f"--hierarchy {shlex.quote(f'{name}={place}')}" for name, place in places.items())
    screen.print(f"Check the hierarchies, then add to sdc protect: {plain(use, 2000)}", soft_wrap=True)


@command.command(name="check")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("hierarchy", type=click.Path(path_type=Path))
@click.option("--column", help="Column of FILE. Default: the name of the hierarchy file.")
@click.option("--delimiter-of-hierarchy", default=";", show_default=True, help="Delimiter in HIERARCHY.")
@click.option("--values", is_flag=True, help="List the values that are not covered. They are private data.")
@_typing_options
@reading_options("FILE")
@json_option
def check_command(
    file: Path,
    hierarchy: Path,
    column: str | None,
    delimiter_of_hierarchy: str,
    values: bool,
    kinds: str,
    order: tuple[str, ...],
    as_json: bool,
    **reading: Any,
) -> None:
    """Count the values of FILE that HIERARCHY (a file, or a folder of COLUMN.csv) does not cover.

    The exit code is 1 if a value of the file has no row in its hierarchy.
    """
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json

    data = _table(file, kinds, order, reading)
    if hierarchy.is_dir():
        if column is not None:
            raise SDCError("--column is for one hierarchy file, not for a folder")
        files = {path.stem: path for path in sorted(hierarchy.glob("*.csv")) if path.stem in data.names}
        if not files:
            raise SDCError(f"{str(hierarchy)!r} has no file COLUMN.csv for any column of {file.name}")
    else:
        if column is None and hierarchy.stem not in data.names:
            raise SDCError(f"{file.name} has no column {hierarchy.stem!r}: name the column by --column")
        files = {column or hierarchy.stem: hierarchy}
    checked = []
    for name, path in files.items():
        with naming_options():
            made = Hierarchy.from_csv(path, name=name, delimiter=delimiter_of_hierarchy)
        checked.append(_checked(data, name, made, show_values=values))
    if as_json:
        click.echo(to_json({"schema": SCHEMA, "checked": checked}))
    else:
        screen = console()
        for entry in checked:
            screen.print(plain(_sentence(entry), 2000))
            for value in entry.get("lacking_values", ()):
                screen.print(f"  {plain(value)}")
        if not values and any(entry["lacking"] for entry in checked):
            screen.print("To list the values that are not covered, add --values.")
    if any(entry["lacking"] for entry in checked):
        click.get_current_context().exit(1)


def _table(file: Path, kinds: str, order: tuple[str, ...], reading: dict[str, Any]) -> Microdata:
    with naming_options("--columns"):
        data, _ = Reading(**reading).table(
            file,
            kinds=kinds_by_name(kinds),
            orders={name: names(listed) for name, listed in pairs(order, "--order")},
        )
    return data


def _place(folder: Path, column: str, *, overwrite: bool, source: Path) -> Path:
    if "/" in column or "\\" in column or column.startswith(".") or "\0" in column:
        raise SDCError(
            f"the name of column {column!r} cannot be a file name: rename it, or write its hierarchy from Python"
        )
    place = folder / f"{column}.csv"
    if place.exists():
        if source.exists() and place.samefile(source):
            raise SDCError(f"{str(place)!r} is the input file: choose another --out")
        if not overwrite:
            raise SDCError(f"{str(place)!r} already exists: choose another --out, or add --overwrite")
    return place


def _checked(data: Microdata, name: str, hierarchy: Hierarchy, *, show_values: bool) -> dict[str, Any]:
    import numpy as np

    attribute = data.attribute(name)
    texts = np.array(attribute.labels, dtype=object)
    lacking = hierarchy.lacks(texts)
    rows: NDArray[np.intp] = np.flatnonzero(lacking[data.codes(name)[:, 0]])
    found = {
        "column": name,
        "levels": hierarchy.n_levels,
        "values": len(texts),
        "lacking": int(lacking.sum()),
        "records": len(rows),
        "first_rows": (rows[:_SHOWN] + 1).tolist(),
        "unused": hierarchy.n_values - int((~lacking).sum()),
    }
    return {**found, "lacking_values": texts[lacking].tolist()} if show_values else found


def _sentence(entry: dict[str, Any]) -> str:
    begin = f"{entry['column']}: "
    if entry["lacking"]:
        more = ", …" if entry["records"] > len(entry["first_rows"]) else ""
        begin += (
            f"{entry['lacking']:,} of {entry['values']:,} values have no row, in {entry['records']:,} records"
            f" (rows {', '.join(f'{row:,}' for row in entry['first_rows'])}{more})"
        )
    else:
        begin += f"all {entry['values']:,} values are covered"
    unused = f", {entry['unused']:,} rows for values that do not occur" if entry["unused"] else ""
    return f"{begin}; {entry['levels']} levels{unused}"
