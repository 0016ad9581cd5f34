"""``sdc schema``: the study file's JSON Schema, and an example study of each task."""

from __future__ import annotations

import click


@click.command(name="schema")
@click.option("--example", "task", metavar="TASK", help="Print an example study file of this task instead.")
def command(task: str | None) -> None:
    """Print the JSON Schema of the study file, with which editors check and complete it."""
    if task is None:
        from sdc_problems.studies.report.text import as_json
        from sdc_problems.studies.study.schema import json_schema

        click.echo(as_json(json_schema()))
    else:
        from sdc_problems.studies.tasks import find_task

        click.echo(find_task(task).example.read_text(encoding="utf-8"), nl=False)
