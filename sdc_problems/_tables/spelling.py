"""Spelling of numbers in a CSV file, kept so that numbers that nothing changes are written as they were read.

A form says how a number was written: a format of Python's such as ``.2f`` (1.50), ``03d`` (007) or ``,d`` (1,234);
``~`` before it if the zero before the decimal mark was left out; nothing for the shortest text of a float; ``=`` and
the text itself if no format gives it. One form per cell takes a byte, where the texts of 10^7 cells would take a
gigabyte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._slices import slices
from sdc_problems._tables.columns import STAR, Role, label, parse_numbers

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems._sharing.arrays import Array
    from sdc_problems.microdata import Attribute, Microdata

MOST_FORMS = 1000
"""Forms of a column; with more, its numbers are written as short as they are exact."""

EXACT = 2**53
"""Largest integer such that all smaller ones are floats."""

_PARTS = re.compile(r"([+-]?)([\d,]*)(?:(\.)(\d*))?([eE]?).*", re.ASCII | re.DOTALL)


@dataclass(frozen=True, eq=False)
class Spelling:
    """Forms of the numbers of a column.

    Attributes
    ----------
    forms
        Different ones.
    decimal, thousands
        Marks of the file.
    codes
        Form of each cell; None if there is one form only.
    """

    forms: tuple[str, ...]
    decimal: str
    thousands: str | None
    codes: NDArray[np.signedinteger[Any]] | None = field(default=None, repr=False)

    @property
    def grouped(self) -> bool:
        """Whether numbers have thousands separators, and all these are where they belong."""
        of_formats = [form for form in self.forms if not form.startswith("=")]
        odd = [form for form in self.forms if form.startswith("=") and (self.thousands or ",") in form]
        return any("," in form for form in of_formats) and not odd

    def text(self, number: float, form: str) -> str:
        """Text of a number in a form, with the marks of the file."""
        if form.startswith("="):
            return form[1:]
        text = _formatted(number, form)
        return text.translate(self.marks) if self.marks else text

    @cached_property
    def marks(self) -> dict[int, str]:
        """Marks of the file in place of a decimal point and of commas; empty if these are its own."""
        marks = {ord("."): self.decimal, ord(","): self.thousands or ","}
        return {} if marks == {ord("."): ".", ord(","): ","} else marks

    def at(self, records: NDArray[np.intp]) -> Spelling:
        """Spelling of some of the cells."""
        return self if self.codes is None else replace(self, codes=self.codes[records])

    def spec(self) -> dict[str, Any]:
        """Everything but the form of each cell, as JSON holds it."""
        return {"forms": list(self.forms), "decimal": self.decimal, "thousands": self.thousands}

    @classmethod
    def of_spec(cls, spec: Mapping[str, Any], codes: Array | None) -> Spelling:
        """Spelling of what `spec` gave."""
        return cls(tuple(spec["forms"]), spec["decimal"], spec["thousands"], codes)


class Speller:
    """Forms of the numbers of a column while it is read.

    Parameters
    ----------
    decimal, thousands
        Marks of the file.

    Examples
    --------
    >>> speller = Speller(",", None)
    >>> speller.add(np.array([0, 1, 0]), [0, 1], ["1,50", "2,00"], np.array([1.5, 2.0]))
    >>> speller.finish(whole=False).forms
    ('.2f',)
    """

    def __init__(self, decimal: str, thousands: str | None) -> None:
        self._spelling = Spelling((), decimal, thousands or None)
        self._canonical = {ord(decimal): ".", **({ord(thousands): ","} if thousands else {})}
        self._place: dict[str, int] = {}
        self._parts: list[tuple[int, NDArray[np.int16] | int]] = []
        self._shortest = True

    def add(
        self, cells: NDArray[np.integer[Any]], present: Sequence[int], texts: Sequence[str], numbers: NDArray[Any]
    ) -> None:
        """Take the next cells.

        Parameters
        ----------
        cells
            Place of each cell among the different ones.
        present
            Which of these are not missing.
        texts, numbers
            These as they are written, and what they mean.
        """
        if len(self._place) > MOST_FORMS:
            return
        forms = self._forms(texts, numbers)
        if isinstance(forms, int):
            self._parts.append((len(cells), forms))
        else:
            table = np.zeros(int(cells.max()) + 1, dtype=np.int16)
            table[present] = forms
            self._parts.append((len(cells), table[cells]))

    def _forms(self, texts: Sequence[str], numbers: NDArray[Any]) -> NDArray[np.int16] | int:
        """Form of each text, or the one of all."""
        if not texts:
            return 0
        # -0.0 and 0.0 are one value, which is written without a sign.
        values = (numbers + 0.0 if numbers.dtype.kind == "f" else numbers).tolist()
        # The form of all, if there is one, is that of the cells before, of the longest text (1,234 beside 5), or of one
        # that begins with a zero (007 beside 123).
        if numbers.dtype.kind != "f" and np.abs(numbers).max() > EXACT:
            # Further cells may not be whole: then these become floats, from which no format gives their last digits.
            values = [float(value) if abs(value) > EXACT else value for value in values]
        guesses = [*self._place][:1]
        guesses += [self._form(text, values[texts.index(text)]) for text in (max(texts, key=len), min(texts))]
        guess = next((form for form in dict.fromkeys(guesses) if self._all(texts, values, form)), None)
        if numbers.dtype.kind != "f":
            self._shortest = shortest = False
        elif self._shortest or guess is None:
            shortest = guess == "" or self._all(texts, values, "")
            self._shortest = self._shortest and shortest
        else:
            shortest = False
        if guess is not None or shortest:
            return self._code("" if guess is None else guess)
        found = np.zeros(len(texts), dtype=np.int16)
        for i, (text, value) in enumerate(zip(texts, values, strict=True)):
            found[i] = self._code(self._form(text, value))
            if len(self._place) > MOST_FORMS:
                self._parts = []
                return 0
        return found

    def _all(self, texts: Sequence[str], values: Sequence[float], form: str) -> bool:
        """Whether all numbers have this form; it ends at the first that has not."""
        made: Iterable[str] = map(repr if not form else f"{{:{form}}}".format, values)
        if form[:1] in ("~", "=") or (form.endswith("d") and float in map(type, values)):
            made = (self._spelling.text(value, form) for value in values)
        elif self._spelling.marks:
            made = (text.translate(self._spelling.marks) for text in made)
        return all(map(eq, made, texts))

    def _form(self, text: str, value: float) -> str:
        parts = _PARTS.fullmatch(text.translate(self._canonical))
        assert parts is not None
        sign, whole, point, decimals, exponent = parts.groups("")
        kind = exponent or ("f" if point else "d")
        padded = f"0{len(text)}" if whole[:1] == "0" and len(whole) > 1 else ""
        form = "".join(
            [
                "~" if point and not whole else "",
                "+" if sign == "+" else "",
                "#" if point and not decimals else "",
                padded or ("," if "," in whole else ""),
                "" if kind == "d" else f".{len(decimals)}",
                kind,
            ]
        )
        return form if self._spelling.text(value, form) == text else f"={text}"

    def _code(self, form: str) -> int:
        return self._place.setdefault(form, len(self._place))

    def finish(self, *, whole: bool) -> Spelling | None:
        """Spelling of the whole column; None if its numbers are written so anyway, or in too many forms.

        Parameters
        ----------
        whole
            Whether they are integers.
        """
        forms = tuple(self._place)
        if len(forms) > MOST_FORMS or not forms or (forms == ("d",) if whole else self._shortest):
            return None
        if len(forms) == 1:
            return replace(self._spelling, forms=forms)
        small = np.min_scalar_type(-len(forms))
        parts = [np.full(n, part, small) if isinstance(part, int) else part.astype(small) for n, part in self._parts]
        return replace(self._spelling, forms=forms, codes=np.concatenate(parts))


def _formatted(number: float, form: str) -> str:
    """Text of a number by a form that is a format, with a decimal point and commas between thousands."""
    if not form:
        return str(float(number))
    if form.endswith("d"):
        return format(int(number), form) if abs(number) < 2**63 else str(number)
    if form.startswith("~"):
        text = format(number, form[1:])
        return text.replace("0.", ".", 1) if abs(number) < 1 else text
    return format(number, form)


# ------------------------------------------------------------------ of a released table


@dataclass(frozen=True, eq=False)
class Spelled:
    """Column of a released table whose numbers are written as the original's are.

    Attributes
    ----------
    spelling
        Of the original.
    values
        Numbers of the original in code order.
    codes
        Codes of the original's cells if the column shows these, but for stars and gaps. None if it has other numbers,
        which get the form that all numbers of the original have.
    rows
        Record of the original that each row of the table is; None if they are the same.
    texts
        Text of each number in the table, where its cells are not just numbers.
    """

    spelling: Spelling
    values: Array = field(repr=False)
    codes: NDArray[np.int32] | None = field(repr=False)
    rows: NDArray[np.intp] | None = field(repr=False)
    texts: Mapping[float, str] | None = field(repr=False)

    def written(self, column: pd.Series[Any], at: slice | NDArray[np.int64]) -> NDArray[Any]:
        """Cells as they are written.

        Parameters
        ----------
        column
            Some cells of the column.
        at
            Their rows in the table.
        """
        forms = self.spelling.forms
        cells = column.astype(object).to_numpy(copy=True)
        left = column.isna().to_numpy(dtype=bool)
        if self.codes is None:
            found, distinct = column[~left].factorize()
            changed: list[Any] = distinct.tolist()
            cells[~left] = np.array([self.spelling.text(x, forms[0]) for x in changed], dtype=object)[found]
            return cells
        if column.dtype.kind not in "if":
            left = left | (cells == STAR)
        records = at if self.rows is None else self.rows[at]
        keys = self.codes[records].astype(np.int64)[~left] * len(forms)
        if self.spelling.codes is not None:
            keys += self.spelling.codes[records][~left]
        pairs, found = np.unique(keys, return_inverse=True)
        numbers: list[Any] = self.values[pairs // len(forms)].tolist()
        texts = [self.spelling.text(x, forms[i]) for x, i in zip(numbers, (pairs % len(forms)).tolist(), strict=True)]
        cells[~left] = np.array(texts, dtype=object)[found]
        return cells

    def read(self, texts: Sequence[str], *, whole: bool) -> list[str]:
        """Texts of the table for those in the file.

        Parameters
        ----------
        texts
            Different cells of the file.
        whole
            Whether the cells of the table are integers.
        """
        there = [i for i, text in enumerate(texts) if text not in ("", STAR)]
        spelling, found = self.spelling, list(texts)
        shown = [found[i] for i in there]
        numbers = parse_numbers(shown, decimal=spelling.decimal, thousands=spelling.thousands, codes_too=True)
        for i, number in zip(there, () if numbers is None else numbers.tolist(), strict=False):
            plain = int(number) if whole else float(number) + 0.0  # no -0.0
            found[i] = str(plain) if self.texts is None else self.texts.get(number, found[i])
        return found


def spelled(data: Microdata, frame: pd.DataFrame, records: NDArray[np.int64], *, decimal: str) -> dict[int, Spelled]:
    """Columns whose numbers are written as the original's are, by their position.

    Parameters
    ----------
    data
        The original.
    frame
        The table that is released.
    records
        Record of the original's file that each of its rows is.
    decimal
        Decimal mark of the file to write.
    """
    rows = None if np.array_equal(records, data.rows) else np.searchsorted(data.rows, records)
    found = {}
    for position, name in enumerate(frame.columns):
        if name not in data.names or data.attribute(name).role is Role.IDENTIFIER:
            continue
        one = _spelled(data.attribute(name), frame.iloc[:, position], rows)
        if one is not None and one.spelling.decimal == decimal:
            found[position] = one
    return found


def _spelled(attribute: Attribute, column: pd.Series[Any], rows: NDArray[np.intp] | None) -> Spelled | None:
    spelling = attribute.spelling
    if spelling is None:
        return None
    codes, values = attribute.codes, attribute.categories[: attribute.n_categories - attribute.has_missing]
    values = np.array(values.tolist()) if values.dtype == object else values  # which they are beside a gap
    if column.dtype.kind in "if":
        if _same_numbers(column, values, codes, rows):
            return Spelled(spelling, values, codes, rows, None)
        form = spelling.forms[0]
        # Where not every number has the form exactly, as a mean of several has not, none gets it.
        if len(spelling.forms) == 1 and not form.startswith("=") and all(_has_form(x, form) for x in _distinct(column)):
            return Spelled(spelling, values, None, rows, None)
        return None
    cells = [cell for cell in _distinct(column) if cell != STAR]
    texts = [label(cell) for cell in cells]
    numbers = parse_numbers(texts, codes_too=True)
    if numbers is None or not _same_cells(column, dict(zip(cells, numbers.tolist(), strict=True)), values, codes, rows):
        return None
    return Spelled(spelling, values, codes, rows, dict(zip(numbers.tolist(), map(str, cells), strict=True)))


def _distinct(column: pd.Series[Any]) -> list[Any]:
    return column.dropna().unique().tolist()


def _has_form(number: float, form: str) -> bool:
    return float(_formatted(number, form).replace(",", "")) == number


def _same_numbers(
    column: pd.Series[Any], values: Array, codes: NDArray[np.int32], rows: NDArray[np.intp] | None
) -> bool:
    """Whether all cells are the original's numbers, or missing."""
    shown = np.append(values, values[:1])  # a gap of the original has the last code
    for low, high in slices(len(column), steps=100, what="numbers compared"):
        part = column.iloc[low:high]
        absent = part.isna().to_numpy(dtype=bool)
        cells = part.to_numpy(dtype=values.dtype if part.dtype.kind == "i" else np.float64, na_value=0)
        before = codes[low:high] if rows is None else codes[rows[low:high]]
        if not (absent | ((cells == shown[before]) & (before < len(values)))).all():
            return False
    return True


def _same_cells(
    column: pd.Series[Any],
    numbers: Mapping[Any, float],
    values: Array,
    codes: NDArray[np.int32],
    rows: NDArray[np.intp] | None,
) -> bool:
    """Whether all cells, of which some are text, are the original's numbers, stars or missing."""
    order = np.argsort(values)
    place, distinct = column.factorize(use_na_sentinel=True)
    code = np.full(len(distinct) + 1, -1, dtype=np.int64)  # a missing cell has the place -1
    for i, cell in enumerate(distinct.tolist()):
        if cell != STAR:
            near = min(int(np.searchsorted(values, numbers[cell], sorter=order)), len(values) - 1)
            code[i] = order[near] if values[order[near]] == numbers[cell] else -2
    wanted = code[place]
    before = codes if rows is None else codes[rows]
    return bool(((wanted == -1) | (wanted == before)).all())
