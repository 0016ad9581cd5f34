"""Keys of genomes, by which measured solutions are remembered, and the genomes that are not known yet."""

from __future__ import annotations

from collections.abc import Container, Iterable
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
