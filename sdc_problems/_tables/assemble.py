"""Assembly of a table from single columns, with checks of names, roles, kinds, orders and missing values."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sharing.arrays import Array
from sdc_problems._tables.columns import MISSING, Column, Kind, Role, label, parse_numbers
from sdc_problems._tables.frames import column_from_series
from sdc_problems._tables.texts import read_dates
from sdc_problems.errors import SDCError, SDCWarning, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

#: Treatments of missing values: the same four in constructors, study files and commands.
ROWS = "rows"
"""Name of the array of the remaining records' positions, if some were dropped."""
POLICIES = ("error", "category", "star", "drop")

_LARGEST = 1e150

#: A frame's index: a range as [start, step, name], or its levels as columns.
Index = tuple[list[Any] | None, list[Column]]


def encode_meta(meta: Mapping[str, Any]) -> Array:
    """Facts about the arrays (names, kinds, roles), as an array of bytes (JSON)."""
    return np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)


def check_names(names: Sequence[str], kinds: Mapping[str, str], orders: Mapping[str, Sequence[object]]) -> None:
    """Refuse empty and repeated column names, and options for columns that do not exist."""
    if not names:
        raise SDCError("the table has no columns")
    seen: set[str] = set()
    for i, name in enumerate(names):
        if not name.strip():
            raise SDCError(f"column {i + 1} has no name (a file written with its index? write it with index=False)")
        if name in seen:
            raise SDCError(f"column name {name!r} occurs twice (again at column {i + 1}): rename one of them")
        seen.add(name)
    for option, wanted in (("kinds", kinds), ("orders", orders)):
        for name in wanted:
            _known(option, name, names)
    for name, kind in kinds.items():
        if kind not in list(Kind):
            raise SDCError(
                f"kinds[{name!r}] must be one of {', '.join(repr(k.value) for k in Kind)}, not {kind!r}"
                f"{did_you_mean(str(kind), [k.value for k in Kind])}"
            )
        if name in orders and kind != Kind.ORDINAL:
            raise SDCError(
                f"orders names column {name!r}, but kinds declares it {Kind(kind).value}: only ordinals have an order"
            )


def named_roles(
    names: Sequence[str], quasi_identifiers: Sequence[str], sensitive: Sequence[str], identifiers: Sequence[str]
) -> dict[str, Role]:
    """Role of each column."""
    roles = dict.fromkeys(names, Role.OTHER)
    for option, wanted, role in (
        ("quasi_identifiers", quasi_identifiers, Role.QUASI_IDENTIFIER),
        ("sensitive", sensitive, Role.SENSITIVE),
        ("identifiers", identifiers, Role.IDENTIFIER),
    ):
        for name in [wanted] if isinstance(wanted, str) else wanted:
            _known(option, name, names)
            if roles[name] is not Role.OTHER:
                raise SDCError(
                    f"column {name!r} is named twice, as {roles[name].value} and as {role.value}: choose one role"
                )
            roles[name] = role
    return roles


def _known(option: str, name: object, names: Sequence[str]) -> None:
    if name not in names:
        raise SDCError(f"{option} names a column {name!r} that is not there{did_you_mean(str(name), names)}")


def index_columns(index: pd.Index[Any]) -> Index:
    """The frame's index; plain numbers if its labels are missing or of types that cannot be kept."""
    import pandas as pd

    if isinstance(index, pd.RangeIndex):
        return [int(index.start), int(index.step), index.name if isinstance(index.name, str) else None], []
    columns = []
    for i in range(index.nlevels):
        level = index.get_level_values(i)
        try:
            column = column_from_series(pd.Series(level), level.name if isinstance(level.name, str) else "")
        except SDCError:
            return None, []
        if (column.codes < 0).any():
            return None, []
        columns.append(column)
    return None, columns


