"""``sdc plot``: pictures of a run."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option

PICTURES_SCHEMA = "sdc.pictures/1"


@click.command(name="plot")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--solution", "solutions", multiple=True, metavar="ID", help="Also draw what this solution does; may be repeated."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["png", "svg", "both"]),
    default="both",
    show_default=True,
    help="File format of the pictures.",
)
@json_option
def command(folder: Path, solutions: tuple[str, ...], kind: str, as_json: bool) -> None:
    """Draw the run in FOLDER: R-U map, convergence, and single solutions.

    The pictures are in the folder `pictures` of the run. Prints the path of each.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.report.picture_types import too_many
    from sdc_problems.studies.report.plots import Format, draw_run
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.reader import Run

    formats: tuple[Format, ...] = ("png", "svg") if kind == "both" else ("svg",) if kind == "svg" else ("png",)
    with Run(folder) as run:
        many = too_many(run.meta["data"].get("records", 0)) if solutions else ""
        if many:
            raise SDCError(f"{run.name}: no solution is drawn, because {many}; leave --solution out")
        drawn = draw_run(run, formats)
        if solutions:
            from sdc_problems.studies.report.pictures import draw_solution
            from sdc_problems.studies.run.runner import reopen

            study, built, _ = reopen(folder, search=False)
            for ident in solutions:
                drawn += draw_solution(run, study.task, built.problem, ident, formats)
    if as_json:
        click.echo(to_json({"schema": PICTURES_SCHEMA, "pictures": [str(path) for path in drawn]}))
    else:
        for path in drawn:
            click.echo(path)
