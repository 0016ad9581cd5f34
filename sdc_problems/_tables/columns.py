"""One column of a table as integer codes over its distinct values, whatever its source."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sharing.arrays import Array, pack_strings, unpack_strings
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    from sdc_problems._tables.spelling import Spelling

Codes = NDArray[np.int32]
Values = Array | list[str]

#: Text that stands for a missing value unless ``na_values`` says otherwise (compared without surrounding blanks).
NA_VALUES = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None")
#: Name of the category of missing values.
MISSING = "?"
#: Text of a suppressed cell, in every released file.
STAR = "*"

_BLOCK = 1_000_000
_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_CODE_NUMBER = re.compile(r"^[ \t]*[+-]?(?:0\d+|\d{19,})[ \t]*$", re.MULTILINE)
_LONG_NUMBER = re.compile(r"[+-]?\d{19,}", re.ASCII)
_ZERO_CODE = re.compile(r"^[+-]?0\d+$", re.ASCII | re.MULTILINE)
# Other scripts also have digits, which no reader of numbers here accepts.
_PLAIN_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3},\d{3}\s*")
_POINT_AND_COMMA = re.compile(r"\s*[+-]?\d{1,3}(?:\.\d{3})*(?:,\d+)?\s*")
_GROUPED_NUMBER = re.compile(
    r"\s*[+-]?(?:\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?:\.\d+)?"  # 1,234.5
    r"|(?:\d{1,3}(?:\.\d{3})+|\d+),\d+"  # 1.234,5
    r"|\d{1,3}(?:\.\d{3}){2,})\s*",  # 1.234.567
    re.ASCII,
)


class Kind(StrEnum):
    """Kind of an attribute: numeric (arithmetic), ordinal (comparison) or nominal (equality only)."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    NOMINAL = "nominal"


class Role(StrEnum):
    """Role of an attribute in disclosure."""

    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    IDENTIFIER = "identifier"
    OTHER = "other"


