"""Conversion of pandas columns of all plain types to columns of codes, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._sharing.arrays import Array
from sdc_problems._tables.columns import Column, typed_values
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd


def pandas_frame(table: Any) -> pd.DataFrame:
    """Convert a table to a pandas DataFrame: pandas, polars, Arrow (and anything that exports it), a dict of columns.

    Integers stay integers even if some are missing.
    """
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    if isinstance(table, Mapping):
        try:
            return pd.DataFrame({name: pd.Series(_column(name, cells)) for name, cells in table.items()})
        except ValueError as error:
            raise SDCError(f"the columns of the dict do not make a table: {error}") from error
    if hasattr(table, "__arrow_c_stream__"):
        try:
            import pyarrow
        except ImportError:
            raise SDCError(
                f"reading a {type(table).__name__} needs pyarrow: pip install 'sdc-problems[parquet]'; or give the"
                " columns as a dict"
            ) from None

        def whole(kind: Any) -> Any:
            """Types for which numpy has no missing value; all others are pandas' choice."""
            types = pyarrow.types
            return pd.ArrowDtype(kind) if types.is_integer(kind) or types.is_boolean(kind) else None

        try:
            frame: pd.DataFrame = pyarrow.table(table).to_pandas(types_mapper=whole)
        except (TypeError, ValueError) as error:  # for instance a single column
            raise SDCError(f"a {type(table).__name__} is not a table with named columns: {error}") from None
        return frame
    lazy = "; collect() it first" if hasattr(table, "collect") else ""
    raise SDCError(
        "from_frame takes a DataFrame of pandas or polars, an Arrow table or a dict of columns, not"
        f" {type(table).__name__}{lazy}"
    )


def is_frame(table: Any) -> bool:
    """Whether `pandas_frame` accepts it; pandas is not imported for the check."""
    return isinstance(table, Mapping) or hasattr(table, "__arrow_c_stream__") or hasattr(table, "iloc")


def _column(name: object, cells: Any) -> Any:
    if isinstance(cells, str) or not hasattr(cells, "__len__"):
        raise SDCError(f"column {name!r} of the dict is a {type(cells).__name__}, not a sequence of cells")
    return cells


_STORAGE_OF_KIND = {"i": "int", "u": "int", "f": "float", "b": "bool", "M": "datetime", "m": "timedelta"}
_STORAGE_OF_CELLS = {
    "string": "text", "empty": "text", "integer": "int", "floating": "float", "mixed-integer-float": "float",
    "decimal": "float", "boolean": "bool", "date": "date", "datetime": "datetime", "datetime64": "datetime",
    "timedelta": "timedelta", "timedelta64": "timedelta",
}  # fmt: skip


def column_from_series(series: pd.Series[Any], name: str) -> Column:
    """Factorize a pandas column, which is only read."""
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = pd.Series(np.asarray(series))
    if isinstance(series.dtype, pd.ArrowDtype) and str(series.dtype).startswith("dictionary"):
        series = series.astype("category")
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _categorical(series, name)
    missing = series.isna().to_numpy(dtype=bool)
    present = series[~missing] if missing.any() else series
    storage, restore = _storage(present, name, missing)
    codes = np.full(len(series), -1, dtype=np.int32)
    found, distinct = present.array.factorize()
    codes[~missing] = found
    return _with_values(Column(name, storage, codes, [], restore=restore), distinct).canonical()


def _categorical(series: pd.Series[Any], name: str) -> Column:
    """A pandas categorical: in its own order if it is ordered (including unobserved categories), else sorted."""
    import pandas as pd

    values = column_from_series(pd.Series(series.cat.categories), name)
    value_of = np.append(values.codes, np.int32(-1))  # category position -> code of its (sorted) value
    column = replace(values, codes=value_of[series.cat.codes.to_numpy()])
    if not series.cat.ordered:
        return replace(column.canonical(), declared="nominal", restore="category")
    order = values.codes
    in_order = [column.values[i] for i in order] if isinstance(column.values, list) else column.values[order]
    return replace(column.recoded(np.argsort(order), in_order), declared="ordinal", restore="ordered", fixed_order=True)


