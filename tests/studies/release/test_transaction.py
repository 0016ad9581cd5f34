"""The transaction of a release: all files or none, and never over an input or into a run."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import SDCError, SDCFailure
from sdc_problems._sharing.folders import marked
from sdc_problems.parallel._process import ENDING
from sdc_problems.studies.release import _transaction
from sdc_problems.studies.release._transaction import Places, Written, reserve, write
from sdc_problems.studies.release.guarantees import Guarantee, at_least
from sdc_problems.studies.release.row_order import RowOrder

FRAME = pd.DataFrame({"age": [1, 1], "=x": ["=1", "'=1"]})
NAMES = ["out.csv", "out.csv.certificate.json", "out.csv.mapping.csv", "out.csv.rows.csv"]
KEPT = RowOrder(np.arange(2), None)


def promises(text: pd.DataFrame) -> list[Guarantee]:
    return [at_least("records", [], 2, len(text), "all are there")]


def papers(written: Written) -> tuple[dict[str, Any], bytes]:
    return {"sha256": written.sha256}, b"private\n"


def release(folder: Path, **changed: Any) -> tuple[Written, dict[str, Any]]:
    places = reserve(folder / "out.csv", overwrite=True)
    given: dict[str, Any] = {"rows": KEPT, "formula_guard": False, "promises": promises, "papers": papers} | changed
    return write(places, FRAME, **given)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.skipif(os.name != "posix", reason="files are locked on POSIX only")
def test_what_a_killed_release_left_goes_with_the_next(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / f".sdc-release-{ended.pid}-1-left").write_bytes(b"half")
    alive = tmp_path / f"{marked('.sdc-release-')}alive"
    alive.write_bytes(b"half")
    release(tmp_path)
    assert sorted(content(tmp_path)) == [alive.name, *NAMES]


def test_four_files_and_nothing_else(tmp_path: Path) -> None:
    written, certificate = release(tmp_path)
    assert sorted(content(tmp_path)) == NAMES
    assert certificate == json.loads((tmp_path / NAMES[1]).read_text()) == {"sha256": written.sha256}
    assert written.guarantees[0].found == 2
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in NAMES[2:]] == [0o600, 0o600]
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / NAMES[0]).stat().st_mode) == 0o666 & ~mask


def test_the_guard_is_in_the_file_and_not_in_what_is_counted(tmp_path: Path) -> None:
    written, _ = release(tmp_path, formula_guard=True)
    assert (tmp_path / "out.csv").read_text() == "age,'=x\n1,'=1\n1,'=1\n"
    assert written.text.to_dict("list") == {"age": ["1", "1"], "=x": ["=1", "=1"]}


def broken(text: pd.DataFrame) -> list[Guarantee]:
    return [at_least("k", ["age"], 3, 2, "no")]


def refused(written: Written) -> tuple[dict[str, Any], bytes]:
    raise SDCError("no verdict")


@pytest.mark.parametrize("before", [{}, dict.fromkeys(NAMES, "mine"), {NAMES[0]: "mine"}], ids=["new", "old", "part"])
@pytest.mark.parametrize(
    "changed", [{"promises": broken}, {"papers": refused}, {"papers": lambda w: ({"x": float("nan")}, b"")}],
    ids=["promise", "verdict", "certificate"],
)  # fmt: skip
def test_a_failure_before_the_end_leaves_everything(tmp_path: Path, before: dict[str, str], changed: Any) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError):
        release(tmp_path, **changed)
    assert content(tmp_path) == {name: text.encode() for name, text in before.items()}


@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
@pytest.mark.parametrize("fails", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("before", [{}, dict.fromkeys([*NAMES, "note"], "mine"), {NAMES[0]: "mine"}])
def test_a_failing_rename_takes_all_others_back(
    tmp_path: Path, before: dict[str, str], fails: int, links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    honest, renamed = Path.replace, []

    def replace(self: Path, target: Path) -> Path:
        if self.name.startswith(".sdc-release-") and not self.name.endswith(".former"):
            renamed.append(Path(target).name)
            if len(renamed) == fails:
                raise OSError(28, "No space left on device")
        return honest(self, target)

    def no_link(*args: Any, **kwargs: Any) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "replace", replace)
    if not links:
        monkeypatch.setattr(os, "link", no_link)
    with pytest.raises(SDCFailure, match="No space left on device; nothing is released"):
        release(tmp_path, notes={tmp_path / "note": "noted"})
    assert content(tmp_path) == {name: text.encode() for name, text in before.items()}
    renamed.clear()
    monkeypatch.setattr(Path, "replace", honest)
    release(tmp_path, notes={tmp_path / "note": "noted"})
    assert sorted(content(tmp_path)) == ["note", *NAMES]


def test_the_protected_file_gets_its_name_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Sequence[tuple[Path, Path]]] = []
    honest = _transaction._rename_all
    monkeypatch.setattr(_transaction, "_rename_all", lambda renames: (given.append(renames), honest(renames)))
    release(tmp_path)
    assert [path.name for new, path in given[0] if new is not None] == [NAMES[2], NAMES[3], NAMES[1], NAMES[0]]
    assert given[0][-1][1].name == NAMES[0]


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("before", [False, True])
def test_ctrl_c_while_files_get_their_names_waits_for_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool, number: int
) -> None:
    if before:
        release(tmp_path, papers=lambda written: ({"of": "before"}, b"private\n"))
    honest = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        if path.name.startswith(".sdc-release-"):
            signal.raise_signal(number)
        return honest(path, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    handler = signal.signal(number, signal.default_int_handler)  # whoever runs the tests may have it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            release(tmp_path)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, handler)
    assert sorted(content(tmp_path)) == NAMES
    assert list(json.loads((tmp_path / NAMES[1]).read_text())) == ["sha256"]


def test_the_rows_file_of_what_is_replaced_goes_or_comes_back(tmp_path: Path) -> None:
    release(tmp_path)
    before = content(tmp_path)
    none = RowOrder(np.arange(2), None, private_file=False)
    with pytest.raises(SDCError):
        release(tmp_path, rows=none, promises=broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", full(Path.replace, "out.csv"))
        with pytest.raises(SDCFailure, match="No space"):
            release(tmp_path, rows=none)
    assert content(tmp_path) == before
    release(tmp_path, rows=none)
    assert sorted(content(tmp_path)) == NAMES[:3]


def full(honest: Callable[..., Path], name: str) -> Callable[..., Path]:
    """A rename that fails for that file, the first time."""
    failed: list[Path] = []

    def replace(self: Path, target: Path) -> Path:
        if Path(target).name == name and not failed:
            failed.append(self)
            raise OSError(28, "No space left on device")
        return honest(self, target)

    return replace


def test_a_folder_without_permission_is_a_sentence(
    tmp_path: Path, nobody: Callable[[Path], AbstractContextManager[None]]
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    with nobody(folder), pytest.raises(SDCFailure, match=r"cannot write in '.*locked': Permission denied"):
        release(folder)
    assert content(folder) == {}


def test_places_that_are_refused_before_any_work(tmp_path: Path) -> None:
    data, run = tmp_path / "data.csv", tmp_path / "run"
    data.write_text("a\n1\n")
    (run / "pictures").mkdir(parents=True)
    (run / "run.sqlite").write_text("")
    (tmp_path / "link.csv").symlink_to(data)
    os.link(data, tmp_path / "same.csv")
    (tmp_path / "x.csv.mapping.csv").write_text("input")
    (tmp_path / "into.csv").symlink_to(run / "run.sqlite")
    inputs = [data, tmp_path / "x.csv.mapping.csv", None, tmp_path / "gone.csv"]
    for name, says in (
        ("data.csv", "--out is the original file itself"),
        ("link.csv", "--out is the original file itself"),
        ("same.csv", "--out is the original file itself"),
        ("x.csv", "'x.csv.mapping.csv' beside --out is the original file"),
        ("run/run.sqlite", "is in the run folder 'run'"),
        ("run/out.csv", "is in the run folder 'run'"),
        ("run/pictures/out.csv", "is in the run folder 'run'"),
        ("into.csv", "is in the run folder 'run'"),
        ("run", "is a folder"),
        ("no/out.csv", "there is no folder"),
    ):
        with pytest.raises(SDCError) as error:
            reserve(tmp_path / name, overwrite=True, inputs=inputs)
        assert says in str(error.value), name
    with pytest.raises(SDCError, match="already exists"):
        reserve(tmp_path / "x.csv", overwrite=False)
    assert reserve(tmp_path / "y.csv", overwrite=False) == Places.of(tmp_path / "y.csv")
