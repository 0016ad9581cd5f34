"""``sdc compare``: runs side by side."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option


@click.command(name="compare")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for ru-map.png and convergence.png of all runs.")
@click.option("--instance", "name", metavar="ID", help="Benchmark instance of the runs, if their studies name none.")
@json_option
def command(folders: tuple[Path, ...], out: Path | None, name: str | None, as_json: bool) -> None:
    """Compare the runs in FOLDERS: same problem, same data, any algorithms.

    Hypervolume is the share of one box around everything that any of them started from and found; larger is better.
    Epsilon and IGD+ are distances to the best of all runs together; smaller is better. Where the studies name the same
    benchmark instance (`sdc benchmark list`), or --instance does, box and front are that instance's, so that the
    numbers mean the same everywhere.
    """
    from sdc_problems.studies.report.compare import compare
    from sdc_problems.studies.report.terminal import console, print_comparison
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.suite import instance

    with ExitStack() as stack:
        runs = [stack.enter_context(Run(folder)) for folder in folders]
        if name is None:
            named = {run.study.get("instance") for run in runs}
            name = named.pop() if len(named) == 1 else None
        payload = compare(runs, None if name is None else instance(name))
        if as_json:
            click.echo(to_json(payload))
        else:
            print_comparison(payload)
        if out is not None:
            from sdc_problems.studies.report.plots import draw_comparison

            for path in draw_comparison(runs, out):
                console(stderr=True).print(f"drawn: {path}")
