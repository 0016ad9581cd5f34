"""Text columns as codes and distinct texts, which take a fifth of the memory of text cells, or less."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import STAR

_CODED = "(coded)"
"""Name of the categories of a coded column, to distinguish it from a categorical of the user's own."""

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata


def coded_frame(data: Microdata) -> pd.DataFrame:
    """The cells of a table as in `Microdata.frame`, but with text columns coded, and without the index.

    Parameters
    ----------
    data
        The table.
    """
    import pandas as pd

    columns: dict[str, Any] = {}
    for attribute in data.attributes:
        if attribute.holds_text:
            codes = attribute.codes
            texts = attribute.labels[: attribute.n_categories - attribute.has_missing]
            codes = np.where(codes < len(texts), codes, np.int32(-1)) if attribute.has_missing else codes
            columns[attribute.name] = coded_texts(codes, texts)
        else:
            columns[attribute.name] = attribute.cells(attribute.codes)
    return pd.DataFrame(columns, copy=False)


def coded_cells(cells: NDArray[Any]) -> Any:
    """New cells of a column, coded if they are all text."""
    if cells.dtype != object:
        return cells
    place, distinct = factorized(cells)
    return coded_texts(place, distinct) if all(type(text) is str for text in distinct) else cells


class CodedColumns(Mapping[str, NDArray[Any]]):
    """New cells of columns by name: stored coded, and returned as an array of cells.

    Parameters
    ----------
    columns
        Each column as cells, coded or not.

    Examples
    --------
    >>> found = CodedColumns({"town": coded_texts(np.array([0, 1, 0]), ["Olot", "Reus"])})
    >>> found["town"].tolist(), found.held("town").codes.tolist()
    (['Olot', 'Reus', 'Olot'], [0, 1, 0])
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = dict(columns)

    def __getitem__(self, name: str) -> NDArray[Any]:
        return np.asarray(self._columns[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._columns)})"  # cells must not appear in logs

    def held(self, name: str) -> Any:
        """The column in its stored form."""
        return self._columns[name]


def held_cells(columns: Mapping[str, NDArray[Any]], name: str) -> Any:
    """Cells of a column in their stored form: coded, or an array."""
    return columns.held(name) if isinstance(columns, CodedColumns) else np.asarray(columns[name])


def placed_cells(cells: Any) -> tuple[NDArray[np.integer[Any]], list[Any]]:
    """Index of each cell among the distinct ones (a missing cell is one of them), and the distinct cells."""
    import pandas as pd

    if isinstance(cells, pd.Categorical):
        texts = cells.categories.tolist()
        if (cells.codes >= 0).all():
            return cells.codes, texts
        return np.where(cells.codes < 0, np.int32(len(texts)), cells.codes), [*texts, np.nan]
    place, distinct = pd.factorize(cells, use_na_sentinel=False)
    return place, list(distinct)


def joined_cells(parts: Iterable[tuple[NDArray[np.intp], Any]], n: int) -> Any:
    """Cells of a column, coded if they are all text, from those of parts of the table.

    Parameters
    ----------
    parts
        Of each part, the positions of its records, and their cells: coded or an array.
    n
        Number of records.
    """
    import pandas as pd

    codes = np.empty(n, dtype=np.int32)
    number: dict[tuple[type, Any], int] = {}  # 1, 1.0 and True are equal, but not the same cell
    found: list[Any] = []
    for rows, cells in parts:
        place, distinct = placed_cells(cells)
        own = np.empty(len(distinct), dtype=np.int32)
        for i, cell in enumerate(distinct):
            key = (float, None) if pd.isna(cell) else (type(cell), cell)
            own[i] = number.setdefault(key, len(found))
            if own[i] == len(found):
                found.append(cell)
        codes[rows] = own[place]
    if all(type(cell) is str for cell in found):
        return coded_texts(codes, found)
    return np.array([*found, None], dtype=object)[codes]


def is_coded(column: pd.Series[Any]) -> bool:
    """Whether a column is coded, and not a categorical of the user's own."""
    import pandas as pd

    return isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.categories.name == _CODED


def decoded(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with text cells in place of its coded columns."""
    import pandas as pd

    columns = [frame.iloc[:, i] for i in range(frame.shape[1])]
    plain = [pd.Series(np.asarray(c), index=frame.index) if is_coded(c) else c for c in columns]
    return pd.concat(plain, axis=1).set_axis(frame.columns, axis=1) if plain else frame


def starred(column: pd.Series[Any], lost: NDArray[np.bool_]) -> Any:
    """Cells of a column, coded, with stars where records are suppressed.

    Parameters
    ----------
    column
        The column, coded or not.
    lost
        Mask of the suppressed records.
    """
    import pandas as pd

    place, distinct = (column.cat.codes.to_numpy(), column.cat.categories) if is_coded(column) else pd.factorize(column)
    cells = [*pd.Index(distinct).astype(object).tolist(), STAR]
    own = cells.index(STAR)  # a label may already be a star
    codes = np.where(lost, own, place).astype(np.min_scalar_type(-len(cells)))
    return pd.Categorical.from_codes(codes, pd.Index(cells[: max(own + 1, len(distinct))], dtype=object, name=_CODED))


def without_lost(frame: pd.DataFrame, lost: NDArray[np.bool_]) -> pd.DataFrame:
    """The table without its suppressed records; columns with stars and numbers become numeric again.

    Parameters
    ----------
    frame
        The table.
    lost
        Mask of the suppressed records.
    """
    import pandas as pd

    kept = frame[~lost].reset_index(drop=True)
    for name in frame.columns:
        if is_coded(kept[name]) and not all(type(text) is str for text in kept[name].cat.categories):
            kept[name] = pd.Series(np.asarray(kept[name]), dtype=object).infer_objects()
    return kept.infer_objects()


def coded_texts(codes: NDArray[np.integer[Any]], texts: Sequence[str]) -> pd.Categorical:
    """Texts of cells as a categorical; each text is one category, even if several codes stand for it.

    Parameters
    ----------
    codes
        Index of each cell's text.
    texts
        The texts.
    """
    import pandas as pd

    place: dict[str, int] = {}
    found = [place.setdefault(text, len(place)) for text in texts]
    if len(place) < len(found):
        codes = np.array([*found, -1], dtype=np.int64)[codes]  # a missing cell has the code -1
    small = codes.astype(np.min_scalar_type(-max(len(place), 1)), copy=False)
    return pd.Categorical.from_codes(small, pd.Index(list(place), dtype=object, name=_CODED))


def coded(column: pd.Series[Any]) -> tuple[NDArray[np.integer[Any]], list[str]]:
    """Codes and texts of a column of a file's cells, which is text or a categorical made by `as_written`."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    return factorized(column.to_numpy())


def distinct_cells(column: pd.Series[Any]) -> tuple[NDArray[np.intp], pd.Index[Any]]:
    """Index of each cell among the distinct ones; with mixed types every cell is distinct, because 1 == True."""
    import pandas as pd

    if column.dtype.kind == "O" and column.dtype.name == "object":
        types = set(map(type, column[~column.isna().to_numpy(dtype=bool)]))
        if types - {str}:
            return np.arange(len(column)), pd.Index(column, dtype=object)
    place, distinct = column.factorize(use_na_sentinel=False)
    return place, pd.Index(distinct)


def factorized(cells: NDArray[Any]) -> tuple[NDArray[np.intp], list[Any]]:
    """Index of each cell among the distinct ones, -1 if it is missing, and the distinct cells."""
    import pandas as pd

    place, distinct = pd.factorize(cells)
    return place, distinct.tolist()
