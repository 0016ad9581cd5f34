"""Keys of genomes, by which measured solutions are remembered, and the genomes that are not known yet."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray


def row_keys(X: NDArray[Any]) -> list[bytes]:
    """Bytes of each row, to put in sets and dictionaries.

    Examples
    --------
    >>> keys = row_keys(np.array([[0, 1], [0, 1], [1, 0]]))
    >>> keys[0] == keys[1], len(set(keys))
    (True, 2)
    """
    X = np.ascontiguousarray(X)
    width = X.shape[1] * X.itemsize
    data = X.tobytes()
    return [data[i : i + width] for i in range(0, len(X) * width, width)]


DIGEST = 16
"""Bytes of a digest: among 10^12 genomes, two with the same one are less likely than 10^-14."""


def digests(X: NDArray[Any]) -> list[bytes]:
    """Key of each row in 16 bytes, however long the row is: its bytes, or a digest of them.

    Examples
    --------
    >>> [len(key) for key in digests(np.zeros((2, 5000), dtype=np.int16))]
    [16, 16]
    """
    keys = row_keys(X)
    if not keys or len(keys[0]) == DIGEST:
        return keys
    return [blake2b(key, digest_size=DIGEST).digest() for key in keys]


def first_unknown(keys: Iterable[bytes], known: Container[bytes]) -> dict[bytes, int]:
    """First row of each key that is not known yet, in the order of the rows.

    Examples
    --------
    >>> first_unknown([b"a", b"b", b"a", b"c"], {b"b"})
    {b'a': 0, b'c': 3}
    """
    first: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        if key not in known:
            first.setdefault(key, i)
    return first


class GenomeNumbers:
    """Numbers of many genomes by their digests. None is ever removed.

    The last ones are in a dictionary, all others in sorted arrays: 20 bytes each, where a dictionary takes 200.

    Examples
    --------
    >>> known = GenomeNumbers()
    >>> first, second = digests(np.array([[0, 1], [1, 1]]))
    >>> known.add(first, 7)
    >>> known.find([first, second]).tolist(), first in known, len(known)
    ([7, -1], True, 1)
    """

    RECENT = 4096
    """Least number of genomes in the dictionary before it is merged into the arrays."""

    def __init__(self) -> None:
        # numpy compares fixed-length bytes without their trailing zeros: as all have one length, nothing is lost.
        self._keys: NDArray[np.bytes_] = np.zeros(0, dtype=f"S{DIGEST}")
        self._numbers: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._recent: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._keys) + len(self._recent)

    def __contains__(self, key: bytes) -> bool:
        return key in self._recent or bool(self.find([key])[0] >= 0)

    def find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """Number of each key; −1 for unknown ones."""
        found = np.array([self._recent.get(key, -1) for key in keys], dtype=np.int64)
        if len(self._keys) and (found < 0).any():
            wanted = np.array(keys, dtype=self._keys.dtype)
            places = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
            found = np.where(self._keys[places] == wanted, self._numbers[places], found)
        return found

    def first_unknown(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """First row of each key that is not known, as the function `first_unknown`."""
        numbers = self.find(keys).tolist()
        return first_unknown(keys, {key for key, number in zip(keys, numbers, strict=True) if number >= 0})

    def add(self, key: bytes, number: int) -> None:
        """Add an unknown key."""
        self._recent[key] = number
        if len(self._recent) >= max(self.RECENT, len(self._keys) // 8):
            keys = np.array(list(self._recent), dtype=self._keys.dtype)
            order = np.argsort(keys, kind="stable")
            places = np.searchsorted(self._keys, keys[order])
            self._keys = np.insert(self._keys, places, keys[order])
            numbers = np.array(list(self._recent.values()), dtype=np.int32)
            self._numbers = np.insert(self._numbers, places, numbers[order])
            self._recent = {}

    def in_order(self) -> bytes:
        """All keys, one after the other, by their numbers."""
        keys = np.concatenate([self._keys, np.array(list(self._recent), dtype=self._keys.dtype)])
        return keys[np.argsort([*self._numbers.tolist(), *self._recent.values()], kind="stable")].tobytes()
