"""Columns of text as codes: the same cells in less memory, and back."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata
from sdc_problems._tables.coded import (
    CodedColumns,
    coded,
    coded_cells,
    coded_frame,
    coded_texts,
    decoded,
    held_cells,
    is_coded,
    joined_cells,
    placed_cells,
    starred,
    without_lost,
)
from sdc_problems.studies.release.csv_text import as_written, to_csv
from sdc_problems.studies.release.row_order import content_words

FRAME = pd.DataFrame(
    {
        "age": [34, 51, 34, 20],
        "wage": [0.5, -0.0, 0.0, 1e16],
        "town": ["Olot", None, "Reus", "Olot"],
        "ill": ["no", "yes", "no", "=1+1"],
        "flag": [True, False, True, True],
        "born": [datetime.date(2000, 1, i) for i in (1, 2, 3, 4)],
        "level": pd.Categorical(["a", "b", "a", "b"], ["b", "a"], ordered=True),
    }
)


def table() -> Microdata:
    return Microdata.from_frame(FRAME, missing="category")


def test_a_coded_frame_holds_the_cells_of_the_frame() -> None:
    found = coded_frame(table())
    assert [name for name in found if is_coded(found[name])] == ["town", "ill"]
    pd.testing.assert_frame_equal(decoded(found), table().frame())


def test_what_is_written_of_codes_is_what_is_written_of_cells() -> None:
    plain, codes = table().frame(), coded_frame(table())
    assert to_csv(codes) == to_csv(plain)
    assert to_csv(codes, formula_guard=True) == to_csv(plain, formula_guard=True)
    pd.testing.assert_frame_equal(as_written(codes).astype(object), as_written(plain).astype(object))
    assert content_words(codes) == content_words(plain), "the order of the rows depends on the cells alone"


def test_texts_are_categories_once_and_gaps_stay() -> None:
    found = coded_texts(np.array([0, 1, 2, -1]), ["a", "b", "a"])
    assert list(found.categories) == ["a", "b"]
    assert found.codes.tolist() == [0, 1, 0, -1]
    assert found.codes.dtype == np.int8
    codes, texts = coded(pd.Series(found))
    assert codes.tolist() == [0, 1, 0, -1]
    assert texts == ["a", "b"]


def test_cells_that_are_not_all_text_are_not_coded() -> None:
    mixed = np.array(["a", 1], dtype=object)
    assert coded_cells(mixed) is mixed
    assert pd.Series(coded_cells(np.array(["a", "b"], dtype=object))).tolist() == ["a", "b"]


def test_parts_of_a_column_are_joined_cell_by_cell() -> None:
    texts = joined_cells(
        [
            (np.array([3, 0]), coded_texts(np.array([1, 0]), ["a", "b"])),
            (np.array([1, 2]), np.array(["b", "c"], object)),
        ],
        4,
    )
    assert list(texts) == ["a", "b", "c", "b"]
    assert isinstance(texts, pd.Categorical)
    cells = [1, 1.0, True, np.nan, "1", None]
    mixed = joined_cells([(np.array([i]), np.array([cell], dtype=object)) for i, cell in enumerate(cells)], 6)
    assert [type(cell) for cell in mixed[:5]] == [type(cell) for cell in cells[:5]]
    assert [pd.isna(cell) for cell in mixed] == [False, False, False, True, False, True]


@pytest.mark.parametrize("name", ["age", "wage", "town", "ill", "born"])
def test_stars_stand_where_records_are_suppressed(name: str) -> None:
    lost = np.array([False, True, False, True])
    frame = coded_frame(table())
    before = decoded(frame)[name].astype(object)
    found = pd.Series(starred(frame[name], lost))
    assert found.tolist() == before.mask(lost, "*").tolist()
    frame[name] = found
    kept = without_lost(frame, lost)[name]
    expected = before[~lost].reset_index(drop=True).infer_objects()
    assert kept.tolist() == expected.tolist()
    if not is_coded(kept):
        assert kept.dtype == expected.dtype, "numbers beside stars are numbers again"


def test_a_star_that_is_a_label_already_is_one_category() -> None:
    found = starred(pd.Series(coded_texts(np.array([0, 1]), ["*", "a"])), np.array([False, True]))
    assert list(found.categories) == ["*", "a"]
    assert found.tolist() == ["*", "*"]


def test_coded_columns_are_arrays_to_whoever_asks() -> None:
    cells = np.array([1.5, 2.5, 1.5])
    found = CodedColumns({"town": coded_texts(np.array([0, 1, -1]), ["Olot", "Reus"]), "age": cells})
    assert list(found) == ["town", "age"]
    assert found["town"].dtype == object
    assert found["town"][:2].tolist() == ["Olot", "Reus"]
    assert "Olot" not in repr(found)
    assert held_cells(found, "age") is cells
    assert held_cells({"age": cells}, "age") is cells


def test_places_of_cells_tell_equal_ones_whatever_holds_them() -> None:
    plain = np.array(["a", "b", None, "a"], dtype=object)
    codes = coded_texts(np.array([0, 1, -1, 0]), ["a", "b"])
    for cells in (plain, codes):
        place, distinct = placed_cells(cells)
        assert place.min() == 0
        assert [distinct[i] if isinstance(distinct[i], str) else None for i in place] == plain.tolist()
