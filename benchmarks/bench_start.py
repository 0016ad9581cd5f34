"""First and second run of every command: where nothing is compiled yet, and right after.

Each command gets an empty folder for compiled code of its own (NUMBA_CACHE_DIR), and inputs that other processes made.
CPU seconds of the process and its children, and the most memory that one of them held.

    python benchmarks/bench_start.py                                 # this version
    python benchmarks/bench_start.py --other OLD/bin/python          # beside an installation of another version
    python benchmarks/bench_start.py --only protect --only evaluate
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PEOPLE = (
    "import sdc_problems, sys; sdc_problems.load('people').data.frame().head(1000).to_csv(sys.argv[1], index=False)"
)
QUASI = "age,hours,wage"
MDAV = ["--method", "mdav", "--k", "3", "--columns", QUASI]
TASKS = {
    "pbg": "generalise", "gomm": "group-attributes", "microaggregation": "merge-records", "pram": "randomise",
    "pram-equations": "randomise-by-equation",
}  # fmt: skip
EXAMPLES = Path(__file__).parent.parent / "examples"


def examples(python: str) -> Path:
    """Folder of a version's study files: beside its package in a checkout, else ours."""
    place = "import sdc_problems, pathlib; print(pathlib.Path(sdc_problems.__file__).parent.parent / 'examples')"
    found = Path(subprocess.run([python, "-c", place], capture_output=True, text=True, check=True).stdout.strip())
    return found if found.is_dir() else EXAMPLES


def commands(folder: Path, studies: Path) -> dict[str, list[str]]:
    """Command lines by name; what they read lies in the folder."""
    solution = (folder / "made" / "front.csv").read_text().splitlines()[1].split(",")[0]
    people, made = str(folder / "people.csv"), str(folder / "made")
    return {
        "--help": ["--help"],
        "protect": ["protect", people, "--k", "3", "--columns", QUASI, "--out", "protected.csv"],
        "protect --method mdav": ["protect", people, *MDAV, "--out", "protected.csv"],
        "evaluate": ["evaluate", people, str(folder / "protected.csv"), "--quasi-identifiers", QUASI],
        "evaluate of means": ["evaluate", people, str(folder / "means.csv"), "--quasi-identifiers", QUASI],
        "data list": ["data", "list"],
        "demo": ["demo", "--out", "demo"],
        **{f"run {task}": ["run", str(studies / f"{name}.toml"), "--out", "run"] for task, name in TASKS.items()},
        "status": ["status", made],
        "compare": ["compare", made, made],
        "plot": ["plot", made, "--format", "png"],
        "release": ["release", made, "--solution", solution, "--out", "released.csv"],
        "report": ["report", made, "-o", "report.html"],
        "resume": ["resume", made],
        "schema": ["schema"],
        "reproduce pbg --quick": ["reproduce", "pbg", "--quick", "--out", "reproduced"],
    }


def prepare(python: str, folder: Path) -> None:
    """Make a table, its protected form and a run."""
    quietly = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run([python, "-c", PEOPLE, "people.csv"], **quietly)  # type: ignore[call-overload]
    for words in (
        ["protect", "people.csv", *MDAV, "--out", "means.csv"],
        ["protect", "people.csv", "--k", "3", "--columns", QUASI, "--out", "protected.csv"],
        ["run", str(examples(python) / "generalise.toml"), "--out", "made"],
    ):
        subprocess.run([python, "-m", "sdc_problems", *words], **quietly)  # type: ignore[call-overload]


def measured(python: str, words: list[str], cache: Path) -> tuple[float, float]:
    """CPU seconds and megabytes of a command that is carried out in an empty folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as an installation does it
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [python, "-c", RUN, *words], cwd=empty, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        _, err = process.communicate()
    if process.returncode:
        return float("nan"), float("nan")
    seconds, kilobytes = (float(word) for word in err.splitlines()[-1].split())
    return seconds, kilobytes / 1024


RUN = """
import atexit, resource, sys

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
    given = parser.parse_args()
    pythons = [python for python in (given.other, sys.executable) if python]
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss == 0
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / str(number) for number in range(len(pythons))]
        for python, folder in zip(pythons, folders, strict=True):
            folder.mkdir()
            prepare(python, folder)
        titles = ["first s", "second s", "MB"] * len(pythons)
        heads = (["other: ", "", ""] if given.other else []) + ["this: ", "", ""]
        print(f"{'command':22s}" + "".join(f"{head + title:>17s}" for head, title in zip(heads, titles, strict=True)),
              f"{'first/second':>13s}", *([f"{'second/other':>13s}"] if given.other else []))  # fmt: skip
        studies = [examples(python) for python in pythons]
        for name in commands(folders[-1], studies[-1]):
            if given.only and name not in given.only:
                continue
            row: list[float] = []
            for number, (python, folder) in enumerate(zip(pythons, folders, strict=True)):
                words = commands(folder, studies[number])[name]
                cache = Path(scratch) / f"cache-{number}-{name.replace(' ', '-')}"
                first, second = (measured(python, words, cache) for _ in range(2))
                row += [first[0], second[0], max(first[1], second[1])]
            ratios = [row[-3] / row[-2]] + ([row[-2] / row[1]] if given.other else [])
            print(f"{name:22s}" + "".join(f"{value:17.2f}" if i % 3 < 2 else f"{value:17.0f}"
                  for i, value in enumerate(row)), *(f"{ratio:13.2f}" for ratio in ratios), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