@dataclass(frozen=True)
class Column:
    """Codes over distinct values; -1 marks a missing cell until missing values have been treated."""

    name: str
    storage: str  # "int", "float", "bool", "text", "datetime", "timedelta", "date"
    codes: Codes = field(repr=False)  # cells must not appear in logs or tracebacks
    values: Values = field(repr=False)  # distinct, in code order; numpy array, or a list if storage is "text"
    restore: str = ""  # pandas dtype that `to_series` restores; "" leaves it to pandas
    unit: str = ""  # of datetimes and timedeltas
    zone: str = ""  # of datetimes
    declared: str = ""  # kind that the source declares ("nominal", "ordinal"); "" if it declares none
    fixed_order: bool = False  # code order is given: never sort, keep unobserved values
    spelling: Spelling | None = None  # of numbers in a file; None where they are written so anyway

    def first_row(self, wanted: NDArray[np.bool_]) -> int:
        """The first row (from 1) whose value is one of the wanted ones (a mask over `values`)."""
        mask = np.append(wanted, False)
        return int(np.argmax(mask[self.codes])) + 1

    def counts(self) -> NDArray[np.int64]:
        """Number of records per value."""
        shifted = np.zeros(len(self.values) + 1, dtype=np.int64)
        for begin in range(0, len(self.codes), _BLOCK):  # in blocks, because bincount converts its input to int64
            shifted += np.bincount(self.codes[begin : begin + _BLOCK] + 1, minlength=len(shifted))
        return shifted[1:]

    def recoded(self, mapping: Array, values: Values) -> Column:
        """The same cells with code c replaced by ``mapping[c]``; missing stays missing."""
        table = np.append(np.asarray(mapping, dtype=np.int32), np.int32(-1))
        return replace(self, codes=table[self.codes], values=values)

    def at(self, records: NDArray[np.intp]) -> Column:
        """Some of the cells, and the values that occur in them."""
        spelling = None if self.spelling is None else self.spelling.at(records)
        return replace(self, codes=self.codes[records], spelling=spelling).canonical()

    def canonical(self) -> Column:
        """Values sorted, and only those that occur, unless their order was given."""
        if self.fixed_order:
            return self
        seen = self.counts() > 0
        if seen.all() and self._ascending():
            return self
        if isinstance(self.values, list):
            values = self.values
            order = sorted(np.flatnonzero(seen).tolist(), key=values.__getitem__)
            kept: Values = [values[i] for i in order]
        else:
            where = np.flatnonzero(seen)
            order = where[np.argsort(self.values[where], kind="stable")].tolist()
            kept = self.values[order]
        mapping = np.full(len(self.values), -1, dtype=np.int32)
        mapping[order] = np.arange(len(order), dtype=np.int32)
        return self.recoded(mapping, kept)

    def _ascending(self) -> bool:
        if isinstance(self.values, list):
            return all(a < b for a, b in pairwise(self.values))
        return bool((self.values[:-1] < self.values[1:]).all())

    def stripped(self) -> Column:
        """Text without surrounding blanks, which are part neither of a value nor of a text for missing values."""
        if not isinstance(self.values, list) or all(text == text.strip() for text in self.values):
            return self
        place: dict[str, int] = {}
        mapping = [place.setdefault(text.strip(), len(place)) for text in self.values]
        return self.recoded(np.array(mapping, dtype=np.int32), list(place)).canonical()

    def without_markers(self, na_values: Sequence[str]) -> Column:
        """Make text cells that stand for a missing value missing."""
        if not isinstance(self.values, list) or not na_values:
            return self
        markers = frozenset(na_values)
        missing = [i for i, text in enumerate(self.values) if text in markers]
        if not missing:
            return self
        mapping = np.arange(len(self.values), dtype=np.int32)
        mapping[missing] = -1
        marked = self.recoded(mapping, self.values)
        # A marker is not a value of a given order either.
        return marked._drop(missing) if self.fixed_order else marked.canonical()

    def _drop(self, unused: list[int]) -> Column:
        assert isinstance(self.values, list)
        gone = set(unused)
        keep = [i for i in range(len(self.values)) if i not in gone]
        mapping = np.full(len(self.values), -1, dtype=np.int32)
        mapping[keep] = np.arange(len(keep), dtype=np.int32)
        return self.recoded(mapping, [self.values[i] for i in keep])

    def as_numbers(self) -> Column:
        """Text parsed as numbers, for a column that was declared numeric."""
        if not isinstance(self.values, list):
            return self
        numbers = parse_numbers(self.values, codes_too=True)
        if numbers is None:
            bad = np.array([parse_numbers([text], codes_too=True) is None for text in self.values], dtype=bool)
            raise SDCError(
                f"column {self.name!r} is declared numeric, but row {self.first_row(bad)} is not a number "
                f"({int(self.counts()[bad].sum())} such rows){_grouping_hint(self.values, bad)}; "
                "correct the cells, list the texts for missing in na_values, or declare another kind"
            )
        storage = "int" if numbers.dtype.kind == "i" else "float"
        distinct, inverse = np.unique(numbers, return_inverse=True)
        as_read = replace(self, storage=storage, restore="", fixed_order=False)
        return as_read.recoded(inverse.astype(np.int32), distinct)

    def floats(self) -> NDArray[np.float64]:
        """The values as numbers: dates in days since 1970-01-01, durations in days, False and True as 0 and 1."""
        assert not isinstance(self.values, list)
        if self.storage in ("datetime", "timedelta"):
            return self.values / float(_DAY[self.unit])
        return self.values.astype(np.float64)

    def labels(self) -> list[str]:
        """The values as text, as written in a hierarchy or a list of ordered categories."""
        return self.values if isinstance(self.values, list) else [label(v) for v in typed_values(self)]

    # ------------------------------------------------------------------ shared arrays and back

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Plain arrays to share."""
        if isinstance(self.values, list):
            data, offsets = pack_strings(self.values)
            return {f"{prefix}/codes": self.codes, f"{prefix}/bytes": data, f"{prefix}/offsets": offsets}
        forms = None if self.spelling is None else self.spelling.codes
        found = {f"{prefix}/codes": self.codes, f"{prefix}/values": self.values}
        return found if forms is None else {**found, f"{prefix}/forms": forms}

    def spec(self) -> dict[str, Any]:
        """Facts about the column besides its arrays, as plain values for JSON."""
        names = ("name", "storage", "restore", "unit", "zone")
        spelling = {} if self.spelling is None else {"spelling": self.spelling.spec()}
        return {**{name: getattr(self, name) for name in names}, **spelling}


def parse_numbers(
    texts: Sequence[str], *, decimal: str = ".", thousands: str | None = None, codes_too: bool = False
) -> Array | None:
    """Texts as int64 if all are integers, else as float64 if all are numbers, else None.

    Digits with a leading zero ("007") or more than 18 of them are codes, not numbers, unless `codes_too`.
    """
    if not texts:
        return np.empty(0, dtype=np.int64)
    if thousands:
        texts = [text.replace(thousands, "") for text in texts]
    if decimal != ".":
        texts = [text.replace(decimal, ".") for text in texts]
    together = "\n".join(texts)
    # Python's own parsers also accept 1_000 and the digits of every script.
    if "_" in together or not together.isascii():
        return None
    if not codes_too and _CODE_NUMBER.search(together):
        return None
    try:
        return np.array([int(text) for text in texts], dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        numbers = np.array([float(text) for text in texts], dtype=np.float64)
    except ValueError:
        return None
    return None if np.isnan(numbers).any() else numbers


def refuse_disguised_numbers(column: Column, *, from_text: bool) -> None:
    """Refuse a column that is probably numeric but was read as text.

    Two signs: every cell is a number and some are written with separators ("1,234"); or, in a file, most cells
    are numbers and a few are not, or have so many digits that they are codes.
    """
    if not isinstance(column.values, list) or not column.values:
        return
    grouped = np.zeros(len(column.values), dtype=bool)
    for i, text in enumerate(column.values):
        if _GROUPED_NUMBER.fullmatch(text):
            grouped[i] = True
        elif not _PLAIN_NUMBER.fullmatch(text):
            break
    else:
        if grouped.any():
            texts = [text for text, is_grouped in zip(column.values, grouped, strict=True) if is_grouped]
            way_out = f"give {_marks(texts)} to from_csv" if from_text else "convert it before"
            raise SDCError(
                f"column {column.name!r} looks numeric but its cells are written with separators (first in row "
                f"{column.first_row(grouped)}); {way_out}, or declare kinds={{{column.name!r}: 'nominal'}} to keep text"
            )
    if not from_text or _ZERO_CODE.search("\n".join(column.values)):
        return
    long = np.array([_LONG_NUMBER.fullmatch(text) is not None for text in column.values], dtype=bool)
    number = ~long & np.array([_PLAIN_NUMBER.fullmatch(text) is not None for text in column.values], dtype=bool)
    counts = column.counts()
    if not number.all() and 2 * counts[number].sum() > counts.sum():
        first = column.first_row(~number)
        why = "has more than 18 digits, so it is not a number" if long[column.codes[first - 1]] else "is not a number"
        raise SDCError(
            f"column {column.name!r} mixes numbers and text: row {first} {why}, as are "
            f"{int(counts[~number].sum())} of {int(counts.sum())} cells; correct them, list the texts for missing in "
            f"na_values, or declare kinds={{{column.name!r}: 'nominal'}} to keep text"
        )


def _marks(texts: list[str]) -> str:
    """Arguments of from_csv for reading numbers written with separators, with values if only one choice fits."""
    if all(_COMMA.fullmatch(text) for text in texts) and not all(_THOUSANDS.fullmatch(text) for text in texts):
        return "decimal=','"
    if all(_POINT_AND_COMMA.fullmatch(text) for text in texts) and any("." in t and "," in t for t in texts):
        return "thousands='.' and decimal=','"
    return "thousands= or decimal="


def _grouping_hint(values: list[str], bad: NDArray[np.bool_]) -> str:
    grouped = all(_GROUPED_NUMBER.fullmatch(values[i]) for i in np.flatnonzero(bad))
    return ", written with separators (thousands= and decimal= of from_csv read those)" if grouped else ""


def label(value: object) -> str:
    """A value as text: 39, 39.0 and "39" are all "39"; dates are ISO, without a time of midnight.

    Examples
    --------
    >>> label(39.0), label(0.5), label(True), label("39")
    ('39', '0.5', 'True', '39')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, np.timedelta64):
        return str(value.astype("timedelta64[us]").item())
    if isinstance(value, np.datetime64 | datetime.datetime):
        text = str(value).replace(" ", "T")
        date, _, clock = text.partition("T")
        clock = clock.rstrip("0").removesuffix(".") if "." in clock else clock
        return date if clock in ("", "00:00:00", "00:00:", "00:00") else f"{date}T{clock}"
    return str(value)


