"""``sdc run``: run a study."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option
from sdc_problems.studies.commands.runs._session import beginning, finish, pictures_option, workers_options


@click.command(name="run")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Run folder to create. Default: runs/ and the name of the study file.",
)
@click.option(
    "--exact-baselines",
    is_flag=True,
    help="Find the best solution of each objective by measuring every solution before the search, whatever that costs."
    " Default: only if it costs at most a tenth of the search's budget.",
)
@workers_options
@pictures_option
@json_option
def command(
    study: Path,
    out: Path | None,
    exact_baselines: bool,
    workers: int | None,
    scheduler: str | None,
    pictures: bool,
    as_json: bool,
) -> None:
    """Run STUDY, a TOML file (see examples/ and `sdc schema`), in a new run folder.

    If STUDY is a run folder, its run is repeated. The same versions give the same bytes.

    Every complete generation is stored. After a crash, a kill or a full disk, `sdc resume` continues the run, and the
    result has the same bytes. Ctrl-C stops the run after the current generation (exit code 130). The exit code is 3 if
    no solution meets the study's [require].
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.release._columns import columns_that_leave, protected_columns
    from sdc_problems.studies.report.terminal import watched
    from sdc_problems.studies.run.runner import start, work
    from sdc_problems.studies.run.start import again, removed_unless_begun
    from sdc_problems.studies.study.schema import Study

    checked, text = again(study) if study.is_dir() else Study.from_file(study)
    folder = out or Path("runs") / study.stem
    with beginning(folder):
        built = start(checked, text, folder)
        try:  # before the search, not after it
            columns_that_leave(built.table.data, protected_columns(built.problem), checked.sections.data.keep)
        except SDCError as error:
            click.echo(f"note: with this study, no solution can be released: {error}", err=True)
        with removed_unless_begun(folder), watched(folder, built.plan.limits) as tell:
            outcome = work(
                folder,
                workers=workers,
                scheduler=scheduler or checked.sections.run.scheduler,
                built=(checked, built),
                exact_baselines=exact_baselines or None,
                tell=tell,
            )
    finish(folder, outcome, pictures=pictures, as_json=as_json)
