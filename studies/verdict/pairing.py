"""Pairing of an original and a protected file: the same records in the same order, and the change of each column.

Nothing here prints a cell: errors name only columns and rows.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import coded_texts
from sdc_problems._tables.columns import NA_VALUES, STAR, label, parse_numbers
from sdc_problems._tables.formats import format_of, read_columns, read_frame
from sdc_problems._tables.intervals import outside, parse_interval, without_mark
from sdc_problems._tables.levels import TOP
from sdc_problems._tables.read_csv import CSVFile
from sdc_problems._tables.spelling import Speller
from sdc_problems.errors import SDCError
from sdc_problems.evaluators._codes import dense, pair_counts, row_labels, starts
from sdc_problems.microdata import Kind, Microdata
from sdc_problems.studies.verdict.labels import SUPPRESSED
from sdc_problems.studies.verdict.leaves import Leaves

if TYPE_CHECKING:
    import pandas as pd


class Fate(StrEnum):
    """Kind of change of a column by protection."""

    UNCHANGED = "unchanged"
    PERTURBED = "perturbed"
    """Other values of the original's domain, or other numbers."""
    GENERALISED = "generalised"
    """Labels that stand for several values of the original."""
    STARRED = "starred"
    """The original's values, except that some cells are starred or missing."""


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """One column of both files, as category ids that are equal if and only if the cells are."""

    name: str
    kind: Kind
    fate: Fate
    original: NDArray[np.int32]
    protected: NDArray[np.int32]
    labels: tuple[str, ...]
    """Labels of the ids; those of the original come first, in its order."""
    n_categories: int
    """Distinct values of the original."""
    tables: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    """Numbers for the ids in each file, if the kind is numeric and the protected cells are numbers; NaN for stars."""
    stars: NDArray[np.bool_]
    """Mask of the protected cells that are starred or missing, which are compatible with every value."""
    misplaced: bool = False
    """Whether labels look like intervals but do not contain their values, so that they are only names."""

    @property
    def numeric(self) -> bool:
        """Whether both columns are numbers."""
        return self.tables is not None

    @property
    def numbers(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Both columns as numbers, NaN in starred cells; None if they are not numeric."""
        return None if self.tables is None else (self.tables[0][self.original], self.tables[1][self.protected])

    @property
    def comparable(self) -> bool:
        """Whether a distance between original and protected cells is defined."""
        return self.fate is not Fate.GENERALISED

    def leaves(self) -> NDArray[np.int32]:
        """Number of original values that occur under each record's protected label.

        A label that is an original value stands for itself, a starred cell for all values, an interval for the original
        values in it, and any other label for the values that were published under it.
        """
        count = np.zeros(len(self.labels), dtype=np.int32)
        np.add.at(count, pair_counts(self.protected, self.original).first, 1)
        values = parse_numbers(self.labels[: self.n_categories]) if self.kind is Kind.NUMERIC else None
        for code in np.flatnonzero(np.bincount(self.protected)):
            text = self.labels[code]
            interval = None if values is None else parse_interval(text)
            if code < self.n_categories:
                count[code] = 1
            elif interval is not None and values is not None and not self.misplaced:
                count[code] = max(int(interval.holds(values).sum()), 1)
        return self.spread(count, self.n_categories)

    def known_leaves(self, leaves: Leaves | None) -> tuple[NDArray[np.int32], int] | None:
        """Leaves of the column's hierarchy under each record's label, and the number of all leaves.

        A value of the original is a leaf and a star stands for all leaves, even if no hierarchy is known. None if a
        label is neither of these and its leaves are not known.
        """
        found = self.known_counts(leaves)
        return None if found is None else (self.spread(*found), found[1])

    def known_counts(self, leaves: Leaves | None) -> tuple[NDArray[np.int32], int] | None:
        """Leaves of the column's hierarchy under each label, and the number of all; None as in `known_leaves`."""
        total = self.n_categories if leaves is None else leaves.total
        count = np.zeros(len(self.labels), dtype=np.int32)
        shown = np.zeros(len(self.labels), dtype=np.bool_)
        shown[self.protected[~self.stars]] = True
        for code in np.flatnonzero(shown):
            known = None if leaves is None else leaves.labels.get(self.labels[code])
            if known is None and code >= self.n_categories:
                return None
            count[code] = 1 if known is None else known
        return count, total

    def spread(self, count: NDArray[np.int32], total: int) -> NDArray[np.int32]:
        """Leaves under each record's label, from those under each label and their total."""
        found = count[self.protected]
        found[self.stars] = total
        return found

    def sets(self, kept: NDArray[np.bool_]) -> list[NDArray[np.int64] | range]:
        """Original values that each label may stand for, as far as an intruder can know: those published under it.

        A label that is an original value also stands for itself, an interval for the original values in it. Stars are
        left out: they stand for every value.
        """
        shown = kept & ~self.stars
        found: list[NDArray[np.int64] | range] = [np.zeros(0, dtype=np.int64) for _ in self.labels]
        if not shown.any():
            return found
        pairs = pair_counts(self.protected[shown], self.original[shown])
        begin = starts(pairs.first)
        numbers = parse_numbers(self.labels[: self.n_categories]) if self.kind is Kind.NUMERIC else None
        for code, values in zip(pairs.first[begin].tolist(), np.split(pairs.second, begin[1:]), strict=True):
            named = code >= self.n_categories and not self.misplaced
            interval = parse_interval(self.labels[code]) if named else None
            if interval is not None and numbers is not None:
                found[code] = interval.range_of(numbers)  # which includes the published ones
            else:
                found[code] = np.union1d(values, [code]) if code < self.n_categories else values
        return found


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two files whose rows correspond."""

    n_records: int
    quasi_identifiers: tuple[PairedColumn, ...]
    sensitive: tuple[PairedColumn, ...]
    suppressed: NDArray[np.bool_]
    """Mask of the records whose quasi-identifiers are all suppressed, if those of others are not."""
    notes: tuple[str, ...]


def read_protected(
    path: str | os.PathLike[str],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    decimal: str = ".",
    thousands: str | None = None,
    na_values: Sequence[str] = NA_VALUES,
    numeric: Collection[str] = (),
    known: Mapping[str, Collection[str]] | None = None,
) -> Microdata:
    """Read a protected file: every column as text labels, with missing cells as suppressed ones.

    Numbers of columns that are ``numeric`` in the original, and labels of their intervals, may be written with a
    point or with the given marks; ``known`` labels are not converted.
    """
    if format_of(path) == "Parquet":  # whose columns have one type each, and are read one by one
        return Microdata.from_file(path, kinds=dict.fromkeys(read_columns(path)[0], "nominal"), missing="category")
    if format_of(path) is not None:
        return as_protected(read_frame(path)[0])
    names = CSVFile(
        path, delimiter=delimiter, encoding=encoding, na_values=na_values, decimal=".", thousands=None, chunksize=None
    ).header()
    how: dict[str, Any] = {
        "kinds": dict.fromkeys(names, "nominal"),
        "missing": "category",
        "delimiter": delimiter,
        "encoding": encoding,
        "na_values": na_values,
    }
    table = Microdata.from_csv(path, **how)
    marked = None if thousands is None else Microdata.from_csv(path, **how, decimal=decimal, thousands=thousands)
    written = {}
    separated = {}
    for name in (name for name in names if name in numeric):
        kept = (known or {}).get(name, ())
        labels = table.attribute(name).labels
        shown = [text for text in labels if text not in SUPPRESSED]
        numbers = parse_numbers(shown, decimal=decimal, thousands=thousands, codes_too=True)
        numbers = None if any(text in kept for text in shown) else numbers
        if marked is not None and table.attribute(name).holds_numbers:
            # 1.234 is a number by itself, too: it is one of thousands where all separators are in their places.
            spelling = marked.attribute(name).spelling
            if spelling is not None and spelling.grouped:
                separated[name] = [label(cell) for cell in marked.attribute(name).categories]
            continue
        grouped = numbers is not None and _grouped(shown, numbers, decimal, thousands)
        if parse_numbers(shown) is not None and not grouped:
            continue
        if numbers is not None:
            written[name] = dict(zip(shown, (label(number) for number in numbers), strict=True))
        elif decimal != ".":
            plain = {text: text if text in kept else without_mark(text, decimal) for text in labels}
            if any(text != new for text, new in plain.items()):
                written[name] = plain
    if not written and not separated:
        return table
    frame = table.frame()
    for name, plain in written.items():
        frame[name] = frame[name].map(plain)
    for name, texts in separated.items():
        assert marked is not None
        frame[name] = coded_texts(marked.attribute(name).codes, texts)
    return as_protected(frame)


def _grouped(texts: Sequence[str], numbers: NDArray[Any], decimal: str, thousands: str | None) -> bool:
    """Whether some of the texts of numbers have thousands separators, and all these are in their places."""
    speller = Speller(decimal, thousands)
    speller.add(np.arange(len(texts)), range(len(texts)), texts, numbers)
    found = speller.finish(whole=numbers.dtype.kind == "i")
    return found is not None and found.grouped


def placed(
    original: Microdata, protected: Microdata, records: NDArray[np.int64], quasi_identifiers: Sequence[str]
) -> Microdata:
    """Put protected records into the rows of the original; left-out records get stars as quasi-identifiers.

    Parameters
    ----------
    original
        The table before protection.
    protected
        The table after it, in any order.
    records
        Record of the original's file for each row, counted from 0.
    quasi_identifiers
        Columns that are unknown for a record that was left out.
    """
    if len(records) != len(protected):
        raise SDCError(
            f"the rows file has {len(records):,} rows, and the protected file has {len(protected):,}: name"
            " the rows file"
            " that was written with it (--rows)"
        )
    total = len(original) + original.n_dropped
    if len(records) and int(records.max()) >= total:
        raise SDCError(
            f"the rows file names record {int(records.max()) + 1:,} of an original that has {total:,}: is this the"
            " original that was protected?"
        )
    row = np.full(total, -1, dtype=np.int64)
    row[records] = np.arange(len(records))
    row = row[original.rows]
    there = row >= 0
    cells = {}
    for name in protected.names:
        codes, texts = _coded(protected, name)
        if name in quasi_identifiers:
            others, more = np.full(len(row), 0), [STAR]
        else:
            others, more = _coded(original, name)
        others = np.where(others < 0, -1, others + len(texts))
        cells[name] = coded_texts(np.where(there, codes[row], others), [*texts, *more])
    import pandas as pd

    return Microdata.from_frame(
        pd.DataFrame(cells, copy=False), kinds=dict.fromkeys(cells, "nominal"), missing="category", na_values=()
    )


def _coded(table: Microdata, name: str) -> tuple[NDArray[Any], list[str]]:
    """Codes of a column's cells, -1 where they are missing, and their labels."""
    attribute = table.attribute(name)
    texts = attribute.labels[: attribute.n_categories - attribute.has_missing]
    return np.where(attribute.codes < len(texts), attribute.codes, np.int32(-1)), texts


def without_gaps(protected: Microdata, original: Microdata, data: Microdata) -> Microdata:
    """Protected records without those that were left out of the original because of a gap in a column with a role."""
    named = [*data.quasi_identifiers, *data.sensitive, *data.identifiers]
    gaps = original.frame()[named].isna().any(axis=1).to_numpy()
    return as_protected(protected.frame()[~gaps].reset_index(drop=True))


def as_protected(table: Microdata | pd.DataFrame) -> Microdata:
    """Return the table itself, or convert a data frame as ``read_protected`` would read it."""
    if isinstance(table, Microdata):
        return table
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        raise SDCError(f"the protected table must be a Microdata or a pandas DataFrame, not {type(table).__name__}")
    # Suppression leaves numbers and "*" in the same column; as labels they are all text.
    mixed = {
        name: [value if pd.isna(value) else label(value) for value in table[name]]
        for name in table.columns
        if table[name].dtype == object and set(map(type, table[name])) != {str}
    }
    texts = table.assign(
        **{str(name): pd.Series(cells, index=table.index, dtype=object) for name, cells in mixed.items()}
    )
    return Microdata.from_frame(texts, kinds={str(name): "nominal" for name in texts.columns}, missing="category")


def pair_files(
    original: Microdata,
    protected: Microdata,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    same_rows: bool = False,
    missing_as_star: bool = False,
) -> Pairing:
    """Check that two tables hold the same records in the same order, and pair their columns.

    Parameters
    ----------
    original, protected
        The tables. Identifiers of the original must not be in the protected one.
    quasi_identifiers, sensitive
        Names of columns.
    same_rows
        Whether the rows are known to correspond: columns that look shuffled are then accepted.
    missing_as_star
        Whether cells that are missing in the original may also stand for every value.
    """
    check_roles(original, protected, quasi_identifiers, sensitive)
    if len(original) != len(protected):
        raise SDCError(
            f"the files have different numbers of records: {len(original):,} in the original, {len(protected):,} in "
            "the protected file; name the file that says which record each row is (--rows), or keep suppressed records"
            " in their rows, with '*' for their quasi-identifiers"
        )
    columns = {
        name: paired_column(
            original,
            protected,
            name,
            quasi=name in quasi_identifiers,
            measured=name in quasi_identifiers or name in sensitive,
            same_rows=same_rows,
        )
        for name in protected.names
    }
    notes = [] if same_rows else _same_order(list(columns.values()))
    for name in quasi_identifiers:
        _refuse_swapped(columns[name])
    if missing_as_star:
        columns |= {name: replace(columns[name], stars=_marked(columns[name])) for name in quasi_identifiers}
    starred = np.all([columns[name].stars for name in quasi_identifiers], axis=0)
    if starred.all():
        starred[:] = False  # everything generalized to the top: one class of all records, and none is left out
    columns = {name: _settled(column, ~starred, name in quasi_identifiers) for name, column in columns.items()}
    others = [
        name
        for name, column in columns.items()
        if name not in (*quasi_identifiers, *sensitive) and column.fate is not Fate.UNCHANGED
    ]
    notes += [
        f"labels of {name!r} are named after intervals that do not hold all their values, such as 0-19 for 20: they"
        " count as names of the values that were published under them (an error in the hierarchy?)"
        for name, column in columns.items()
        if column.misplaced
    ]
    if others:
        notes.append(f"not measured, as neither quasi-identifier nor sensitive, but different: {_list(others)}")
    return Pairing(
        len(original),
        tuple(columns[name] for name in quasi_identifiers),
        tuple(columns[name] for name in sensitive),
        starred,
        tuple(notes),
    )


def check_roles(
    original: Microdata, protected: Microdata, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> None:
    """Refuse columns that cannot have these roles, and files with different columns."""
    if not quasi_identifiers:
        raise SDCError("name at least one quasi-identifier: what an intruder may know about a person")
    for role, names in (("quasi-identifier", quasi_identifiers), ("sensitive attribute", sensitive)):
        for name in names:
            original.attribute(name)
            if list(names).count(name) > 1:
                raise SDCError(f"{role} {name!r} is named twice")
    if both := set(quasi_identifiers) & set(sensitive):
        raise SDCError(f"column {min(both)!r} cannot be a quasi-identifier and sensitive at once")
    _same_columns(original, protected)


def _same_columns(original: Microdata, protected: Microdata) -> None:
    kept = [name for name in protected.names if name in original.identifiers]
    if kept:
        raise SDCError(
            f"the protected file still holds the direct identifier {kept[0]!r} (or a column that is not among those to"
            " --keep): remove it before release"
        )
    expected = [name for name in original.names if name not in original.identifiers]
    missing = [name for name in expected if name not in protected.names]
    extra = [name for name in protected.names if name not in expected]
    if missing or extra:
        parts = [f"the protected file lacks {_list(missing)}"] if missing else []
        parts += [f"it has {_list(extra)}, which the original lacks"] if extra else []
        option = "--identifiers" if extra or len(missing) > 9 else f"--identifiers {shlex.quote(','.join(missing))}"
        raise SDCError(
            f"the files have different columns: {'; '.join(parts)}. Columns that are left out on purpose are direct "
            f"identifiers ({option}), or not among those to --keep"
        )
    if expected != list(protected.names):
        at = next(i for i, (a, b) in enumerate(zip(expected, protected.names, strict=True)) if a != b)
        raise SDCError(
            f"the files have the same columns in a different order: column {at + 1} is {expected[at]!r} in the "
            f"original and {protected.names[at]!r} in the protected file; put them in the original's order"
        )


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def paired_column(
    original: Microdata,
    protected: Microdata,
    name: str,
    *,
    quasi: bool,
    measured: bool,
    same_rows: bool,
    paired: bool = True,
) -> PairedColumn:
    """One column of both files.

    Parameters
    ----------
    original, protected, name
        The tables and the column.
    quasi, measured
        Whether it is a quasi-identifier, and whether it is one or sensitive.
    same_rows
        As in `pair_files`.
    paired
        Whether the rows correspond; if they do not, nothing is compared row by row.
    """
    before, after = original.attribute(name), protected.attribute(name)
    codes, new_codes = before.codes, after.codes
    old, new = before.labels, after.labels
    shown, tables, misplaced = None, None, False
    if before.kind is Kind.NUMERIC:
        parsed = _numbers(new)
        labelled = np.array([p is None and text not in SUPPRESSED for p, text in zip(parsed, new, strict=True)])
        new = [text if p is None else label(p[0]) for p, text in zip(parsed, new, strict=True)]
        # For a column that is not measured, including its gaps, only whether it has changed matters.
        values = original.values(name)[:, 0] if measured else before.numbers[codes]
        if not labelled.any():
            shown = np.array([np.nan if p is None else float(p[0]) for p in parsed])
        elif quasi:
            _no_mixture(name, [p is not None for p in parsed], new, new_codes)
            misplaced = paired and _misplaced(name, values, new, new_codes)
        else:
            raise SDCError(
                f"column {name!r} has different types: numeric in the original, text in the protected file (first in "
                f"row {int(np.argmax(labelled[new_codes])) + 1}); only quasi-identifiers may hold labels of intervals"
            )
    elif before.holds_numbers:
        new = [text if p is None else label(p[0]) for p, text in zip(_numbers(new), new, strict=True)]
    elif (
        parse_numbers(new) is not None
        and parse_numbers(old) is None
        and not (quasi and (not paired or _beginnings(codes, new_codes, old, new)))
    ):
        swapped = "; did you swap the two files?" if any(parse_interval(text) for text in old) else ""
        raise SDCError(
            f"column {name!r} has different types: text in the original, numbers in the protected file{swapped}"
        )
    index = {text: code for code, text in enumerate(old)}
    ids = np.array([index.setdefault(text, len(index)) for text in new], dtype=np.int32)
    if shown is not None:
        numbers = np.full(len(index), np.nan)
        numbers[ids] = shown
        tables = (before.numbers, numbers)
    same = len(ids) > 0 and np.array_equal(ids, np.arange(len(ids)))
    codes_of_ids = new_codes if same else ids[new_codes]  # the same codes need no second array
    column = PairedColumn(
        name, before.kind, Fate.GENERALISED, codes, codes_of_ids, tuple(index), len(old), tables,
        np.zeros(len(new_codes), dtype=np.bool_), misplaced,
    )  # fmt: skip
    column = replace(column, stars=_stars(column, quasi, paired))
    # Labels of local recoding overlap, so there may be more labels than values; but each hides several records.
    many = len(index) - len(old) > max(len(old), 2)
    once = int((np.bincount(column.protected, minlength=len(index))[len(old) :] == 1).sum())
    if quasi and not same_rows and before.kind is not Kind.NUMERIC and many and 2 * once > len(index) - len(old):
        raise SDCError(
            f"column {name!r} holds more different new labels than the original has values: they are no "
            "generalization; is this the protected copy of that file? (--same-rows says that it is)"
        )
    return column


def _beginnings(codes: NDArray[Any], new_codes: NDArray[Any], old: list[str], new: list[str]) -> bool:
    """Whether each label is a prefix of the values that were published under it, such as 2024 of 2024-12-31."""
    pairs = pair_counts(codes, new_codes)
    shown = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return all(old[a].startswith(new[b]) or new[b] in SUPPRESSED for a, b in shown)


def _numbers(texts: list[str]) -> list[NDArray[Any] | None]:
    """Each text as an array of one number; None for other text and for a suppressed cell."""
    shown = [text for text in texts if text not in SUPPRESSED]
    together = parse_numbers(shown)
    if together is None:
        return [None if text in SUPPRESSED else parse_numbers([text]) for text in texts]
    numbers = iter(together)
    return [None if text in SUPPRESSED else np.array([next(numbers)]) for text in texts]


def _settled(column: PairedColumn, kept: NDArray[np.bool_], quasi: bool) -> PairedColumn:
    """The column with its kind of change, as seen in the records that are not suppressed."""
    some = bool(column.stars[kept].any())
    if some and not quasi:
        _refuse_new_values(column, kept, column.stars)
    shown = kept & ~column.stars
    if some and not shown.any():
        return replace(column, fate=Fate.GENERALISED, tables=None)  # a single label for all
    first, second = column.original[shown], column.protected[shown]
    if column.numbers is not None:
        same = np.array_equal(column.numbers[0][shown], column.numbers[1][shown], equal_nan=True)
    elif np.array_equal(first, second):
        same = True
    elif (second < column.n_categories).all():
        same = False
    elif quasi:
        return column
    else:
        _refuse_new_values(column, kept, column.protected >= column.n_categories)
    return replace(column, fate=Fate.PERTURBED if not same else Fate.STARRED if some else Fate.UNCHANGED)


def _refuse_new_values(column: PairedColumn, kept: NDArray[np.bool_], new: NDArray[np.bool_]) -> NoReturn:
    row = int(np.argmax(new & kept)) + 1
    raise SDCError(
        f"column {column.name!r} holds values in the protected file that the original does not have (first in row "
        f"{row}); only quasi-identifiers may hold labels of groups or suppressed cells"
    )


def _no_mixture(name: str, numeric: list[bool], labels: list[str], codes: NDArray[Any]) -> None:
    """Refuse numbers mixed with words that are not intervals, which is a mistake and not a generalization."""
    words = [
        not number and text not in SUPPRESSED and parse_interval(text) is None
        for number, text in zip(numeric, labels, strict=True)
    ]
    if any(numeric) and any(words):
        row = int(np.argmax(np.array(words)[codes])) + 1
        raise SDCError(
            f"column {name!r} has different types: numeric in the original; the protected file mixes numbers with text "
            f"that is neither an interval nor '*' (first in row {row})"
        )


def _misplaced(name: str, values: NDArray[np.float64], labels: list[str], codes: NDArray[Any]) -> bool:
    """Whether original values lie outside the intervals published for them although the rows do correspond.

    The rows do not correspond if equal values have different labels, or if labels are not in the order of the values.
    """
    wrong = outside(values, labels, codes)
    if not wrong.any():
        return False
    intervals = [parse_interval(text) for text in labels]
    named = np.array([interval is not None for interval in intervals])[codes]
    pairs = pair_counts(np.unique(values[named], return_inverse=True)[1], codes[named])
    ends = np.array([np.nan if interval is None else interval.low for interval in intervals])[pairs.second]
    if len(np.unique(pairs.first)) < len(pairs.first) or (ends[1:] < ends[:-1]).any():
        raise SDCError(
            f"column {name!r}: in {int(wrong.sum()):,} rows (first in row {int(np.argmax(wrong)) + 1}) the "
            "original value lies outside the interval that the protected file gives; are the rows in another order, "
            "or is it another file?"
        )
    return True


def _stars(column: PairedColumn, quasi: bool, paired: bool) -> NDArray[np.bool_]:
    """Mask of the protected cells that are starred or missing, unless the original is so in the same places."""
    found = _marked(column)
    if not quasi:
        return found & (column.protected >= column.n_categories)
    for mark in np.flatnonzero(np.bincount(column.protected[found])):
        cells = column.protected == mark
        if not paired and cells.sum() <= (column.original == mark).sum():
            found &= ~cells
        elif paired and (column.original[cells] == mark).all():
            found &= ~cells  # the original's own mark of a missing value, if it is unchanged, is a value
    return found


def _marked(column: PairedColumn) -> NDArray[np.bool_]:
    """Mask of the protected cells with a mark of suppressed or missing cells."""
    marks = np.array([text in SUPPRESSED for text in column.labels], dtype=np.bool_)
    found: NDArray[np.bool_] = marks[column.protected]
    return found


def _refuse_swapped(column: PairedColumn) -> None:
    """Refuse swapped files: the first one is the coarser, so the protected copy was given as the original."""
    if _finer(column):
        raise SDCError(
            f"column {column.name!r} is coarser in the original than in the protected file: did you swap"
            " the two files? "
            "The original comes first"
        )


def _finer(column: PairedColumn) -> bool:
    """Whether the original could have been made from the protected column, but not the reverse."""
    if column.numbers is not None:
        return _means(*column.numbers)
    old, new = column.original, column.protected
    marks = np.array([text in SUPPRESSED for text in column.labels], dtype=np.bool_)
    starred, still = marks[old], marks[new]
    if any(text == TOP for text in np.array(column.labels)[np.unique(old)]) and not still.any():
        return True  # values where the original has stars; but a gap of the original may have been filled
    # A new label for gaps and one value, such as "Vic or ?", stands for both: it is no sign of finer ones.
    both = ~(starred | still | ((new >= column.n_categories) & np.isin(new, new[starred])))
    if not both.any():
        return False
    pairs = pair_counts(new[both], old[both])
    # A label of several values is coarser; more labels than values, each for a single value, are finer.
    return len(np.unique(pairs.first)) == len(pairs.first) > len(np.unique(pairs.second))


def _means(before: NDArray[np.float64], after: NDArray[np.float64]) -> bool:
    """Whether each number of the first column is the mean of those in the second at its rows, where they differ."""
    shown = ~np.isnan(after)
    _, group = np.unique(before[shown], return_inverse=True)
    if not len(group):
        return False
    after, before = after[shown], before[shown]
    size = np.bincount(group)
    mean = np.bincount(group, weights=after) / size
    least, most = np.full(len(size), np.inf), np.full(len(size), -np.inf)
    np.minimum.at(least, group, after)
    np.maximum.at(most, group, after)
    varied = least < most  # the mean of equal numbers may be another number
    if not varied.any():
        return False
    close = np.isclose(before, mean[group], rtol=1e-9, atol=0.0)
    return bool(close[varied[group]].all() and np.array_equal(before[~varied[group]], after[~varied[group]]))


def _same_order(columns: list[PairedColumn]) -> list[str]:
    """Refuse files whose unprotected columns hold the same rows in another order; say where this cannot be checked."""
    kept = []
    for column in columns:
        size = len(column.labels)
        counts = np.bincount(column.original, minlength=size)
        if (counts > 0).sum() > 1 and np.array_equal(counts, np.bincount(column.protected, minlength=size)):
            kept.append(column)
    if not kept or any(np.array_equal(column.original, column.protected) for column in kept):
        return []
    n = len(kept[0].original)
    rows, _ = row_labels(
        np.concatenate([np.stack([c.original for c in kept], axis=1), np.stack([c.protected for c in kept], axis=1)])
    )
    both, _ = dense(rows)
    if not np.array_equal(np.sort(both[:n]), np.sort(both[n:])):
        return []
    first = int(np.argmax(both[:n] != both[n:])) + 1
    raise SDCError(
        f"the rows seem to be in a different order: {_list([c.name for c in kept])} hold the same values, but not in "
        f"the same rows (first in row {first}). Name the file that says which record each row is (--rows), put the "
        "protected rows in the original's order, or give --same-rows (same_rows=True) if values were swapped on purpose"
    )