def typed_values(column: Column) -> Array:
    """The values in code order as a numpy array of their own type (text as objects)."""
    if isinstance(column.values, list):
        texts = np.empty(len(column.values), dtype=object)
        texts[:] = column.values
        return texts
    if column.storage == "datetime":
        return column.values.astype(f"datetime64[{column.unit}]")
    if column.storage == "timedelta":
        return column.values.astype(f"timedelta64[{column.unit}]")
    if column.storage == "date":
        return column.values.astype("datetime64[D]")
    return column.values


def column_from_arrays(arrays: Any, prefix: str, spec: dict[str, Any]) -> Column:
    """Make a column from the results of `Column.arrays` and `Column.spec`."""
    values: Values
    if spec["storage"] == "text":
        values = unpack_strings(arrays[f"{prefix}/bytes"], arrays[f"{prefix}/offsets"])
    else:
        values = arrays[f"{prefix}/values"]
    keys = ("name", "storage", "restore", "unit", "zone")
    told, forms, spelling = spec.get("spelling"), f"{prefix}/forms", None
    if told is not None:
        from sdc_problems._tables.spelling import Spelling

        spelling = Spelling.of_spec(told, arrays.get(forms))
    facts = {key: spec[key] for key in keys}
    return Column(codes=arrays[f"{prefix}/codes"], values=values, spelling=spelling, **facts)
