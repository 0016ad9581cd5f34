"""Files of an instance: a TOML file with its definition, a CSV file of its front, and one of measured rows."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems.errors import SDCError

FROZEN = "# Written by sdc_problems.suite.freeze: change nothing below.\n"
"""Line of a TOML file above which a person writes, and below which the package does."""

DRAWN = 200  # rows whose values are frozen, in addition to those of the front


@dataclass(frozen=True)
class Points:
    """Points of a front: values in natural units, solutions, and the bound of each value if there is one."""

    values: NDArray[np.float64]
    X: NDArray[Any]
    bound: NDArray[np.float64] | None


def sha256(content: bytes) -> str:
    """SHA-256 of a file's content, hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Content of an instance's TOML file, and its SHA-256."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SDCError(f"cannot read {str(path)!r}: {error.strerror}") from None
    try:
        return tomllib.loads(content.decode("utf-8")), sha256(content)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SDCError(f"{path.name} is not a TOML file: {error}") from error


def beside(path: Path, what: str) -> Path:
    """Path of the file of the front (``csv``) or of the measured rows (``rows.csv``) of an instance."""
    return path.with_name(f"{path.name.removesuffix('.toml')}.{what}")


def verified(path: Path, digest: str) -> str:
    """Text of a file, whose digest must be as given."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SDCError(f"{path.name} is missing beside the file of its instance: freeze the instance again") from error
    if sha256(content) != digest:
        raise SDCError(f"{path.name} is not the file that its instance was frozen with: its SHA-256 differs")
    return content.decode("utf-8")


def read_points(text: str, names: Sequence[str], order: NDArray[np.int64] | None) -> Points:
    """Read a front: a column for each objective, possibly one for each bound, and the solution.

    Parameters
    ----------
    text
        The CSV text.
    names
        Names of the objectives.
    order
        Order of the records in which a solution lists the sizes of its groups; without it, a solution lists all
        variables.
    """
    header, *lines = [line.split(",") for line in text.splitlines()]
    bounds = [f"bound_{name}" for name in names]
    if header not in ([*names, "x"], [*names, *bounds, "x"]):
        raise SDCError(f"the columns of a front are {', '.join([*names, 'x'])}, not {', '.join(header)}")
    cells = np.array([[float(cell) for cell in line[:-1]] for line in lines]).reshape(len(lines), len(header) - 1)
    X = [np.array(line[-1].split(), dtype=np.int64) for line in lines]
    if order is not None:
        X = [_labels(sizes, order) for sizes in X]
    bound = cells[:, len(names) :] if len(header) > len(names) + 1 else None
    return Points(cells[:, : len(names)], np.stack(X), bound)


def write_points(points: Points, names: Sequence[str], order: NDArray[np.int64] | None) -> str:
    """CSV text of a front, with 17 significant digits; the inverse of `read_points`."""
    bounds = [f"bound_{name}" for name in names] if points.bound is not None else []
    parts = [points.values] if points.bound is None else [points.values, points.bound]
    lines = [",".join([*names, *bounds, "x"])]
    for cells, x in zip(np.concatenate(parts, axis=1), points.X, strict=True):
        said = x if order is None else _sizes(x, order)
        lines.append(",".join([*map(digits, cells), " ".join(map(str, said.tolist()))]))
    return "\n".join(lines) + "\n"


def read_values(text: str, names: Sequence[str]) -> NDArray[np.float64]:
    """Values of the measured rows that `drawn_rows` makes."""
    header, *lines = text.splitlines()
    if header.split(",") != list(names):
        raise SDCError(f"the columns of measured rows are {', '.join(names)}, not {header}")
    return np.array([[float(cell) for cell in line.split(",")] for line in lines])


def write_values(values: NDArray[np.float64], names: Sequence[str]) -> str:
    """CSV text of the values of measured rows."""
    return "\n".join([",".join(names), *(",".join(map(digits, row)) for row in values)]) + "\n"


def digits(value: float) -> str:
    """Number with 17 significant digits, which can be read back exactly.

    Examples
    --------
    >>> digits(5.0), digits(0.1)
    ('5', '0.10000000000000001')
    """
    return format(float(value), ".17g")


def drawn_rows(name: str, xl: ArrayLike, xu: ArrayLike, n: int = DRAWN) -> NDArray[np.int64]:
    """Rows of whole numbers within bounds, the same on every platform: by SHAKE-256 of a name and the row's number.

    Examples
    --------
    >>> drawn_rows("x@1", [0, 0, 5], [9, 1, 5], 2).tolist()
    [[1, 0, 5], [7, 0, 5]]
    """
    low, high = np.asarray(xl).astype(np.int64), np.asarray(xu).astype(np.int64)
    stream = [hashlib.shake_256(f"{name}/{i}".encode()).digest(8 * len(low)) for i in range(n)]
    numbers = np.frombuffer(b"".join(stream), dtype="<u8").reshape(n, len(low))
    rows: NDArray[np.int64] = (numbers % (high - low + 1).astype(np.uint64)).astype(np.int64) + low
    return rows


def _labels(sizes: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group of each record, for groups of the given sizes along an order."""
    labels = np.empty(len(order), dtype=np.int64)
    labels[order] = np.repeat(np.arange(len(sizes)), sizes)
    return labels


def _sizes(labels: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Inverse of `_labels`, up to the numbers of the groups."""
    along = labels[order]
    starts = np.flatnonzero(np.r_[True, along[1:] != along[:-1]])
    if len(starts) != len(np.unique(along)):
        raise SDCError("a group of a solution is not an interval of the order that the instance names")
    sizes: NDArray[np.int64] = np.diff(np.r_[starts, len(along)])
    return sizes
