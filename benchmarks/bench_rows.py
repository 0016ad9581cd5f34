"""Commands on files of 10^4 to 10^7 records: seconds, processor time and peak memory of each, as a process of its own.

    python benchmarks/bench_rows.py [--records 10000 100000 1000000 10000000] [--format csv parquet]
                                    [--only protect evaluate run release scan suggest gomm pram blocks further]
                                    [--folder DIR]

The file has ten columns of people who do not exist: seven quasi-identifiers, two sensitive ones, and a wage of many
different values. `gomm` measures 20 groupings of 12 numbers, `pram` 20 sets of matrices of three columns, `blocks`
microaggregates ten numbers with k = 3 in blocks, and `further` stands for all other commands and methods that take ten
million records. Memory is the largest resident set of the process and its children, as
the system counts it. The files are made in a temporary folder, and gone afterwards.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tasks.plain import skewed

from sdc_problems._sources import people

QUASI_IDENTIFIERS = ("age", "workclass", "education", "marital_status", "ethnicity", "sex", "birthplace")
SENSITIVE = ("occupation", "diagnosis")
COLUMNS = (*QUASI_IDENTIFIERS, *SENSITIVE, "wage")
PIECE = 250_000
"""Records drawn at a time, each piece with a seed of its own."""
SHOWN = "blocks"
"""The task that prints more than its time."""
COMMANDS = ("protect", "evaluate", "run", "release", "scan", "suggest", "gomm", "pram", "blocks")
FURTHER = "further"
NUMBERS, CATEGORIES = ("age", "wage"), ("education", "marital_status")
METHODS: dict[str, tuple[tuple[str, ...], str]] = {
    "mondrian": (NUMBERS, "--k 5"),
    "univariate": (("wage",), "--k 5"),
    "memetic-blocks": (NUMBERS, "--k 5 --seed 1"),
    "add-noise": (NUMBERS, "--amplitude 0.1 --seed 1"),
    "rank-shuffle": (NUMBERS, "--seed 1"),
    "top-code": (NUMBERS, "--percent 95"),
    "bottom-code": (NUMBERS, "--percent 5"),
    "recode-intervals": (NUMBERS, "--bins 10"),
    "recode-rare": (CATEGORIES, "--categories 2"),
    "pram": (CATEGORIES, "--seed 1"),
    "lattice": (CATEGORIES, "--k 5"),
    "generalize": (
        CATEGORIES,
        "--levels education=1,marital_status=1 --hierarchy education=FOLDER/education.csv"
        " --hierarchy marital_status=FOLDER/marital_status.csv",
    ),
}
"""Columns and options of each method that takes ten million records."""

STUDY = """\
title = "Lattice of a large file"
[data]
file = "{file}"
quasi_identifiers = [{quasi}]
sensitive = ["occupation", "diagnosis"]
missing = "category"
[problem]
task = "pbg"
objectives = ["k", "glm"]
max_suppression = 0.01
[data.hierarchies]
{hierarchies}
[algorithm]
name = "NSGA2"
pop_size = 40
[termination]
generations = 20
[require]
k = {{ min = 5 }}
"""


def pieces(records: int) -> Any:
    """Pieces of the table."""
    for number, start in enumerate(range(0, records, PIECE)):
        yield people.draw(min(PIECE, records - start), people.SEED + number)[list(COLUMNS)]


def make(path: Path, records: int) -> None:
    """Write the table as CSV or Parquet, a piece at a time.

    Parameters
    ----------
    path
        The file.
    records
        How many.
    """
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        writer = None
        for piece in pieces(records):
            table = pa.Table.from_pandas(piece, preserve_index=False)
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
        assert writer is not None
        writer.close()
        return
    for number, piece in enumerate(pieces(records)):
        piece.to_csv(path, mode="a" if number else "w", header=not number, index=False)


def made(path: Path, records: int) -> None:
    """`make` in a process of its own: what this one has held would count as memory of those that it starts."""
    subprocess.run([sys.executable, __file__, "--make", str(path), "--records", str(records)], check=True)


def measured(*command: str, out: Any = subprocess.DEVNULL) -> tuple[int, float, float, float]:
    """Exit code, seconds, processor seconds and peak memory (GiB) of a command and its children.

    Parameters
    ----------
    *command
        Program and arguments.
    out
        Where its output goes.
    """
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=sys.stderr if SHOWN in command else out, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if code:
        print(said.decode(errors="replace")[-2000:], file=sys.stderr)
    unit = 2**30 if sys.platform == "darwin" else 2**20  # bytes there, KiB elsewhere
    return code, time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def commands(folder: Path, file: Path) -> dict[str, list[str]]:
    """Command lines by name, in their order.

    Parameters
    ----------
    folder
        Where they write.
    file
        The original.
    """
    quasi, sensitive = ",".join(QUASI_IDENTIFIERS), ",".join(SENSITIVE)
    sdc = [sys.executable, "-m", "sdc_problems"]
    roles = ["--quasi-identifiers", quasi, "--sensitive", sensitive]
    out = str(folder / f"protected{file.suffix}")
    study = folder / "study.toml"
    tables = Path(people.__file__).parent.parent / "data" / "people"
    for name in QUASI_IDENTIFIERS:
        shutil.copy(tables / f"{name}.csv", folder / f"{name}.csv")
    hierarchies = "\n".join(f'{name} = {{ file = "{name}.csv" }}' for name in QUASI_IDENTIFIERS)
    quoted = ", ".join(f'"{name}"' for name in QUASI_IDENTIFIERS)
    study.write_text(STUDY.format(file=file.name, quasi=quoted, hierarchies=hierarchies))
    run = folder / "run"
    own = {name: [sys.executable, __file__, "--inside", name] for name in ("gomm", "pram", "blocks")}
    return {
        **own,
        "protect": [*sdc, "protect", str(file), *roles, "--k", "5", "--out", out, "--rows-seed", "1", "--overwrite"],
        "evaluate": [*sdc, "evaluate", str(file), out, *roles],
        "run": [*sdc, "run", str(study), "--out", str(run), "--no-pictures"],
        "release": [
            *sdc, "release", str(run), "--solution", "SOLUTION", "--out", str(folder / f"released{file.suffix}"),
            "--rows-seed", "1", "--overwrite",
        ],
        "scan": [*sdc, "scan", str(file)],
        "suggest": [
            *sdc, "hierarchy", "suggest", str(file), "--columns", "age,wage", "--out", str(folder / "suggested")
        ],
    }  # fmt: skip


def further(folder: Path, file: Path) -> dict[str, list[str]]:
    """Command lines of all else that takes ten million records.

    Parameters
    ----------
    folder
        Where they write, with the files that `commands` made.
    file
        The original.
    """
    sdc = [sys.executable, "-m", "sdc_problems"]
    quasi = [name for name in QUASI_IDENTIFIERS if name != "birthplace"]
    roles = ["--quasi-identifiers", ",".join(QUASI_IDENTIFIERS), "--sensitive", ",".join(SENSITIVE)]
    ending = ["--out", str(folder / f"further{file.suffix}"), "--rows-seed", "1", "--overwrite"]
    found = {
        "evaluate alone": [*sdc, "evaluate", str(file), *roles],
        "hierarchy check": [*sdc, "hierarchy", "check", str(file), str(folder / "age.csv"), "--column", "age"],
        "protect --l 2": [*sdc, "protect", str(file), *roles, "--k", "5", "--l", "2", *ending],
        "protect --t 0.4": [*sdc, "protect", str(file), *roles, "--k", "5", "--t", "0.4", *ending],
        "protect --within": [
            *sdc, "protect", str(file), "--quasi-identifiers", ",".join(quasi), "--sensitive", "diagnosis",
            "--keep", "birthplace", "--within", "birthplace", "--k", "5", *ending,
        ],
    }  # fmt: skip
    for method, (columns, options) in METHODS.items():
        words = options.replace("FOLDER", str(folder)).split()
        chosen = ["--columns", ",".join(columns), "--method", method, *words]
        found[f"--method {method}"] = [*sdc, "protect", str(file), *chosen, *ending]
    return found


def inside(name: str, records: int) -> None:
    """Do the work of a task in this process.

    Parameters
    ----------
    name
        "gomm", "pram" or "blocks".
    records
        How many.
    """
    from sdc_problems import GOMMProblem, Microdata, PRAMProblem
    from sdc_problems.algorithms import microaggregate_blocks

    rng = np.random.default_rng(1)
    if name == "blocks":
        found = microaggregate_blocks(skewed(rng, records, 10), 3)
        losses = [100 * total / (10 * records) for total in (found.sse, found.mdav_sse)]
        print(f"loss {losses[0]:.3f} %, of MDAV in the blocks {losses[1]:.3f} %")
        return
    if name == "gomm":
        columns = [f"x{i}" for i in range(12)]
        frame = pd.DataFrame(skewed(rng, records, 12), columns=columns)
        problem: Any = GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=columns), 10)
    else:
        table = pd.concat(list(pieces(records)), ignore_index=True)
        data = Microdata.from_frame(table, quasi_identifiers=["sex", "marital_status", "education"])
        problem = PRAMProblem(data, objectives=("ctbil", "id_rank", "ebil"))
    X = problem.operators()["sampling"].do(problem, 20, random_state=rng).get("X")
    problem.evaluate(X)


def solution(run: Path) -> str:
    """The solution of a run whose k is the least of 5 or more.

    Parameters
    ----------
    run
        The run folder.
    """
    front = pd.read_csv(run / "front.csv")
    return str(front[front["k"] >= 5].sort_values("k")["id"].iloc[0])


def main() -> None:
    """Make each file, and measure each command on it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[10**e for e in range(4, 8)])
    parser.add_argument("--inside", choices=COMMANDS[-3:], help=argparse.SUPPRESS)
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--format", nargs="+", choices=("csv", "parquet"), default=["csv"])
    parser.add_argument("--only", nargs="+", choices=(*COMMANDS, FURTHER), default=list(COMMANDS[:4]))
    parser.add_argument("--folder", type=Path, help="Where to make the files, and to leave them.")
    chosen = parser.parse_args()
    if chosen.make is not None:
        make(chosen.make, chosen.records[0])
        return
    if chosen.inside is not None:
        inside(chosen.inside, chosen.records[0])
        return
    print(f"{'records':>12} {'format':8} {'command':23} {'seconds':>8} {'CPU s':>8} {'GiB':>6}", flush=True)
    for records in chosen.records:
        for form in chosen.format:
            with tempfile.TemporaryDirectory() as name:
                one(chosen.folder or Path(name), records, form, chosen.only)


def one(folder: Path, records: int, form: str, only: list[str]) -> None:
    """Measure the commands on one file."""
    file = folder / f"people-{records}.{form}"
    if not file.exists() and set(only) - set(COMMANDS[-3:]):
        made(file, records)
    lines = commands(folder, file)
    others = further(folder, file)
    lines |= others
    for name in [each for chosen in only for each in (others if chosen == FURTHER else [chosen])]:
        line = [solution(folder / "run") if word == "SOLUTION" else word for word in lines[name]]
        if name in COMMANDS[-3:]:
            line = [*line, "--records", str(records)]
        code, seconds, cpu, peak = measured(*line)
        failed = "" if code == 0 else f"  exit code {code}"
        print(f"{records:12,} {form:8} {name:23} {seconds:8.1f} {cpu:8.1f} {peak:6.2f}{failed}", flush=True)


if __name__ == "__main__":
    main()
