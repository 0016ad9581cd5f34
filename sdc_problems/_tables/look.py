"""Encoding and delimiter of a CSV file, detected where they are unambiguous."""

from __future__ import annotations

import codecs
import csv
import os
from itertools import islice

from sdc_problems._tables.open_file import DAMAGED, open_bytes, open_text, told_delimiter

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16", codecs.BOM_UTF8: "utf-8"}
_LINES = 10
_BLOCK = 1 << 20


def found_encoding(path: str | os.PathLike[str], otherwise: str = "utf-8") -> str:
    """Encoding by the byte order mark; otherwise UTF-8 if the file is valid UTF-8, else the given one.

    A file that cannot be read is left to the reader, which gives the error.
    """
    try:
        with open_bytes(path) as stream:
            head = stream.read(3)
            for mark, encoding in _MARKS.items():
                if head.startswith(mark):
                    return encoding
            if codecs.lookup(otherwise).name == "utf-8":
                return otherwise
            decoder = codecs.getincrementaldecoder("utf-8")()
            decoder.decode(head)
            while block := stream.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return otherwise
    except (OSError, LookupError, *DAMAGED):
        return otherwise
    return "utf-8"


def found_delimiter(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> str | None:
    """Delimiter from a line ``sep=;``, or the one that gives the first lines the most cells, equally many; or None.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.csv"
    ...     _ = path.write_text("age;wage\\n21;1,5\\n24;2,5\\n")
    ...     found_delimiter(path)
    ';'
    """
    try:
        if told := told_delimiter(path, encoding):
            return told
    except (OSError, UnicodeError, LookupError, *DAMAGED):
        return None
    best, most = None, 1
    for delimiter in _DELIMITERS:
        try:
            with open_text(path, encoding) as stream:
                rows = (row for row in csv.reader(stream, delimiter=delimiter) if row)
                widths = {len(row) for row in islice(rows, _LINES)}
        except (OSError, UnicodeError, LookupError, csv.Error):
            continue
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best
