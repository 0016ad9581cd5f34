"""Code blocks of README and docs: each page's are executed in order, and none is left out without a reason."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {
    "README.md": 1,
    "CONTRIBUTING.md": 1,
    "docs/frameworks.md": 1,
    "docs/start/index.md": 1,
    "docs/howto/dask.md": 3,
    "docs/howto/editor.md": 1,
}
"""How many blocks of a page are not run: they install the package, run the checks, or need other machines."""
ELSEWHERE = {"docs/benchmarking.md", "docs/frameworks.md"}
"""Pages whose blocks are executed with what they print, in test_guides.py."""


def pages() -> list[str]:
    """Pages that people write, as paths in the repository."""
    top = [*ROOT.glob("*.md"), *(p for p in (ROOT / "docs").rglob("*.md") if "generated" not in p.parts)]
    return sorted(str(path.relative_to(ROOT)) for path in top if "auto_gallery" not in path.parts)


def load_blocks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("blocks", ROOT / "docs" / "blocks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["blocks"] = module
    spec.loader.exec_module(module)
    return module


BLOCKS = load_blocks()
EXECUTED = [
    name
    for name in pages()
    if name not in ELSEWHERE
    and any(
        block.language in ("python", "bash") and not block.not_run
        for block in BLOCKS.blocks((ROOT / name).read_text(encoding="utf-8"))
    )
]


@pytest.mark.docs
@pytest.mark.parametrize("name", EXECUTED)
def test_code_blocks_of_a_page_run(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "docs" / "blocks.py"), str(ROOT / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "blocks executed" in done.stdout


def test_blocks_are_left_out_only_where_it_is_agreed() -> None:
    found = {name: BLOCKS.blocks((ROOT / name).read_text(encoding="utf-8")) for name in pages()}
    skipped = {name: sum(bool(block.not_run) for block in listed) for name, listed in found.items()}
    assert {name: count for name, count in skipped.items() if count} == SKIPPED


def test_toml_blocks_are_toml() -> None:
    for name in pages():
        for block in BLOCKS.blocks((ROOT / name).read_text(encoding="utf-8")):
            if block.language == "toml":
                tomllib.loads(block.text)


def test_a_block_that_fails_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Text\n\n```python\na = 1\n```\n```bash\ntrue\nfalse  # fails\n```\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "docs" / "blocks.py"), str(page)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "page.md:6" in done.stderr
    assert "false" in done.stderr


def test_blocks_are_found_hidden_indented_and_named() -> None:
    text = (
        "<!-- before\n```python\na = 1\n```\n-->\n1. Step\n   ```bash\n   # comment\n   sdc a \\\n     b\n   ```\n"
        "<!-- not run: a reason -->\n```bash\nsdc c\n```\n```{toctree}\nx\n```\n```toml\n# file: a.toml\nb = 1\n```\n"
    )
    found = BLOCKS.blocks(text)
    assert [block.language for block in found] == ["python", "bash", "bash", "toml"]
    assert [block.not_run for block in found] == [None, None, "a reason", None]
    assert BLOCKS.commands(found[1].text) == ["sdc a    b"]
    assert (found[0].line, found[3].file) == (2, "a.toml")
