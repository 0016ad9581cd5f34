"""Who could still be found: risks against a plain count, and no count of one to four."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata
from sdc_problems.studies.report.exposure import exposure

COLUMNS = ["age", "town", "work"]


@pytest.fixture(scope="module")
def found() -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any]]:
    rng = np.random.default_rng(11)
    frame = pd.DataFrame({
        "age": rng.integers(20, 60, 120).astype(str), "town": rng.choice(["Olot", "Reus", "Vic"], 120),
        "work": rng.choice(["a", "b", "c", "d", "e"], 120), "ill": rng.choice(["yes", "no"], 120),
    })  # fmt: skip
    starred = frame.assign(age=[f"{int(a) // 20 * 20}-{int(a) // 20 * 20 + 19}" for a in frame["age"]])
    starred.loc[:9, COLUMNS] = "*"
    kept = starred.iloc[10:].reset_index(drop=True)
    data = Microdata.from_frame(frame, quasi_identifiers=COLUMNS, sensitive=["ill"])
    return frame, kept, exposure(data, kept, starred, COLUMNS)


def classes(frame: pd.DataFrame, columns: list[str]) -> list[int]:
    rows = [tuple(row) for row in frame[columns].to_numpy()]
    size = Counter(rows)
    return [size[row] for row in rows]


def test_risks_are_those_of_the_classes(found: Any) -> None:
    frame, kept, said = found
    prosecutor, journalist, marketer = said["risks"]
    sizes = classes(kept, COLUMNS)
    assert prosecutor["after"] == pytest.approx(
        [100 / min(sizes), 100 * len(set(map(tuple, kept[COLUMNS].to_numpy()))) / len(kept)], rel=1e-3
    )
    assert prosecutor["before"][0] == 100 / min(classes(frame, COLUMNS))
    fits = [
        sum(
            (r.town, r.work) == (o.town, o.work) and int(r.age[:2]) <= int(o.age) <= int(r.age[3:])
            for o in frame.itertuples()
        )
        for r in kept.itertuples()
    ]
    assert journalist["after"][0] == pytest.approx(100 / min(fits), rel=1e-3)
    assert marketer["after"][1] == pytest.approx(np.mean([100 / f for f in fits]), rel=1e-3)
    assert min(fits) >= min(sizes)  # suppressed records hide others in the whole table


def test_combinations_single_out_and_no_count_is_small(found: Any) -> None:
    frame, kept, said = found
    plain = {}
    for m in (1, 2, 3):
        for chosen in combinations(COLUMNS, m):
            alone = [sum(s == 1 for s in classes(table, list(chosen))) for table in (frame, kept)]
            if alone[0] >= 5:
                plain[chosen] = [None if 0 < c < 5 else c // 5 * 5 for c in alone]
    assert {tuple(one["columns"]): [one["before"], one["after"]] for one in said["combinations"]} == plain
    assert len(plain) >= 2
    counts = [c for bars in said["sizes"] for c in (*bars["counts"], bars["rest"])]
    assert all(c == 0 or c >= 5 for c in counts)


def test_an_empty_release_finds_nobody(found: Any) -> None:
    frame, kept, _ = found
    data = Microdata.from_frame(frame, quasi_identifiers=COLUMNS)
    said = exposure(data, kept.iloc[:0], kept, COLUMNS)
    assert said["risks"] == []
    assert "nobody" in said["note"]


def test_gaps_that_are_a_category_are_released_as_gaps_and_counted(found: Any) -> None:
    frame, kept, _ = found
    holes = frame.assign(work=frame["work"].mask(frame["work"] == "e"))
    data = Microdata.from_frame(holes, quasi_identifiers=COLUMNS, missing="category")
    out = kept.assign(work=kept["work"].mask(kept["work"] == "e"))
    filled = Microdata.from_frame(frame, quasi_identifiers=COLUMNS)
    assert exposure(data, out, out, COLUMNS)["risks"][0] == exposure(filled, kept, kept, COLUMNS)["risks"][0]
