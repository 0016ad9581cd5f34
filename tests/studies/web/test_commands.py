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
    first = out.read_bytes()
    assert isinstance(CliRunner().invoke(cli, ["report", str(pbg), "-o", str(out)]).exception, SDCError)
    assert out.read_bytes() == first
    again = CliRunner().invoke(cli, ["report", str(pbg), "-o", str(out), "--details", "2", "--force"])
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
