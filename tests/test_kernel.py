"""Kernels: what loads numba, where compiled code is kept and when it is used again."""

from __future__ import annotations

import gc
import importlib.util
import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems import _kernel
from sdc_problems._kernel.loops import ascend, descend, put

HELPER = """
from sdc_problems._kernel import kernel

@kernel()
def add(a, b):
    return a + b{more}
"""
CALLER = """
from helper import add
from sdc_problems._kernel import kernel

@kernel()
def total(values):
    found = 0.0
    for value in values:
        found = add(found, value)
    return found
"""
PROGRAM = """
import sys
import numpy as np
from caller import add, total
from sdc_problems import _kernel

assert "numba" not in sys.modules
said = []
_kernel.on_compile = lambda: said.append("compiling")
print(total(np.arange(4.0)), *said)
print(add(1, 2), *said)
"""


def run(folder: Path, home: Path, program: str = PROGRAM, **environment: str) -> list[str]:
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, text=True, capture_output=True, check=True,
        env=kept | {"XDG_CACHE_HOME": str(home), "HOME": str(home)} | environment,
    )  # fmt: skip
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources, and the home folder of who ran them once."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "sources").mkdir()
    (folder / "sources" / "helper.py").write_text(HELPER.format(more=""))
    (folder / "sources" / "caller.py").write_text(CALLER)
    assert run(folder / "sources", folder / "home") == ["6.0 compiling", "3 compiling"]
    return folder


