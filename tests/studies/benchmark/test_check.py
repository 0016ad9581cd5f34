"""Checks of submissions: what is wrong is found, and nothing of it is executed."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.benchmark.check import SUBMISSION, TABLE, check, read_submission
from sdc_problems.studies.benchmark.runs import Job, make
from sdc_problems.studies.benchmark.tables import every_budget, read_entries, written
from sdc_problems.suite import Record

NAME = "pbg-people-k-glm@1"
TEXT = """
algorithm = "Mine"
version = "1.0"
source = "https://example.org/mine"
license = "MIT"
authors = ["A. Person"]
machine = "a laptop"
tuned = "nothing"
tuned_on_suite = false
"""


@pytest.fixture(scope="module")
def record() -> Record:
    return make(Job("random", NAME, 1, 500))


def submission(folder: Path, record: Record, text: str = TEXT) -> Path:
    (folder / SUBMISSION).write_text(text, encoding="utf-8")
    record.save(folder / "run.npz")
    return folder


def test_honest_submission_passes(tmp_path: Path, record: Record) -> None:
    report = check(submission(tmp_path, record))
    assert report.problems == []
    assert (report.records, report.solutions) == (1, len(record))
    assert report.submission is not None
    assert report.submission.authors == ["A. Person"]
    assert any("fewer than three seeds" in note for note in report.notes)


def test_table_of_a_submission_must_be_what_its_records_say(tmp_path: Path, record: Record) -> None:
    folder = submission(tmp_path, record)
    text = written(every_budget(read_entries([folder])))
    (folder / TABLE).write_text(text, encoding="utf-8")
    assert check(folder).problems == []
    head, row = text.splitlines()
    cells = dict(zip(head.split(","), row.split(","), strict=True))

    def changed(**values: str) -> str:
        return head + "\n" + ",".join((cells | values).values()) + "\n"

    for said, sentence in (
        (changed(gap="0.001"), "gap of random on pbg-people-k-glm@1 after 500 is not what the records say"),
        (changed(gaps="0.001"), "gaps of random on pbg-people-k-glm@1 after 500 is not"),
        (changed(digest="0" * 64), "has results of another pbg-people-k-glm@1"),
        (changed(algorithm="mine"), "there are no records of mine on pbg-people-k-glm@1 after 500"),
        (changed(seconds_algorithm="7"), None),
        (text + row + "\n", "it has a row twice"),
        ("nothing", "is not a table of `sdc benchmark table --csv`"),
    ):
        (folder / TABLE).write_text(said, encoding="utf-8")
        problems = check(folder).problems
        assert bool(problems) == (sentence is not None), said
        assert sentence is None or (problems[0].startswith(TABLE) and sentence in problems[0])
    (folder / TABLE).rename(tmp_path / "elsewhere.csv")
    (folder / TABLE).symlink_to(tmp_path / "elsewhere.csv")
    assert check(folder).problems == [f"{TABLE}: is a link"]


def better(record: Record) -> Record:
    F = record.F.copy()
    F[-1, 0] -= 1e-5 * abs(F[-1, 0])
    return replace(record, F=F)


def beyond(record: Record) -> Record:
    X = record.X.copy()
    X[0, 0] = 99
    return replace(record, X=X)


def repeated(record: Record) -> Record:
    twice = [*range(len(record)), len(record) - 1]
    at, different = record.at[twice].copy(), record.at_different[twice].copy()
    at[-1], different[-1] = record.evaluations, record.different
    return replace(record, at=at, at_different=different, F=record.F[twice], X=record.X[twice])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (better, "1 solutions measure otherwise"),
        (beyond, r"X\[0, 0\] = 99 must be a whole number"),
        (repeated, "is not better in anything than an earlier one"),
        (lambda r: replace(r, digest="0" * 64), "the digest differs"),
        (lambda r: replace(r, instance="nowhere@1"), "unknown instance"),
        (lambda r: replace(r, budget=501), "its budget of 501 is none of"),
        (lambda r: replace(r, seed=None), "names no seed"),
        (lambda r: replace(r, objectives=("glm", "k")), "its objectives are glm, k"),
        (lambda r: replace(r, evaluations=400), "do not come in the order of the run"),
    ],
)
def test_what_is_wrong_is_found(
    tmp_path: Path, record: Record, change: Callable[[Record], Record], sentence: str
) -> None:
    changed = change(record)
    if changed.evaluations == 400:
        at = np.append(record.at[:-1], 401)
        changed = replace(changed, at=at, different=min(record.different, 400))
    report = check(submission(tmp_path, changed))
    assert len(report.problems) == 1
    assert re.search(sentence, report.problems[0])


def test_same_run_twice_and_links_are_found(tmp_path: Path, record: Record) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    submission(folder, record)
    record.save(folder / "again.npz")
    record.save(tmp_path / "outside.npz")
    (folder / "link.npz").symlink_to(tmp_path / "outside.npz")
    problems = check(folder).problems
    assert [problem for problem in problems if "is there 2 times" in problem]
    assert [problem for problem in problems if problem.startswith("link.npz is a link")]


class Trap:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("trap"),))


def test_nothing_is_unpickled(tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    submission(tmp_path, record)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.npz").write_bytes(pickle.dumps(Trap()))
    np.savez(tmp_path / "b.npz", head=np.array([Trap()], dtype=object), at=np.array([Trap()], dtype=object))
    report = check(tmp_path)
    assert [problem.partition(":")[0] for problem in report.problems] == ["a.npz", "b.npz"]
    assert not Path("trap").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("algorithm = [", "is not TOML"),
        (TEXT.replace('version = "1.0"', ""), "version is missing"),
        (TEXT + 'more = "x"', "has no key 'more'"),
        (TEXT.replace('["A. Person"]', "[]"), "authors"),
        ("x" * 200_000, "more than 100,000 bytes"),
    ],
)
def test_what_is_no_submission_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / SUBMISSION).write_text(text, encoding="utf-8")
    with pytest.raises(SDCError, match=sentence):
        read_submission(tmp_path)


def test_folder_without_a_submission_says_so(tmp_path: Path, record: Record) -> None:
    record.save(tmp_path / "run.npz")
    assert "submission.toml' cannot be read" in check(tmp_path).problems[0]
