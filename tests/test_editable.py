"""An editable install puts the package on the path of a user's script, and nothing else of this repository."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LOOK = """
import importlib.util, json, sys
sys.path.append(sys.argv[1])
import sdc_problems, sdc_problems.errors
from importlib.resources import files
beside = [name for name in sys.argv[2:] if name != "sdc_problems" and importlib.util.find_spec(name)]
print(json.dumps([sdc_problems.__file__, sdc_problems.__spec__.origin, sdc_problems.errors.__file__,
                  files("sdc_problems").joinpath("py.typed").is_file(), beside]))
"""


def test_the_package_is_importable_and_what_lies_beside_it_is_not() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    (folder,) = settings["dev-mode-dirs"]
    beside = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name.isidentifier()]
    assert {"operators", "evaluators", "studies", "tests"} <= set(beside)
    # -I -S: no path but the standard library's and the one an editable install adds
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LOOK, str(ROOT / folder), *beside],
        capture_output=True, text=True, check=True, timeout=60, cwd=ROOT.parent,
    )  # fmt: skip
    file, origin, errors, typed, found = json.loads(done.stdout)
    assert Path(file) == Path(origin) == ROOT / "sdc_problems" / "__init__.py"
    assert Path(errors) == ROOT / "sdc_problems" / "errors.py"
    assert typed
    assert found == []


@pytest.mark.parametrize("name", ["operators", "evaluators", "studies"])
def test_a_second_import_root_is_refused(name: str) -> None:
    code = f"import sys; sys.path.append({str(ROOT)!r}); import {name}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert f"this folder is the package sdc_problems.{name}" in done.stderr
