"""The embedded table of numbers: the file is what its maker makes, and its blocks are there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sdc_problems
from sdc_problems._sources import firms as maker
from sdc_problems.datasets import firms

FILE = Path(sdc_problems.__file__).parent / "data" / "firms" / "firms.csv"


def test_the_file_is_what_its_maker_makes(tmp_path: Path) -> None:
    maker.write(tmp_path)
    assert (tmp_path / "firms.csv").read_bytes() == FILE.read_bytes()


def test_columns_are_correlated_in_blocks() -> None:
    data = firms().data
    assert (len(data), data.names, data.quasi_identifiers) == (1_000, maker.COLUMNS, maker.COLUMNS)
    values = data.values()
    assert (values > 0).all()
    assert min(len(np.unique(column)) for column in values.T) > 400
    block = np.repeat(np.arange(4), 4)
    R = np.corrcoef(np.log(values).T)
    same = (block[:, None] == block) & ~np.eye(16, dtype=bool)
    assert R[same].min() > R[block[:, None] != block].max() > 0.2
