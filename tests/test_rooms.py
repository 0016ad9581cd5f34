"""The walk of the data goes one way: who may import whom, and what may be loaded when."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import sdc_problems

PACKAGE = Path(sdc_problems.__file__).parent

# A module may import from its own layer and from those above it in this list.
LAYERS = [
    (
        "_lazy",
        "_genomes",
        "_plugins",
        "_signature",
        "errors",
        "_files",
        "objective",
        "_kernel",
        "_slices",
        "_validation",
        "_sharing",
    ),
    ("requirement",),
    ("microdata", "hierarchy", "graph", "roles", "_tables", "front"),
    ("evaluators", "methods", "parallel"),
    ("operators",),
    ("problem",),
    ("problems",),
    ("algorithms",),
    ("datasets", "_sources"),
    ("suite", "adapters", "testing"),
    ("studies", "__main__"),
]
NO_PYMOO_NO_PANDAS = ("evaluators", "methods")


@functools.cache
def modules() -> list[tuple[str, Path]]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")) + [
        p for room in ("operators", "evaluators", "studies") for p in sorted((PACKAGE / room).resolve().rglob("*.py"))
    ]:
        for root in (PACKAGE, PACKAGE.parent):
            if path.is_relative_to(root):
                name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
                break
        if name not in ("__init__", "sdc_problems"):
            found.append((name, path))
    return sorted(set(found))


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports(node: ast.AST) -> Iterator[str]:
    """Every module imported anywhere in a tree, but for annotations only."""
    for child in ast.iter_child_nodes(node):
        if is_type_checking(child):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "absolute imports only"
            yield child.module or ""
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from imports(child)


def layer(name: str) -> int:
    """The most specific entry of LAYERS that holds this module."""
    best = max(
        (
            (len(entry), i)
            for i, row in enumerate(LAYERS)
            for entry in row
            if name == entry or name.startswith(entry + ".")
        ),
        default=None,
    )
    assert best is not None, f"{name} lives in no room of LAYERS"
    return best[1]


@pytest.mark.parametrize(("name", "path"), modules(), ids=lambda v: v if isinstance(v, str) else "")
def test_imports_point_up_the_house(name: str, path: Path) -> None:
    here = layer(name)
    for module in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if module.startswith("sdc_problems."):
            target = module.removeprefix("sdc_problems.")
            known = any(target == n or target.startswith(n + ".") for n, _ in modules())
            if known and target != "errors.SDCError":
                assert layer(target) <= here, f"{name} imports {target}, which lives further down"
        top = module.partition(".")[0]
        if name.startswith(NO_PYMOO_NO_PANDAS):
            assert top not in ("pymoo", "pandas"), f"{name} imports {top}: engines see arrays only"
        if name.startswith("operators"):
            assert module not in ("pandas", "sdc_problems.microdata", "sdc_problems.datasets"), "operators see no data"
        assert not module.startswith(("pymoo.indicators", "pymoo.util.nds")), f"{name}: call moocore directly"
        assert top not in ("operators", "evaluators", "studies"), f"{name} imports a second root"


RIDDLE = re.compile(r"(What|Who|Whose|How|Where|When|Why|Which)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.mark.parametrize(("name", "path"), modules(), ids=lambda v: v if isinstance(v, str) else "")
def test_docstrings_begin_with_the_word_that_people_search_for(name: str, path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, DOCUMENTED):
            text = ast.get_docstring(node) or ""
            assert not RIDDLE.match(text), f"{name}: {text.splitlines()[0]}"


def test_help_texts_begin_with_the_word_that_people_search_for() -> None:
    import click

    from sdc_problems.studies.cli import COMMANDS, cli

    def texts(command: click.Command, context: click.Context) -> Iterator[str]:
        yield command.help or ""
        yield command.short_help or ""
        yield from (option.help or "" for option in command.params if isinstance(option, click.Option))
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                yield from texts(inner, context)

    with click.Context(cli) as context:
        found = list(texts(cli, context))
    assert len(found) > 100
    assert [text for text in found if RIDDLE.match(text)] == []
    summaries = [line for _, line in COMMANDS.values()]
    assert [line for line in summaries if RIDDLE.match(line)] == []


def test_studies_know_a_task_in_its_folder_only() -> None:
    """Neither a task's name nor its problem stands elsewhere: a new task touches its folder and the registry."""
    from sdc_problems.studies.tasks._registry import BUILT_IN, find_task

    classes = {find_task(name).problem.partition(":")[2] for name in BUILT_IN}
    allowed = {("studies.release._protect", "MicroaggregationProblem")}  # methods that take a problem take this one
    found = set()
    for name, path in modules():
        if not name.startswith("studies") or name.startswith(("studies.tasks", "studies.reproductions")):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in {*BUILT_IN, *classes}:
                found.add((name, node.value))
            if isinstance(node, ast.alias) and node.name in classes:
                found.add((name, node.name))
    assert found <= allowed
    page = (PACKAGE / "studies" / "web" / "src").resolve()
    for path in page.glob("*.ts"):
        if not path.name.endswith(".test.ts"):
            assert not [name for name in BUILT_IN if f'"{name}"' in path.read_text(encoding="utf-8")], path


