"""Sessions of a run: what a killed one left is cleared away by the next, even if that shares no data."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sdc_problems.studies.commands.runs._session import beginning


def test_copies_of_the_data_of_a_killed_session_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f"sdc-problems-{ended.pid}-1-left" / "0"
    left.mkdir(parents=True)
    (left / "0.npy").write_bytes(b"original")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with beginning(tmp_path / "run"):
        assert list(tmp_path.iterdir()) == []
