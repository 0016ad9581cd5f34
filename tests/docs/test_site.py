"""Site of the documentation: nothing public is left out of it, and its links lead somewhere."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.test_blocks import BLOCKS, ROOT, pages
from tests.test_public_api import ROOMS

DOCS = ROOT / "docs"
IMPORT = re.compile(r"^from (sdc_problems[\w.]*) import ([\w, ]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def generate() -> Iterator[ModuleType]:
    """Package of the generators, importable as it is for Sphinx."""
    sys.path.insert(0, str(DOCS))
    try:
        yield importlib.import_module("generate.reference")
    finally:
        sys.path.remove(str(DOCS))


def test_every_public_room_is_in_the_reference(generate: ModuleType) -> None:
    assert set(ROOMS) <= set(generate.ROOMS)


def test_every_name_that_pages_and_examples_import_is_in_the_reference(generate: ModuleType) -> None:
    shown = [value for room in generate.ROOMS for _, value in generate.public(room)]
    texts = [block.text for name in pages() for block in BLOCKS.blocks((ROOT / name).read_text(encoding="utf-8"))]
    texts += [
        path.read_text(encoding="utf-8") for path in [*(ROOT / "examples").glob("*.py"), *DOCS.glob("gallery/*/*.py")]
    ]
    imported = {found for text in texts for found in IMPORT.findall(text)}
    assert len(imported) > 20
    missing = []
    for module, names in imported:
        for name in re.findall(r"\w+", names):
            value = getattr(importlib.import_module(module), name)
            if not any(value is other for other in shown) and not inspect.ismodule(value):
                missing.append(f"{module}.{name}")
    assert missing == []


def test_every_public_name_has_a_page_with_what_its_docstring_says(generate: ModuleType) -> None:
    made = generate.pages()
    for room in generate.ROOMS:
        for name, value in generate.public(room):
            home = generate.home(room, name, value)
            assert f"{home}\n" in made[f"reference/{home}.rst"]
            if callable(value):
                assert generate.summary(value), home


def test_classes_that_problems_mention_have_a_page(generate: ModuleType) -> None:
    shown = {name for room in generate.ROOMS for name, _ in generate.public(room)}
    problems = [value for name, value in generate.public("sdc_problems") if name.endswith("Problem")]
    assert len(problems) > 5
    for problem in problems:
        said = inspect.getdoc(problem) or ""
        assert set(re.findall(r"(?<!`)`([A-Z]\w+)`(?!`)", said)) <= shown, problem
        assert "``evaluators." not in said, problem


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("check", DOCS / "check.py")
    assert spec is not None
    assert spec.loader is not None
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y"></a><a href="b.html#z"></a><img src="c.png">', "utf-8"
    )
    (tmp_path / "b.html").write_text('<p id="y"><a href="a.html#x"></a><a href="https://pymoo.org"></a>', "utf-8")
    assert check.broken(tmp_path) == ["a.html: b.html#z", "a.html: c.png"]


def test_every_objective_that_a_problem_can_have_is_on_the_site(generate: ModuleType) -> None:
    """The catalogues of the pages are those of the problems that studies can name."""
    from sdc_problems.studies.tasks import available_tasks

    tables = importlib.import_module("tables")
    shown = ", ".join(tables.CATALOGUES)
    for task in available_tasks().values():
        assert task.problem_class.__name__ in shown, task.name


def test_the_gallery_has_an_example_of_each_task_and_of_what_people_do() -> None:
    examples = {path.stem.removeprefix("plot_") for path in (DOCS / "gallery").rglob("plot_*.py")}
    assert len(examples) >= 12
    assert {"own_problem", "own_operator", "own_measure", "callback", "checkpoint", "dask", "eaf"} <= examples
    assert {"publish", "attack"} <= examples
    from sdc_problems.studies.tasks import available_tasks

    texts = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "gallery" / "1_fronts").glob("plot_*.py"))
    for name, task in available_tasks().items():
        assert task.problem_class.__name__ in texts, name


def test_buttons_copy_what_a_reader_types_and_ask_nobody_else(tmp_path: Path) -> None:
    pytest.importorskip("sphinx_copybutton")
    from sphinx.cmd.build import build_main

    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    settings = dict(re.findall(r"^(copybutton_\w+) = (.+)$", conf, re.MULTILINE))
    (tmp_path / "conf.py").write_text(
        'extensions = ["sphinx_copybutton"]\n' + "".join(f"{name} = {value}\n" for name, value in settings.items())
    )
    (tmp_path / "index.rst").write_text("Page\n====\n\n>>> 1 + 1\n2\n\n.. code-block:: bash\n\n   $ sdc demo\n")
    assert '"sphinx_copybutton"' in conf
    assert build_main(["-q", "-W", "-b", "html", str(tmp_path), str(tmp_path / "site")]) == 0
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "_static/copybutton.js" in page
    assert not re.search(r'<(?:script|link|img)[^>]*(?:src|href)="(?:https?:)?//', page)
    prompt = re.compile(ast.literal_eval(settings["copybutton_prompt_text"]))
    assert [bool(prompt.match(line)) for line in (">>> 1 + 1", "... 2", "$ sdc demo", "2", "$x = 1")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    script = (tmp_path / "site" / "_static" / "copybutton.js").read_text(encoding="utf-8")
    assert "sphx-glr-script-out" in script
    assert "formatCopyText" in script
