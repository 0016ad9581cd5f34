"""Fixtures that every test may use."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from sdc_problems import Microdata, _kernel

# Seeded: the same examples everywhere, unless SDC_NEW_EXAMPLES is set, as in .ci/nightly; with 10, each property tries
# ten times as many. No deadline, because the first call of a kernel compiles it.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("new", settings.get_profile("fixed"), derandomize=False, database=None, print_blob=True)
settings.load_profile("new" if "SDC_NEW_EXAMPLES" in os.environ else "fixed")
TIMES = int(os.environ.get("SDC_NEW_EXAMPLES", "1"))
_kernel.Kernel.patience = (0.0, 0.0)  # kernels are tested compiled; test_plain_forms.py compares their plain forms


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each property try more examples than it says."""
    properties = {getattr(item.obj, "__func__", item.obj) for item in items if isinstance(item, pytest.Function)}
    for test in properties if TIMES > 1 else ():
        own = getattr(test, "_hypothesis_internal_use_settings", None)  # a second @settings would be refused
        if own is not None:
            test._hypothesis_internal_use_settings = settings(own, max_examples=TIMES * own.max_examples)  # type: ignore[attr-defined]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20100621)


@pytest.fixture
def public() -> Callable[[str], Path]:
    """``public("census.csv")``: a public data file, or a skip that says why."""

    def find(name: str) -> Path:
        home = os.environ.get("SDC_DATA_HOME")
        if not home or not (Path(home) / name).is_file():
            pytest.skip(f"needs {name} in $SDC_DATA_HOME")
        return Path(home) / name

    return find


@pytest.fixture
def unchanged() -> Callable[..., None]:
    """``unchanged(f, *arrays, **options)``: call f and prove that it left its array arguments as they were."""

    def call(function: Callable[..., object], *args: object, **kwargs: object) -> None:
        arrays = [a for a in (*args, *kwargs.values()) if isinstance(a, np.ndarray)]
        before = [a.copy() for a in arrays]
        function(*args, **kwargs)
        for array, copy in zip(arrays, before, strict=True):
            assert array.dtype == copy.dtype
            np.testing.assert_array_equal(array, copy)

    return call


@pytest.fixture(scope="session")
def column_suppression() -> Callable[[], Any]:
    """``column_suppression()``: the problem of ``examples/column_suppression.py`` on a small random table."""
    path = Path(__file__).parent.parent / "examples" / "column_suppression.py"
    spec = importlib.util.spec_from_file_location("column_suppression", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that its problem can be pickled
    spec.loader.exec_module(module)

    def make() -> Any:
        rng = np.random.default_rng(4)
        frame = pd.DataFrame(rng.integers(0, 4, size=(200, 6)), columns=list("abcdef")).astype(str)
        frame["name"] = [f"person {i}" for i in range(200)]
        frame.index = pd.Index(rng.permutation(1000)[:200], name="record")
        data = Microdata.from_frame(frame, quasi_identifiers=list("abcdef"), identifiers=["name"])
        return module.ColumnSuppressionProblem(data)

    return make


@pytest.fixture
def cluster_of_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A scheduler and two workers, each started as a command of its own, on loopback."""
    from distributed.utils import json_load_robust

    place = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    file = ["--scheduler-file", str(place), "--host", "127.0.0.1", "--no-dashboard"]
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1"]
    with ExitStack() as stack:
        for command in (dask + file, worker + file, worker + file):
            process = stack.enter_context(subprocess.Popen(command, cwd=tmp_path, **quiet))
            stack.callback(process.kill)
            while not place.exists():
                assert process.poll() is None, "the scheduler ended"
        yield json_load_robust(place, timeout=60)["address"]  # it may be half written
