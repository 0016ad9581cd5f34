"""Ctrl-C in commands on many records: how long it would have to wait to be heard, at worst, and where.

A timer asks for Python's attention twenty times a second, as Ctrl-C does once; what passes between two answers is what
a person would wait. Seconds on the clock, and of CPU beside them: other work on the machine lengthens the former only.
A command that takes longer than the limit is interrupted then, and must end at once, leaving no file.

    python benchmarks/bench_interrupt.py                                   # 1,000,000 records × 4
    python benchmarks/bench_interrupt.py --records 100000 --limit 60 --only evaluate
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS = "age,hours,wage,savings"
COMMANDS = {
    "protect --method mdav": ["protect", "in.csv", "--method", "mdav", "--k", "5", "--columns", COLUMNS,
                              "--out", "mdav.csv"],
    "evaluate": ["evaluate", "in.csv", "mdav.csv", "--quasi-identifiers", COLUMNS],
    "protect --k 5": ["protect", "in.csv", "--k", "5", "--columns", COLUMNS, "--out", "any.csv"],
}  # fmt: skip
MAKE = """
import sys, numpy, sdc_problems
people = sdc_problems.load("people").data.frame()[sys.argv[2].split(",")]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=150.0, help="Seconds after which a command is interrupted.")
    parser.add_argument("--only", action="append", help="Name of a command; all if not given.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-c", MAKE, str(given.records), COLUMNS], check=True, cwd=folder)
        needed = ["protect --method mdav", *(given.only or COMMANDS)]
        print(f"{'command':24s}{'seconds':>9s}{'CPU':>8s}{'waited':>8s}{'CPU':>7s}  where")
        for name in dict.fromkeys(needed):
            told = folder / "told.json"
            child = [sys.executable, "-c", RUN, str(given.limit), str(told), *COMMANDS[name]]
            ended = subprocess.run(child, cwd=folder, capture_output=True, text=True, check=False)
            if not told.exists():
                print(f"{name:24s} {ended.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            found = json.loads(told.read_text())
            asked = f"; interrupted at {found['asked']:.0f} s, code {found['code']}" if found["asked"] else ""
            print(f"{name:24s}{found['seconds']:9.1f}{found['total']:8.1f}{found['waited']:8.2f}{found['cpu']:7.2f}"
                  f"  {found['at']}{asked}", flush=True)  # fmt: skip
            assert not (found["asked"] and (folder / "any.csv").exists()), "a file is left behind"


if __name__ == "__main__":
    main()
