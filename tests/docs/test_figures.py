"""Figures of the texts: each has a command, the texts name it beside the figure, and what it runs is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

from sdc_problems.studies.cli import COMMANDS
from tests.docs.test_blocks import ROOT, pages

SHOWN = re.compile(r"!\[[^\]]*\]\((?:docs/)?figures/([\w-]+)\.png\)")


@pytest.fixture(scope="module")
def figures() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        yield import_module("figures")
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_every_figure_has_a_command_and_is_shown(figures: ModuleType) -> None:
    there = {path.stem for path in (ROOT / "docs" / "figures").iterdir()}
    shown = {name for page in pages() for name in SHOWN.findall((ROOT / page).read_text(encoding="utf-8"))}
    assert there == set(figures.FIGURES) == shown


@pytest.mark.parametrize("page", pages())
def test_texts_name_the_command_beside_the_figure(figures: ModuleType, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in SHOWN.finditer(text):
        beside = " ".join(text[max(0, found.start() - 600) : found.end() + 600].split())
        assert f"`{figures.FIGURES[found[1]].shown}" in beside, found[1]


def test_commands_of_figures_run_what_is_there(figures: ModuleType) -> None:
    for figure in figures.FIGURES.values():
        assert "{out}" in figure.run
        assert figure.kind in figures.KINDS
        for command in figure.run.split(" && "):
            program, what, *_ = command.split()
            assert (ROOT / what).is_file() if program == "python" else program == "sdc" and what in COMMANDS
        for file in re.findall(r"examples/[\w-]+\.toml", figure.run):
            assert (ROOT / file).is_file()
