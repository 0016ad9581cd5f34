"""``sdc scan``: propose a role for each column of a file, and find columns that identify people together."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sdc_problems._slices import telling
from sdc_problems.studies.commands._options import json_option, kinds_by_name
from sdc_problems.studies.commands._progress import progress_bar
from sdc_problems.studies.commands.files._reading import Reading, naming_options, reading_options

if TYPE_CHECKING:
    from sdc_problems.roles import Scan

SCHEMA = "sdc.scan/1"
PLACEHOLDER = "COLUMNS"


@click.command(name="scan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--kinds", default="", help="Kinds of columns, where the detected ones are wrong, as in age=numeric,zip=nominal."
)
@click.option(
    "--largest", type=click.IntRange(1, 5), default=5, show_default=True, help="Most columns in a combination."
)
@reading_options("FILE")
@json_option
@click.pass_context
def command(ctx: click.Context, /, file: Path, kinds: str, largest: int, as_json: bool, **reading: Any) -> None:
    """Propose a role for each column of FILE, and say which columns identify people together.

    The roles are only proposals. Read the reasons, correct the roles, and run the command that is printed at the end.
    No value of the file is printed.
    """
    from sdc_problems.roles import scan
    from sdc_problems.studies.report.text import as_json as to_json

    with naming_options("--columns"):
        data, _ = Reading(**reading).table(file, kinds=kinds_by_name(kinds))
    with progress_bar():
        found = scan(data, largest=largest, progress=telling("combinations of columns"))
    line = _next(file, found, _given(ctx))
    if as_json:
        click.echo(to_json(_payload(found, line)))
    else:
        _show(found, line)


def _show(found: Scan, line: str) -> None:
    from sdc_problems.microdata import Role
    from sdc_problems.studies.report.terminal import console, plain

    screen = console()
    screen.print(f"{found.records:,} records, {len(found.columns)} columns\n")
    for facts in found.columns:
        screen.print(f"{plain(facts.name)}: {facts.role.value}, {plain(facts.reason, 200)}")
        screen.print(
            f"    {facts.kind.value}, {facts.distinct:,} values, {facts.missing:,} missing;"
            f" tells {facts.separation:.1%} of the pairs of records apart"
        )
    screen.print()
    for combination in found.combinations:
        share = combination.singled_out / found.records
        screen.print(
            f"{plain(' + '.join(combination.columns), 500)}: {combination.singled_out:,} records"
            f" ({share:.1%}) are unique in these columns"
        )
    if found.combinations:
        screen.print(
            "Each line shows the combination of that size which singles out most records, among"
            f" {plain(', '.join(found.searched), 1000)}. All columns except direct identifiers together single out"
            f" {found.everything:,} records."
        )
    if found.not_searched:
        screen.print(
            f"{len(found.not_searched)} further columns would make too many combinations, so they were not searched:"
            f" {plain(', '.join(found.not_searched), 1000)}. A smaller --largest includes more of them."
        )
    if left_out := [name for name in found.named(Role.OTHER) if name not in found.harmless]:
        screen.print(
            f"\nNot in --keep, so left out: {plain(', '.join(left_out), 1000)}. As they are, they would single"
            " people out together with what is kept."
        )
    if PLACEHOLDER in line:
        screen.print(
            f"\nNo quasi-identifier is proposed: replace {PLACEHOLDER} by the columns that others may know, and remove"
            " them from --keep."
        )
    screen.print(f"\nNext, when the roles are correct:\n  {plain(line, 4000)}", soft_wrap=True)


def _given(ctx: click.Context) -> list[str]:
    """Options on the format of the file, as given."""
    from click.core import ParameterSource

    given = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name in ("file", "largest", "as_json") or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        given += [parameter.opts[0], str(ctx.params[name]).replace("\t", "\\t")]
    return given


def _next(file: Path, found: Scan, given: list[str]) -> str:
    """Command line of ``sdc protect`` for the proposal."""
    from sdc_problems.microdata import Role

    parts = ["sdc", "protect", str(file), "--k", "5"]
    for option, role in (
        ("--quasi-identifiers", Role.QUASI_IDENTIFIER),
        ("--sensitive", Role.SENSITIVE),
        ("--identifiers", Role.IDENTIFIER),
    ):
        of_role = found.named(role)
        if of_role or role is Role.QUASI_IDENTIFIER:
            parts += [option, ",".join(of_role) or PLACEHOLDER]
    if found.named(Role.OTHER):  # even an empty list says that no other column is released
        parts += ["--keep", ",".join(found.harmless)]
    return shlex.join([*parts, *given, "--out", f"{file.stem}-protected.csv"])


def _payload(found: Scan, line: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "records": found.records,
        "columns": [
            {
                "name": f.name,
                "kind": f.kind.value,
                "values": f.distinct,
                "missing": f.missing,
                "once": f.once,
                "distinction": f.distinction,
                "separation": f.separation,
                "role": f.role.value,
                "reason": f.reason,
            }
            for f in found.columns
        ],
        "combinations": [
            {"columns": list(c.columns), "singled_out": c.singled_out, "separation": c.separation}
            for c in found.combinations
        ],
        "searched": list(found.searched),
        "not_searched": list(found.not_searched),
        "singled_out_by_all": found.everything,
        "next": line,
    }
