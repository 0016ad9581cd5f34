"""``sdc schema``: the study file's JSON Schema."""

from __future__ import annotations

import click


@click.command(name="schema")
def command() -> None:
    """Print the JSON Schema of the study file; editors check and complete TOML with it."""
    from sdc_problems.studies.config import json_schema
    from sdc_problems.studies.summary import as_json

    click.echo(as_json(json_schema()))
