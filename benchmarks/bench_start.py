"""First and second run of every command: where nothing is compiled yet, and right after.

Each command gets an empty folder for compiled code and one for matplotlib's list of fonts (NUMBA_CACHE_DIR,
MPLCONFIGDIR), and inputs that other processes made. CPU seconds of the process and its children, and the most memory
that one of them held. Users have an environment into which a wheel was installed: pip compiles its modules.

    python benchmarks/bench_start.py                                 # this version
    python benchmarks/bench_start.py --other OLD/bin/python          # beside an installation of another version
    python benchmarks/bench_start.py --only protect --only evaluate
    python benchmarks/bench_start.py --first run                     # all whose names begin so
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from sdc_problems.studies.cli import COMMANDS
from sdc_problems.studies.reproductions import REPRODUCTIONS

PEOPLE = """
import sdc_problems, sys, numpy
people = sdc_problems.load("people").data.frame()
people.head(1000).to_csv("people.csv", index=False)
many = people[["age", "hours", "wage", "savings"]].sample(100_000, replace=True, random_state=1)
rng = numpy.random.default_rng(1)
for name in ("wage", "savings"):
    many[name] += rng.integers(-500, 500, len(many))
for n in map(int, sys.argv[1:]):
    many.head(n).to_csv(f"people-{n}.csv", index=False)
"""
QUASI = "age,hours,wage"
MDAV = ["--method", "mdav", "--k", "3", "--columns", QUASI]
SIZES = 5_000, 20_000, 100_000
TASKS = {
    "pbg": "generalise", "gomm": "group-attributes", "microaggregation": "merge-records", "pram": "randomise",
    "pram-equations": "randomise-by-equation", "social": "social-graph", "masking": "mask-cells",
    "recipe": "whole-file",
}  # fmt: skip
EXAMPLES = Path(__file__).parent.parent / "examples"
INSTANCE = "pbg-people-k-glm"


def examples(python: str, folder: Path) -> Path:
    """Folder of a version's study files: beside its package in a checkout, else ours."""
    place = "import sdc_problems, pathlib; print(pathlib.Path(sdc_problems.__file__).parent.parent / 'examples')"
    asked = subprocess.run([python, "-c", place], capture_output=True, text=True, check=True, cwd=folder)
    found = Path(asked.stdout.strip())
    return found if found.is_dir() else EXAMPLES


def commands(folder: Path, studies: Path) -> dict[str, list[str]]:
    """Command lines by name; what they read lies in the folder."""
    solution = (folder / "made" / "front.csv").read_text().splitlines()[1].split(",")[0]
    people, made, means = str(folder / "people.csv"), str(folder / "made"), str(folder / "means.csv")
    records, hierarchies = str(folder / "records"), str(folder / "hierarchies")
    quasi = ["--quasi-identifiers", QUASI]
    return {
        "--help": ["--help"],
        "protect": ["protect", people, "--k", "3", "--columns", QUASI, "--out", "protected.csv"],
        "protect --method mdav": ["protect", people, *MDAV, "--out", "protected.csv"],
        **{f"protect mdav, {n:,}": ["protect", str(folder / f"people-{n}.csv"), *MDAV, "--out", "protected.csv"]
           for n in SIZES},
        "protect --methods": ["protect", "--methods"],
        "evaluate": ["evaluate", people, str(folder / "protected.csv"), *quasi],
        "evaluate of means": ["evaluate", people, means, *quasi],
        "evaluate of one file": ["evaluate", means, *quasi],
        "scan": ["scan", people],
        "hierarchy suggest": ["hierarchy", "suggest", people, "--columns", "age,birthplace", "--out", "suggested"],
        "hierarchy check": ["hierarchy", "check", people, hierarchies],
        "data list": ["data", "list"],
        "data show": ["data", "show", "people"],
        "demo": ["demo", "--out", "demo"],
        **{f"run {task}": ["run", str(studies / f"{name}.toml"), "--out", "run"] for task, name in TASKS.items()},
        "resume": ["resume", made],
        "status": ["status", made],
        "compare": ["compare", made, made],
        "release": ["release", made, "--solution", solution, "--out", "released.csv"],
        "plot": ["plot", made, "--format", "png"],
        "report": ["report", made, "-o", "report.html"],
        "explore": ["explore", made, "--read-only"],
        "schema": ["schema"],
        "schema --example": ["schema", "--example", "pbg"],
        "benchmark list": ["benchmark", "list"],
        "benchmark show": ["benchmark", "show", INSTANCE],
        "benchmark run": ["benchmark", "run", "--instance", INSTANCE, "--algorithm", "NSGA2", "--seeds", "1",
                          "--budget", "short", "--out", "bench"],
        "benchmark table": ["benchmark", "table", records, "--budget", "short"],
        "benchmark plot": ["benchmark", "plot", records, "--budget", "short"],
        "benchmark cite": ["benchmark", "cite"],
        "benchmark prove": ["benchmark", "prove", "--instance", INSTANCE],
        **{f"reproduce {paper} --quick": ["reproduce", paper, "--quick", "--out", "reproduced"]
           for paper in REPRODUCTIONS},
    }  # fmt: skip