def test_no_folder_holds_more_than_fifteen_modules() -> None:
    folders = Counter(path.parent for _, path in modules() if not path.name.startswith("__"))
    assert {str(folder): n for folder, n in folders.items() if n > 15} == {}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'pandas', 'scipy', 'numba', 'pymoo', 'matplotlib', 'rich', 'pydantic'}"
    assert run(f"import sys, sdc_problems; print({heavy} & set(sys.modules))").strip() == "set()"
    code = f"""
import sys
from click.testing import CliRunner
from sdc_problems.studies.cli import COMMANDS, cli
result = CliRunner().invoke(cli, ["--help"])
assert result.exit_code == 0 and "demo" in result.output
print({heavy} & set(sys.modules))
"""
    assert run(code).strip() == "set()"


def test_the_top_finds_what_studies_offer_without_importing_them() -> None:
    code = """
import sys, sdc_problems
names = ("protect", "release", "verdict", "Run", "SDCFailure")
assert set(names) <= set(sdc_problems.__all__) and set(names) <= set(dir(sdc_problems))
assert not [name for name in sys.modules if name.startswith("sdc_problems.studies")]
for name in names:
    found = getattr(sdc_problems, name)
    assert callable(found) and found.__name__ == name, found
"""
    run(code)
    for _, path in modules():
        name = path.relative_to(PACKAGE).parts[0] if path.is_relative_to(PACKAGE) else path.parts[-2]
        if name in ("studies", "__main__.py"):
            continue
        assert "sdc_problems.studies" not in set(imports(ast.parse(path.read_text(encoding="utf-8")))), path


def test_rooms_are_never_imported_twice() -> None:
    code = """
import sys, sdc_problems.operators, sdc_problems.evaluators, sdc_problems.studies
for name in ("operators", "evaluators", "studies"):
    assert name not in sys.modules
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(name + " was imported from a second root")
"""
    run(code)


def test_every_public_name_is_there() -> None:
    """Every lazy table, in every room, names only what exists."""
    code = """
import importlib
for room in ("", ".methods", ".algorithms", ".testing", ".operators", ".evaluators", ".suite"):
    module = importlib.import_module("sdc_problems" + room)
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None
        assert name in dir(module), name
"""
    run(code)


def test_the_extra_path_finds_the_rooms_where_symlinks_are_not_checked_out(tmp_path: Path) -> None:
    root = PACKAGE.parent
    if not (root / "operators").is_dir():
        return  # an installed wheel holds real folders; nothing to find
    (tmp_path / "sdc_problems").mkdir()
    for name in ("__init__.py", "_lazy.py", "errors.py"):
        (tmp_path / "sdc_problems" / name).write_text((PACKAGE / name).read_text(encoding="utf-8"), encoding="utf-8")
    for room in ("operators", "evaluators", "studies"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text((root / room / "__init__.py").read_text(encoding="utf-8"))
        (tmp_path / "sdc_problems" / room).write_text(f"../{room}")  # what git writes for a symlink there
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import sdc_problems.operators
print(sdc_problems.operators.__file__)
"""
    assert str(tmp_path) in run(code)
