"""``sdc report`` and ``sdc explore`` as they are typed."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sdc_problems.errors import SDCError
from sdc_problems.studies.cli import cli


def test_a_report_is_written_once_and_overwritten_on_demand_only(pbg: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = CliRunner().invoke(cli, ["report", str(pbg), "-o", str(out), "--details", "2"])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(out)
    assert "solutions" not in done.stderr.splitlines()  # the name of a bar that only a terminal shows
    first = out.read_bytes()
    assert isinstance(CliRunner().invoke(cli, ["report", str(pbg), "-o", str(out)]).exception, SDCError)
    assert out.read_bytes() == first
    again = CliRunner().invoke(cli, ["report", str(pbg), "-o", str(out), "--details", "2", "--overwrite"])
    assert again.exit_code == 0
    assert out.read_bytes() == first, "the same run gives the same report"


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    for command in (["report", str(tmp_path), "-o", str(tmp_path / "r.html")], ["explore", str(tmp_path)]):
        with pytest.raises(SDCError, match="is not a run folder"):
            CliRunner().invoke(cli, command, catch_exceptions=False)


def test_without_the_extra_the_way_out_is_named(pbg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SDCError, match=r"pip install 'sdc-problems\[explore\]'"):
        CliRunner().invoke(cli, ["explore", str(pbg)], catch_exceptions=False)


def test_the_printed_address_can_be_opened_at_once(pbg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that is faster than the server waits; it is not refused."""
    import uvicorn

    def not_yet_serving(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        socket.create_connection(sockets[0].getsockname(), timeout=5).close()
        sockets[0].close()

    monkeypatch.setattr(uvicorn.Server, "run", not_yet_serving)
    done = CliRunner().invoke(cli, ["explore", str(pbg)], catch_exceptions=False)
    assert done.stdout.startswith("http://127.0.0.1:")


def test_a_report_replaces_neither_the_run_nor_its_data(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("age,town\n" + "".join(f"{20 + i % 9},{'ab'[i % 2]}\n" for i in range(40)))
    text = (
        '[data]\nfile = "mine.csv"\nquasi_identifiers = ["age", "town"]\n[data.hierarchies]\nage = {intervals = [5]}\n'
    )
    text += 'town = {suppression = true}\n[problem]\ntask = "pbg"\n[algorithm]\nname = "NSGA2"\npop_size = 4\n'
    (tmp_path / "study.toml").write_text(text + "[termination]\ngenerations = 1\n")
    run = tmp_path / "run"
    CliRunner().invoke(cli, ["run", str(tmp_path / "study.toml"), "--out", str(run), "--no-pictures"])
    kept = [tmp_path / "mine.csv", run / "study.toml", run / "run.sqlite"]
    before = [path.read_bytes() for path in kept]
    for path, says in zip(kept, ("the data of a run", "the run itself", "the run itself"), strict=True):
        done = CliRunner().invoke(cli, ["report", str(run), "-o", str(path), "--details", "1", "--overwrite"])
        assert isinstance(done.exception, SDCError)
        assert says in str(done.exception)
    assert [path.read_bytes() for path in kept] == before
