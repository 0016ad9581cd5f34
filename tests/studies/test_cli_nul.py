"""A character that no path can hold."""

from __future__ import annotations

import pytest

from sdc_problems.studies import cli


def test_nul_in_a_path_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["sdc", "demo", "--out", "\0"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.EXIT_USAGE
    assert capsys.readouterr().err == "error: a path holds the character NUL, which no file name can\n"
