"""Ctrl-C in commands on many records: how long it would have to wait to be heard, at worst, and where.

A timer asks for Python's attention twenty times a second, as Ctrl-C does once; what passes between two answers is what
a person would wait. Seconds on the clock, and of CPU beside them: other work on the machine lengthens the former only.
A command that takes longer than the limit is interrupted then, and must end at once, leaving no file.

    python benchmarks/bench_interrupt.py                                   # 1,000,000 records × 4
    python benchmarks/bench_interrupt.py --records 100000 --limit 60 --only evaluate --only mdav
    python benchmarks/bench_interrupt.py --records 300000 --limit 20 --cold                # while kernels compile
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS = "age,hours,wage,savings"
TOWNS = "education,marital_status,income"
STUDIES = {
    "generalize": ('task = "pbg"\nmax_suppression = 0.01', 'name = "NSGA2"\npop_size = 20', 3),
    "masking": ('task = "masking"\nobjectives = ["il_categorical", "dr_guarded"]', 'name = "CellSearch"', 0),
    "recipe": ('task = "recipe"\nobjectives = ["il_mixed", "dr_mixed"]', 'name = "NSGA2"\npop_size = 10', 2),
}
"""Problem, algorithm and generations of each study."""


def protected(method: str, out: str, *more: str, columns: str = COLUMNS) -> list[str]:
    """Command line that protects the table by a method."""
    others = ",".join(name for name in f"{COLUMNS},{TOWNS}".split(",") if name not in columns.split(","))
    return ["protect", "in.csv", "--method", method, *more, "--columns", columns, "--keep", others, "--out", out]


COMMANDS = {
    "protect --method mdav": protected("mdav", "mdav.csv", "--k", "5"),
    "protect --method memetic": protected("memetic", "any.csv", "--k", "5"),
    "protect --method rank-swap": protected("rank-swap", "any.csv", "--percent", "5"),
    "protect --method swap-records": protected("swap-records", "any.csv", "--percent", "5"),
    "protect --method suppress-cells": protected("suppress-cells", "any.csv", "--k", "5", columns=TOWNS),
    "protect --k 5": ["protect", "in.csv", "--k", "5", "--columns", COLUMNS, "--keep", TOWNS, "--out", "any.csv"],
    "evaluate": ["evaluate", "in.csv", "mdav.csv", "--quasi-identifiers", COLUMNS],
    **{f"run {task}": ["run", f"{task}.toml", "--out", f"run-{task}", "--no-pictures"] for task in STUDIES},
    "release": ["release", "run-generalize", "--solution", "SAFEST", "--out", "any.csv"],
    "benchmark run": ["benchmark", "run", "--instance", "pbg-people-k-glm", "--algorithm", "NSGA2", "--seeds", "2",
                      "--budget", "short", "--out", "bench"],
    "reproduce": ["reproduce", "social", "--quick", "--out", "reproduced"],
}  # fmt: skip
NEEDED = {"evaluate": "protect --method mdav", "release": "run generalize"}
MAKE = """
import sys, numpy, sdc_problems
people = sdc_problems.load("people").data.frame()[sys.argv[2].split(",")].dropna()
rng = numpy.random.default_rng(1)
many = people.sample(int(sys.argv[1]), replace=True, random_state=1)
many["wage"] += rng.integers(-500, 500, len(many))
many["savings"] += rng.integers(-500, 500, len(many))
many.to_csv("in.csv", index=False)
"""
RUN = """
import json, os, signal, sys, time, traceback

limit, told = float(sys.argv[1]), sys.argv[2]
found = {"waited": 0.0, "cpu": 0.0, "at": "", "asked": 0.0}
begin = last = time.monotonic()
used = time.thread_time()

def heard(number, frame):
    global last, used
    now, cpu = time.monotonic(), time.thread_time()
    if now - last > found["waited"]:
        places = [f"{Path(f.filename).stem}.{f.name}:{f.lineno}" for f in traceback.extract_stack(frame)
                  if "sdc_problems" in f.filename or "studies" in f.filename or "evaluators" in f.filename]
        found.update(waited=now - last, cpu=cpu - used, at=" < ".join(places[:-4:-1]))
    last, used = now, cpu
    if now - begin > limit and not found["asked"]:
        found["asked"] = now - begin
        raise KeyboardInterrupt

