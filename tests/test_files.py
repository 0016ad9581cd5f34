"""Files that a person names: what is not a regular file, or too large, is refused before it is read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sdc_problems import Hierarchy, Microdata, SDCError
from sdc_problems._files import LIMIT, check_encoding, input_file, resolved
from sdc_problems._tables import open_file
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
            with pytest.raises(SDCError, match=f"is not a regular file but {kind}"):
                read(Path(path))


@pytest.mark.parametrize("read", [input_file, found_encoding, Microdata.from_csv, Hierarchy.from_csv, Study.from_file])
def test_a_path_with_a_character_that_none_has(read: Callable[[Path], object]) -> None:
    with pytest.raises(SDCError, match="is not a path"):
        read(Path("a\0b.csv"))
    with pytest.raises(SDCError, match="is not a path"):
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


def packed(path: Path, size: int, how: str, line: bytes) -> Path:
    """A packed file of so many bytes."""
    import bz2
    import gzip
    import lzma
    import zipfile

    block = line * ((1 << 20) // len(line))
    if how == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("t.csv", "w") as member:
            for _ in range(size >> 20):
                member.write(block)
        return path
    opened = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[how]
    with opened(path, "wb") as stream:  # type: ignore[operator]
        for _ in range(size >> 20):
            stream.write(block)
    return path


@pytest.mark.parametrize("how", ["gzip", "bzip2", "xz", "zip"])
def test_a_packed_file_that_holds_too_much_is_left_early(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "bomb.csv", 24 << 20, how, b"1,2\n")
    assert path.stat().st_size < 1 << 20
    given: list[int] = []
    read = open_file._Bounded.readinto

    def counted(self: open_file._Bounded, buffer: memoryview) -> int:
        n = read(self, buffer)
        given.append(n)
        return n

    monkeypatch.setattr(open_file._Bounded, "readinto", counted)
    monkeypatch.setenv(LIMIT, str(4 / 1024))
    with pytest.raises(SDCError, match=rf"holds more than 0\.00390625 GiB when it is unpacked, .* {LIMIT}"):
        Microdata.from_csv(path)
    assert sum(given) <= 9 << 20  # the look at the header, and one pass up to the limit


def test_links_that_hold_too_much_are_left_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "edges.csv.gz", 8 << 20, "gzip", b"1,2\n")
    assert len(read_bytes(path)) == 8 << 20
    monkeypatch.setenv(LIMIT, str(4 / 1024))
    with pytest.raises(SDCError, match="when it is unpacked"):
        read_bytes(path)


@pytest.mark.parametrize("how", ["gzip", "zip"])
def test_a_line_without_end_is_no_table(how: str, tmp_path: Path) -> None:
    path = packed(tmp_path / "line.csv", (open_file.LONGEST_LINE >> 20) + 3 << 20, how, b"1,2,")
    for read in (Microdata.from_csv, found_delimiter):
        with pytest.raises(SDCError, match="has a line of more than 64 MiB: it is not a table in CSV"):
            read(path)
