"""``sdc benchmark``: what its commands print and write."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from sdc_problems.studies.cli import cli

NAME = "pbg-people-k-glm@1"


def sdc(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["benchmark", *map(str, arguments)], catch_exceptions=False)


def test_list_and_show_say_what_an_instance_is() -> None:
    assert NAME in sdc("list").stdout
    listed = json.loads(sdc("list", "--json").stdout)["instances"]
    found = next(row for row in listed if row["id"] == NAME)
    assert (found["space"], found["points"], found["known"]) == (17920, 29, "exact")
    shown = sdc("show", NAME).stdout
    assert "17,920 different solutions" in shown
    assert json.loads(sdc("show", NAME, "--json").stdout)["digest"] in shown


def test_run_writes_records_and_goes_on(tmp_path: Path) -> None:
    line = ["run", "--instance", NAME, "--algorithm", "random", "--budget", "50", "--workers", "1", "--out", tmp_path]
    first = sdc(*line, "--seeds", 1)
    assert first.exit_code == 0
    assert "1 runs in" in first.stdout
    assert "random pbg-people-k-glm@1 seed 1: 50 evaluations" in first.stderr
    second = sdc(*line, "--seeds", 2)
    assert "1 of 2 runs are there already" in second.stderr
    assert len(list(tmp_path.rglob("*.npz"))) == 2
