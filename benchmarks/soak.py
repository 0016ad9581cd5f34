"""Commands that are disturbed, one after the other, for as long as is asked: nothing is lost, nothing is left behind.

    python benchmarks/soak.py --minutes 60

Each round starts one command (a search of levels, a search of groups, or `sdc protect`) and disturbs it: a worker is
killed, the command itself is killed, or politely (SIGTERM), Ctrl-C, a disk that is full, a full disk for temporary
files, or a limit on memory drawn between too little to begin and enough. The disks are file systems of some kilobytes
in a mount namespace of its own; where the system refuses one, a limit on the size of files stands for the first of
them, and the table says so.
What was stopped is resumed, or started again. Each must end with the same bytes as undisturbed. A command that fails
must say so in one sentence and leave whole files or none. Afterwards no process may live, and neither the folder of
temporary files nor the shared memory may hold a file. Beside the rounds one long search runs for the whole time.

The table says how often each disturbance came and how often it struck, and the memory of the first and last rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np
import psutil

from sdc_problems import load

LEVELS = """
[data]
name = "people"
[problem]
task = "pbg"
objectives = ["k", "l", "glm"]
[algorithm]
name = "NSGA2"
pop_size = 40
[termination]
{end}
"""
GROUPS = """
[data]
name = "people"
records = 300
quasi_identifiers = ["age", "hours", "wage", "savings"]
[problem]
task = "microaggregation"
k = 3
k_max = 12
objectives = ["il_sse", "k"]
[algorithm]
name = "NSGA2"
pop_size = 40
start = "baselines"
[termination]
generations = 10
"""
SDC = [sys.executable, "-m", "sdc_problems"]
SIGNALS = {"run killed": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "polite kill": signal.SIGTERM}
PATIENCE = 900  # seconds that one command may take on a busy machine
DISK = (8, 400)  # kilobytes of the full disk
MEMORY = (400, 900)  # megabytes of addresses under the limit: an undisturbed command takes some 580
SHARED = Path("/dev/shm")

Limit = Callable[[], None]


class Failed(Exception):
    """Something was lost or left behind."""


@dataclass
class Job:
    """A command that writes into a folder, and what it is known by."""

    name: str
    start: list[str]
    result: str
    resumed: bool = True
    expected: str = ""
    files: list[str] = field(default_factory=list)
    seconds: float = 5.0


class Soak:
    """Rounds in a folder, with a folder of temporary files that must be empty after each."""

    def __init__(self, folder: Path, seed: int, *, apart: bool) -> None:
        self.folder, self.rng, self.apart = folder, np.random.default_rng(seed), apart
        self.scratch, self.disk = folder / "tmp", folder / "disk"
        for path in (self.scratch, self.disk):
            path.mkdir()
        self.peaks: dict[str, list[int]] = defaultdict(list)
        self.counts, self.struck, self.again = Counter[str](), Counter[str](), Counter[str]()
        self.said = Counter[str]()
        self.wrong: list[str] = []
        self.jobs = self.make_jobs()
        if apart:
            _mount(SHARED, "64m")  # one of its own, so that what is left in it is ours

    def make_jobs(self) -> list[Job]:
        (self.folder / "levels.toml").write_text(LEVELS.format(end="generations = 15"))
        (self.folder / "groups.toml").write_text(GROUPS)
        load("people").data.frame().to_csv(self.folder / "people.csv", index=False)
        run = ["--out", "OUT", "--workers", "2", "--no-pictures"]
        protect = ["--k", "5", "--quasi-identifiers", "age,sex,education,marital_status", "--sensitive", "income"]
        return [
            Job("levels", ["run", str(self.folder / "levels.toml"), *run], "front.csv"),
            Job("groups", ["run", str(self.folder / "groups.toml"), *run], "front.csv"),
            Job(
                "protect",
                ["protect", str(self.folder / "people.csv"), *protect, "--rows-seed", "1",
                 "--out", "OUT/safe.csv"],
                "safe.csv", resumed=False,
            ),
        ]  # fmt: skip

    # -- processes ------------------------------------------------------------------------------------------------

    def start(self, arguments: list[str], scratch: Path, limit: Limit | None = None) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "TMPDIR": str(scratch), "PYTHONHASHSEED": "0"}
        with open(self.folder / "said.txt", "wb") as said:
            return subprocess.Popen(
                [*SDC, *arguments], env=environment, preexec_fn=limit, start_new_session=True,
                stdout=subprocess.DEVNULL, stderr=said,
            )  # fmt: skip

    def wait(self, process: subprocess.Popen[bytes], kind: str) -> int:
        """Exit code; the memory of the command and its workers is noted, seen ten times a second."""
        peak, end = 0, time.monotonic() + PATIENCE
        while process.poll() is None:
            if time.monotonic() > end:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise Failed(f"no end after {PATIENCE} s")
            peak = max(peak, _memory(process.pid))
            time.sleep(0.1)
        self.peaks[kind].append(peak)
        return process.returncode

    def strike(self, process: subprocess.Popen[bytes], kind: str, job: Job) -> bool:
        """Wait a random while and strike; False if the command ended first."""
        if kind == "worker killed":
            while process.poll() is None:
                with contextlib.suppress(psutil.Error):
                    children = psutil.Process(process.pid).children()
                    # Not the process that removes semaphores, nor what is still a copy of the command.
                    workers = [child for child in children if "spawn_main" in " ".join(child.cmdline())]
                    if workers:
                        workers[int(self.rng.integers(len(workers)))].kill()
                        return True
                time.sleep(0.05)
            return False
        time.sleep(float(self.rng.random()) * job.seconds)
        if process.poll() is not None:
            return False
        process.send_signal(SIGNALS[kind])
        return True

    # -- one round ------------------------------------------------------------------------------------------------

    def undisturbed(self) -> None:
        for job in self.jobs:
            began = time.monotonic()
            out = self.out(job, self.folder / job.name)
            code = self.wait(self.start(self.words(job, out), self.scratch), "undisturbed")
            if code:
                raise Failed(f"{job.name} undisturbed: {code} {self.sentence()}")
            job.seconds, job.expected = time.monotonic() - began, _digest(out / job.result)
            job.files = sorted(path.name for path in out.iterdir())
            shutil.rmtree(out)
            self.nobody_left(self.scratch)

    def round(self, kind: str, job: Job) -> None:
        """Disturb a command, let it end, and look at what there is."""
        where = self.disk if kind == "full disk" and self.apart else self.folder / "out"
        scratch, limit = self.scratch, None
        size = f"{int(self.rng.integers(*DISK))}k"
        if kind == "full disk" and self.apart:
            _mount(self.disk, size)
        elif kind == "full disk":
            limit = _no_long_files
        elif kind == "full temporary disk":
            _mount(self.disk, size)
            scratch = self.disk
        elif kind == "memory limit":
            limit = _limited(int(self.rng.integers(*MEMORY)) << 20)
        where.mkdir(exist_ok=True)
        out = self.out(job, where / job.name)
        try:
            process = self.start(self.words(job, out), scratch, limit)
            signalled = kind == "worker killed" or kind in SIGNALS
            hit = self.strike(process, kind, job) if signalled else False
            code = self.wait(process, kind)
            self.struck[kind] += hit or (not signalled and code != 0)
            self.again[kind] += code != 0
            if code:
                self.check_said(kind, job, out, code)
                if kind == "full disk" and self.apart:
                    _mount(self.disk, "64m", again=True)
                self.go_on(kind, job, out)
            self.nobody_left(scratch)
            if _digest(out / job.result) != job.expected:
                raise Failed("other bytes than undisturbed")
            if (files := sorted(path.name for path in out.iterdir())) != job.files:
                raise Failed(f"files {sorted(set(files) ^ set(job.files))}")
        finally:
            shutil.rmtree(out, ignore_errors=True)
            if where == self.disk or scratch == self.disk:
                subprocess.run(["umount", "-l", str(self.disk)], check=True)

    def go_on(self, kind: str, job: Job, out: Path) -> None:
        words = self.words(job, out)
        if not job.resumed and (out / job.result).exists():
            return  # stopped when all was written: the protected file gets its name last
        if job.resumed and (out / "run.sqlite").exists():
            words = ["resume", str(out), "--workers", "2", "--no-pictures"]
        if self.wait(self.start(words, self.scratch), "going on"):
            raise Failed(f"does not go on: {self.sentence()}")

    def check_said(self, kind: str, job: Job, out: Path, code: int) -> None:
        """A command that fails says one sentence, and leaves whole files or none."""
        if kind == "run killed":
            if job.resumed and not (out / "run.sqlite").exists():
                shutil.rmtree(out, ignore_errors=True)  # nobody was left to clear it away
            return
        if code == -signal.SIGTERM:
            self.said["polite kill before Python had found the command"] += 1
            return
        said = self.sentence()
        self.said[f"{kind}: {said.replace(str(self.folder), 'FOLDER')[:110]}"] += 1
        whole = (self.folder / "said.txt").read_text(errors="replace")
        if kind == "Ctrl-C" and "_get_module_details" in whole and said == "KeyboardInterrupt":
            self.said["Ctrl-C before Python had found the command"] += 1
        elif "Traceback" in whole or not said:
            raise Failed(f"code {code} and no sentence but {whole[-1500:]!r}")
        if not job.resumed:
            left = sorted(path.name for path in out.iterdir())
            if left != (job.files if "all are complete" in whole else []):
                raise Failed(f"left {left} and said {said!r}")
        elif out.exists() and not (out / "run.sqlite").exists():
            raise Failed(f"a folder without a run: {[path.name for path in out.iterdir()]}")

    def sentence(self) -> str:
        """Last line that the command said."""
        lines = (self.folder / "said.txt").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def out(self, job: Job, out: Path) -> Path:
        if not job.resumed:
            out.mkdir()
        return out

    def words(self, job: Job, out: Path) -> list[str]:
        return [word.replace("OUT", str(out)) for word in job.start]

    def nobody_left(self, scratch: Path) -> None:
        """No process of a command lives on, and there is no temporary file; a worker has time to notice the end."""
        end = time.monotonic() + 60
        while True:
            mine = [p for p in psutil.process_iter() if _ours(p, scratch)]
            files = [str(path) for path in self.scratch.rglob("*") if path.is_file()]
            if self.apart:
                files += [str(path) for path in SHARED.iterdir()]
            if scratch != self.scratch:
                files += [str(path) for path in scratch.rglob("*") if path.is_file()]
            if not mine and not files:
                return
            if time.monotonic() > end:
                for place in map(Path, files):  # counted once, not in every round from here on
                    place.unlink(missing_ok=True)
                raise Failed(f"{len(mine)} processes and the files {files[:5]} are left")
            time.sleep(0.5)

    # -- all of them ----------------------------------------------------------------------------------------------

    def kinds(self) -> list[str]:
        names = ["worker killed", *SIGNALS, "full disk", "full temporary disk", "memory limit"]
        return [name for name in names if self.apart or name != "full temporary disk"] + ["undisturbed"]

    def last(self, minutes: float) -> None:
        """Rounds until the time is up."""
        end, number, kinds = time.monotonic() + 60 * minutes, 0, self.kinds()
        while time.monotonic() < end:
            kind, job = kinds[number % len(kinds)], self.jobs[number // len(kinds) % len(self.jobs)]
            if kind == "worker killed" and not job.resumed:
                job = self.jobs[0]  # the other has no workers
            number += 1
            self.counts[kind] += 1
            try:
                self.round(kind, job)
            except Failed as error:
                self.wrong.append(f"{number} {kind}, {job.name}: {error}")
                print(f"FAILED {self.wrong[-1]}", file=sys.stderr, flush=True)
            if number % 20 == 0:
                print(f"{number} rounds, {len(self.wrong)} failed", file=sys.stderr, flush=True)


class Long:
    """One search that runs for the whole time; its memory every few seconds."""

    def __init__(self, folder: Path, minutes: float) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "long.toml").write_text(LEVELS.format(end=f'time = "{60 * 60 * minutes:.0f} s"'))
        words = ["run", str(folder / "long.toml"), "--out", str(folder / "run"), "--workers", "1", "--no-pictures"]
        self.seen: list[int] = []
        self.ending = False
        self.process = subprocess.Popen(
            [*SDC, *words], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        time.sleep(20)
        while not self.ending:
            self.seen.append(_memory(self.process.pid))
            time.sleep(5)

    def end(self) -> int:
        """Stop it by Ctrl-C; its exit code."""
        self.ending = True
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)

    def growth(self) -> str:
        """Memory in each sixth of the time, and how many different solutions it had measured by then."""
        with contextlib.closing(sqlite3.connect(self.folder / "run" / "run.sqlite")) as store:
            measured = [
                store.execute(
                    "SELECT max(solutions) FROM generations WHERE 6 * generation <="
                    " ? * (SELECT max(generation) FROM generations)",
                    (sixth,),
                ).fetchone()[0]
                for sixth in range(1, 7)
            ]
            (asked,) = store.execute("SELECT max(evaluated) FROM generations").fetchone()
        parts = np.array_split(np.array(self.seen), 6)
        grown = ", ".join(
            f"{np.median(part) / 2**20:.0f} MiB ({n:,})" for part, n in zip(parts, measured, strict=True) if len(part)
        )
        return f"the long search asked for {asked:,} solutions; memory in each sixth (different solutions): {grown}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _memory(pid: int) -> int:
    """Bytes in memory of a process and its children."""
    total = 0
    with contextlib.suppress(psutil.Error):
        parent = psutil.Process(pid)
        for member in (parent, *parent.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += int(member.memory_info().rss)
    return total


def _ours(process: psutil.Process, scratch: Path) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get("TMPDIR") == str(scratch)
    return False


def _mount(place: Path, size: str, *, again: bool = False) -> None:
    options = f"size={size},mode=700" + (",remount" if again else "")
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], check=True)


def _no_long_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def _limited(size: int) -> Limit:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _may_be_apart() -> bool:
    """Whether the system gives out a mount namespace of one's own."""
    with contextlib.suppress(OSError):
        words = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode == 0
    return False


