"""Microdata: the table type of the package, with typed columns, roles and integer codes, validated once."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._sharing.arrays import Array, OpenedLate, SharedArrays, digest_of
from sdc_problems._tables.assemble import (
    ROWS,
    assemble,
    check_names,
    encode_meta,
    index_columns,
    named_roles,
    refuse_constant,
)
from sdc_problems._tables.columns import (
    MISSING,
    NA_VALUES,
    Column,
    Kind,
    Role,
    column_from_arrays,
    refuse_disguised_numbers,
    typed_values,
)
from sdc_problems._tables.formats import format_of, read_columns, read_frame
from sdc_problems._tables.frames import column_from_series, column_to_series, pandas_frame
from sdc_problems._tables.read_csv import CSVFile
from sdc_problems._tables.spelling import Spelling
from sdc_problems.errors import SDCError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Attribute", "Kind", "Microdata", "Role"]

_META = "meta"
_CSV_ONLY = {"delimiter": ",", "encoding": "utf-8", "decimal": ".", "thousands": None, "chunksize": None}


@dataclass(frozen=True)
class Attribute:
    """One column: its name, kind and role, and the categories that its codes stand for."""

    name: str
    kind: Kind
    role: Role
    _data: SharedArrays = field(repr=False, compare=False)
    _prefix: str = field(repr=False, compare=False)
    _spec: dict[str, Any] = field(repr=False, compare=False)

    def _column(self) -> Column:
        return column_from_arrays(self._data, self._prefix, self._spec)

    @property
    def categories(self) -> Array:
        """The values in code order: numbers, booleans or datetimes in their own type, text as Python strings.

        Sorted, unless an order was given. The category of missing values comes last and is called "?".
        """
        values = typed_values(self._column())
        if self.has_missing:
            values = np.append(values.astype(object), np.array([MISSING], dtype=object))
        values.flags.writeable = False
        return values

    @property
    def labels(self) -> list[str]:
        """The categories as text, as hierarchies name them: 39 and 39.0 are "39"."""
        return self._column().labels() + [MISSING] * self.has_missing

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        name = "offsets" if self._spec["storage"] == "text" else "values"
        n = len(self._data[f"{self._prefix}/{name}"])
        return n - (name == "offsets") + self.has_missing

    @property
    def has_missing(self) -> bool:
        """Whether the last category holds the missing values (``missing="category"`` or ``"star"``)."""
        return bool(self._spec["missing"])

    @property
    def holds_numbers(self) -> bool:
        """Whether the categories (except one for missing values) are numbers, whatever the kind."""
        return self._spec["storage"] in ("int", "float")

    @property
    def holds_text(self) -> bool:
        """Whether the categories are text and the cells of the frame were not categorical."""
        return self._spec["storage"] == "text" and self._spec["restore"] not in ("category", "ordered")

    @property
    def spelling(self) -> Spelling | None:
        """Spelling of the numbers in a CSV file; None where a release writes them so anyway."""
        return self._column().spelling

    @property
    def codes(self) -> NDArray[np.int32]:
        """Codes of the cells, one per record: the table's own read-only array."""
        return self._column().codes

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The categories of a numeric attribute as numbers; NaN for missing values."""
        if self.kind is not Kind.NUMERIC:
            raise SDCError(f"column {self.name!r} is {self.kind.value}: only numeric columns are numbers")
        return np.append(self._column().floats(), [np.nan] * self.has_missing)

    def cells(self, codes: NDArray[np.integer]) -> pd.Series[Any]:
        """Return the cells that the codes stand for, in the type that the column has in a frame."""
        column = replace(self._column(), codes=np.asarray(codes, dtype=np.int32))
        return column_to_series(column, self.n_categories - 1 if self.has_missing else None)


class Microdata(OpenedLate):
    """A table of records about persons, households or firms, ready for every evaluator.

    Made by `from_csv` or `from_frame`. Immutable: each column is kept as integer codes for its distinct values,
    in arrays that all processes share (`arrays`), so that a pickle is small whatever the number of records.

    Kinds are inferred if they are not given. Numbers are numeric. Dates, times and ordered pandas categoricals are
    ordinal (dates in order of time; if declared numeric, they count in days since 1970-01-01). Everything else, also
    booleans, is nominal. In a CSV file, digits with leading zeros ("007") or more than 18 digits are codes and stay
    text. A text column is ordinal, in order of time, if all its cells are dates and day and month can be told apart.

    Row numbers in error messages count records from 1, without the header.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [34, 51, 34], "town": ["Olot", "Reus", "Reus"], "flu": ["no", "yes", "no"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive=["flu"])
    >>> data
    Microdata(3 records, 3 attributes: 2 quasi-identifier, 1 sensitive)
    >>> data.codes()
    array([[0, 0],
           [1, 1],
           [0, 1]], dtype=int32)
    >>> data.attribute("age").kind
    <Kind.NUMERIC: 'numeric'>
    >>> data.frame().equals(frame)
    True
    """

    __slots__ = ("__weakref__", "_arrays", "_attributes", "_digest", "_meta")
    _late = ("_meta", "_attributes")

    def __init__(self, arrays: SharedArrays) -> None:
        """Open the arrays of another Microdata (its attribute `arrays`)."""
        self._arrays = arrays
        self._digest: str | None = None
        if arrays.at_hand:
            self._open()

    def _open(self) -> None:
        arrays = self._arrays
        if _META not in arrays:
            raise SDCError("these shared arrays hold no microdata: make one with Microdata.from_csv or from_frame")
        self._meta: dict[str, Any] = json.loads(arrays[_META].tobytes())
        self._attributes = {
            spec["name"]: Attribute(spec["name"], Kind(spec["kind"]), Role(spec["role"]), arrays, f"column{i}", spec)
            for i, spec in enumerate(self._meta["columns"])
        }

    # ------------------------------------------------------------------ constructors

    @classmethod
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        missing: str = "error",
        na_values: Sequence[str] = NA_VALUES,
        delimiter: str = ",",
        encoding: str = "utf-8",
        decimal: str = ".",
        thousands: str | None = None,
        chunksize: int | None = None,
    ) -> Microdata:
        """Read a CSV file with a header line.

        Parameters
        ----------
        path
            The file.
        quasi_identifiers, sensitive, identifiers
            Names of the columns with these roles; all others are "other".
        kinds
            Column to "numeric", "ordinal" or "nominal"; inferred for columns that are not named.
        orders
            Column to its categories from first to last; makes the column ordinal.
        missing
            What to do about missing values: "error" reports the first one; "drop" leaves out every record that
            has one in a column with a role, or in any column if none has a role (`n_dropped` says how many);
            "category" makes them the last category, "?", of ordinal and nominal columns; "star" does so too, and
            a verdict treats such a cell as compatible with every value. A numeric column has no such category: if it
            has a role and missing values, it becomes ordinal, with an SDCWarning (SDCError if it is declared numeric).
        na_values
            Text that stands for a missing value; ``()`` for none. Blanks around a cell are ignored.
        delimiter, encoding, decimal, thousands
            How the file is written.
        chunksize
            Number of records to read at a time. The result is the same for any value; memory holds one chunk of text,
            four bytes per cell and the distinct values.
        """
        file = CSVFile(
            path,
            delimiter=delimiter,
            encoding=encoding,
            na_values=na_values,
            decimal=decimal,
            thousands=thousands,
            chunksize=chunksize,
        )
        names = file.header()
        kinds, orders = kinds or {}, orders or {}
        check_names(names, kinds, orders)
        roles = named_roles(names, quasi_identifiers, sensitive, identifiers)
        columns = file.columns(
            kinds={*kinds, *orders}, numeric=[name for name, kind in kinds.items() if kind == Kind.NUMERIC]
        )
        return cls._assembled(assemble(columns, roles, kinds, orders, missing))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Microdata:
        """Read a table; the ending of its name says the format: CSV, Parquet, XLSX (first sheet), SPSS, Stata or SAS.

        Options as in `from_csv`; those that say how a CSV file is written are refused for other formats. Numbers of
        SPSS and Stata whose values have labels are categories, unless ``kinds`` says otherwise.

        Parameters
        ----------
        path
            The file.
        **options
            Options of `from_csv`.
        """
        how = format_of(path)
        if how is None:
            return cls.from_csv(path, **options)
        for name, usual in _CSV_ONLY.items():
            if options.pop(name, usual) not in (usual, None):
                raise SDCError(f"{name}= says how a CSV file is written; {os.fspath(path)!r} is {how}")
        if how == "Parquet":
            return cls._of_columns(*read_columns(path), **options)
        frame, labels = read_frame(path)
        orders = options.get("orders") or {}
        of_labels = {name: kind for name, kind in labels.kinds().items() if name not in orders}
        return cls.from_frame(frame, **{**options, "kinds": {**of_labels, **(options.get("kinds") or {})}})

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        missing: str = "error",
        na_values: Sequence[str] = NA_VALUES,
    ) -> Microdata:
        """Take a pandas (numpy, nullable or Arrow types) or polars DataFrame, an Arrow table, or a dict of columns.

        The input is not modified. Options as in `from_csv`. Besides the missing values of the input's own kind, text in
        `na_values` counts as missing.
        """
        frame = pandas_frame(frame)
        for i, name in enumerate(frame.columns):
            if not isinstance(name, str):
                raise SDCError(
                    f"column {i + 1} is named by {type(name).__name__}, not by text: use frame.rename(columns=str)"
                )
        columns = (frame.iloc[:, i] for i in range(frame.shape[1]))
        return cls._of_columns(
            list(frame.columns), columns, index=frame.index, quasi_identifiers=quasi_identifiers, sensitive=sensitive,
            identifiers=identifiers, kinds=kinds, orders=orders, missing=missing, na_values=na_values,
        )  # fmt: skip

    @classmethod
    def _of_columns(
        cls,
        names: list[str],
        cells: Iterable[pd.Series[Any]],
        *,
        quasi_identifiers: Sequence[str] = (),
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        missing: str = "error",
        na_values: Sequence[str] = NA_VALUES,
        index: pd.Index[Any] | None = None,
    ) -> Microdata:
        kinds, orders = kinds or {}, orders or {}
        check_names(names, kinds, orders)
        roles = named_roles(names, quasi_identifiers, sensitive, identifiers)
        columns: list[Column] = []
        for name, series in zip(names, cells, strict=True):
            column = column_from_series(series, name).stripped().without_markers(na_values)
            if name not in kinds and name not in orders and not column.declared:
                refuse_disguised_numbers(column, from_text=False)
            columns.append(column)
        if index is None:
            import pandas as pd

            index = pd.RangeIndex(len(columns[0].codes))
        return cls._assembled(assemble(columns, roles, kinds, orders, missing, index=index_columns(index)))

    @classmethod
    def _assembled(cls, parts: tuple[dict[str, Array], dict[str, Any]]) -> Microdata:
        arrays, meta = parts
        return cls(SharedArrays({_META: encode_meta(meta), **arrays}, copy=False))

    def with_roles(
        self, *, quasi_identifiers: Sequence[str] = (), sensitive: Sequence[str] = (), identifiers: Sequence[str] = ()
    ) -> Microdata:
        """The same records with other roles; columns that are not named become "other"."""
        roles = named_roles(self.names, quasi_identifiers, sensitive, identifiers)
        for name, role in roles.items():
            if role is Role.QUASI_IDENTIFIER:
                refuse_constant(self._attributes[name]._column())
                _refuse_gaps(self._attributes[name])
        meta = {
            **self._meta,
            "columns": [{**spec, "role": roles[spec["name"]].value} for spec in self._meta["columns"]],
        }
        return Microdata(SharedArrays({**self._arrays, _META: encode_meta(meta)}, copy=False))

    def take(self, records: ArrayLike) -> Microdata:
        """Select records, in the order given; categories and roles remain those of the whole table.

        Parameters
        ----------
        records
            Their numbers, from 0; the index of the result is new.

        Examples
        --------
        >>> import pandas as pd
        >>> data = Microdata.from_frame(pd.DataFrame({"town": ["Olot", "Reus", "Vic"]}), quasi_identifiers=["town"])
        >>> part = data.take([2, 0])
        >>> part.frame()["town"].tolist(), part.attribute("town").n_categories
        (['Vic', 'Olot'], 3)
        """
        rows = np.asarray(records)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows):
            raise SDCError("take needs the numbers of one or more records")
        if rows.min() < 0 or rows.max() >= self.n_records:
            raise SDCError(f"take needs numbers of records from 0 to {self.n_records - 1}")
        arrays = {
            name: array[rows] if name.endswith(("/codes", "/forms")) else array
            for name, array in self._arrays.items()
            if name.startswith("column")
        }
        meta = {**self._meta, "n_records": len(rows), "n_dropped": 0, "index": [], "range": None}
        return Microdata(SharedArrays({**arrays, _META: encode_meta(meta)}, copy=False))

    # ------------------------------------------------------------------ properties

    @property
    def arrays(self) -> SharedArrays:
        """The arrays behind this table, shared by all processes."""
        return self._arrays

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self._meta["n_records"])

    @property
    def n_dropped(self) -> int:
        """Number of records left out because of missing values (``missing="drop"``)."""
        return int(self._meta["n_dropped"])

    @property
    def rows(self) -> NDArray[np.int64]:
        """Position of each record in the file or frame it was read from, counted from 0; dropped records leave gaps.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"age": [34, None, 51], "flu": ["no", "no", "yes"]})
        >>> Microdata.from_frame(frame, quasi_identifiers=["age"], missing="drop").rows
        array([0, 2])
        """
        if ROWS in self._arrays:
            return np.array(self._arrays[ROWS], dtype=np.int64)
        return np.arange(self.n_records, dtype=np.int64)

    @property
    def missing_as_star(self) -> bool:
        """Whether a missing value is compatible with every value (``missing="star"``)."""
        return bool(self._meta.get("star", False))

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in their original order."""
        return tuple(self._attributes)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All attributes in column order."""
        return tuple(self._attributes.values())

    def attribute(self, name: str) -> Attribute:
        """The attribute with that name."""
        try:
            return self._attributes[name]
        except KeyError:
            raise SDCError(f"there is no column {name!r}{did_you_mean(str(name), self.names)}") from None

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers in column order."""
        return self._with_role(Role.QUASI_IDENTIFIER)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Names of the sensitive attributes in column order."""
        return self._with_role(Role.SENSITIVE)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """Names of the direct identifiers in column order."""
        return self._with_role(Role.IDENTIFIER)

    def _with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name, attribute in self._attributes.items() if attribute.role is role)

    @property
    def digest(self) -> str:
        """SHA-256 (hexadecimal) of names, kinds, roles and cells, but not of the index or of pandas' types."""
        if self._digest is None:
            said: list[Any] = [
                [s["name"], s["kind"], s["role"], s["storage"], s["missing"]] for s in self._meta["columns"]
            ]
            said += ["star"] if self.missing_as_star else []
            # How its numbers were written is no part of a table.
            cells = {
                n: array for n, array in self._arrays.items() if n.startswith("column") and not n.endswith("/forms")
            }
            self._digest = hashlib.sha256(json.dumps([said, digest_of(cells)]).encode()).hexdigest()
        return self._digest

    # ------------------------------------------------------------------ arrays

    def categories(self, name: str) -> Array:
        """The values of an attribute in code order (see `Attribute.categories`)."""
        return self.attribute(name).categories

    def codes(self, names: str | Sequence[str] | None = None) -> NDArray[np.int32]:
        """Category codes, one row per record and one column per attribute, as a copy that may be changed.

        Parameters
        ----------
        names
            One name or several; by default the quasi-identifiers.
        """
        wanted = self._resolve(names)
        codes = np.empty((self.n_records, len(wanted)), dtype=np.int32)
        for j, attribute in enumerate(wanted):
            codes[:, j] = self._arrays[f"{attribute._prefix}/codes"]
        return codes

    def values(self, names: str | Sequence[str] | None = None) -> NDArray[np.float64]:
        """Numbers, one row per record: numeric attributes as they are, ordinal attributes as their codes.

        Parameters
        ----------
        names
            One name or several; by default the quasi-identifiers.
        """
        wanted = self._resolve(names)
        for attribute in wanted:
            if attribute.kind is Kind.NOMINAL:
                raise SDCError(
                    f"column {attribute.name!r} is nominal and has no numbers: choose numeric or ordinal columns, or "
                    f"declare kinds={{{attribute.name!r}: 'ordinal'}} with its orders"
                )
            _refuse_gaps(attribute)
        values = np.empty((self.n_records, len(wanted)), dtype=np.float64)
        for j, attribute in enumerate(wanted):
            codes = self._arrays[f"{attribute._prefix}/codes"]
            values[:, j] = attribute._column().floats()[codes] if attribute.kind is Kind.NUMERIC else codes
        return values

    def z_scores(self, names: str | Sequence[str] | None = None) -> NDArray[np.float64]:
        """`values` with mean 0 and population standard deviation 1; a constant column is 0."""
        values = self.values(names)
        constant = values.max(axis=0) == values.min(axis=0)
        values -= values.mean(axis=0)
        spread = values.std(axis=0)
        values /= np.where(constant | (spread == 0), 1.0, spread)
        values[:, constant] = 0.0
        return values

    def _resolve(self, names: str | Sequence[str] | None) -> list[Attribute]:
        if names is None:
            if not self.quasi_identifiers:
                raise SDCError(
                    "no quasi-identifiers were declared: name the columns wanted, or give quasi_identifiers="
                )
            names = self.quasi_identifiers
        return [self.attribute(name) for name in ([names] if isinstance(names, str) else names)]

    def frame(self) -> pd.DataFrame:
        """A new DataFrame with the original cells, column order and index.

        Nullable and Arrow columns come back with numpy types, unsigned and small types unchanged; text that
        stood for a missing value comes back as a missing value.
        """
        import pandas as pd

        columns = {}
        for name, attribute in self._attributes.items():
            missing = attribute.n_categories - 1 if attribute.has_missing else None
            columns[name] = column_to_series(attribute._column(), missing)
        frame = pd.DataFrame(columns, copy=False)
        levels = []
        for i, spec in enumerate(self._meta["index"]):
            level = column_to_series(column_from_arrays(self._arrays, f"index{i}", spec), None)
            levels.append(pd.Index(level, name=spec["name"] or None))
        if len(levels) > 1:
            frame.index = pd.MultiIndex.from_arrays(levels)
        elif levels:
            frame.index = levels[0]
        elif self._meta["range"] is not None:
            start, step, name = self._meta["range"]
            frame.index = pd.RangeIndex(start, start + step * len(frame), step, name=name)
        return frame

    def summary(self) -> str:
        """Table of the attributes: kinds, roles and numbers of categories; no cell values.

        Examples
        --------
        >>> import pandas as pd
        >>> data = Microdata.from_frame(pd.DataFrame({"age": [34, 51], "town": ["Olot", "Reus"]}))
        >>> print(data.summary())
        2 records
        age   numeric  other  2 values
        town  nominal  other  2 values
        """
        rows = [(a.name, a.kind.value, a.role.value, f"{a.n_categories:,} values") for a in self.attributes]
        widths = [max(len(row[j]) for row in rows) for j in range(4)]
        head = f"{self.n_records:,} records" + (
            f" ({self.n_dropped:,} with missing values left out)" if self.n_dropped else ""
        )
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([head, *lines])

    # ------------------------------------------------------------------ special methods

    def __len__(self) -> int:
        return self.n_records

    def __repr__(self) -> str:
        if not self._arrays.at_hand:
            return "Microdata(not here)"
        counts = [(sum(a.role is role for a in self.attributes), role.value) for role in Role]
        roles = ", ".join(f"{n} {role}" for n, role in counts if n)
        return f"Microdata({self.n_records:,} records, {len(self._attributes)} attributes: {roles})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Microdata):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Microdata:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Microdata:
        return self

    def __reduce__(self) -> tuple[type[Microdata], tuple[SharedArrays]]:
        return Microdata, (self._arrays,)


def _refuse_gaps(attribute: Attribute) -> None:
    """Refuse missing values in a numeric attribute, which has no number for them."""
    if attribute.kind is Kind.NUMERIC and attribute.has_missing:
        raise SDCError(
            f"column {attribute.name!r} has missing values, kept because it had no role when the table was read: read"
            " it again with its role and missing='drop', or fill them"
        )
