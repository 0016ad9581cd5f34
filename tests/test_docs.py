"""Guides in docs/: what they repeat of the code is what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("guide", sorted(DOCS.glob("*.md")), ids=lambda path: path.stem)
def test_tables_are_those_of_the_code(tables: ModuleType, guide: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    assert tables.written(text) == text, "write them anew: python docs/tables.py"


def test_every_table_stands_in_a_guide(tables: ModuleType) -> None:
    shown = [name for guide in DOCS.glob("*.md") for _, name, _, _ in tables.MARKED.findall(guide.read_text("utf-8"))]
    assert sorted(shown) == sorted(tables.TABLES)
