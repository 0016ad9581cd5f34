"""Guides in docs/: what they repeat of the code is what the code says."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


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


def test_contributing_names_files_that_exist() -> None:
    """Paths in backticks; one without a room stands in the package, or beside the one that its line names before."""
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = {path for path in re.findall(r"`([\w./-]+)`", text) if "/" in path and not path.startswith(("_", "dist"))}
    assert len(paths) > 30
    roots = (DOCS.parent, DOCS.parent / "sdc_problems", DOCS.parent / "tests" / "studies")
    missing = sorted(path for path in paths if not any((root / path).exists() for root in roots))
    assert missing == []


def test_contributing_leads_from_its_table_to_each_kind_of_change() -> None:
    text = (DOCS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(#([\w-]+)\)", text))
    assert linked == {heading.lower().replace(" ", "-") for heading in re.findall(r"^### (.+)$", text, re.MULTILINE)}


def test_solutions_that_the_texts_release_can_be_released(tmp_path: Path) -> None:
    """A text names a solution that the search begins with: it is there whatever the search finds later."""
    named = {
        solution
        for text in (DOCS.parent / "README.md", *DOCS.glob("*.md"))
        for solution in re.findall(r"sdc release runs/generalise --solution (\S+)", text.read_text(encoding="utf-8"))
    }
    assert named
    study = tmp_path / "generalise.toml"
    text = (DOCS.parent / "examples" / "generalise.toml").read_text(encoding="utf-8")
    text = text.replace("generations = 40", "generations = 1").replace("seeds = 3", "seeds = 1")
    study.write_text(text, encoding="utf-8")

    def sdc(*arguments: str) -> None:
        command = [sys.executable, "-m", "sdc_problems", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr

    sdc("run", "generalise.toml", "--no-pictures")
    for solution in named:
        sdc("release", "runs/generalise", "--solution", solution, "--out", f"{solution}.csv")


@pytest.mark.docs
def test_benchmarking_works_as_the_guide_says(tmp_path: Path) -> None:
    """Every block is executed, in order, in one folder."""
    text = (DOCS / "benchmarking.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(bash|python|toml)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 7
    for kind, block in blocks:
        file = re.match(r"# file: (\S+)\n", block)
        if file or kind == "toml":
            (tmp_path / (file[1] if file else "submission.toml")).write_text(block, encoding="utf-8")
            continue
        commands = (
            [block] if kind == "python" else block.replace("sdc ", f"{sys.executable} -m sdc_problems ").splitlines()
        )
        for command in commands:
            arguments = [sys.executable, "-c", command] if kind == "python" else command.split()
            done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    names = {path.stem for path in (tmp_path / "results" / "pictures").glob("*.png")}
    told = {name.rstrip("-…") for name in re.findall(r"^- `([\w-]+…?)`: ", text, re.MULTILINE)}
    assert {name.partition("-pbg")[0] for name in names} == told


FRAMEWORKS = (DOCS / "frameworks.md").read_text(encoding="utf-8")
SECTIONS = [section.partition("\n") for section in FRAMEWORKS.split("\n## ")[1:]]
EXAMPLES = [(title, text.split("```python\n")[1].split("```")[0]) for title, _, text in SECTIONS if "```python" in text]


@pytest.mark.docs
@pytest.mark.parametrize(("title", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_examples_of_other_frameworks_run(title: str, code: str, tmp_path: Path) -> None:
    module = {"jMetalPy": "jmetal", "Any language": "subprocess"}.get(title, title.lower())
    pytest.importorskip(module)
    assert len(code.strip().splitlines()) <= 26, "twenty lines or so"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = [sys.executable, "-c", code]
    done = subprocess.run(
        run, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"gap|solutions", done.stdout)


def test_every_adapter_has_an_example() -> None:
    from sdc_problems import adapters

    for name in adapters.__all__:
        if name.startswith("to_") or name == "serve":
            assert re.search(rf"\b{name}\b", "".join(code for _, code in EXAMPLES)), name
