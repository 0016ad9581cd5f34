"""``sdc plot``: pictures of a run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="plot")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--solution", "solutions", multiple=True, metavar="ID", help="Also draw what this solution does.")
@click.option("--format", "kind", type=click.Choice(["png", "svg", "both"]), default="both", show_default=True)
def command(folder: Path, solutions: tuple[str, ...], kind: str) -> None:
    """Draw the run in FOLDER into its folder `pictures`: R-U map, convergence, and single solutions.

    Prints the path of each picture.
    """
    from sdc_problems.studies.plots import Format, draw_run
    from sdc_problems.studies.store import Run

    formats: tuple[Format, ...] = ("png", "svg") if kind == "both" else ("svg",) if kind == "svg" else ("png",)
    with Run(folder) as run:
        for path in draw_run(run, formats):
            click.echo(path)
        if solutions:
            from sdc_problems.studies.pictures import draw_solution
            from sdc_problems.studies.runner import reopen

            study, built, _ = reopen(folder)
            for ident in solutions:
                for path in draw_solution(run, study.task, built.problem, ident, formats):
                    click.echo(path)
