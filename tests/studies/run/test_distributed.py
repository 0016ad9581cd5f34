"""Whole studies on a Dask cluster: the same bytes as in one process, whatever happens to the workers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.store.reader import Run

pytestmark = pytest.mark.slow

Content = Callable[[Path], dict[str, Any]]
Sdc = Callable[..., Any]

STUDY = """
[data]
name = "people"
records = 500
[problem]
task = "pram"
columns = ["education", "marital_status"]
objectives = ["il_categorical", "dbrl"]
[algorithm]
name = "NSGA2"
pop_size = 12
[termination]
generations = 15
[run]
seeds = 2
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def serial(study: Path, tmp_path: Path, sdc: Sdc) -> Path:
    """The run in one process."""
    sdc("run", study, "--out", tmp_path / "serial", "--no-pictures")
    return tmp_path / "serial"


def stored(folder: Path) -> int:
    if not (folder / "run.sqlite").exists():
        return 0
    with Run(folder) as run:
        return sum(state.generations for state in run.progress())


def test_a_local_cluster_whose_worker_is_killed(study: Path, serial: Path, tmp_path: Path, content: Content) -> None:
    import psutil

    folder = tmp_path / "run"
    command = [sys.executable, "-m", "sdc_problems", "run", str(study), "--out", str(folder), "--no-pictures"]
    with subprocess.Popen(
        [*command, "--workers", "2", "--scheduler", "local"], text=True, stdout=-1, stderr=-1
    ) as process:
        while stored(folder) < 3:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        measuring = [child for child in psutil.Process(process.pid).children(recursive=True) if _is_worker(child)]
        assert measuring, "no worker process was found"
        measuring[0].kill()
        _, messages = process.communicate(timeout=300)
    assert process.returncode == 0, messages
    assert content(folder) == content(serial)


def _is_worker(process: Any) -> bool:
    """Whether a process listens for tasks: the scheduler's own process is not among the children."""
    try:
        return any(c.status == "LISTEN" for c in process.net_connections("tcp"))
    except OSError:
        return False


def test_a_scheduler_and_workers_started_as_commands(
    study: Path, serial: Path, tmp_path: Path, content: Content, sdc: Sdc, cluster_of_commands: str
) -> None:
    """Two seeds side by side, each a client of its own; then a run that is moved from one process to the cluster."""
    folder = tmp_path / "run"
    sdc("run", study, "--out", folder, "--workers", 2, "--scheduler", cluster_of_commands, "--no-pictures")
    assert content(folder) == content(serial)
    moved = tmp_path / "moved"
    command = [sys.executable, "-m", "sdc_problems", "run", str(study), "--out", str(moved), "--no-pictures"]
    with subprocess.Popen(command, text=True, stdout=-1, stderr=-1) as process:
        while stored(moved) < 3:
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.kill()
    sdc("resume", moved, "--scheduler", cluster_of_commands, "--no-pictures")
    assert content(moved) == content(serial)


def test_a_scheduler_is_not_taken_from_a_folder(study: Path, serial: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    shutil.copytree(serial, folder)
    (folder / "study.toml").write_text(STUDY + 'scheduler = "tcp://127.0.0.1:1"\n')
    sdc("resume", folder, "--no-pictures")


def test_a_scheduler_that_is_not_there(study: Path, tmp_path: Path, sdc: Sdc, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.parallel import cluster

    monkeypatch.setattr(cluster, "PATIENCE", 1.0)
    monkeypatch.setattr(cluster.DaskCluster.__init__, "__kwdefaults__", {"workers": 1, "patience": 1.0})
    folder = tmp_path / "run"
    said = sdc("run", study, "--out", folder, "--scheduler", "tcp://127.0.0.1:1", code=1)
    assert "no Dask scheduler answers" in said.err
    assert not folder.exists(), "a folder is in the way of the next try"
    sdc("run", study, "--out", folder, "--no-pictures")