from pathlib import Path
signal.signal(signal.SIGALRM, heard)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
sys.argv = ["sdc", *sys.argv[3:]]
from sdc_problems.studies.cli import main
try:
    main()
except SystemExit as ended:
    found.update(code=ended.code, seconds=time.monotonic() - begin, total=time.process_time())
signal.setitimer(signal.ITIMER_REAL, 0)
Path(told).write_text(json.dumps(found))
"""


def study(task: str) -> str:
    """Study of the table."""
    problem, algorithm, generations = STUDIES[task]
    columns = TOWNS if task == "masking" else f"{COLUMNS},{TOWNS}"
    named = ", ".join(f'"{name}"' for name in columns.split(","))
    kept = "" if task != "masking" else f"keep = {json.dumps(COLUMNS.split(','))}\n"
    levels = _levels(columns) if task == "generalize" else ""
    end = f"[termination]\ngenerations = {generations}\n" if generations else ""
    return (
        f'[data]\nfile = "in.csv"\nquasi_identifiers = [{named}]\n{kept}{levels}'
        f"[problem]\n{problem}\n[algorithm]\n{algorithm}\n{end}"
    )


def safest(front: Path) -> str:
    """Solution with the largest k."""
    with front.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return next(iter(max(rows, key=lambda row: float(row["k"])).values()))


def _levels(columns: str) -> str:
    bands = {"age": "5, 20", "hours": "10, 40", "wage": "1000, 10000", "savings": "5000, 50000"}
    lines = [
        f"{name} = {{intervals = [{bands[name]}]}}" if name in bands else f"{name} = {{suppression = true}}"
        for name in columns.split(",")
    ]
    return "[data.hierarchies]\n" + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=150.0, help="Seconds after which a command is interrupted.")
    parser.add_argument("--only", action="append", help="Part of the name of a command; all if not given.")
    parser.add_argument("--cold", action="store_true", help="Compile kernels anew for each command.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-c", MAKE, str(given.records), f"{COLUMNS},{TOWNS}"], check=True, cwd=folder)
        for task in STUDIES:
            (folder / f"{task}.toml").write_text(study(task))
        wanted = [name for name in COMMANDS if any(part in name for part in given.only or [""])]
        if not wanted:
            parser.error(f"no command has such a name: {', '.join(COMMANDS)}")
        needed = [name for one in wanted for name in (NEEDED.get(one, one), one)]
        print(f"{'command':32s}{'seconds':>9s}{'CPU':>8s}{'waited':>8s}{'CPU':>7s}  where")
        for number, name in enumerate(dict.fromkeys(needed)):
            told = folder / "told.json"
            told.unlink(missing_ok=True)
            words = COMMANDS[name]
            if "SAFEST" in words:
                front = folder / "run-generalize" / "front.csv"
                if not front.exists():
                    print(f"{name:32s} the run that it needs did not end", flush=True)
                    continue
                words = [safest(front) if word == "SAFEST" else word for word in words]
            cache = {"NUMBA_CACHE_DIR": str(folder / f"compiled-{number}")} if given.cold else {}
            child = [sys.executable, "-c", RUN, str(given.limit), str(told), *words]
            ended = subprocess.run(child, cwd=folder, capture_output=True, text=True, check=False,
                                   env=os.environ | cache)  # fmt: skip
            if not told.exists():
                print(f"{name:32s} {ended.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            found = json.loads(told.read_text())
            asked = f"; interrupted at {found['asked']:.0f} s, code {found['code']}" if found["asked"] else ""
            print(f"{name:32s}{found['seconds']:9.1f}{found['total']:8.1f}{found['waited']:8.2f}{found['cpu']:7.2f}"
                  f"  {found['at']}{asked}", flush=True)  # fmt: skip
            if found["code"] not in (None, 0, 130):
                print(" ", *ended.stderr.strip().splitlines()[-1:], flush=True)
            assert not (found["asked"] and (folder / "any.csv").exists()), "a file is left behind"
            for made in folder.glob("any.csv*"):
                made.unlink()


if __name__ == "__main__":
    main()
