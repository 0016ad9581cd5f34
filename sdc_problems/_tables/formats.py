"""Tables in formats of other programs: Parquet, XLSX, SPSS, Stata and SAS, read and written with their labels."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sdc_problems._files import input_file
from sdc_problems._kernel import SLICE
from sdc_problems._slices import slices
from sdc_problems._tables.coded import decoded, is_coded
from sdc_problems._tables.columns import label
from sdc_problems.errors import SDCError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

_FORMATS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".xlsx": "XLSX",
    ".xlsm": "XLSX",
    ".sav": "SPSS",
    ".zsav": "SPSS",
    ".dta": "Stata",
    ".xpt": "SAS transport",
    ".sas7bdat": "SAS",
}
_MARKUP = {".graphml": "GraphML", ".gml": "GML"}
_READ_ONLY = {".sas7bdat": ".xpt", ".xlsm": ".xlsx", ".zsav": ".sav"}
_MIDNIGHT = datetime.time()
_ROW_GROUP = 1 << 18  # records written at a time
_EXTRA = {"pyarrow": "parquet", "openpyxl": "files", "pyreadstat": "files"}


@dataclass(frozen=True)
class Labels:
    """Labels that a statistics program stores with a table.

    Attributes
    ----------
    columns
        Long name of each column.
    values
        Label of each value of a column.
    ordinal
        Columns that the program marks as ordered.
    scale
        Columns that it marks as measurements, although some of their values have labels.
    """

    columns: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    ordinal: frozenset[str] = frozenset()
    scale: frozenset[str] = frozenset()

    def kinds(self) -> dict[str, str]:
        """Kinds of the columns whose numbers stand for categories."""
        coded = [name for name in self.values if name not in self.scale]
        return {name: "ordinal" if name in self.ordinal else "nominal" for name in coded}


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Format of a table by the ending of its file's name; None for CSV and any other text.

    Examples
    --------
    >>> format_of("patients.sav"), format_of("patients.csv.gz")
    ('SPSS', None)
    """
    return _FORMATS.get(Path(path).suffix.lower())