def _storage(present: pd.Series[Any], name: str, missing: NDArray[np.bool_]) -> tuple[str, str]:
    """Storage class and dtype to restore, or an error that names the column and the first bad row."""
    import pandas as pd

    dtype = present.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in _STORAGE_OF_KIND:
        keeps = isinstance(dtype, np.dtype) and kind in "iuf"
        return _STORAGE_OF_KIND[kind], str(dtype) if keeps else ""
    if isinstance(dtype, pd.StringDtype):
        return "text", ""
    found = pd.api.types.infer_dtype(present, skipna=True)
    cells = list(present) if found == "date" or found not in _STORAGE_OF_CELLS else []
    # pandas also infers dates if some have a time of day, which would be lost.
    if found in _STORAGE_OF_CELLS and len(set(map(type, cells))) < 2:
        return _STORAGE_OF_CELLS[found], "object" if found == "string" and str(dtype) == "object" else ""
    rows = np.flatnonzero(~missing) + 1
    first = type(cells[0])
    odd = next((i for i, cell in enumerate(cells) if type(cell) is not first), None)
    if odd is None:
        raise SDCError(
            f"column {name!r} holds cells of type {first.__name__} (first in row {rows[0]}): only numbers, text, "
            "booleans and dates can be used; convert it, for instance with astype(str)"
        )
    raise SDCError(
        f"column {name!r} mixes types: row {rows[odd]} is {type(cells[odd]).__name__}, the rows before are "
        f"{first.__name__}; convert the column to one type"
    )


def _with_values(column: Column, distinct: Any) -> Column:
    """Put pandas' distinct values into the column's storage."""
    import pandas as pd

    storage = column.storage
    if storage == "text":
        return replace(column, values=[str(text) for text in distinct])
    if storage == "bool":
        return replace(column, values=np.array([bool(truth) for truth in distinct], dtype=np.bool_))
    if storage == "date":
        return replace(column, values=np.array(list(distinct), dtype="datetime64[D]").astype(np.int64))
    if storage == "int":
        return _merged(column, _integers(column, distinct))
    if storage == "float":
        return _merged(column, np.asarray(distinct, dtype=np.float64) + 0.0)  # makes -0.0 and 0.0 equal
    if storage == "timedelta":
        spans = pd.TimedeltaIndex(distinct)
        return replace(column, values=spans.asi8.copy(), unit=spans.unit)
    try:
        moments = pd.DatetimeIndex(distinct)
    except (ValueError, TypeError) as error:
        raise SDCError(
            f"column {column.name!r} mixes dates with and without time zones: use pandas.to_datetime(utc=True)"
        ) from error
    zone = "" if moments.tz is None else str(moments.tz)
    return replace(column, values=moments.asi8.copy(), unit=moments.unit, zone=zone)


def _integers(column: Column, distinct: Any) -> NDArray[np.int64]:
    try:
        # Python integers: neither unsigned nor arbitrary ones wrap around.
        return np.array([int(number) for number in distinct.tolist()], dtype=np.int64)
    except OverflowError:
        big = np.array([not -(2**63) <= int(number) < 2**63 for number in distinct.tolist()], dtype=bool)
        row = replace(column, values=np.zeros(len(big))).first_row(big)
    raise SDCError(
        f"column {column.name!r}, row {row}: the integer needs more than 64 bits; if it is a code, convert the column "
        "to text with astype(str)"
    )


def _merged(column: Column, numbers: Array) -> Column:
    """Merge values that differ as objects but are the same number (1 and 1.0)."""
    distinct, inverse = np.unique(numbers, return_inverse=True)
    return column.recoded(inverse.astype(np.int32), distinct)


def column_to_series(column: Column, missing_code: int | None) -> pd.Series[Any]:
    """The cells as a pandas Series; the missing category becomes missing cells again."""
    import pandas as pd

    codes: Array = column.codes
    absent = None if missing_code is None else codes == missing_code
    if column.restore in ("category", "ordered"):
        every = np.arange(len(column.values), dtype=np.int32)
        categories = pd.Index(column_to_series(replace(column, restore="", codes=every), None))
        codes = codes if absent is None else np.where(absent, -1, codes)
        return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=column.restore == "ordered"))
    values = typed_values(column)
    if absent is not None:
        stand_in = np.array([None], dtype=object) if column.storage == "text" else values[:1]
        values = np.concatenate([values, stand_in])
    cells = values[codes]
    if column.storage == "date":
        cells = cells.astype(object)
    elif column.restore:
        cells = cells.astype(column.restore)
    series: Any = pd.Series(cells, dtype=object) if column.restore == "object" else pd.Series(cells)
    if column.zone:
        series = series.dt.tz_localize("UTC").dt.tz_convert(column.zone)
    if absent is not None and column.storage != "text":
        nullable = {"int": "Int64", "bool": "boolean"}.get(column.storage)
        series = (series.astype(nullable) if nullable else series).mask(absent)
    return series  # type: ignore[no-any-return]
