"""A run made by sdc-problems 0.1.0: shown under the names of its time, and not gone on with."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import GOMMProblem
from sdc_problems.errors import SDCError
from sdc_problems.studies.report.summary import front_csv
from sdc_problems.studies.run.start import reopen
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import Source, overview

MADE = Path(__file__).parent / "data" / "run-of-0.1.0"  # by 0.1.0 itself; only its pages were made smaller
FINGERPRINT = "0ec67cfda50076c654eb2f9c9dd01fd83ded4004643e1ffe24db391718bdc364"
REFUSED = r"was made by sdc-problems 0\.1\.0, .*use that version \(pip install sdc-problems==0\.1\.0\)"

Sdc = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MADE, tmp_path / "old"))


def test_it_is_shown_under_its_former_names(folder: Path, sdc: Sdc) -> None:
    account = json.loads(sdc("status", folder, "--json").out)
    assert account["fingerprint"] == FINGERPRINT
    assert [o["name"] for o in account["objectives"]] == ["il", "dr", "id"]
    shown = sdc("status", folder).out
    assert "il [%]" in shown
    assert "dr: disclosure risk" in shown
    front = account["front"]
    with Run(folder) as run:
        assert [entry["id"] for entry in front] == list(run.front().ids), "an objective of this name hid the ids"
        assert [entry["il"] for entry in front] == run.front().values[:, 0].tolist()
        assert front_csv(run) == (MADE / "front.csv").read_text()
    assert front[0]["id"] in shown


def test_it_is_compared_drawn_and_reported(folder: Path, tmp_path: Path, sdc: Sdc) -> None:
    twin = shutil.copytree(folder, tmp_path / "twin")
    compared = json.loads(sdc("compare", folder, twin, "--json").out)
    assert [row["share_of_common_front"] for row in compared["runs"]] == [1.0, 1.0]
    assert len(sdc("plot", folder, "--format", "svg").out.splitlines()) >= 2
    page = tmp_path / "report.html"
    said = sdc("report", folder, "--out", page)
    assert "0.1.0" in said.err
    assert '"name":"dr","label":"disclosure risk"' in page.read_text()
    source = Source.open(folder)  # what `sdc explore` shows
    document = overview([source])
    assert [axis["sentence"] for axis in document["axes"]] == ["Smaller is better."] * 3
    assert document["points"]["id"][-1] == "original"
    assert source.problem is None
    assert "0.1.0" in source.detail(source.run.front().ids[0])["closed"]


def test_going_on_needs_its_version(folder: Path, tmp_path: Path, sdc: Sdc) -> None:
    before = (folder / "run.sqlite").read_bytes()
    with pytest.raises(SDCError, match=REFUSED):
        reopen(folder)
    with Run(folder) as run:
        ident = run.front().ids[0]
    for arguments in (
        ("resume", folder),
        ("release", folder, "--solution", ident, "--out", tmp_path / "out.csv"),
        ("plot", folder, "--solution", ident),
    ):
        said = sdc(*arguments, code=2).err
        assert "sdc-problems==0.1.0" in said
    assert not (tmp_path / "out.csv").exists()
    assert (folder / "run.sqlite").read_bytes() == before


def test_a_version_from_a_strangers_folder_is_not_repeated(workshop: Any) -> None:
    folder = workshop.create("made", versions={"sdc-problems": "0.1; rm -rf /"})
    with pytest.raises(SDCError, match=r"was made by another version, .*use that version$"):
        reopen(folder)


def test_its_study_file_is_told_the_new_names(tmp_path: Path, sdc: Sdc) -> None:
    text = (MADE / "study.toml").read_text()
    study = tmp_path / "study.toml"
    study.write_text(text)
    assert "objective 'il' is now called 'il_sse'" in sdc("run", study, code=2).err
    study.write_text(text.replace('["il", "dr", "id"]', '["il_sse", "dr_linkage", "id_value"]'))
    assert "'il' is now called 'il_sse'" in sdc("run", study, code=2).err, "in [require]"


def test_a_new_run_keeps_what_its_objectives_mean(tmp_path: Path, sdc: Sdc) -> None:
    study = tmp_path / "study.toml"
    text = (MADE / "study.toml").read_text()
    for former, now in (
        ('["il", "dr", "id"]', '["il_sse", "dr_linkage"]'),
        ("\nil =", "\nil_sse ="),
        ("= 3\n[r", "= 1\n[r"),
    ):
        assert former in text
        text = text.replace(former, now)
    study.write_text(text)
    account = json.loads(sdc("run", study, "--out", tmp_path / "run", "--no-pictures", "--json").out)
    with Run(tmp_path / "run") as run:
        axes = run.axes
    for axis, stored in zip(axes, account["objectives"], strict=True):
        assert axis.meaning.startswith(("Percent of", "Mean of"))
        assert (axis.meaning, axis.formula, axis.source) == (stored["meaning"], stored["formula"], stored["source"])
    shown = " ".join(sdc("status", tmp_path / "run").out.split())
    assert all(axis.meaning in shown for axis in axes)
    source = Source.open(tmp_path / "run")
    assert isinstance(source.problem, GOMMProblem)
    assert [axis["sentence"] for axis in overview([source])["axes"]] == [o.sentence for o in source.problem.objectives]
    ident = source.run.front().ids[0]
    sdc("release", tmp_path / "run", "--solution", ident, "--out", tmp_path / "out.csv")
    measures = json.loads((tmp_path / "out.csv.certificate.json").read_text())["measures"]
    for axis in axes:
        assert measures[axis.name]["meaning"] == axis.meaning
        assert measures[axis.name]["formula"] == axis.formula
        assert measures[axis.name]["source"] == axis.source