def markup_format(path: str | os.PathLike[str]) -> str | None:
    """Format of a file that holds nodes and links, by the ending of its name; None for any other file.

    Examples
    --------
    >>> markup_format("friends.graphml"), markup_format("friends.GML.gz"), markup_format("friends.csv")
    ('GraphML', 'GML', None)
    """
    path = Path(path)
    return _MARKUP.get((path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower())


def holds_links(path: str | os.PathLike[str]) -> bool:
    """Whether a file holds nodes and links, by the ending of its name."""
    return markup_format(path) is not None


def read_frame(path: str | os.PathLike[str], how: str | None = None) -> tuple[pd.DataFrame, Labels]:
    """Read a table of another program; from a workbook, the first sheet.

    Parameters
    ----------
    path
        The file.
    how
        Its format; by default found from its name.
    """
    path = Path(path)
    how = how or format_of(path)
    assert how is not None
    labels = Labels()
    with _explained(path, how):
        place = input_file(path)
        if how == "Parquet":
            frame = _parquet(place)
        elif how == "XLSX":
            frame = _workbook(place)
        else:
            frame, labels = _statistics(place, how)
    if not len(frame.columns):
        raise SDCError(f"{path} has no columns")
    frame.columns = [str(name).strip() for name in frame.columns]
    return frame, labels


def read_columns(path: str | os.PathLike[str], how: str | None = None) -> tuple[list[str], Iterator[pd.Series[Any]]]:
    """Names and columns of a table of another program; those of Parquet are read one by one, when needed.

    Parameters
    ----------
    path, how
        As for `read_frame`.
    """
    import pandas as pd

    how = how or format_of(path)
    if how == "Parquet":
        with _explained(Path(path), how):
            place = input_file(path)
            schema = _library("pyarrow.parquet", how).read_schema(place)
            raw = schema.empty_table().to_pandas().columns.tolist()
        names = [str(name).strip() for name in raw]
        if raw and all(isinstance(name, str) for name in raw) and len(set(raw)) == len(raw):

            def one(name: str) -> pd.Series[Any]:
                with _explained(Path(path), "Parquet"):  # threads and buffers hold parts of it
                    column = pd.read_parquet(place, columns=[name], use_threads=False, pre_buffer=False)[name]
                _library("pyarrow", "Parquet").default_memory_pool().release_unused()
                return column.reset_index(drop=True)

            return names, map(one, raw)
    frame, _ = read_frame(path, how)
    return list(frame.columns), (frame.iloc[:, i] for i in range(frame.shape[1]))


@contextmanager
def _explained(path: Path, how: str) -> Iterator[None]:
    """Make errors name the file."""
    try:
        yield
    except FileNotFoundError:
        raise SDCError(f"there is no file {path}") from None
    except OSError as error:
        raise SDCError(f"cannot read {path}: {error.strerror}") from error
    except (SDCError, MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # each library has its own errors for a damaged file
        raise SDCError(f"{path} cannot be read as {how}: {type(error).__name__}; is it damaged?") from error


def write_frame(
    frame: pd.DataFrame,
    path: Path,
    how: str,
    labels: Labels = Labels(),
    *,
    order: NDArray[np.int64] | None = None,
) -> None:
    """Write a table for another program.

    Parameters
    ----------
    frame
        The table; its columns may be coded.
    path
        The file to write.
    how
        A format.
    labels
        Labels of the columns, and of the values of those whose cells are still numbers.
    order
        Row of the table in each place of the file; as they are if not given.
    """
    if how == "Parquet":
        _write_parquet(frame, path, order)
        return
    frame = _one_type_each(decoded(frame if order is None else frame.iloc[order].reset_index(drop=True)))
    if how == "XLSX":
        _write_workbook(frame, path)
    else:
        _write_statistics(frame, path, how, labels)


def refuse_unwritable(path: Path) -> None:
    """Refuse a file name whose format can only be read.

    Examples
    --------
    >>> refuse_unwritable(Path("out.sas7bdat"))
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: '.sas7bdat' files can be read but not written: name the file '.xpt'
    """
    other = _READ_ONLY.get(path.suffix.lower())
    if other is not None:
        raise SDCError(f"{path.suffix!r} files can be read but not written: name the file {other!r}")
    for module in {"Parquet": ["pyarrow"], "XLSX": ["openpyxl"], None: []}.get(format_of(path), ["pyreadstat"]):
        _library(module, str(format_of(path)))


def _library(name: str, how: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise SDCError(f'{how} files need pip install "sdc-problems[{_EXTRA[name]}]"') from None


# ---------------------------------------------------------------------- reading


def _parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    _library("pyarrow", "Parquet")
    return pd.read_parquet(path).reset_index(drop=True)


def _workbook(path: Path) -> pd.DataFrame:
    """Cells of the first sheet; a column that mixes numbers and text is text, as in a CSV file."""
    import pandas as pd

    openpyxl = _library("openpyxl", "XLSX")
    with path.open("rb") as stream:  # given a path, openpyxl checks its ending
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        rows = list(book.worksheets[0].iter_rows(values_only=True))
    while rows and all(cell is None for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise SDCError(f"{path}: the first sheet is empty")
    names = list(rows[0])
    while names and names[-1] is None:
        names.pop()
    if None in names:
        raise SDCError(f"{path}: column {names.index(None) + 1} has no name in the first row of the first sheet")
    return pd.DataFrame({str(name): _as_one_type([row[j] for row in rows[1:]]) for j, name in enumerate(names)})


def _as_one_type(cells: list[Any]) -> pd.Series[Any]:
    import pandas as pd

    texts = [isinstance(cell, str) for cell in cells if cell is not None]
    if any(texts) and not all(texts):
        cells = [None if cell is None else label(cell) for cell in cells]
    elif cells and all(isinstance(cell, datetime.datetime) and cell.time() == _MIDNIGHT for cell in cells):
        cells = [cell.date() for cell in cells]  # dates in a workbook always have a time
    return pd.Series(cells, dtype=object).infer_objects()


def read_labels(path: str | os.PathLike[str]) -> Labels:
    """Labels of a table whose cells were already read."""
    how = format_of(path)
    if how in (None, "Parquet", "XLSX"):
        return Labels()
    return _labels(_reader(str(how))(str(path), metadataonly=True)[1])


def _reader(how: str) -> Any:
    pyreadstat = _library("pyreadstat", how)
    return {
        "SPSS": pyreadstat.read_sav,
        "Stata": pyreadstat.read_dta,
        "SAS transport": pyreadstat.read_xport,
        "SAS": pyreadstat.read_sas7bdat,
    }[how]


def _statistics(path: Path, how: str) -> tuple[pd.DataFrame, Labels]:
    frame, meta = _reader(how)(str(path))
    for name in frame.columns:
        if frame[name].dtype.kind == "O":  # cells are padded with blanks, and an empty text is a gap
            cells = frame[name].astype(object)
            frame[name] = cells.map(lambda cell: cell.rstrip() or None if isinstance(cell, str) else cell)
    for name in frame.columns:
        frame[name] = _whole(frame[name])
    return frame, _labels(meta)


def _labels(meta: Any) -> Labels:
    """Labels from pyreadstat's metadata."""
    columns = {name: text for name, text in meta.column_names_to_labels.items() if text}
    measure = getattr(meta, "variable_measure", None) or {}
    values = {name: dict(found) for name, found in (meta.variable_value_labels or {}).items() if found}
    return Labels(
        columns,
        values,
        frozenset(name for name, how in measure.items() if how == "ordinal"),
        frozenset(name for name, how in measure.items() if how == "scale"),
    )


def _whole(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers without decimals as integers, which these programs do not have."""
    if column.dtype.kind != "f":
        return column
    known = column.dropna().to_numpy()
    if not len(known) or (known != np.floor(known)).any() or np.abs(known).max() >= 2**53:
        return column
    return column.astype("int64" if len(known) == len(column) else "Int64")


# ---------------------------------------------------------------------- writing


def _one_type_each(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of a single type: a mixture of numbers and labels becomes text."""
    found = frame.copy()
    for position in range(frame.shape[1]):
        found.isetitem(position, _of_one_type(frame.iloc[:, position])[0].array)
    return found


def _absent(cell: object) -> bool:
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or cell != cell


def _write_parquet(frame: pd.DataFrame, path: Path, order: NDArray[np.int64] | None) -> None:
    """Write a slice of the rows at a time; coded columns are never decoded as a whole."""
    import pandas as pd

    pa, pq = _library("pyarrow", "Parquet"), _library("pyarrow.parquet", "Parquet")
    names = [str(name) for name in frame.columns]
    parts = [_of_one_type(frame.iloc[:, i]) for i in range(frame.shape[1])]
    shown = pd.DataFrame({name: distinct[:1] for name, (distinct, _) in zip(names, parts, strict=True)})
    types = [pa.Schema.from_pandas(distinct.to_frame(), preserve_index=False).field(0).type for distinct, _ in parts]
    kinds = pa.Schema.from_pandas(shown, preserve_index=False).metadata  # what pandas makes of them
    schema = pa.schema(list(zip(names, types, strict=True)), metadata=kinds)

    with pq.ParquetWriter(path, schema) as writer:
        for low, high in slices(len(frame), steps=SLICE / _ROW_GROUP, what="rows written"):
            rows = slice(low, high) if order is None else order[low:high]
            arrays = []
            for (distinct, codes), kind in zip(parts, types, strict=True):
                if codes is None:
                    arrays.append(pa.Array.from_pandas(distinct.iloc[rows], type=kind))
                else:
                    here = codes[rows]
                    cells = pa.array(distinct, type=kind, from_pandas=True)
                    arrays.append(pa.DictionaryArray.from_arrays(pa.array(here, mask=here < 0), cells).cast(kind))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _of_one_type(column: pd.Series[Any]) -> tuple[pd.Series[Any], NDArray[Any] | None]:
    """Cells of a column as one type; of a coded column its different cells, and the place of each among them."""
    if is_coded(column):
        used = column.cat.remove_unused_categories()
        return _as_one_type(used.cat.categories.tolist()), used.cat.codes.to_numpy()
    if column.dtype.kind == "O" or column.dtype.name == "category":
        return _as_one_type([None if _absent(cell) else cell for cell in column.astype(object)]), None
    return column, None


def _write_workbook(frame: pd.DataFrame, path: Path) -> None:
    """Write cells unchanged; text is never written as a formula."""
    openpyxl = _library("openpyxl", "XLSX")
    cell_of = import_module("openpyxl.cell").WriteOnlyCell
    if len(frame) >= 1_048_576:
        raise SDCError(f"a sheet holds 1,048,575 records, the table has {len(frame):,}: write Parquet or CSV")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("protected")

    def text(value: str) -> Any:
        made = cell_of(sheet, value=value)
        made.data_type = "s"
        return made

    sheet.append([text(str(name)) for name in frame.columns])
    for row in _plain_rows(frame):
        sheet.append([text(cell) if isinstance(cell, str) else cell for cell in row])
    book.save(path)


def _plain_rows(frame: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    columns = []
    for position in range(frame.shape[1]):
        cells = frame.iloc[:, position].astype(object).tolist()
        columns.append([None if _absent(c) else c.item() if isinstance(c, np.generic) else c for c in cells])
    return zip(*columns, strict=True)


def _write_statistics(frame: pd.DataFrame, path: Path, how: str, labels: Labels) -> None:
    pyreadstat = _library("pyreadstat", how)
    numeric = [name for name in frame.columns if frame[name].dtype.kind in "iufb"]
    frame = frame.assign(**{name: frame[name].astype("float64") for name in numeric if frame[name].isna().any()})
    options: dict[str, Any] = {"column_labels": {n: t for n, t in labels.columns.items() if n in frame.columns}}
    try:
        if how == "SPSS":
            options["variable_value_labels"] = {n: labels.values[n] for n in numeric if n in labels.values}
            options["variable_measure"] = {
                n: "ordinal" if n in labels.ordinal else "nominal" for n in options["variable_value_labels"]
            }
            pyreadstat.write_sav(frame, str(path), **options)
        elif how == "Stata":
            options["variable_value_labels"] = {
                n: {int(value): text for value, text in labels.values[n].items()} for n in numeric if n in labels.values
            }
            pyreadstat.write_dta(frame, str(path), **options)
        else:
            pyreadstat.write_xport(frame, str(path), **options)
    except Exception as error:
        raise SDCError(
            f"the table cannot be written as {how} ({type(error).__name__}): does it have names or texts"
            f" that {how} does not"
            " allow? Write Parquet or CSV"
        ) from error
