"""``sdc demo``: the main job, on the embedded data."""

from __future__ import annotations

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

import click

from sdc_problems.studies.commands._options import json_option
from sdc_problems.studies.commands.runs._session import beginning, finish


@click.command(name="demo")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Run folder to create. Default: sdc-demo-1, or the next free number."
)
@json_option
def command(out: Path | None, as_json: bool) -> None:
    """Search for trade-offs between class size and information loss on a table of 5,000 invented people.

    Prints the front, and writes a run folder with its picture (pictures/ru-map.png), the front as CSV, and the study
    file. You can edit the study file for your own data and run it: sdc run my-study.toml.
    """
    from sdc_problems.studies.report.terminal import watched
    from sdc_problems.studies.run.runner import start, work
    from sdc_problems.studies.study.schema import Study

    folder = out or next(p for n in range(1, 10_000) if not (p := Path(f"sdc-demo-{n}")).exists())
    text = files("sdc_problems.studies").joinpath("demo.toml").read_text(encoding="utf-8")
    study = Study.from_text(text, folder=Path.cwd(), name="demo.toml")
    if not as_json:
        click.echo("5,000 invented people: how coarse must each of 8 attributes be, so that nobody stands out?\n")
    with beginning(folder):
        built = start(study, text, folder)
        with watched(folder, built.plan.limits) as tell:
            outcome = work(folder, workers=None, scheduler=None, exact_baselines=False, built=(study, built), tell=tell)
    finish(folder, outcome, pictures=True, as_json=as_json, closing=lambda payload: _closing(folder, payload["front"]))


def _closing(folder: Path, front: list[dict[str, Any]]) -> str:
    solution = min((entry for entry in front if entry["k"] >= 5), key=lambda entry: entry["k"])
    where = shlex.quote(str(folder))
    release = f"sdc release {where} --solution {solution['id']} --out protected.csv"
    picture = shlex.quote(str(folder / "pictures" / "ru-map.png"))
    return f"""
Each line is one way to publish the table. The same front as a picture: {picture}
What to do next:
  sdc report {where} -o report.html    write a page with all solutions
  {release}    write the table in which {solution["k"]:,g} or more records look alike
  cp {shlex.quote(str(folder / "study.toml"))} my-study.toml    edit it for your own data: sdc run my-study.toml
"""
