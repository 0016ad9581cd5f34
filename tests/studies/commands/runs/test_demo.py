"""The first thing a stranger runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdc_problems.studies.cli import cli


def test_demo_prints_a_front_and_leaves_a_run_folder_with_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["demo"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "more is better" in done.stdout
    assert "run folder: sdc-demo-1" in done.stdout
    assert "baselines" not in done.output
    assert len(done.output.splitlines()) < 40
    told = [line.strip().split("    ")[0].split()[1:] for line in done.stdout.splitlines() if line.startswith("  sdc")]
    for words in told:  # what it advises works
        assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0, words
    assert {words[0] for words in told} == {"report", "release"}
    picture = tmp_path / "sdc-demo-1" / "pictures" / "ru-map.png"
    assert picture.read_bytes().startswith(b"\x89PNG")

    again = CliRunner().invoke(cli, ["demo", "--json"], catch_exceptions=False)
    assert (tmp_path / "sdc-demo-2").is_dir()
    front = json.loads(again.stdout)["front"]
    assert len(front) > 20
    one, two = (tmp_path / f"sdc-demo-{n}" / "front.csv" for n in (1, 2))
    assert one.read_bytes() == two.read_bytes()
    loss = {entry["k"]: entry["glm"] for entry in front}
    assert loss[1] == 0, "publishing everything loses nothing"
    assert loss[5000] == 40_000, "one class of everybody loses everything: 5,000 records × 8 attributes"
