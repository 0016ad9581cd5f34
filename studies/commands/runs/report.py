"""``sdc report``: one HTML file with everything about a run's front."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click


@click.command(name="report")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="HTML file to write.")
@click.option("--overwrite", is_flag=True, help="Replace a file that exists.")
@click.option(
    "--details", type=click.IntRange(min=0), default=20, show_default=True,
    help="Solutions per front that get pictures, evenly spread. Baselines and the shortlist always get them.",
)  # fmt: skip
@click.option(
    "--solution", "solutions", multiple=True, metavar="ID", help="Also include this solution; may be repeated."
)
@click.option(
    "--points", type=click.IntRange(min=0, max=50_000), default=1_500, show_default=True,
    help="Most dominated points on the map.",
)  # fmt: skip
@click.option("--data", type=click.Path(path_type=Path), help="CSV file of the run, if it was moved.")
def command(
    folders: tuple[Path, ...],
    out: Path,
    overwrite: bool,
    details: int,
    solutions: tuple[str, ...],
    points: int,
    data: Path | None,
) -> None:
    """Write a report of the run in FOLDERS as one HTML file. Several runs must have the same objectives.

    The file opens from disk in any browser and loads nothing. It contains objective values, sentences and aggregates of
    at least five records, but no records.
    """
    from sdc_problems._files import resolved
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.store.folder import write_atomically
    from sdc_problems.studies.web.payload import Source
    from sdc_problems.studies.web.report import report

    if out.exists() and not overwrite:
        raise SDCError(f"{str(out)!r} already exists: choose another --out, or add --overwrite")
    sources = [Source.open(folder, data=data) for folder in folders]
    read = [data, *(source.run.meta["data"]["file"] for source in sources)]
    if out.exists() and any(file is not None and Path(file).exists() and out.samefile(file) for file in read):
        raise SDCError(f"{str(out)!r} is the data of a run: choose another --out")
    for source in sources:
        if source.closed:
            click.echo(f"{source.run.name}: without pictures, because {source.closed}", err=True)
    seen = sys.stderr.isatty()  # elsewhere a bar would only be noise
    with click.progressbar(length=1, label="solutions", file=sys.stderr) if seen else nullcontext() as bar:

        def progress(done: int, total: int) -> None:
            if bar is not None:
                bar.length = total
                bar.update(done - bar.pos)

        html = report(sources, details=details, solutions=solutions, points=points, progress=progress)
    write_atomically(resolved(out), html)
    click.echo(str(out))