def prepare(python: str, folder: Path, studies: Path) -> None:
    """Make a table, its protected form, hierarchies, a run and records of a benchmark."""
    quietly = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run([python, "-c", PEOPLE, *map(str, SIZES)], check=True, **quietly)  # type: ignore[call-overload]
    for words in (
        ["protect", "people.csv", *MDAV, "--out", "means.csv"],
        ["protect", "people.csv", "--k", "3", "--columns", QUASI, "--out", "protected.csv"],
        ["run", str(studies / "generalise.toml"), "--out", "made"],
        ["hierarchy", "suggest", "people.csv", "--columns", "age,birthplace", "--out", "hierarchies"],
        ["benchmark", "run", "--instance", INSTANCE, "--algorithm", "NSGA2", "--algorithm", "random", "--seeds", "3",
         "--budget", "short", "--out", "records"],
    ):  # fmt: skip
        subprocess.run([python, "-m", "sdc_problems", *words], check=False, **quietly)  # type: ignore[call-overload]


def measured(python: str, words: list[str], cache: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of a command that is carried out in an empty folder."""
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(cache / "numba"), "MPLCONFIGDIR": str(cache / "matplotlib"), "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as an installation does it
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [python, "-c", RUN, *words], cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        if words[0] == "explore":  # it goes on until Ctrl-C
            assert process.stdout is not None
            while line := process.stdout.readline():
                if "http" in line:
                    with urllib.request.urlopen(line.partition("#")[0].strip()):
                        process.send_signal(signal.SIGINT)
                    break
        _, err = process.communicate()
    if process.returncode not in ((0, 130) if words[0] == "explore" else (0,)):
        if KEEP_ERRORS:
            print(err, file=sys.stderr)
        return float("nan"), float("nan")
    seconds, kilobytes = (float(word) for word in err.splitlines()[-1].split())
    return seconds, kilobytes / 1024


KEEP_ERRORS = bool(os.environ.get("BENCH_ERRORS"))
RUN = """
import atexit, resource, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell started this in the background

def tell():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(u.ru_utime + u.ru_stime for u in used)
    print("\\n", seconds, max(u.ru_maxrss for u in used), file=sys.stderr)

atexit.register(tell)
sys.argv[0] = "sdc"
from sdc_problems.studies.cli import main
main()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--other", help="Python of an environment with another version.")
    parser.add_argument("--only", action="append", help="Name of a command; all if not given.")
    parser.add_argument("--first", help="Beginning of the names of commands.")
    given = parser.parse_args()
    pythons = [python for python in (given.other, sys.executable) if python]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss == 0
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / str(number) for number in range(len(pythons))]
        studies = []
        for python, folder in zip(pythons, folders, strict=True):
            folder.mkdir()
            studies.append(examples(python, folder))
            prepare(python, folder, studies[-1])
        titles = ["first s", "second s", "MB"] * len(pythons)
        heads = (["other: ", "", ""] if given.other else []) + ["this: ", "", ""]
        print(f"{'command':30s}" + "".join(f"{head + title:>17s}" for head, title in zip(heads, titles, strict=True)),
              f"{'first/second':>13s}", *([f"{'second/other':>13s}"] if given.other else []))  # fmt: skip
        every = commands(folders[-1], studies[-1])
        missing = set(COMMANDS) - {words[0] for words in every.values()}
        assert not missing, f"not measured: {missing}"
        for name in every:
            if (given.only and name not in given.only) or (given.first and not name.startswith(given.first)):
                continue
            row: list[float] = []
            for number, (python, folder) in enumerate(zip(pythons, folders, strict=True)):
                words = commands(folder, studies[number])[name]
                cache = Path(scratch) / f"cache-{number}-{name.replace(' ', '-')}"
                first, second = (measured(python, words, cache) for _ in range(2))
                row += [first[0], second[0], max(first[1], second[1])]
            ratios = [row[-3] / row[-2]] + ([row[-2] / row[1]] if given.other else [])
            print(f"{name:30s}" + "".join(f"{value:17.2f}" if i % 3 < 2 else f"{value:17.0f}"
                  for i, value in enumerate(row)), *(f"{ratio:13.2f}" for ratio in ratios), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
