"""Ctrl-C in the midst of a long computation: heard between two slices, exit code 130, and no file."""

from __future__ import annotations

import importlib
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sdc_problems import Microdata
from sdc_problems.__main__ import main as entry
from sdc_problems._slices import listening
from sdc_problems.parallel._process import ENDING, LINEAR_ALGEBRA, end_by_exception
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release import _protect, _transaction, protect

CHILD = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have it ignored
from sdc_problems.__main__ import main
from sdc_problems.studies.commands import _progress

_progress.DELAY = -1.0  # bars at once
sys.argv = ["sdc", *sys.argv[1:]]
main()
"""


@pytest.fixture(autouse=True)
def same_signals() -> Iterator[None]:
    """Signals of the process that runs the tests, which `entry` changes."""
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_command_is_interrupted_once_it_shows_how_far_it_is(number: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150_000, 8)), columns=list("abcdefgh")).round(6)  # minutes of MDAV
    frame.to_csv(tmp_path / "in.csv", index=False)
    ours, theirs = pty.openpty()
    given = ["protect", "in.csv", "--method", "mdav", "--k", "3", "--columns", ",".join(frame), "--out", "out.csv"]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, *given],
        cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while b"mdav: records done" not in said:
        said += os.read(ours, 4096)  # an error of the child's ends this: nobody writes any more
    child.send_signal(number)
    while True:
        try:
            said += os.read(ours, 4096)
        except OSError:
            break
    out, _ = child.communicate()
    os.close(ours)
    assert child.returncode == 130, said.decode()
    assert out == b""
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


MODULES = (
    "_slices", "evaluators.linkage.distance", "methods._kernels.mdav", "methods._kernels.mdav_tree",
    "methods._kernels.kd_tree", "methods._kernels.mondrian", "methods._kernels.walk",
    "methods.recoding._wildcard_stars", "studies.release.csv_text",
)  # fmt: skip


def interrupt(at: str) -> Callable[[str, int, int], None]:
    def listener(what: str, done: int, total: int) -> None:
        if what == at:
            raise KeyboardInterrupt

    return listener


@pytest.mark.parametrize(
    ("method", "at"),
    [
        ("mondrian", "records in regions"),
        ("mdav", "mdav: records done"),
        ("v-mdav", "v-mdav: records done"),
        ("mhm", "mhm: records done"),
        ("suppress-cells-wildcard", "rows compared"),
        ("mdav", "records linked"),
        ("mdav", "rows written"),
        ("mdav", "rows read back"),
    ],
)
def test_an_interruption_between_two_slices_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, at: str
) -> None:
    """Slices are made small; whatever the listener raises, as Ctrl-C would, ends the work at once."""
    for module in MODULES:
        monkeypatch.setattr(importlib.import_module(f"sdc_problems.{module}"), "SLICE", 2_000)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(0, 99, 3000), "pay": rng.normal(size=3000).round(3), "ill": list("yn") * 1500}
    )
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "pay"], sensitive=["ill"])
    if "cells" in method:
        coarse = frame.assign(age=frame["age"] // 10, pay=frame["pay"].round()).astype(str)
        data = Microdata.from_frame(coarse, quasi_identifiers=["age", "pay"], sensitive=["ill"])
    with listening(interrupt(at)), pytest.raises(KeyboardInterrupt):
        protect(data, tmp_path / "out.csv", method=method, k=3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize(("at", "said"), [("_rename_all", "nothing was written"), ("Protected", "all are complete")])
def test_an_interrupted_command_says_whether_the_files_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool, at: str, said: str
) -> None:
    """What is interrupted is either before the files get their names, or what follows it."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"age": range(60)}).to_csv("in.csv", index=False)
    words = ["protect", "in.csv", "--method", "mdav", "--k", "3", "--columns", "age", "--out", "out.csv"]
    if before:
        assert CliRunner().invoke(cli, words).exit_code == 0
        words = [*(word if word != "3" else "4" for word in words), "--overwrite"]
    there = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_transaction if at == "_rename_all" else _protect, at, interrupted)
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 130
    assert said in result.stderr
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    if at == "_rename_all":
        assert files == there
    else:
        assert len(files) == 5  # with the original
        assert files["out.csv"] != there.get("out.csv")


def test_ctrl_c_while_the_command_is_loaded_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sdc_problems.studies.cli.main", interrupted)
    with pytest.raises(SystemExit) as end:
        entry()
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("place", ["main", "cli.main"])
def test_an_interruption_that_a_library_turns_into_its_own_error_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """As compiled ones do, whose error says no more than that something failed."""

    def pressed(**options: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise ValueError("error building a serializer") from None

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    monkeypatch.setattr(f"sdc_problems.studies.cli.{place}", pressed)
    with pytest.raises(SystemExit) as end:
        entry()
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
    end_by_exception()  # another command in the same process
    monkeypatch.setattr(f"sdc_problems.studies.cli.{place}", lambda **options: int("a bug"))
    with pytest.raises(ValueError, match="a bug"):
        entry()


def test_linear_algebra_of_a_command_uses_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdc_problems.studies.cli.main", lambda: None)
    for told, used in (("", "1"), ("2", "2")):
        for name in LINEAR_ALGEBRA:
            monkeypatch.setenv(name, "")  # so that it is put back
            monkeypatch.delenv(name)
        if told:
            monkeypatch.setenv(LINEAR_ALGEBRA[0], told)
        entry()
        assert os.environ[LINEAR_ALGEBRA[0]] == used
        assert os.environ[LINEAR_ALGEBRA[1]] == "1"


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As by nohup, so that a command outlives its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_by_exception()
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN)
