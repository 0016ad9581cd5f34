"""``sdc resume``: continue a run."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option
from sdc_problems.studies.commands.runs._session import beginning, finish, pictures_option, workers_options


@click.command(name="resume")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--data", type=click.Path(path_type=Path), help="CSV file of the run, if it was moved. It must be unchanged."
)
@workers_options
@pictures_option
@json_option
def command(
    folder: Path, data: Path | None, workers: int | None, scheduler: str | None, pictures: bool, as_json: bool
) -> None:
    """Continue the run in FOLDER. A finished run is only shown.

    The search is replayed from its seed with the stored measures. Each generation must equal the stored one; then the
    search continues. A changed study, changed data, or a version that computes differently is refused.
    """
    from sdc_problems.studies.report.terminal import watched
    from sdc_problems.studies.run.runner import reopen, work

    with beginning(folder):
        study, built, meta = reopen(folder, data=data)
        with watched(folder, built.plan.limits) as tell:
            outcome = work(
                folder,
                workers=workers,
                scheduler=scheduler,
                built=(study, built),
                made_with=meta["versions"],
                tell=tell,
            )
    finish(folder, outcome, pictures=pictures, as_json=as_json)
