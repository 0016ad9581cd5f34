"""Order of the rows of a released file, and the private file that says which record of the original each row is.

Rows that stay in their order link every person by row number, whatever the protection. So they are shuffled: by a seed
that stays with the holder of the data, and by what is released, so that two files never share an order.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sdc_problems._files import input_file
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd

SHUFFLED, KEPT = "shuffled", "as in the original"
"""Entry ``row_order`` of a certificate."""
SHUFFLED_SENTENCE = "The rows are shuffled: the place of a row says nothing about whose it is."
KEPT_SENTENCE = "The rows are in the order of the original: who has both files links every record by its row number."
SAYS_SHUFFLED = "the rows of the protected file were shuffled when it was released, as its certificate says"

_HEAD = "released,original"
_CHECK = "(check)"
_LINE = re.compile(r"[0-9]{1,15},[0-9]{1,15}")


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
        plain = column if column.dtype.kind in "iufb" else column.astype(str).astype(object)
        digest.update(pd.util.hash_array(plain.to_numpy(), categorize=True).astype("<u8").tobytes())
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
    body = "".join(f"{row},{record}\n" for row, record in enumerate((original + 1).tolist(), 1))
    return f"{_HEAD}\n{_CHECK},{_check(body, sha256)}\n{body}".encode("ascii")


def _check(body: str, sha256: str) -> str:
    return hashlib.sha256(f"{sha256}\n{body}".encode()).hexdigest()


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
        digest = hashlib.sha256(input_file(protected).read_bytes()).hexdigest()
    except OSError as error:
        raise SDCError(f"cannot read the protected file {str(protected)!r}: {error.strerror}") from None
    return rows_of(content, path.name, digest)


def rows_of(content: bytes, name: str, sha256: str) -> NDArray[np.int64]:
    """Numbers in the content of a rows file, for a released file with that digest."""
    lines = content.decode("ascii", "replace").removeprefix("\ufffd" * 3).replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines or lines[0].replace('"', "").strip() != _HEAD:
        raise SDCError(f"{name} is no rows file: its first line is not {_HEAD!r}")
    given = lines[1].partition(",")[2] if len(lines) > 1 and lines[1].startswith(f"{_CHECK},") else None
    lines = lines[1 if given is None else 2 :]
    wrong = next((i for i, line in enumerate(lines) if not _LINE.fullmatch(line)), None)
    if wrong is not None:
        at = wrong + (2 if given is None else 3)
        raise SDCError(f"{name}: line {at} is not a row of the protected file and one of the original, as in 1,17")
    if given is not None and given != _check("".join(f"{line}\n" for line in lines), sha256):
        raise SDCError(
            f"{name} does not fit the protected file: one of the two was edited, saved anew, or is of another release"
        )
    table = np.array(",".join(lines).split(",") if lines else [], dtype=np.int64).reshape(-1, 2)
    row, record = table[:, 0], table[:, 1]
    if not np.array_equal(np.sort(row), np.arange(1, len(row) + 1)):
        raise SDCError(f"{name} does not number the rows of the protected file from 1 to {len(row):,}, each once")
    ordered = np.sort(record)
    if (ordered[:1] < 1).any() or (ordered[1:] == ordered[:-1]).any():
        raise SDCError(f"{name} names a record of the original twice, or one before the first")
    found = np.empty(len(row), dtype=np.int64)
    found[row - 1] = record - 1
    return found
