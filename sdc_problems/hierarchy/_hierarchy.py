"""Domain generalization hierarchies: the more and more general labels of each value of an attribute."""

from __future__ import annotations

import csv
import io
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._files import input_file
from sdc_problems._sharing.arrays import OpenedLate, SharedArrays, digest_of, pack_strings, unpack_strings
from sdc_problems._tables.columns import MISSING, label
from sdc_problems._tables.dates import are_dates, date_rows
from sdc_problems._tables.levels import (
    TOP,
    coded_levels,
    distinct_texts,
    interval_rows,
    mapping_rows,
    masked_rows,
    misplaced,
    phrase,
    refuse_header,
    text_row,
)
from sdc_problems.errors import SDCError, SDCWarning, did_you_mean

# Hierarchies up to this size travel inside a pickle; they describe a domain and hold no records.
_INLINE = 8192
_META = "hierarchy"


class Hierarchy(OpenedLate):
    """Domain generalization hierarchy: level 0 holds the values, each further level merges groups of the one before.

    Made by `from_csv`, `from_levels`, `intervals`, `masking` or `suppression`. Immutable. Values and labels are text
    without surrounding blanks; numbers are compared as text, so that 39, 39.0 and "39" are the same value.

    Examples
    --------
    >>> ages = Hierarchy.intervals(range(20, 40), [5, 10])
    >>> ages
    Hierarchy(20 values, 4 levels: 20, 4, 2, 1 groups)
    >>> ages.labels(1)
    ('20-24', '25-29', '30-34', '35-39')
    >>> ages.describe(2)
    'bands of 10'
    >>> ages.table([25, 39])[2].tolist()
    [0, 1]
    """

    __slots__ = ("__weakref__", "_arrays", "_labels", "_meta", "_position")
    _late = ("_meta",)

    def __init__(self, arrays: SharedArrays) -> None:
        """Open the arrays of another Hierarchy (its `arrays`)."""
        self._arrays = arrays
        self._labels: dict[int, tuple[str, ...]] = {}
        self._position: dict[str, int] | None = None
        if arrays.at_hand:
            self._open()

    def _open(self) -> None:
        if _META not in self._arrays:
            raise SDCError("these shared arrays hold no hierarchy: make one with Hierarchy.from_csv or from_levels")
        self._meta: dict[str, Any] = json.loads(self._arrays[_META].tobytes())

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_levels(
        cls,
        levels: Mapping[Any, Sequence[object]] | Iterable[Sequence[object]],
        *,
        name: str | None = None,
        descriptions: Sequence[str] | None = None,
    ) -> Hierarchy:
        """Make a hierarchy from the labels of each value.

        Parameters
        ----------
        levels
            A mapping from each value to its labels at levels 1, 2, …; or rows of the value and its labels.
        name
            Name for errors.
        descriptions
            A short phrase for each level from 1 on, used by `describe`.

        Examples
        --------
        >>> towns = Hierarchy.from_levels({"Olot": ["Girona"], "Figueres": ["Girona"], "Reus": ["Tarragona"]})
        >>> towns.labels(1), towns.codes(1).tolist()
        (('Girona', 'Tarragona'), [0, 0, 1])
        """
        if isinstance(levels, Mapping):
            rows = mapping_rows(levels, _what(name))
        else:
            rows = [text_row(number, row, _what(name)) for number, row in enumerate(levels, 1)]
        return cls._from_rows(rows, name, descriptions)._checked()

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], *, name: str | None = None, delimiter: str = ";") -> Hierarchy:
        """Read a hierarchy file of ARX: no header, one line per value, its labels to the right, most general last.

        Parameters
        ----------
        path
            The file (UTF-8, with or without a byte order mark).
        name
            Name for errors; by default the file's name.
        delimiter
            Character between labels.
        """
        path = Path(path)
        try:
            text = input_file(path).read_bytes().decode("utf-8").removeprefix("\ufeff")
        except FileNotFoundError:
            near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
            raise SDCError(f"there is no hierarchy file {path}{did_you_mean(path.name, near)}") from None
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x} at position {error.start}"
            raise SDCError(f"{path} is not UTF-8: {byte}; save it as UTF-8") from None
        except OSError as error:
            raise SDCError(f"cannot read {path}: {error.strerror}") from error
        if len(delimiter) != 1:
            raise SDCError(f"delimiter must be a single character, not {delimiter!r}")
        rows = _read_rows(text, delimiter, path)
        if not rows:
            raise SDCError(f"{path} is empty: each line holds a value and its labels, most general last")
        if {len(row) for row in rows} == {1}:
            for other in (";", ",", "\t", "|"):
                widths = {len(row) for row in _read_rows(text, other, path)}
                if len(widths) == 1 and widths != {1}:
                    raise SDCError(
                        f"{path} has no labels when split at {delimiter!r}; did you mean delimiter={other!r}?"
                    )
        refuse_header(rows, name or path.stem, _what(name or path.stem))
        return cls._from_rows(rows, name or path.stem, None)._checked()

    @classmethod
    def suppression(cls, values: Iterable[object], *, name: str | None = None) -> Hierarchy:
        """Make a hierarchy of two levels: the values, and "*" for all of them.

        Examples
        --------
        >>> Hierarchy.suppression(["Male", "Female"]).labels(1)
        ('*',)
        """
        return cls._from_rows([[text, TOP] for text in distinct_texts(values, _what(name))], name, ["suppressed"])

    @classmethod
    def masking(
        cls, values: Iterable[object], *, mark: str = "*", name: str | None = None, levels: int | None = None
    ) -> Hierarchy:
        """Hide one more trailing character at each level, as is usual for postal codes.

        Shorter values are treated as if filled with the mark on the right, so that levels nest. If lengths differ, a
        level is described by the characters that it shows ("first 3 characters shown"), which is true of every value.

        Parameters
        ----------
        values
            The values.
        mark
            The character that hides.
        name
            Name for errors.
        levels
            Largest number of characters to hide; by default all.

        Examples
        --------
        >>> zips = Hierarchy.masking(["43001", "43007", "43201"])
        >>> zips.labels(1), zips.labels(3), zips.labels(5)
        (('4300*', '4320*'), ('43***',), ('*****',))
        """
        rows, phrases = masked_rows(distinct_texts(values, _what(name)), mark, levels, _what(name))
        return cls._from_rows(rows, name, phrases)

    @classmethod
    def intervals(
        cls,
        values: Iterable[Any],
        widths: Sequence[float | str],
        origin: float = 0,
        *,
        top: bool = True,
        name: str | None = None,
    ) -> Hierarchy:
        """Make bands of growing width for numbers and dates.

        Integer values get labels such as "20-29"; real ones "[20.0, 30.0)", closed on the left. Dates, also as text
        such as "2024-12-31", get "2024-12", "2024-Q4", "2024", "2020-2029".

        Parameters
        ----------
        values
            The values (distinct or not; for example ``data.categories("age")``).
        widths
            Width of the bands at each level; each a whole multiple of the one before, so that levels nest. For dates
            "day", "week" (from Monday), "month", "quarter", "year", "decade", or several of them, as in "5 years".
        origin
            Start of a band.
        top
            Add a last level "*" of all values.
        name
            Name for errors.

        Examples
        --------
        >>> Hierarchy.intervals([1.5, 2.5, 9.0], [2.5, 5], top=False).labels(1)
        ('[0.0, 2.5)', '[2.5, 5.0)', '[7.5, 10.0)')
        >>> Hierarchy.intervals(["2024-02-29", "2024-12-31"], ["quarter", "year"]).labels(1)
        ('2024-Q1', '2024-Q4')
        """
        values = values if isinstance(values, np.ndarray) else list(values)
        if are_dates(values, widths):
            rows, phrases = date_rows(values, widths, origin, top=top, what=_what(name))
            return cls._from_rows(rows, name, phrases)
        shown = [value for value in values if not (isinstance(value, str) and value == MISSING)]
        rows, phrases = interval_rows(
            values if len(shown) == len(values) else shown, widths, origin, top=top, what=_what(name)
        )
        if len(shown) < len(values):  # a missing value lies in no band
            rows.append([MISSING] * len(phrases) + [TOP if top else MISSING])
        return cls._from_rows(rows, name, phrases)

    @classmethod
    def from_typed_paths(cls, paths: Iterable[Sequence[tuple[object, int]]], *, name: str | None = None) -> Hierarchy:
        """Make a hierarchy of places by their type: streets 0, towns 1, …, countries 5, the world 7, others in between.

        Parameters
        ----------
        paths
            The branch of each value: the value itself first, then larger and larger places, each with the level of its
            type; the last is the same for all. A level that a branch leaves out shows the next larger place, so that a
            value may be as coarse as a country.
        name
            Name for errors.

        Notes
        -----
        Marés (2013), §6.2.1 and Table 6.1: level ℓ of a value is the most specific label of its branch whose type has
        level ℓ or more.

        Examples
        --------
        >>> top = [("United States", 5), ("World", 7)]
        >>> places = Hierarchy.from_typed_paths([[("Brooklyn", 0), ("New York City", 1), *top], top])
        >>> places.n_levels, places.labels(1), places.labels(5)
        (8, ('New York City', 'United States'), ('United States',))
        """
        what = _what(name)
        branches = [list(path) for path in paths]
        if not branches:
            raise SDCError(f"{what} has no values")
        for number, branch in enumerate(branches, 1):
            try:
                levels = [int(level) for _, level in branch]
            except (TypeError, ValueError):
                raise SDCError(f"{what}: path {number} must hold pairs of a label and the level of its type") from None
            if not levels or levels[0] < 0 or any(a >= b for a, b in pairwise(levels)):
                raise SDCError(f"{what}: levels of path {number} must rise from 0 on, not be {levels}")
        highest = max(int(branch[-1][1]) for branch in branches)
        if len({label(branch[-1][0]) for branch in branches}) > 1:
            raise SDCError(f"{what}: the last place must be the same in all paths: add one that holds them all")
        rows = []
        for branch in branches:
            shown = [
                next(text for text, at in branch if at >= min(level, branch[-1][1])) for level in range(highest + 1)
            ]
            rows.append([label(text) for text in shown])
        return cls._from_rows(rows, name, None)

    @classmethod
    def _from_rows(cls, rows: Sequence[Sequence[str]], name: str | None, phrases: Sequence[str] | None) -> Hierarchy:
        """Check rows of text (value, label, label, …) and put them into arrays."""
        what = _what(name)
        codes, labels = coded_levels(rows, what)
        if phrases is not None and len(phrases) != len(codes) - 1:
            raise SDCError(f"{what} has {len(codes) - 1} levels above the values but {len(phrases)} descriptions")
        arrays: dict[str, NDArray[Any]] = {"codes": codes}
        for level, texts in enumerate(labels):
            arrays[f"bytes{level}"], arrays[f"offsets{level}"] = pack_strings(texts)
        meta = {"name": name, "phrases": list(phrases) if phrases is not None else None}
        arrays[_META] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
        return cls(SharedArrays(arrays, copy=False, inline_up_to=_INLINE))

    def _checked(self) -> Hierarchy:
        """Warn about labels of intervals without the value, such as 0-19 for 20; they are kept as they are."""
        found = misplaced(self._arrays["codes"], [self.labels(level) for level in range(self.n_levels)])
        if found is not None:
            value, text, count = found
            warnings.warn(
                f"{self._called(None)} shows {value!r} as {text!r}, which does not hold it ({count} such labels): is a"
                " border wrong?",
                SDCWarning,
                stacklevel=3,
            )
        return self

    # ------------------------------------------------------------------ properties

    @property
    def arrays(self) -> SharedArrays:
        """Arrays that hold the hierarchy."""
        return self._arrays

    @property
    def name(self) -> str | None:
        """Name for errors."""
        name: str | None = self._meta["name"]
        return name

    @property
    def n_levels(self) -> int:
        """Number of levels, including the values themselves."""
        return len(self._arrays["codes"])

    @property
    def length(self) -> int:
        """The highest level: `n_levels` - 1."""
        return self.n_levels - 1

    @property
    def n_values(self) -> int:
        """Number of values in the domain."""
        return int(self._arrays["codes"].shape[1])

    @property
    def values(self) -> tuple[str, ...]:
        """The values (labels of level 0)."""
        return self.labels(0)

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of values, labels and groups."""
        arrays = {name: array for name, array in self._arrays.items() if name != _META}
        return digest_of(arrays)

    def labels(self, level: int) -> tuple[str, ...]:
        """Labels of a level's groups, in the order of their codes."""
        self._check(level)
        if level not in self._labels:
            packed = self._arrays[f"bytes{level}"], self._arrays[f"offsets{level}"]
            self._labels[level] = tuple(unpack_strings(*packed))
        return self._labels[level]

    def codes(self, level: int) -> NDArray[np.int32]:
        """Group of each value at a level (read-only)."""
        self._check(level)
        codes: NDArray[np.int32] = self._arrays["codes"][level]
        return codes

    def n_groups(self, level: int) -> int:
        """Number of groups of a level."""
        self._check(level)
        return len(self._arrays[f"offsets{level}"]) - 1

    def leaves(self, level: int) -> NDArray[np.int64]:
        """Number of values under each group of a level, over the whole domain of the hierarchy."""
        return np.bincount(self.codes(level), minlength=self.n_groups(level))

    def describe(self, level: int) -> str:
        """A short phrase for a level, such as "unchanged", "bands of 10" or "suppressed"."""
        self._check(level)
        if level == 0:
            return "unchanged"
        phrases = self._meta["phrases"]
        if phrases is not None:
            return str(phrases[level - 1])
        return phrase(self.labels(level), self.values)

    def table(self, categories: Iterable[object], *, attribute: str | None = None) -> NDArray[np.int32]:
        """Group of every category of an attribute at every level, as an array of levels × categories.

        Parameters
        ----------
        categories
            The attribute's values in code order, for example ``data.categories("age")``.
        attribute
            Its name, for the error if a category is not in the hierarchy.
        """
        where = self._places(categories)
        if len(where) and where.min() < 0:
            lacking = np.flatnonzero(where < 0)
            raise SDCError(
                f"{self._called(attribute)} lacks {len(lacking)} of the attribute's {len(where)} values (not shown:"
                f" they are data); the first is number {lacking[0] + 1} of them in order;"
                " `sdc hierarchy check --values` lists them"
            )
        return np.ascontiguousarray(self._arrays["codes"][:, where])

    def lacks(self, categories: Iterable[object]) -> NDArray[np.bool_]:
        """Mask of the categories that have no row in the hierarchy.

        Examples
        --------
        >>> Hierarchy.suppression(["a", "b"]).lacks(["a", "c"]).tolist()
        [False, True]
        """
        return self._places(categories) < 0

    def _places(self, categories: Iterable[object]) -> NDArray[np.intp]:
        """Position of each category among the values, -1 if it is not there."""
        if self._position is None:
            self._position = {text: i for i, text in enumerate(self.values)}
        find = self._position
        return np.array([find.get(label(category).strip(), -1) for category in categories], dtype=np.intp)

    def _called(self, attribute: str | None) -> str:
        own = f" {self.name!r}" if self.name else ""
        return f"the hierarchy{own}" + (f" of column {attribute!r}" if attribute else "")

    def _check(self, level: int) -> None:
        if not isinstance(level, int | np.integer) or not 0 <= level < self.n_levels:
            raise SDCError(f"{self._called(None)} has levels 0 to {self.length}, not {level}")

    # ------------------------------------------------------------------ output

    def rows(self) -> list[tuple[str, ...]]:
        """Each value with its labels, most general last."""
        columns = []
        for level in range(self.n_levels):
            labels = self.labels(level)
            columns.append([labels[code] for code in self.codes(level).tolist()])
        return list(zip(*columns, strict=True))

    def to_csv(self, path: str | os.PathLike[str], *, delimiter: str = ";") -> None:
        """Write the hierarchy in ARX's format: no header, one line per value, most general last (UTF-8)."""
        rows = self.rows()
        # The writer quotes the line ends that it writes itself; before Python 3.13 it overlooks a lone "\r".
        every = any("\r" in text for row in rows for text in row)
        try:
            with Path(path).open("w", encoding="utf-8", newline="") as stream:
                if every:
                    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
                else:
                    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
                writer.writerows(rows)
        except OSError as error:
            raise SDCError(f"cannot write {path}: {error.strerror}") from error

    def __repr__(self) -> str:
        if not self._arrays.at_hand:
            return "Hierarchy(not here)"
        groups = ", ".join(f"{self.n_groups(level):,}" for level in range(self.n_levels))
        return f"Hierarchy({self.n_values:,} values, {self.n_levels} levels: {groups} groups)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Hierarchy:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Hierarchy:
        return self

    def __reduce__(self) -> tuple[type[Hierarchy], tuple[SharedArrays]]:
        return Hierarchy, (self._arrays,)


def _what(name: str | None) -> str:
    return f"hierarchy {name!r}" if name else "the hierarchy"


def _read_rows(text: str, delimiter: str, path: Path) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [[cell.strip() for cell in row] for row in reader if row]
    except csv.Error as error:
        raise SDCError(f"{path}, line {reader.line_num}: {error}; is a quotation mark left open?") from error