def assemble(
    columns: list[Column],
    roles: Mapping[str, Role],
    kinds: Mapping[str, str],
    orders: Mapping[str, Sequence[object]],
    missing: str,
    *,
    index: Index = (None, []),
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays to share, and the facts that they do not hold; the list of columns is used up."""
    if missing not in POLICIES:
        raise SDCError(f"missing must be one of {', '.join(map(repr, POLICIES))}, not {missing!r}")
    n = len(columns[0].codes)
    _refuse_few(n, "")
    for i, column in enumerate(columns):  # in place: a large table is never held in memory twice
        columns[i] = _typed(column, kinds, orders.get(column.name))
    plain, levels = index
    kept: NDArray[np.intp] | None = None
    # If roles are named, only columns with a role matter: a gap in another one does not drop a record.
    named = [column for column in columns if roles[column.name] is not Role.OTHER]
    if missing in ("error", "drop"):
        kept = _complete(named if named and missing == "drop" else columns, missing)
    n_dropped = 0
    if kept is not None:
        n_dropped = n - len(kept)
        if plain is not None:
            start, step, name = plain
            plain, levels = None, [_numbers(start + step * np.arange(n), name or "")]
        for i, column in enumerate(columns):
            columns[i] = column.at(kept)
        levels = [level.at(kept) for level in levels]
    arrays: dict[str, Array] = {} if kept is None else {ROWS: kept.astype(np.int64)}
    specs = []
    for i, column in enumerate(columns):
        kind, role = Kind(column.declared), roles[column.name]
        absent = bool((column.codes < 0).any())
        if absent:
            without = bool(named) and role in (Role.OTHER, Role.IDENTIFIER)
            if kind is Kind.NUMERIC and not without and column.name not in kinds:
                warnings.warn(_ordinal_for_gaps(column), SDCWarning, stacklevel=4)
                kind = Kind.ORDINAL
            column = _missing_category(column, kind, numbers_too=without)
        if role is Role.QUASI_IDENTIFIER:
            refuse_constant(column)
        arrays |= column.arrays(f"column{i}")
        specs.append({**column.spec(), "kind": kind.value, "role": role.value, "missing": absent})
    for i, level in enumerate(levels):
        arrays |= level.arrays(f"index{i}")
    meta = {
        "n_records": n - n_dropped,
        "n_dropped": n_dropped,
        "star": missing == "star",
        "columns": specs,
        "index": [level.spec() for level in levels],
        "range": plain,
    }
    return arrays, meta


def refuse_constant(column: Column) -> None:
    """Refuse a constant quasi-identifier: it must tell records apart."""
    if len(column.codes) and column.codes.min() == column.codes.max():
        raise SDCError(
            f"quasi-identifier {column.name!r} has the same value from row 1 to row {len(column.codes)}: it tells no "
            "records apart; remove it from quasi_identifiers"
        )


def _refuse_few(n: int, why: str) -> None:
    if n < 2:
        count = "no records" if n == 0 else "only 1 record"
        raise SDCError(
            f"the table has {count}{why}: protection needs at least 2, because it hides records among others"
        )


def _numbers(numbers: Array, name: str) -> Column:
    return Column(name, "int", np.arange(len(numbers), dtype=np.int32), numbers.astype(np.int64), fixed_order=True)


def _typed(column: Column, kinds: Mapping[str, str], order: Sequence[object] | None) -> Column:
    """The column with its final kind, and its categories in code order."""
    default = {"int": Kind.NUMERIC, "float": Kind.NUMERIC, "bool": Kind.NOMINAL, "text": Kind.NOMINAL}
    if column.name in kinds:
        kind = Kind(kinds[column.name])
    elif order is not None:
        kind = Kind.ORDINAL
    elif column.declared:
        kind = Kind(column.declared)
    else:
        kind = default.get(column.storage, Kind.ORDINAL)
        kind = Kind.ORDINAL if kind is Kind.NOMINAL and _in_time(column) is not None else kind
    if kind is Kind.ORDINAL and order is None and not column.fixed_order:
        order = _in_time(column)
    if column.storage == "float":
        infinite = np.isinf(column.values)
        if infinite.any():
            raise SDCError(
                f"column {column.name!r}, row {column.first_row(infinite)}: the value is infinite "
                f"({int(column.counts()[infinite].sum())} such rows); correct it or make it missing"
            )
    if kind is not Kind.ORDINAL:
        restore = "category" if column.restore == "ordered" else column.restore
        column = replace(column, fixed_order=False, restore=restore)
        column = (column.as_numbers() if kind is Kind.NUMERIC else column).canonical()
    if kind is Kind.NUMERIC and column.storage == "float":
        _refuse_huge(column)
    if order is not None:
        column = _ordered(column, order)
    return replace(column, declared=kind.value)


def _in_time(column: Column) -> list[str] | None:
    """Texts of a column of dates, such as 31.12.2024 and 2024-12-31, in order of time; None for any other column."""
    if not isinstance(column.values, list) or len(column.values) < 2 or not column.values[0][:1].isdigit():
        return None
    dates = read_dates(column.values)
    if dates is None or not dates.certain:
        return None
    return [text for _, text in sorted(zip(dates.days, column.values, strict=True))]


def _refuse_huge(column: Column) -> None:
    """Refuse a number whose square is not finite: it would spoil every mean, distance and risk of its column."""
    huge = np.abs(column.values.astype(np.float64)) > _LARGEST  # type: ignore[union-attr]
    if huge.any():
        raise SDCError(
            f"column {column.name!r}, row {column.first_row(huge)}: the number is beyond {_LARGEST:g}, so that its"
            f" square is none ({int(column.counts()[huge].sum())} such rows); correct it, list it in na_values if it"
            f" means missing, or declare kinds={{{column.name!r}: 'nominal'}}"
        )


def _ordered(column: Column, order: Sequence[object]) -> Column:
    """Codes in the order given, which must have every value of the data and may have more."""
    name = column.name
    if isinstance(order, str):
        raise SDCError(f"orders[{name!r}] must be a list of categories, not a text")
    labels = [label(category).strip() for category in order]
    position = {text: i for i, text in enumerate(labels)}
    if len(position) < len(labels):
        twice = next(text for i, text in enumerate(labels) if position[text] != i)
        raise SDCError(f"orders[{name!r}] names the category {twice!r} twice")
    have = column.labels()
    strange = np.array([text not in position for text in have], dtype=bool) & (column.counts() > 0)
    if strange.any():
        raise SDCError(
            f"column {name!r}, row {column.first_row(strange)}: the value is not in orders[{name!r}] "
            f"({int(strange.sum())} such categories); add it, or list it in na_values if it means missing"
        )
    seen = set(have)
    unseen = [text for text in labels if text not in seen]
    mapping = np.array([position.get(text, -1) for text in have], dtype=np.int32)
    if isinstance(column.values, list):
        return replace(column.recoded(mapping, labels), fixed_order=True)
    values = np.empty(len(labels), dtype=column.values.dtype)
    values[mapping[mapping >= 0]] = column.values[mapping >= 0]
    if unseen:
        extra = parse_numbers(unseen, codes_too=True) if column.storage in ("int", "float") else None
        if extra is None or (column.storage == "int" and extra.dtype.kind != "i"):
            raise SDCError(
                f"orders[{name!r}] has categories that are not of the column's type, the first is {unseen[0]!r}: "
                "leave them out or convert the column to text"
            )
        values[[position[text] for text in unseen]] = extra
    return replace(column.recoded(mapping, values), fixed_order=True)


def _complete(columns: list[Column], missing: str) -> NDArray[np.intp] | None:
    """Rows without a missing value, or None if these are all rows."""
    complete = np.ones(len(columns[0].codes), dtype=bool)
    for column in columns:
        absent = column.codes < 0
        if not absent.any():
            continue
        if missing == "error":
            raise _missing_error(column)
        if absent.all():
            raise SDCError(f"column {column.name!r} is missing in every row from row 1 on: remove the column")
        complete &= ~absent
    if complete.all():
        return None
    kept = np.flatnonzero(complete)
    _refuse_few(len(kept), f" left when those with missing values are dropped (of {len(complete)})")
    return kept


def _missing_place(column: Column) -> str:
    absent = column.codes < 0
    return (
        f"column {column.name!r} has missing values in {int(absent.sum())} of {len(absent)} rows, "
        f"first in row {int(np.argmax(absent)) + 1}"
    )


def _missing_error(column: Column) -> SDCError:
    others = "missing='drop' leaves such records out"
    if column.declared != Kind.NUMERIC:
        others += ", missing='category' makes them a category, and na_values= says which text means missing"
    return SDCError(f"{_missing_place(column)}: {others}")


def _ordinal_for_gaps(column: Column) -> str:
    return (
        f"{_missing_place(column)}, and numbers have no category for them: it counts as ordinal, its numbers in their"
        " order and missing behind the last; missing='drop' leaves such records out instead"
    )


def _missing_category(column: Column, kind: Kind, *, numbers_too: bool) -> Column:
    """Missing cells as the last category; for numbers only in a column without a role."""
    absent = column.codes < 0
    if kind is Kind.NUMERIC and not numbers_too:
        raise SDCError(
            f"{_missing_place(column)}, and numbers have no category for them: use missing='drop', or declare "
            "the column ordinal"
        )
    if MISSING in column.labels():
        raise SDCError(
            f"{_missing_place(column)}, and also a category {MISSING!r}, which is the name of missing values: "
            f"add {MISSING!r} to na_values"
        )
    return replace(column, codes=np.where(absent, np.int32(len(column.values)), column.codes))
