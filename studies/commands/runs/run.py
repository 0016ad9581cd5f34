"""``sdc run``: carry out a study."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option
from sdc_problems.studies.commands.runs._session import beginning, finish, pictures_option, workers_options


@click.command(name="run")
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="Run folder to make; by default runs/ and the study file's name."
)
@click.option(
    "--exact-baselines",
    is_flag=True,
    help="Measure every solution before the search, for the best one of each objective, whatever it costs; by default"
    " only if that is a tenth of the search's budget or less.",
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
    """Carry out STUDY (a TOML file; see examples/ and `sdc schema`) in a new run folder.

    A run folder as STUDY repeats its run: with the same versions it ends with the same bytes.

    Every generation is stored when it is complete: after a crash, a kill or a full disk, `sdc resume` goes on and ends
    with the same bytes. Ctrl-C stops after the current generation (exit code 130). Exit code 3: no solution found meets
    the study's [require].
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
        try:  # said before the search, not after it
            columns_that_leave(built.table.data, protected_columns(built.problem), checked.sections.data.keep)
        except SDCError as error:
            click.echo(f"note: no solution will be released as the study stands: {error}", err=True)
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
