"""``sdc evaluate``: what a protected file gives away and what it has lost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sdc_problems.studies.commands._options import json_option, kinds_by_name, names
from sdc_problems.studies.commands.files._reading import Reading, format_of, naming_options, reading_options

if TYPE_CHECKING:
    from rich.console import Console

    from sdc_problems.microdata import Microdata
    from sdc_problems.studies.verdict import Verdict
    from sdc_problems.studies.verdict.leaves import Leaves
    from sdc_problems.studies.verdict.parts import Measure


@click.command(name="evaluate")
@click.argument("original", type=click.Path(path_type=Path))
@click.argument("protected", type=click.Path(path_type=Path))
@click.option("--quasi-identifiers", required=True, help="Columns an intruder may know, separated by commas.")
@click.option("--sensitive", default="", help="Columns whose values must stay secret.")
@click.option("--identifiers", default="", help="Columns of ORIGINAL that PROTECTED must not have.")
@click.option("--keep", help="All other columns that PROTECTED has; those not named were left out, as by sdc protect.")
@click.option("--kinds", default="", help="Kinds that are not as they look, as in age=numeric,zip=nominal.")
@reading_options("ORIGINAL")
@click.option("--same-rows", is_flag=True, help="The rows do correspond, although a column looks shuffled.")
@click.option(
    "--hierarchies",
    type=click.Path(path_type=Path),
    help="Folder of hierarchies, COLUMN.csv, whose leaves GLM counts; by default those of PROTECTED's certificate.",
)
@click.option(
    "--linkage-limit", type=click.IntRange(min=1), default=None, help="Most records for the probabilistic linkage."
)
@json_option
def command(
    original: Path,
    protected: Path,
    quasi_identifiers: str,
    sensitive: str,
    identifiers: str,
    keep: str | None,
    kinds: str,
    encoding: str | None,
    delimiter: str | None,
    decimal: str,
    thousands: str | None,
    na_values: str | None,
    missing: str,
    same_rows: bool,
    hierarchies: Path | None,
    linkage_limit: int | None,
    as_json: bool,
) -> None:
    """Measure the disclosure risk and the information loss of PROTECTED, a copy of ORIGINAL.

    Both are CSV files with the same columns (but direct identifiers) and the same records in the same rows; each is
    read as it is written. Quasi-identifiers of PROTECTED may hold generalised labels; a suppressed cell is "*" or
    empty.
    """
    from sdc_problems._tables.look import found_encoding
    from sdc_problems.microdata import Kind
    from sdc_problems.studies.report.summary import as_json as to_json
    from sdc_problems.studies.verdict import LINKAGE_LIMIT, verdict
    from sdc_problems.studies.verdict.leaves import certified
    from sdc_problems.studies.verdict.pairing import read_protected, without_gaps

    reading = Reading(encoding, delimiter, decimal, thousands, na_values, missing)
    with naming_options():
        data, form = reading.table(
            original,
            quasi_identifiers=names(quasi_identifiers),
            sensitive=names(sensitive),
            identifiers=names(identifiers),
            kinds=kinds_by_name(kinds),
        )
        if keep is not None:
            data = _without(data, names(keep))
        numeric = [a.name for a in data.attributes if a.kind is Kind.NUMERIC]
        # The protected file is in UTF-8 as sdc writes it, or as the original.
        other = format_of(
            protected, encoding=found_encoding(protected, form["encoding"]), delimiter=None, otherwise=form["delimiter"]
        )
        table = read_protected(protected, numeric=numeric, **other, **reading.marks)
        if data.n_dropped and len(table) == len(data) + data.n_dropped:
            table = without_gaps(table, read_protected(original, **form, **reading.marks), data)
    found = verdict(
        data,
        table,
        same_rows=same_rows,
        leaf_counts=certified(protected) if hierarchies is None else _leaves(hierarchies, data, table),
        linkage_limit=LINKAGE_LIMIT if linkage_limit is None else linkage_limit,
    )
    if as_json:
        click.echo(to_json(found.payload()))
    else:
        show(found)


def _without(data: Microdata, keep: list[str]) -> Microdata:
    """The table with columns that were left out, as they have no role and are not to be kept, as identifiers."""
    from sdc_problems.microdata import Role

    for name in keep:
        data.attribute(name)
    gone = [a.name for a in data.attributes if a.role is Role.OTHER and a.name not in keep]
    return data.with_roles(
        quasi_identifiers=data.quasi_identifiers, sensitive=data.sensitive, identifiers=[*data.identifiers, *gone]
    )


def _leaves(folder: Path, data: Microdata, protected: Microdata) -> dict[str, Leaves]:
    """Leaf counts from a folder of hierarchies, one file per column."""
    from sdc_problems.errors import SDCError
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.studies.verdict.leaves import leaf_counts

    if not folder.is_dir():
        raise SDCError(f"--hierarchies {str(folder)!r} is no folder")
    found = {}
    for name in data.quasi_identifiers:
        if (folder / f"{name}.csv").is_file():
            found[name] = Hierarchy.from_csv(folder / f"{name}.csv", name=name)
            found[name].table(data.categories(name), attribute=name)
    if not found:
        raise SDCError(f"--hierarchies {str(folder)!r} holds no COLUMN.csv of a quasi-identifier")
    return leaf_counts(found, {name: protected.attribute(name).labels for name in found if name in protected.names})


def show(found: Verdict) -> None:
    """Print a verdict for a person."""
    from sdc_problems.studies.report.terminal import console, plain

    out = console()
    out.print(f"Risk: {plain(found.risk, 500)}.")
    out.print(f"Loss: {plain(found.utility, 500)}.")
    certain = f"{found.weakest:,} of {found.n_records - found.n_suppressed:,} are found for certain"
    without_stars = found.value("certain_complete") or 0
    if without_stars > found.weakest:
        certain += f", {without_stars:,.0f} by whoever passes over starred records"
    out.print(f"Weakest records: {certain}.")
    fates = "; ".join(f"{plain(name)} ({kind}, {fate})" for name, _, kind, fate in found.columns)
    out.print(f"Measured: {fates}.")
    out.print("Beside each value stand its range and ↑ if a higher one is better, ↓ if a lower one is.")
    for group in dict.fromkeys(m.group for m in found.measures):
        _show_group(group, [m for m in found.measures if m.group == group], out)
    if found.skipped:
        out.print("\nNot applicable", style="bold")
        for skipped in found.skipped:
            _indented(out, f"{plain(skipped.label)}: {plain(skipped.why, 500)}.", 2)
    for note in found.notes:
        out.print()
        out.print(f"Note: {plain(note, 500)}.")


def _show_group(group: str, measures: list[Measure], out: Console) -> None:
    """Print a measure in two lines: its figures, and its sentence below."""
    from sdc_problems.studies.report.terminal import plain

    out.print(f"\n{group}", style="bold")
    rows = [[plain(cell) for cell in _figures(m)] for m in measures]
    label, value, _ = (max(len(row[j]) for row in rows) for j in range(3))
    for m, row in zip(measures, rows, strict=True):
        out.print(f"  {row[0].ljust(min(label, 34))}  {row[1].rjust(value)}  {row[2]}", soft_wrap=True)
        _indented(out, plain(m.sentence, 500), 6)


def _indented(out: Console, what: str, by: int) -> None:
    from rich.padding import Padding

    out.print(Padding(what, (0, 0, 0, by), expand=False))


def _figures(measure: Measure) -> tuple[str, str, str]:
    """Label, value and range with direction."""
    from sdc_problems.studies.report.summary import number

    value = number(measure.value) + (" %" if measure.unit == "%" else "")
    if measure.before is not None:
        value += f" (was {number(measure.before)})"
    top = "" if measure.high is None else f" {number(measure.high)}"
    return measure.label, value, f"{'↑' if measure.better == 'higher' else '↓'} {number(measure.low)} …{top}"
