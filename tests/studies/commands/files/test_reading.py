"""Options that say how a file is written: marks that cannot be are refused by every command that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from sdc_problems.studies.cli import COMMANDS, LazyGroup

Sdc = Callable[..., Any]
STUDY = """
[data]
file = "people.csv"
quasi_identifiers = ["age"]
{mark}
[problem]
task = "microaggregation"
k = 2
[algorithm]
name = "NSGA2"
[termination]
generations = 1
"""
CALLS = {
    "protect": ["protect", "people.csv", "--columns", "age", "--k", "2", "--out", "out.csv"],
    "evaluate": ["evaluate", "people.csv", "other.csv", "--quasi-identifiers", "age"],
    "scan": ["scan", "people.csv"],
    "hierarchy suggest": ["hierarchy", "suggest", "people.csv", "--columns", "age", "--out", "suggested"],
    "hierarchy check": ["hierarchy", "check", "people.csv", "hierarchies"],
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "other.csv"):
        Path(name).write_text("age,town\n21,Olot\n24,Vic\n35,Vic\n38,Olot\n")
    Path("hierarchies").mkdir()
    return tmp_path


def with_marks(group: click.Group) -> Iterator[str]:
    """Commands, and those below them, that take a decimal mark."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from (f"{name} {below}" for below in with_marks(command))
        elif command is not None and any(option.name == "decimal" for option in command.params):
            yield name


def test_every_command_with_marks_is_among_the_calls() -> None:
    assert set(COMMANDS) >= {name.split()[0] for name in CALLS}
    assert set(with_marks(LazyGroup("sdc"))) == set(CALLS)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        (["--thousands", "1"], "--thousands cannot be '1': this character is part of numbers, text or lines"),
        (["--decimal", "5"], "--decimal cannot be '5': this character is part of numbers, text or lines"),
        (["--delimiter", "e"], "--delimiter cannot be 'e': this character is part of numbers, text or lines"),
        (["--decimal", ",,"], "--decimal must be a single character, not ',,'"),
        (["--decimal", ",", "--thousands", ","], "--decimal and --thousands are both ','"),
    ],
)
def test_marks_that_are_part_of_numbers(call: str, marks: list[str], sentence: str, here: Path, sdc: Sdc) -> None:
    before = sorted(here.iterdir())
    said = sdc(*CALLS[call], *marks, code=2)
    assert said.err.startswith(f"error: {sentence}")
    assert len(said.err.splitlines()) == 1
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(("name", "mark"), [("thousands", "1"), ("decimal", "5")])
def test_marks_of_a_study_that_are_part_of_numbers(name: str, mark: str, here: Path, sdc: Sdc) -> None:
    Path("study.toml").write_text(STUDY.format(mark=f'{name} = "{mark}"'))
    assert f"error: {name} cannot be '{mark}': this character is part" in sdc("run", "study.toml", code=2).err
    assert not (here / "runs").exists()
