"""Files that a person names: regular ones of bounded size, no pipe or device that would be read forever."""

from __future__ import annotations

import codecs
import os
import stat
from pathlib import Path

from sdc_problems.errors import SDCError

LIMIT = "SDC_LARGEST_FILE"
"""Environment variable that raises the limit, in GiB."""

_DEFAULT = 16.0
_GIB = 2**30
_NO_FILES = ("idna", "punycode", "unicode-escape", "raw-unicode-escape")
"""Codecs of Python for names and source text."""


def input_file(path: str | os.PathLike[str], *, largest: float | None = None) -> Path:
    """Path of a file to read, once it is known to be a regular file of bounded size.

    What the system says about it (there is no such file, a link that leads to itself) stays an OSError: the caller
    knows what was looked for.

    Parameters
    ----------
    path
        The file.
    largest
        Bytes it may have; by default 16 GiB, or what the environment variable SDC_LARGEST_FILE says, in GiB.

    Examples
    --------
    >>> input_file(os.devnull)
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: /dev/null is not a regular file but a device: copy its contents to a file first
    """
    found = Path(path)
    try:
        state = found.stat()
    except ValueError:  # only a character that no path has
        raise SDCError(f"{str(path)!r} is not a path: it has a character that is not allowed in file names") from None
    if stat.S_ISDIR(state.st_mode):
        return found  # opening it says what it is
    if not stat.S_ISREG(state.st_mode):
        kind = "a pipe" if stat.S_ISFIFO(state.st_mode) else "a socket" if stat.S_ISSOCK(state.st_mode) else "a device"
        raise SDCError(f"{found} is not a regular file but {kind}: copy its contents to a file first")
    if largest is None:
        gib = largest_file()
        if state.st_size > gib * _GIB:
            raise SDCError(
                f"{found} has {state.st_size / _GIB:.1f} GiB, more than the limit of {gib:g}: raise it by the"
                f" environment variable {LIMIT} (in GiB) if the memory is there"
            )
    elif state.st_size > largest:
        raise SDCError(f"{found} has more than {largest:,.0f} bytes: it cannot be the expected file")
    return found


def largest_file() -> float:
    """Limit of the bytes that are read of one file, unpacked if it is packed, in GiB."""
    text = os.environ.get(LIMIT, "")
    if not text:
        return _DEFAULT
    try:
        gib = float(text)
    except ValueError:
        gib = 0.0
    if not gib > 0:
        raise SDCError(f"the environment variable {LIMIT} must be a positive number of GiB")
    return gib


def resolved(path: str | os.PathLike[str]) -> Path:
    """Absolute path without links; a link that leads to itself is left for who opens it to say.

    Examples
    --------
    >>> resolved(".") == Path.cwd().resolve()
    True
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError:
        raise SDCError(f"{str(path)!r} is not a path: it has a character that is not allowed in file names") from None


def check_encoding(encoding: str) -> None:
    """Refuse a name that no encoding of text files has.

    Examples
    --------
    >>> check_encoding("undefined")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: unknown encoding 'undefined': usual ones are 'utf-8', 'cp1252' and 'latin-1'
    """
    try:
        "".encode(encoding)
        known = codecs.lookup(encoding).name not in _NO_FILES
    except (LookupError, ValueError):  # of the latter: a character that no name has, a codec that always fails
        known = False
    if not known:
        raise SDCError(f"unknown encoding {encoding[:60]!r}: usual ones are 'utf-8', 'cp1252' and 'latin-1'")
