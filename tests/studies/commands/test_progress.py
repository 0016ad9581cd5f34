"""Bars of the command line: late, one at a time, gone at the end, and none where nobody looks."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sdc_problems._slices import tell
from sdc_problems.studies.commands import _progress
from sdc_problems.studies.commands._progress import DELAY, Bar, progress_bar
from sdc_problems.studies.report import terminal


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def screen() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def shown(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_a_bar_comes_after_two_seconds_and_goes_when_all_is_done(screen: Console) -> None:
    clock = Clock()
    bar = Bar(screen, clock=clock)
    bar("records", 1, 10)
    clock.now = DELAY
    bar("records", 2, 10)
    assert shown(screen) == ""
    clock.now = DELAY + 0.1
    bar("records", 3, 10)
    assert "records" in shown(screen)
    assert "30%" in shown(screen)
    bar("records", 10, 10)
    assert bar._drawn is None
    assert shown(screen).endswith("\x1b[2K"), "the line is cleared"
    bar("pairs", 1, 10)
    assert "pairs" not in shown(screen), "what comes next has two seconds of its own"


def test_short_computations_in_the_midst_of_a_long_one_are_passed_over(screen: Console) -> None:
    clock = Clock()
    bar = Bar(screen, clock=clock)
    for done in range(1, 6):
        bar("records", done, 10)
        bar("links", 4, 4)
        clock.now += 1
    assert "records" in shown(screen)
    assert "links" not in shown(screen)
    bar.clear()


def test_another_computation_has_a_bar_of_its_own(screen: Console) -> None:
    clock = Clock()
    bar = Bar(screen, clock=clock)
    for what in ("records", "pairs"):
        bar(what, 1, 10)
        clock.now += DELAY + 1
        bar(what, 5, 10)
        assert f"{what}" in shown(screen)
        assert bar._drawn is not None
        assert len(bar._drawn.tasks) == 1
    bar.clear()


def test_nothing_is_drawn_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_progress, "DELAY", -1.0)
    with progress_bar():
        tell("records", 1, 10)
    assert capsys.readouterr().err == ""


def test_the_bar_is_gone_when_the_command_is_interrupted(monkeypatch: pytest.MonkeyPatch, screen: Console) -> None:
    monkeypatch.setattr(_progress, "DELAY", -1.0)
    monkeypatch.setattr(terminal, "console", lambda stderr: screen)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    def work() -> None:
        with progress_bar():
            tell("records", 1, 10)
            assert "10%" in shown(screen)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert shown(screen).endswith("\x1b[2K")
    tell("records", 2, 10)
    assert "20%" not in shown(screen)
