"""Paths that no system has: a character that none can hold, names too long for any."""

from __future__ import annotations

import pytest

from sdc_problems.studies import cli


def test_nul_in_a_path_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["sdc", "demo", "--out", "\0"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.EXIT_USAGE
    assert (
        capsys.readouterr().err
        == "error: a path contains the character NUL, which no file name may contain: remove it\n"
    )


@pytest.mark.parametrize(
    "arguments", [["demo", "--out", "9" * 5000], ["explore", "9" * 5000], ["status", "9" * 300], ["run", "x" * 5000]]
)
def test_a_path_too_long_is_one_sentence(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["sdc", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.EXIT_USAGE
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert len(said.splitlines()) == 1
