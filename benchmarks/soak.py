"""Runs that are disturbed, one after the other, for as long as is asked: nothing may be lost, and nothing left behind.

    python benchmarks/soak.py --minutes 60

Each round carries out one study anew and disturbs it: a worker is killed, the run itself is killed, Ctrl-C, a disk that
is full (a limit on the size of files, which the system refuses like a full disk), or a limit on memory. A run that was
stopped is resumed. Each must end with the same front as an undisturbed one. Afterwards no process of the run may live,
and its folder of temporary files must be empty. The table says how often, and the memory of the first and last rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import psutil

STUDY = """
[data]
name = "people"
[problem]
task = "pbg"
objectives = ["k", "l", "glm"]
[algorithm]
name = "NSGA2"
pop_size = 40
[termination]
generations = 15
"""
SDC = [sys.executable, "-m", "sdc_problems"]
PATIENCE = 900  # seconds that one command may take on a busy machine
SOFT = 100_000  # bytes of a file on the full disk: the database is larger in the end
MEMORY = 6 << 30  # bytes of addresses of a process: compiled code needs room, but no runaway fits

Limit = Callable[[], None]


class Failed(Exception):
    """Something was lost or left behind."""


class Soak:
    """Rounds in a folder, with a folder of temporary files that must be empty after each."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.rng = folder, np.random.default_rng(seed)
        self.study, self.scratch = folder / "study.toml", folder / "tmp"
        self.study.write_text(STUDY)
        self.scratch.mkdir()
        self.environment = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONHASHSEED": "0"}
        self.peaks: dict[str, list[int]] = defaultdict(list)
        self.stopped: dict[str, int] = defaultdict(int)

    def start(self, *arguments: object, limit: Limit | None = None) -> subprocess.Popen[bytes]:
        command = [*SDC, *map(str, arguments), "--no-pictures"]
        return subprocess.Popen(
            command, env=self.environment, preexec_fn=limit, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def wait(self, process: subprocess.Popen[bytes], kind: str) -> int:
        """Exit code; the memory of the largest process of the tree is noted, seen ten times a second."""
        peak, end = 0, time.monotonic() + PATIENCE
        while process.poll() is None:
            if time.monotonic() > end:
                raise Failed(f"{kind}: no end after {PATIENCE} s")
            with contextlib.suppress(psutil.Error):
                tree = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
                peak = max(peak, sum(member.memory_info().rss for member in tree))
            time.sleep(0.1)
        self.peaks[kind].append(peak)
        return process.returncode

    def content(self, run: Path) -> str:
        """Digest of the front that a run has stored."""
        return hashlib.sha256((run / "front.csv").read_bytes()).hexdigest()

    def running(self, process: subprocess.Popen[bytes], run: Path) -> bool:
        """Wait until the run has stored something and a random moment has passed; False if it ended first."""
        while not (run / "run.sqlite").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(float(self.rng.random()) * 3)
        return process.poll() is None

    def round(self, kind: str, number: int) -> str:
        run = self.folder / f"run-{number}"
        limit: Limit | None = None
        if kind == "full disk":
            limit = _full_disk
        elif kind == "memory limit":
            limit = _little_memory
        process = self.start("run", self.study, "--out", run, "--workers", 2, limit=limit)
        if kind in ("worker killed", "run killed", "Ctrl-C") and self.running(process, run):
            if kind == "worker killed":
                self.kill_worker(process)
            else:
                process.send_signal(signal.SIGKILL if kind == "run killed" else signal.SIGINT)
        code = self.wait(process, kind)
        if code:
            self.stopped[kind] += 1
            if not (run / "run.sqlite").exists():  # stopped before it had begun: there is nothing to go on with
                shutil.rmtree(run, ignore_errors=True)
                again = self.start("run", self.study, "--out", run, "--workers", 2)
            else:
                again = self.start("resume", run, "--workers", 2)
            if self.wait(again, "resumed"):
                raise Failed(f"{kind}: not resumed after exit code {code}")
        self.nobody_left(kind)
        found = self.content(run)
        shutil.rmtree(run)
        return found

    def kill_worker(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a worker of a run, as soon as it has one."""
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):
                workers = [c for c in psutil.Process(process.pid).children() if "resource_tracker" not in _said(c)]
                if workers:
                    workers[int(self.rng.integers(len(workers)))].kill()
                    return
            time.sleep(0.05)

    def nobody_left(self, kind: str) -> None:
        """No process of a run lives on, and there is no temporary file; what was killed is given time to notice."""
        end = time.monotonic() + 60
        while True:
            processes = [p for p in psutil.process_iter(["environ"]) if _ours(p, self.scratch)]
            files = sorted(path.name for path in self.scratch.rglob("*") if path.is_file())
            if not processes and not files:
                return
            if time.monotonic() > end:
                raise Failed(f"{kind}: {len(processes)} processes and the files {files[:5]} are left")
            time.sleep(0.5)


def _said(process: psutil.Process) -> str:
    return " ".join(process.cmdline())


def _ours(process: psutil.Process, scratch: Path) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE and (process.environ() or {}).get("TMPDIR") == str(scratch)
    return False


def _full_disk() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (SOFT, SOFT))


def _little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


KINDS = ("worker killed", "run killed", "Ctrl-C", "full disk", "memory limit", "undisturbed")


def main(minutes: float, seed: int) -> None:
    end = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        soak = Soak(Path(name), seed)
        expected = soak.round("undisturbed", 0)
        counts: dict[str, int] = defaultdict(int)
        number = 0
        while time.monotonic() < end:
            kind = KINDS[number % len(KINDS)]
            number += 1
            if soak.round(kind, number) != expected:
                raise Failed(f"{kind}: other solutions than undisturbed")
            counts[kind] += 1
            print(f"{number} {kind}", file=sys.stderr, flush=True)
        left = sorted(path.name for path in Path(name).iterdir())
    print("| disturbance | runs | stopped and resumed | most memory, first third | last third |")
    print("| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        peaks = [peak / 2**20 for peak in soak.peaks[kind]]
        if counts[kind]:
            third = max(1, len(peaks) // 3)
            print(
                f"| {kind} | {counts[kind]} | {soak.stopped[kind]} | {median(peaks[:third]):.0f} MiB |"
                f" {median(peaks[-third:]):.0f} MiB |"
            )
    print(f"{sum(counts.values())} runs: each ended with the same front; left in the folder: {', '.join(left)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    main(chosen.minutes, chosen.seed)
