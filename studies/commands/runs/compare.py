"""``sdc compare``: runs side by side."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option


@click.command(name="compare")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for pictures of all runs: ru-map.png and convergence.png."
)
@click.option(
    "--instance", "name", metavar="ID", help="Benchmark instance of the runs, if their studies do not name it."
)
@json_option
def command(folders: tuple[Path, ...], out: Path | None, name: str | None, as_json: bool) -> None:
    """Compare the runs in FOLDERS. They must have the same problem and the same data.

    Hypervolume is a share of the box around everything that the runs started from and found; larger is better. Epsilon
    and IGD+ are distances to the common front of all runs; smaller is better. If the studies or --instance name a
    benchmark instance (`sdc benchmark list`), its box and its front are used, so that the values can be compared with
    those of others.
    """
    from sdc_problems.studies.report.compare import compare
    from sdc_problems.studies.report.terminal import console, print_comparison
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.suite import instance
    from sdc_problems.suite._catalogue import known_ids

    if name is not None:
        name = known_ids(name)[0]
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
