"""Files that a person names: regular files of bounded size, not pipes or devices, which might never end."""

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
"""Python codecs for names and source text, not for text files."""


def input_file(path: str | os.PathLike[str], *, largest: float | None = None) -> Path:
    """Path of a file to read, after checking that it is a regular file of bounded size.

    Errors of the operating system (no such file, a link that leads to itself) stay an OSError: the caller knows what
    it was looking for.

    Parameters
    ----------
    path
        The file.
    largest
        Most bytes it may have; by default 16 GiB, or the environment variable SDC_LARGEST_FILE, in GiB.

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
    except ValueError:  # only for a character that no path may contain
        raise SDCError(f"{str(path)!r} is not a path: it has a character that is not allowed in file names") from None
    if stat.S_ISDIR(state.st_mode):
        return found  # opening it gives the error
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
    """Limit, in GiB, of the bytes that are read from one file, after unpacking."""
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
    """Absolute path without links; a link that leads to itself is returned, and opening it gives the error.

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
    """Refuse a name that is no encoding of text files.

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
    except (LookupError, ValueError):  # ValueError: a character that no name has, or a codec that always fails
        known = False
    if not known:
        raise SDCError(f"unknown encoding {encoding[:60]!r}: usual ones are 'utf-8', 'cp1252' and 'latin-1'")
