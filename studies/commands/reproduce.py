"""``sdc reproduce``: compute a paper's tables and figures again, its figures beside ours."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.errors import SDCError
from sdc_problems.studies.reproductions import REPRODUCTIONS, find

LIST = "\b\n" + "\n".join(f"{name:18}{line}" for name, line in REPRODUCTIONS.items())


@click.command(
    name="reproduce",
    help="Compute the tables and figures of a paper again, and compare them with the paper.\n\n"
    "Writes report.md, report.json, a CSV file per table and a PNG file per figure.\n\n" + LIST,
)
@click.argument("name", type=click.Choice(list(REPRODUCTIONS)))
@click.option("--quick", is_flag=True, help="Compute a small part in seconds, to see that it works.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder to create. Default: runs/reproduce-NAME.")
def command(name: str, quick: bool, as_json: bool, out: Path | None) -> None:
    """Run one reproduction and write what it found."""
    folder = out or Path("runs") / f"reproduce-{name}"
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SDCError(f"{str(folder)!r} already exists: choose another --out, or remove it")
    report = find(name)(quick=quick, say=lambda line: click.echo(line, err=True))
    report.write(folder)
    click.echo(report.json(folder=str(folder), quick=quick) if as_json else report.markdown())
    if not as_json:
        click.echo(f"written to {folder}")
