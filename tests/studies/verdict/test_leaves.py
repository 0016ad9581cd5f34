from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import Hierarchy, SDCError
from sdc_problems.studies.verdict.leaves import Leaves, certified, leaf_counts

TOWNS = Hierarchy.from_levels(
    {"Olot": ["Girona", "north"], "Salt": ["Girona", "north"], "Vic": ["Osona", "north"], "Reus": ["Reus", "south"]}
)


def test_labels_are_counted_at_the_level_that_knows_them_all() -> None:
    assert Leaves.of(TOWNS, ["Girona", "Reus", "*"]) == Leaves(4, {"Girona": 2})
    assert Leaves.of(TOWNS, ["north", "south"]) == Leaves(4, {"north": 3})
    assert Leaves.of(TOWNS, ["Olot", "Vic"]) == Leaves(4, {})
    assert Leaves.of(TOWNS, ["Olot", "Girona", "north", "unknown"]) == Leaves(4, {"Girona": 2, "north": 3})


def test_a_label_of_two_levels_counts_as_published() -> None:
    mixed = Hierarchy.from_levels({"a": ["rest", "rest"], "b": ["rest", "rest"], "c": ["c", "rest"]})
    assert Leaves.of(mixed, ["rest", "c"]).labels == {"rest": 2}
    assert Leaves.of(mixed, ["rest"]).labels == {"rest": 2}  # the lowest level that may have been published
    assert Leaves.of(mixed, ["rest", "b"]).labels == {"rest": 3}


def test_columns_without_a_hierarchy_have_no_counts() -> None:
    assert set(leaf_counts({"town": TOWNS}, {"town": ["north"], "age": ["20-29"]})) == {"town"}


def written(folder: Path, **changes: Any) -> Path:
    out = folder / "out.csv"
    out.write_text("town\nnorth\n")
    content = {
        "output": {"sha256": hashlib.sha256(out.read_bytes()).hexdigest()},
        "leaf_counts": {"town": {"leaves": 4, "labels": {"north": 3}}},
        **changes,
    }
    (folder / "out.csv.certificate.json").write_text(json.dumps(content))
    return out


def test_a_certificate_of_this_file_says_its_counts(tmp_path: Path) -> None:
    out = written(tmp_path)
    assert certified(out) == {"town": Leaves(4, {"north": 3})}
    out.write_text("town\nsouth\n")
    assert certified(out) is None  # it is about another file
    (tmp_path / "out.csv.certificate.json").write_text("[]")
    assert certified(out) is None
    assert certified(tmp_path / "none.csv") is None


@pytest.mark.parametrize(
    "entry",
    [
        {"leaves": 4, "labels": {"north": 5}}, {"leaves": 0, "labels": {}}, {"leaves": 4, "labels": {"north": True}},
        {"leaves": "4", "labels": {}}, {"leaves": 4, "labels": {"north": 2.5}}, {"leaves": 4}, [4],
    ],
)  # fmt: skip
def test_counts_that_are_none_are_refused(entry: Any, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match="has invalid leaf counts"):
        certified(written(tmp_path, leaf_counts={"town": entry}))
