"""Embedded numeric table: synthetic firms that do not exist, correlated in blocks, kept as a file.

``draw`` made the file, and a test makes it again. The file is loaded, so that its digest does not depend on a
platform's exponential function.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

RECORDS = 1_000
SEED = 20101005

# Blocks of columns: name, median and spread of the logarithm; what its columns share, and what all blocks share.
BLOCKS: dict[str, tuple[tuple[tuple[str, int, float], ...], float, float]] = {
    "size": ((("employees", 240, 0.55), ("turnover", 52_000, 0.65), ("assets", 61_000, 0.7), ("wages", 8_900, 0.55)),
             0.80, 0.45),
    "capital": ((("equity", 23_000, 0.6), ("debt", 31_000, 0.75), ("investment", 3_800, 0.7), ("cash", 4_300, 0.8)),
                0.65, 0.40),
    "energy": ((("electricity", 7_200, 0.6), ("gas", 4_100, 0.75), ("fuel", 1_900, 0.65), ("water", 15_500, 0.7)),
               0.70, 0.25),
    "trade": ((("exports", 14_000, 0.85), ("imports", 9_800, 0.8), ("freight", 2_700, 0.6), ("licences", 640, 0.75)),
              0.55, 0.30),
}  # fmt: skip
COLUMNS = tuple(name for columns, _, _ in BLOCKS.values() for name, _, _ in columns)


def normals(seed: int, n: int) -> NDArray[np.float64]:
    """Standard normal numbers from the raw stream of PCG64, which numpy promises never to change."""
    from scipy.special import ndtri

    raw = np.random.PCG64(seed).random_raw(n)
    uniform = np.minimum(((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53, 1.0 - 2.0**-53)
    drawn: NDArray[np.float64] = ndtri(uniform)
    return drawn


def draw(records: int = RECORDS, seed: int = SEED) -> pd.DataFrame:
    """Draw the table: each column's logarithm is a sum of normal numbers, one for all, one for its block and its own.

    Parameters
    ----------
    records
        Number of records.
    seed
        Seed of the stream.
    """
    import pandas as pd

    each = 1 + len(BLOCKS) + len(COLUMNS)
    drawn = normals(seed, records * each).reshape(records, each)
    common, of_blocks, own = drawn[:, 0], drawn[:, 1 : 1 + len(BLOCKS)], drawn[:, 1 + len(BLOCKS) :]
    found: dict[str, NDArray[np.int64]] = {}
    for b, (columns, shared, general) in enumerate(BLOCKS.values()):
        for name, median, spread in columns:
            score = np.sqrt(general) * common + np.sqrt(shared * (1 - general)) * of_blocks[:, b]
            score = score + np.sqrt((1 - shared) * (1 - general)) * own[:, len(found)]
            found[name] = np.rint(median * np.exp(spread * score)).astype(np.int64)
    return pd.DataFrame(found)


def write(folder: Path) -> None:
    """Write the file that the package contains.

    Parameters
    ----------
    folder
        Its folder: ``sdc_problems/data/firms``.
    """
    (folder / "firms.csv").write_text(draw().to_csv(index=False, lineterminator="\n"), encoding="utf-8", newline="\n")
