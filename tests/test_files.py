"""Files that a person names: what is no regular file, or too large, is refused before it is read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sdc_problems import Hierarchy, Microdata, SDCError
from sdc_problems._files import LIMIT, check_encoding, input_file, resolved
from sdc_problems._tables.look import found_delimiter, found_encoding
from sdc_problems.graph._edge_list import read_bytes
from sdc_problems.studies.study.schema import Study

READERS: list[Callable[[Path], object]] = [
    input_file,
    found_encoding,
    found_delimiter,
    Microdata.from_csv,
    Hierarchy.from_csv,
    read_bytes,
    Study.from_file,
]


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names are POSIX's")
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__qualname__)
def test_pipes_devices_and_sockets_are_refused(read: Callable[[Path], object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for path, kind in ((tmp_path / "pipe", "a pipe"), (tmp_path / "socket", "a socket"), ("/dev/zero", "a device")):
            with pytest.raises(SDCError, match=f"is no regular file but {kind}"):
                read(Path(path))


@pytest.mark.parametrize("read", [input_file, found_encoding, Microdata.from_csv, Hierarchy.from_csv, Study.from_file])
def test_a_path_with_a_character_that_none_has(read: Callable[[Path], object]) -> None:
    with pytest.raises(SDCError, match="is no path"):
        read(Path("a\0b.csv"))
    with pytest.raises(SDCError, match="is no path"):
        resolved("a\0b")


@pytest.mark.parametrize("read", [Microdata.from_csv, Hierarchy.from_csv, Study.from_file])
def test_a_link_to_itself(read: Callable[[Path], object], tmp_path: Path) -> None:
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop.name)
    with pytest.raises(SDCError, match="cannot read"):
        read(loop)
    assert resolved(loop).name == "loop.csv"


def test_the_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.truncate(17 * 2**30)  # a hole: it takes no room
    with pytest.raises(SDCError, match=f"17.0 GiB, more than the limit of 16: .* {LIMIT}"):
        Microdata.from_csv(path)
    monkeypatch.setenv(LIMIT, "17")
    assert input_file(path) == path
    monkeypatch.setenv(LIMIT, "0.5")
    with pytest.raises(SDCError, match=r"limit of 0\.5"):
        input_file(path)
    for wrong in ("much", "-1", "0", "nan"):
        monkeypatch.setenv(LIMIT, wrong)
        with pytest.raises(SDCError, match="positive number of GiB"):
            input_file(path)


@pytest.mark.parametrize("encoding", ["undefined", "no such", "a\0b", "rot13", "base64", "punycode", "unicode_escape"])
def test_encodings_that_no_file_has(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(SDCError, match="unknown encoding"):
        Microdata.from_csv(tmp_path / "t.csv", encoding=encoding)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "shift_jis", "utf-7"]
)
def test_encodings_that_files_have(encoding: str) -> None:
    check_encoding(encoding)
