"""Opening of a table's file, plain or compressed by gzip, bzip2, xz or zip; and a delimiter given in its first line."""

from __future__ import annotations

import io
import lzma
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, cast

from sdc_problems._files import LIMIT, input_file, largest_file
from sdc_problems.errors import SDCError

#: Errors from reading a damaged compressed file, besides OSError.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)

LONGEST_LINE = 1 << 26
"""Most bytes in a line of a table: a line without end would fill the memory."""

_HEAD = 10
_TOLD = re.compile(r"\ufeff?\"?sep=(.)\"?[\r\n]*")
_OLD_SPREADSHEET = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def packing(path: str | os.PathLike[str]) -> str | None:
    """Compression of a file by its first bytes: "gzip", "bzip2", "xz" or "zip"; None for a plain file."""
    with input_file(path).open("rb") as stream:
        head = stream.read(_HEAD)
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and head[4:10] in (b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(_OLD_SPREADSHEET):
        raise SDCError(f"{path} is a spreadsheet: export it as CSV, or save it as .xlsx")
    return "zip" if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) else None


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading, decompressed if necessary; a zip file must hold only one file.

    A small compressed file may expand beyond any memory: reading ends with an SDCError at the size limit of a file, or
    of a line.
    """
    return io.BufferedReader(_Bounded(_unpacked(path), path))


def gunzipped(path: str | os.PathLike[str]) -> bytes:
    """Content of a gzip file, which must be within the size limit of a file."""
    import gzip

    with io.BufferedReader(_Bounded(cast("IO[bytes]", gzip.open(path, "rb")), path, longest_line=None)) as stream:
        return stream.read()


class _Bounded(io.RawIOBase):
    """Bytes of a stream, up to a limit for the whole stream and for each line."""

    def __init__(
        self, stream: IO[bytes], path: str | os.PathLike[str], longest_line: int | None = LONGEST_LINE
    ) -> None:
        self._stream = stream
        self._path = path
        self._longest = longest_line
        self._gib = largest_file()
        self._read = 0
        self._line = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes; refuse too many."""
        data = self._stream.read(len(buffer))
        n = len(data)
        buffer[:n] = data
        self._read += n
        last = data.rfind(b"\n")
        self._line = n - last - 1 if last >= 0 else self._line + n
        if self._read > self._gib * 2**30:
            raise SDCError(
                f"{self._path} holds more than {self._gib:g} GiB when it is unpacked, which is the limit: raise it by"
                f" the environment variable {LIMIT} (in GiB) if the memory is there"
            )
        if self._longest is not None and self._line > self._longest:
            raise SDCError(f"{self._path} has a line of more than {self._longest >> 20} MiB: it is not a table in CSV")
        return n

    def close(self) -> None:
        """Close the stream as well."""
        self._stream.close()
        super().close()


def _unpacked(path: str | os.PathLike[str]) -> IO[bytes]:
    how = packing(path)
    if how == "gzip":
        import gzip

        return cast("IO[bytes]", gzip.open(path, "rb"))
    if how == "bzip2":
        import bz2

        return bz2.open(path, "rb")
    if how == "xz":
        return lzma.open(path, "rb")
    return _member(path) if how == "zip" else Path(path).open("rb")


def open_text(path: str | os.PathLike[str], encoding: str) -> io.TextIOWrapper:
    """Open a file for reading as text, with unchanged line ends."""
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline="")


def told_delimiter(path: str | os.PathLike[str], encoding: str) -> str | None:
    """Delimiter from a line such as ``sep=;`` before the header, which Excel writes and reads; else None."""
    with open_text(path, encoding) as stream:
        told = _TOLD.fullmatch(stream.readline(16))
    return None if told is None else told[1]


def _member(path: str | os.PathLike[str]) -> IO[bytes]:
    """The only file of a zip file."""
    try:
        archive = zipfile.ZipFile(path)
        names = [m.filename for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX/")]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise SDCError(f"{path} is a spreadsheet: export it as CSV, or save it as .xlsx")
        if len(names) != 1:
            raise SDCError(f"{path} is a zip file of {len(names)} files: zip the table alone, or unzip it")
        return archive.open(names[0])
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise SDCError(f"{path} is a damaged zip file, or has an unusual compression: unzip it") from error
    except RuntimeError:
        raise SDCError(f"{path} is a zip file with a password: unzip it") from None
