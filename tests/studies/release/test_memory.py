"""Memory that a command takes: it grows with the records by a few hundred bytes each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sdc_problems._sources import people

COLUMNS = (
    "age",
    "education",
    "marital_status",
    "sex",
    "birthplace",
    "occupation",
    "diagnosis",
    "wage",
    "hours",
    "savings",
)
BYTES = 1_000
"""Per record of ten columns, half of which are text; as cells of text each copy of the table takes as much."""


def peak(records: int, *command: str) -> int:
    """Largest resident set of a command on the file of so many records, in bytes."""
    words = [word.replace("N", str(records)) for word in command]
    process = subprocess.Popen([sys.executable, "-m", "sdc_problems", *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="the system does not tell the memory of a process")
def test_memory_grows_by_little_with_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = 100_000, 300_000
    drawn = people.draw(sizes[0])[list(COLUMNS)]
    for n in sizes:
        pd.concat([drawn] * (n // sizes[0]), ignore_index=True).to_csv(tmp_path / f"p{n}.csv", index=False)
    roles = ("--quasi-identifiers", "age,education,sex", "--sensitive", "diagnosis")
    protect = ("protect", "pN.csv", *roles, "--method", "lattice", "--k", "5", "--out", "outN.csv", "--rows-seed", "1")
    for command in (protect, ("evaluate", "pN.csv", "outN.csv", *roles)):
        small, large = (peak(n, *command) for n in sizes)
        assert large - small < BYTES * (sizes[1] - sizes[0])
