"""Order of the rows of a released file, and the private file that says which record of the original each row is.

Rows that stay in their order link every person by row number, whatever the protection. So they are shuffled: by a seed
that stays with the holder of the data, and by what is released, so that two files never share an order.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdc_problems._files import input_file
from sdc_problems._tables.coded import distinct_cells, is_coded
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd

SHUFFLED, KEPT = "shuffled", "as in the original"
"""Entry ``row_order`` of a certificate."""
SHUFFLED_SENTENCE = "The rows are shuffled: the position of a row does not show whose it is."
KEPT_SENTENCE = (
    "The rows are in the order of the original: whoever has both files can link every record by its row number."
)
SAYS_SHUFFLED = "the rows of the protected file were shuffled when it was released, as its certificate says"

_HEAD = "released,original"
_CHECK = "(check)"
_LINE = re.compile(r"[0-9]{1,15},[0-9]{1,15}")
_LINES, _BYTES = 1 << 18, 1 << 22  # written, and read, at a time
_PLAIN = np.isin(np.arange(256), list(b"0123456789,\n"))
_TO_BLANKS = bytes.maketrans(b",\n", b"  ")


@dataclass(frozen=True, eq=False)
class RowOrder:
    """Order of the rows of a released file.

    Attributes
    ----------
    records
        Record of the original file that each row of the protected table is, counted from 0, ascending.
    seed
        Secret seed of the order; None to keep it.
    private_file
        Whether the file that says which row is which record is written.
    """

    records: NDArray[np.int64]
    seed: int | None
    private_file: bool = True

    def places(self, frame: pd.DataFrame) -> NDArray[np.int64]:
        """Row of the table at each place of the file."""
        if self.seed is None:
            return np.arange(len(frame), dtype=np.int64)
        return np.random.default_rng([self.seed, *content_words(frame)]).permutation(len(frame)).astype(np.int64)


def content_words(frame: pd.DataFrame) -> list[int]:
    """Digest of the cells as numbers for a generator."""
    import pandas as pd

    digest = hashlib.sha256("\0".join(map(str, frame.columns)).encode("utf-8", "surrogatepass"))
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if column.dtype.kind in "iufb":
            hashes = pd.util.hash_array(column.to_numpy(), categorize=True)
        else:
            place, distinct = distinct_cells(column)
            cells = np.asarray(distinct, dtype=object) if is_coded(column) else distinct
            texts = pd.Series(cells).astype(str).astype(object)
            words = texts.where(~pd.isna(cells), np.nan).to_numpy()  # pandas 2 made the text None of a missing cell
            hashes = pd.util.hash_array(words, categorize=True)[place]
        digest.update(hashes.astype("<u8", copy=False).data)
    return [int(word) for word in np.frombuffer(digest.digest(), dtype="<u4")]


def rows_file(original: NDArray[np.int64], sha256: str) -> bytes:
    """Content of a rows file: the number of each released row and of its record in the original, both from 1.

    Parameters
    ----------
    original
        Record of the original that each row of the file is, counted from 0.
    sha256
        Of the released file; with the numbers it makes the check in the second line.
    """
    body = io.BytesIO()
    for low in range(0, len(original), _LINES):
        records = (original[low : low + _LINES] + 1).tolist()
        body.write("".join(f"{row},{record}\n" for row, record in enumerate(records, low + 1)).encode("ascii"))
    head = f"{_HEAD}\n{_CHECK},{_check(body.getbuffer(), sha256)}\n".encode("ascii")
    return head + body.getbuffer()


def _check(body: bytes | memoryview, sha256: str) -> str:
    digest = hashlib.sha256(f"{sha256}\n".encode())
    digest.update(body)
    return digest.hexdigest()


def read_rows(path: Path, protected: Path) -> NDArray[np.int64]:
    """Record of the original that each row of a protected file is, counted from 0; anything else is refused.

    Parameters
    ----------
    path
        The rows file: as a release writes it, or one of your own without the line of the check.
    protected
        The file that it is about.
    """
    try:
        content = input_file(path).read_bytes()
    except OSError as error:
        raise SDCError(f"cannot read the rows file {str(path)!r}: {error.strerror}") from None
    try:
        with input_file(protected).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise SDCError(f"cannot read the protected file {str(protected)!r}: {error.strerror}") from None
    return rows_of(content, path.name, digest)


def rows_of(content: bytes, name: str, sha256: str) -> NDArray[np.int64]:
    """Numbers in the content of a rows file, for a released file with that digest."""
    table = _as_written(content, sha256)
    if table is None:
        table = _table(content, name, sha256)
    row, record = table[:, 0], table[:, 1]
    numbered = np.zeros(len(row) + 1, dtype=np.bool_)
    numbered[row[(row >= 1) & (row <= len(row))]] = True
    if not numbered[1:].all():
        raise SDCError(f"{name} must number the rows of the protected file from 1 to {len(row):,}, each once")
    ordered = np.sort(record)
    if (ordered[:1] < 1).any() or (ordered[1:] == ordered[:-1]).any():
        raise SDCError(f"{name} names a record of the original twice, or a record below 1")
    found = np.empty(len(row), dtype=np.int64)
    found[row - 1] = record - 1
    return found


def _as_written(content: bytes, sha256: str) -> NDArray[np.int64] | None:
    """Numbers of a rows file whose check is right, which is then as `rows_file` wrote it; None for any other.

    It is read by numpy: a list of lines takes ten times the memory.
    """
    head, check, begin = f"{_HEAD}\n".encode(), f"{_CHECK},".encode(), len(_HEAD) + len(_CHECK) + 67
    if not content.startswith(head + check) or content[begin - 1 : begin] != b"\n":
        return None
    body = memoryview(content)[begin:]
    if content[len(head) + len(check) : begin - 1] != _check(body, sha256).encode() or not len(body):
        return None
    parts, low = [], begin
    while low < len(content):
        high = content.find(b"\n", min(low + _BYTES, len(content) - 1)) + 1
        cells = np.frombuffer(content, dtype=np.uint8, count=high - low, offset=low)
        marks = cells[cells < ord("0")]
        if not high or not _PLAIN[cells].all() or (marks[::2] != ord(",")).any() or (marks[1::2] != ord("\n")).any():
            return None
        numbers = np.fromstring(content[low:high].translate(_TO_BLANKS).decode("ascii"), dtype=np.int64, sep=" ")
        if len(numbers) != len(marks):
            return None
        parts.append(numbers.reshape(-1, 2))
        low = high
    return np.concatenate(parts)


def _table(content: bytes, name: str, sha256: str) -> NDArray[np.int64]:
    """Numbers of a rows file that a person or another program may have written, or an error that names the line."""
    lines = content.decode("ascii", "replace").removeprefix("\ufffd" * 3).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines or lines[0].replace('"', "").strip() != _HEAD:
        raise SDCError(f"{name} is not a rows file: its first line is not {_HEAD!r}")
    given = lines[1].partition(",")[2] if len(lines) > 1 and lines[1].startswith(f"{_CHECK},") else None
    lines = lines[1 if given is None else 2 :]
    wrong = next((i for i, line in enumerate(lines) if not _LINE.fullmatch(line)), None)
    if wrong is not None:
        at = wrong + (2 if given is None else 3)
        raise SDCError(f"{name}: line {at} is not a row of the protected file and one of the original, as in 1,17")
    if given is not None and given != _check("".join(f"{line}\n" for line in lines).encode(), sha256):
        raise SDCError(
            f"{name} does not fit the protected file: one of them was edited or saved again, or belongs to"
            " another release"
        )
    found: NDArray[np.int64] = np.array(",".join(lines).split(",") if lines else [], dtype=np.int64).reshape(-1, 2)
    return found
