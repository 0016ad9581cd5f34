"""``sdc schema``: the study file's JSON Schema."""

from __future__ import annotations

import click


@click.command(name="schema")
def command() -> None:
    """Print the JSON Schema of the study file; editors check and complete TOML with it."""
    from sdc_problems.studies.report.summary import as_json
    from sdc_problems.studies.study.schema import json_schema

    click.echo(as_json(json_schema()))
