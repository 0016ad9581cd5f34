from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from sdc_problems import Objective
from sdc_problems.errors import SDCError
from sdc_problems.studies import reproductions
from sdc_problems.studies.commands import reproduce
from sdc_problems.studies.reproductions.report import Cell, Picture, Report, ReportTable


def example() -> Report:
    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([0, 1], [1, 0])
    table = ReportTable(
        "table-1",
        "Table 1: errors",
        ("set", "RR", "nodes"),
        (("k | GLM", Cell(0.98765, 0.94), Cell(800, form="d")), ("k, ℓ", Cell(None, "n/a"), 12)),
        note="Means of 20 runs.",
    )
    return Report("Example", "Nobody (2000).", ("Seeds 1–20.",), (table,), (Picture("figure-1", "Figure 1", figure),))


def test_markdown_has_the_papers_figure_beside_ours() -> None:
    text = example().markdown()
    assert "| k \\| GLM | 0.988 (paper: 0.94) | 800 |" in text
    assert "| k, ℓ | – (paper: n/a) | 12 |" in text
    assert "![Figure 1](figure-1.png)" in text
    assert text.index("Seeds") < text.index("## Table 1") < text.index("Means of 20 runs") < text.index("## Figure 1")


def test_csv_keeps_full_precision_and_only_the_columns_it_needs() -> None:
    rows = list(csv.reader(io.StringIO(example().tables[0].csv())))
    assert rows == [
        ["set", "RR", "RR (paper)", "nodes"],
        ["k | GLM", "0.98765", "0.94", "800"],
        ["k, ℓ", "", "n/a", "12"],
    ]


def test_json_holds_no_nan() -> None:
    table = ReportTable("t", "T", ("a",), ((Cell(float("nan"), 1.0),),))
    content = json.loads(Report("E", "S", (), (table,)).json(folder="here"))
    assert content["tables"][0]["rows"] == [{"a": {"ours": None, "paper": 1.0}}]
    assert content["folder"] == "here"


def test_rows_must_fit_the_columns() -> None:
    with pytest.raises(SDCError, match="2 columns and a row of 1"):
        ReportTable("t", "T", ("a", "b"), (("x",),))


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "find", lambda name: lambda *, quick, say: example())


@pytest.mark.usefixtures("registered")
def test_the_command_writes_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run"
    result = CliRunner().invoke(reproduce.command, ["pbg", "--quick", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == {"report.md", "report.json", "table-1.csv", "figure-1.png"}
    assert (out / "figure-1.png").read_bytes()[:4] == b"\x89PNG"
    assert "(paper: 0.94)" in result.output
    again = CliRunner().invoke(reproduce.command, ["pbg", "--out", str(out)])
    assert isinstance(again.exception, SDCError)
    assert "already exists" in str(again.exception)


@pytest.mark.usefixtures("registered")
def test_the_command_prints_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(reproduce.command, ["pbg", "--json", "--out", str(tmp_path / "run")])
    content = json.loads(result.stdout)
    assert content["tables"][0]["rows"][0]["RR"] == {"ours": 0.98765, "paper": 0.94}
    assert content["quick"] is False


def test_unknown_names() -> None:
    with pytest.raises(SDCError, match="no reproduction 'pgb'; did you mean 'pbg'"):
        reproductions.find("pgb")
    assert CliRunner().invoke(reproduce.command, ["nothing"]).exit_code == 2


# `social` begins with embedded graphs, and its report says which of the public ones were not to be had.
@pytest.mark.parametrize("name", [name for name in reproductions.REPRODUCTIONS if name != "social"])
def test_a_missing_file_is_missed_before_the_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of its files is missing: the other ones may be there."""
    rooms = (
        "evolution.cases",
        "gomm.runs",
        "microaggregation.runs",
        "microaggregation.cells",
        "pbg.study",
        "pram.runs",
        "precluster.runs",
    )

    def load(wanted: str) -> SimpleNamespace:
        if wanted == missing:
            raise SDCError(f"{wanted} is not on this machine")
        return SimpleNamespace(data=Table())

    class Table:
        """A table that any problem would take."""

        def with_roles(self, **roles: object) -> Table:
            return self

        def values(self) -> None:
            return None

    needed = {
        "evolution": ("census", "tarragona", "eia", "pima_diabetes", "german_credit", "solar_flare", "adult"),
        "gomm": ("water_treatment", "census"),
        "microaggregation": ("census",),
        "pbg": ("adult",),
    }
    for missing in needed.get(name, ("german_credit", "solar_flare")):
        said: list[str] = []
        monkeypatch.setattr("sdc_problems.studies.reproductions.gomm.runs.GOMMProblem", lambda *a, **b: None)
        for room in rooms:
            monkeypatch.setattr(f"sdc_problems.studies.reproductions.{room}.load", load)
        with pytest.raises(SDCError, match=f"{missing} is not on this machine"):
            reproductions.find(name)(quick=True, say=said.append)
        assert said == []


def test_a_report_ends_with_what_was_measured() -> None:
    k = Objective("k", "smallest class", "max", unit="records", meaning="Records left.", formula="|a|", source="A (1)")
    report = dataclasses.replace(example(), objectives=(k,))
    assert report.markdown().endswith(
        "## Measures\n\n- `k`, smallest class: Records left. Larger is better. `|a|`, A (1).\n"
    )
    assert json.loads(report.json())["objectives"][0]["meaning"] == "Records left."
    assert "## Measures" not in example().markdown()