def third(peaks: list[int], *, last: bool) -> str:
    """Median of the first or last third, as text."""
    if not peaks:
        return ""
    n = max(1, len(peaks) // 3)
    return f"{median(peaks[-n:] if last else peaks[:n]) / 2**20:.0f} MiB"


def main(minutes: float, seed: int, *, apart: bool) -> int:
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        soak = Soak(Path(name), seed, apart=apart)
        soak.undisturbed()
        long = Long(Path(name) / "long", minutes)
        try:
            soak.last(minutes)
        finally:
            code = long.end()
        grown = long.growth()
    print("| disturbance | rounds | struck | had to go on | most memory, first third | last third |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in soak.kinds():
        shown = kind + (" (limit on file size)" if kind == "full disk" and not apart else "")
        peaks = soak.peaks[kind]
        struck = soak.struck[kind] if kind != "undisturbed" else ""
        print(
            f"| {shown} | {soak.counts[kind]} | {struck} | {soak.again[kind]} |"
            f" {third(peaks, last=False)} | {third(peaks, last=True)} |"
        )
    print(
        f"| one search for the whole time | 1 | 1 | | {third(long.seen, last=False)} | {third(long.seen, last=True)} |"
    )
    print(grown)
    print(f"the long search ended with code {code} by Ctrl-C")
    print(f"{soak.counts.total()} rounds, {len(soak.wrong)} failed")
    for text, count in soak.said.most_common():
        print(f"{count:5} {text}")
    for text in soak.wrong:
        print(f"FAILED {text}")
    return 1 if soak.wrong else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--apart", action="store_true", help="Already in a mount namespace of its own.")
    chosen = parser.parse_args()
    if not chosen.apart and _may_be_apart():
        os.execvp("unshare", ["unshare", "-rm", sys.executable, __file__, *sys.argv[1:], "--apart"])
    sys.exit(main(chosen.minutes, chosen.seed, apart=chosen.apart))
