"""Whatever a command is given: a right result, or one sentence; never a traceback, a hang or a value of the original.

SDC_FUZZ_CASES=5000 pytest -m slow tests/fuzz        # by default 500; .ci/nightly makes more
"""

from __future__ import annotations

import ast
import codecs
import csv
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings

sys.path.insert(0, str(Path(__file__).parent))  # the suite is imported file by file

import cases
import corpus
from cases import Case
from warm import Ended, Warm

from sdc_problems.studies.store.seal import seal_facts

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="forks, pipes and limits as Linux has them"),
]
CASES = int(os.environ.get("SDC_FUZZ_CASES", "500"))


def quota(share: float) -> settings:
    """Settings of one kind of case; the same cases each time unless SDC_FUZZ_CASES asks for other ones."""
    return settings(
        max_examples=round(share * CASES),
        derandomize="SDC_FUZZ_CASES" not in os.environ,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good inputs, with the runs and files that the rehearsal makes."""
    folder = tmp_path_factory.mktemp("good")
    corpus.fill(folder)
    return folder


@pytest.fixture(scope="module")
def warm(good: Path) -> Iterator[Warm]:
    """The process that forks the commands."""
    process = Warm(corpus.rehearsal(), good)
    yield process
    process.close()


def check(case: Case, good: Path, warm: Warm) -> None:
    """Carry out a case in a folder of its own, and look at all that came out."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "here"
        shutil.copytree(good, folder)
        for name in corpus.RUNS:  # the study of a run names its folder, too
            _move(folder / name, good, folder)
        case.prepare(folder)
        ended = warm(list(case.arguments), folder)
        note(f"{case}\nexit code {ended.code}\n{ended.out[-2000:]}\n{ended.err[-4000:]}")
        _judge(case, ended)
        _judge_files(case, ended, folder)


def _move(run: Path, before: Path, now: Path) -> None:
    import sqlite3

    db = sqlite3.connect(run / "run.sqlite")
    db.execute("UPDATE meta SET value = replace(value, ?, ?) WHERE key IN ('folder', 'data')", (str(before), str(now)))
    seal_facts(db)
    db.commit()
    db.close()


def _judge(case: Case, ended: Ended) -> None:
    assert ended.code in (0, 1, 2, 3), f"exit code {ended.code}"
    assert "Traceback (most recent call last)" not in ended.err + ended.out
    assert not re.search(r"\b\w+Warning: ", ended.err), "a warning of Python's"
    if ended.code in (1, 2) and "\nCommands:\n" not in ended.err:  # what a group of commands says when called alone
        errors = re.findall(r"^[Ee]rror: \S", ended.err, flags=re.MULTILINE)
        assert len(errors) == 1, "one sentence"
    said = ended.err + (ended.out if ended.code else "")
    given = "".join(map(str, case.arguments)) + "".join(str(part) for damage in case.damages for part in damage)
    # A hierarchy is no data: what is wrong with it may be quoted.
    quoted = corpus.TOWNS if "hierarchy 'town'" in said and "lacks" not in said else ()
    for secret in set(corpus.SECRETS) - set(quoted):
        assert secret not in said or secret in given, f"a value of the original in a message: {secret}"


def _judge_files(case: Case, ended: Ended, folder: Path) -> None:
    new = folder / "new.csv"
    if ended.code and new.name in case.arguments:
        assert not new.exists(), "bad input made a protected file"
    if case.arguments[0] == "run" and ended.code in (1, 2) and "new" in case.arguments and (folder / "new").exists():
        assert "sdc resume" in ended.err, "a folder is in the way of the corrected study"
    if ended.code or not new.is_file():
        return
    with new.open(encoding=_encoding(new), errors="surrogateescape", newline="") as stream:
        begin = stream.readline().lstrip("\ufeff")
        if not begin.startswith("sep="):
            stream.seek(0)
        header, *rows = list(csv.reader(stream, delimiter=_delimiter(begin, case, ended)))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(header)}
    if {"--method=mdav", "--k=3", "--columns=age,wage"} <= set(case.arguments):
        where = [header.index(name) for name in ("age", "wage")]
        assert min(Counter(tuple(row[i] for i in where) for row in rows).values()) >= 3


def _delimiter(begin: str, case: Case, ended: Ended) -> str:
    """Delimiter of a written file, which is the one of its original: told there, found and said, or given."""
    if begin.startswith("sep="):
        return begin[4]
    if said := re.search(r"is read with --delimiter ('(?:\\?.)')", ended.err):
        return str(ast.literal_eval(said[1]))
    words = [*case.arguments, ","]
    for at, word in enumerate(words):
        name, _, value = str(word).partition("=")
        if name == "--delimiter":
            return (value or str(words[at + 1])).replace(r"\t", "\t")
    return ","


def _encoding(path: Path) -> str:
    """Encoding of a written file, which is the one of its original."""
    begin = path.read_bytes()[:4]
    for name, mark in (("utf-32", codecs.BOM_UTF32_LE), ("utf-16", codecs.BOM_UTF16_LE)):
        if begin.startswith(mark):
            return name
    return "utf-16-le" if begin[1:2] == b"\0" else "utf-8"


@quota(0.34)
@given(case=cases.studies())
def test_studies(case: Case, good: Path, warm: Warm) -> None:
    check(case, good, warm)


@quota(0.28)
@given(case=cases.runs())
def test_runs(case: Case, good: Path, warm: Warm) -> None:
    check(case, good, warm)


@quota(0.28)
@given(case=cases.tables())
def test_tables(case: Case, good: Path, warm: Warm) -> None:
    check(case, good, warm)


@quota(0.04)
@given(case=cases.demos())
def test_demos_and_live_pages(case: Case, good: Path, warm: Warm) -> None:
    check(case, good, warm)


@quota(0.06)
@given(case=cases.others())
def test_other_arguments(case: Case, good: Path, warm: Warm) -> None:
    check(case, good, warm)
