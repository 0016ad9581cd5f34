"""Tables as CSV text: written a slice of rows at a time, and read back as codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.release import csv_text
from sdc_problems.studies.release.csv_text import Form, as_written, read_text, to_csv, without_decimals, write_csv

FRAME = pd.DataFrame({"n": [1, 2, 3, 4, 5], "x": [0.5, -0.0, 1e16, 2.25, 0.0], "t": ["é", "b;\n", "=1", "", 'q"']})


@pytest.mark.parametrize("form", [Form(), Form(encoding="utf-8-sig"), Form(";", "utf-16", ",")], ids=str)
@pytest.mark.parametrize("guard", [False, True])
def test_slices_of_rows_make_the_same_file(
    form: Form, guard: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = np.array([4, 0, 3, 1, 2])
    whole = to_csv(FRAME.iloc[order].reset_index(drop=True), formula_guard=guard, form=form)
    monkeypatch.setattr(csv_text, "_CELL", 4e7)
    pieces: list[bytes] = []
    write_csv(FRAME, pieces.append, order=order, formula_guard=guard, form=form)
    assert b"".join(pieces) == whole
    assert len(pieces) > 2
    path = tmp_path / "t.csv"
    path.write_bytes(whole)
    if not guard:
        found = without_decimals(read_text(path, form), FRAME, form, order)
        expected = as_written(FRAME).iloc[order].reset_index(drop=True)
        pd.testing.assert_frame_equal(found.astype(object), expected.astype(object))


def test_a_row_of_other_length_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(SDCError, match="more or fewer cells"):
        read_text(tmp_path / "t.csv")