@pytest.fixture
def sources(first: Path, tmp_path: Path) -> Path:
    return shutil.copytree(first / "sources", tmp_path / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def home(first: Path, tmp_path: Path) -> Path:
    return shutil.copytree(first / "home", tmp_path / "home")


def cached(home: Path) -> list[str]:
    return sorted(f"{p.parent.name[:-17]}/{p.name.partition('-')[0]}" for p in home.rglob("*.nbi"))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other folders there")
def test_equal_sources_share_what_was_compiled(sources: Path, home: Path) -> None:
    assert cached(home) == ["caller/caller.total", "helper/helper.add", "helper/helper.add.inner"]
    assert [p.stat().st_mode & 0o077 for p in (home / "sdc-problems").glob("*/*")] == [0, 0]
    assert run(sources, home) == ["6.0", "3"]
    assert not list(sources.rglob("*.nbi"))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other folders there")
def test_a_changed_helper_compiles_its_callers_again_and_old_code_goes(sources: Path, home: Path) -> None:
    (old,) = (home / "sdc-problems").glob("*/caller-*")
    os.utime(old, (time.time() - 1e7,) * 2)
    (sources / "helper.py").write_text(HELPER.format(more=" + 1"))
    assert run(sources, home) == ["10.0 compiling", "4 compiling"]
    assert not old.exists()
    assert len(list((home / "sdc-problems").glob("*/helper-*"))) == 2, "young code of another state stays"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other folders there")
def test_a_folder_that_others_can_write_to_is_not_used(sources: Path, home: Path) -> None:
    for folder in (home / "sdc-problems").glob("*/*"):
        folder.chmod(0o777)
    assert run(sources, home) == ["6.0 compiling", "3 compiling"]
    assert {p.name for p in sources.glob("__pycache__/*.nbi")} != set()


def test_numbas_own_setting_comes_first(sources: Path, tmp_path: Path) -> None:
    run(sources, tmp_path / "home", NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert len(list((tmp_path / "own").rglob("*.nbi"))) == 3
    assert not (tmp_path / "home").exists()


OWN = """
import numba
import sdc_problems._kernel._compiler
from helper import add

@numba.njit
def twice(a):
    return add(a, a)

print(twice(2), twice(2.5))
((types, made),) = [one for one in add.inner.overloads.items() if one[0] == (numba.int64, numba.int64)]
address = made.library.get_pointer_to_function
print(address("nothing"), made.library.waits, address(made.fndesc.llvm_func_name) != 0, made.library.waits)
"""


def test_code_inside_other_code_is_kept_without_an_address_and_gets_one_when_asked(sources: Path, home: Path) -> None:
    """Functions of others call kernels too, from the cache (whole numbers) or compiled for them."""
    assert run(sources, home, program=OWN) == ["4 5.0", "0 True True False"]
    (sources / "caller.py").write_text(CALLER.replace("0.0", "1.0"))
    before = {p: p.stat().st_mtime_ns for p in home.rglob("helper.add.inner*")}
    assert before
    assert run(sources, home) == ["7.0 compiling", "3 compiling"]
    assert {p: p.stat().st_mtime_ns for p in home.rglob("helper.add.inner*")} == before


def module(tmp_path: Path, text: str) -> ModuleType:
    (tmp_path / "made.py").write_text(text)
    spec = importlib.util.spec_from_file_location("made", tmp_path / "made.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_a_kernel_keeps_name_text_and_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = module(
        tmp_path, 'from sdc_problems._kernel import kernel\n@kernel()\ndef one(a):\n    "Text."\n    return a'
    )
    monkeypatch.setitem(sys.modules, "made", made)
    assert isinstance(made.one, _kernel.Kernel)
    assert (made.one.__name__, made.one.__doc__, made.one.py_func(3)) == ("one", "Text.", 3)
    assert pickle.loads(pickle.dumps(made.one)) is made.one


BARE = """
import numpy as np
from sdc_problems._kernel import kernel

@kernel(allocates=False)
def double(values, out):
    for i in range(len(values)):
        out[i] = 2 * values[i]

@kernel()
def doubled(values):
    out = np.empty_like(values)
    double(values, out)
    return out

@kernel(allocates=False)
def wrong(n):
    return np.empty(n).sum()

print(doubled(np.arange(3)), "NRT_incref" in "".join(double.inner.inspect_llvm().values()))
try:
    wrong(3)
except Exception as error:
    print("Only accept returning of array passed into the function" in str(error))
"""


def test_a_kernel_that_does_not_allocate_counts_no_references(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text(BARE)
    assert run(tmp_path, tmp_path / "home", program="import bare") == ["[0 2 4] False", "True"]


@given(values=st.lists(st.integers(-5, 5), max_size=60))
def test_loops_in_place_of_numpys_forms(values: list[int]) -> None:
    given_values = np.array(values, dtype=np.int64)
    target = np.full(len(values) + 2, 99)
    put(target, given_values)
    assert target.tolist() == [*values, 99, 99]
    ascend(given_values)
    assert given_values.tolist() == sorted(values)
    keys, places = np.array([*values, 9], dtype=np.float64), np.arange(len(values) + 1)
    descend(keys, places, len(values))
    assert keys.tolist() == [*sorted(values, reverse=True), 9.0]
    assert [values[place] for place in places[:-1]] == keys[:-1].tolist()
    assert sorted(places.tolist()) == list(range(len(values) + 1))


ONCE = """
import gc
import numpy as np
from sdc_problems._kernel import kernel
from sdc_problems._kernel import _compiler

@kernel()
def shifted(values, i, amount):
    return values[i] + amount

@kernel()
def total(values, narrow):
    return shifted(values, 0, 1) + shifted(values, 1, -7) + shifted(values, len(values) - 1, narrow[0])

usual = gc.get_threshold(), gc.get_freeze_count() < 1_000  # Python 3.12 begins with some
print(total(np.arange(3), np.array([5], dtype=np.int32)), len(shifted.inner.overloads))
print((gc.get_threshold(), gc.get_freeze_count() < 1_000) == usual)
"""


def test_constants_and_narrow_numbers_compile_a_helper_once(tmp_path: Path) -> None:
    (tmp_path / "once.py").write_text(ONCE)
    done = subprocess.run(
        [sys.executable, "once.py"], cwd=tmp_path, text=True, capture_output=True, check=True,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "own")},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["2 1", "True"]


def test_flags_of_the_compiler_are_equal_when_their_values_are() -> None:
    from numba.core.compiler import Flags

    import sdc_problems._kernel._compiler  # noqa: F401 -- it makes the comparison quicker

    usual, same, other = Flags(), Flags(), Flags()
    same.release_gil = usual.release_gil  # said, but as it is
    other.release_gil = not usual.release_gil
    assert usual == same
    assert hash(usual) == hash(same)
    assert usual != other


def test_compiling_leaves_the_garbage_collector_as_it_was() -> None:
    from sdc_problems._kernel._quicker import FEW, LessGarbage

    listener, usual = LessGarbage(), gc.get_threshold()
    for _ in range(2):  # one compilation within another
        listener.on_start(None)
    assert gc.get_freeze_count() > FEW
    assert gc.get_threshold()[0] >= 10_000
    for _ in range(2):
        listener.on_end(None)
    assert gc.get_freeze_count() < FEW
    assert gc.get_threshold() == usual
    gc.freeze()
    try:
        listener.on_start(None)
        listener.on_end(None)
        assert gc.get_freeze_count()  # what somebody else froze
    finally:
        gc.unfreeze()
