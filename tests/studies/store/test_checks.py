"""Databases in which something is not of its kind: each is one sentence, whoever reads it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.store._checks import COLUMNS
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.schema import SCHEMA, connection
from sdc_problems.studies.store.seal import seal_facts
from sdc_problems.studies.store.writer import RunWriter

KEYS = [("seeds", "seed"), ("states", "seed"), ("sessions", "session")]  # SQLite itself keeps them integers
NUMBERS = [("generations", "seconds"), ("generations", "measuring")]
FACTS = ("created", "versions", "study", "given", "folder", "data", "problem")


@pytest.fixture
def damaged(workshop: Any) -> Callable[..., Path]:
    """``damaged("DELETE FROM seeds")``: a run folder in which a statement was carried out."""

    def make(sql: str, *values: object) -> Path:
        folder: Path = workshop.create("run")
        workshop.work(folder, stop_after=2)
        db = sqlite3.connect(folder / "run.sqlite")
        db.execute("INSERT OR IGNORE INTO baselines VALUES ('x', x'00')")
        db.execute("INSERT OR IGNORE INTO states VALUES (1, 1, x'00', 'y')")
        db.execute(sql, values)
        db.commit()
        db.close()
        return folder

    return make


def test_every_column_has_a_check() -> None:
    for table, sql in SCHEMA.items():
        db = sqlite3.connect(":memory:")
        db.execute(sql)
        assert [row[1] for row in db.execute(f"PRAGMA table_info({table})")] == list(COLUMNS[table])


@pytest.mark.parametrize(
    ("table", "column"), [(t, c) for t, columns in COLUMNS.items() for c in columns if (t, c) not in KEYS]
)
def test_a_value_of_another_kind(table: str, column: str, damaged: Callable[..., Path]) -> None:
    value = {"blob": 7, "text": b"x"}.get(COLUMNS[table][column][0], "text")
    folder = damaged(f"UPDATE {table} SET {column} = ? WHERE rowid = 1", value)
    with pytest.raises(SDCError, match=rf"{table}\.{column} contains|was not written by sdc|cannot be read"):
        Run(folder)
    with RunLock(folder) as lock, pytest.raises(SDCError, match=r"damaged|was not written|cannot be read"):
        RunWriter.take(folder, lock, versions={}, workers="1")


@pytest.mark.parametrize("value", [float("inf"), -1.0, 1e300])
@pytest.mark.parametrize(("table", "column"), NUMBERS)
def test_clocks_are_finite(table: str, column: str, value: float, damaged: Callable[..., Path]) -> None:
    with pytest.raises(SDCError, match=f"{table}.{column} contains values that sdc never writes"):
        Run(damaged(f"UPDATE {table} SET {column} = ?", value))


def test_a_run_without_seeds(damaged: Callable[..., Path]) -> None:
    with pytest.raises(SDCError, match=r"damaged"):
        Run(damaged("DELETE FROM seeds"))


@pytest.mark.parametrize("text", ["{x", "[1]", "5", "[" * 5000])
def test_versions_of_a_session(text: str, damaged: Callable[..., Path]) -> None:
    folder = damaged("UPDATE sessions SET versions = ?", text)
    with connection(folder / "run.sqlite", write=True) as db:
        seal_facts(db)  # as a stranger would
    with Run(folder) as run, pytest.raises(SDCError, match=r"sessions\.versions is not valid"):
        run.sessions()


@pytest.mark.parametrize("fact", FACTS)
def test_facts_of_another_kind(fact: str, damaged: Callable[..., Path]) -> None:
    folder = damaged("UPDATE meta SET value = '5' WHERE key = ?", fact)
    db = sqlite3.connect(folder / "run.sqlite")
    for wrong in ("5", "[]", "null", '[{"x": 1}]', "{x", "9" * 5000, "[" * 5000):
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (wrong, fact))
        db.commit()
        with pytest.raises(SDCError, match=rf"damaged: its '{fact}'|cannot be read"):
            Run(folder)
    db.execute("DELETE FROM meta WHERE key = ?", (fact,))
    db.commit()
    with pytest.raises(SDCError, match=f"damaged: its '{fact}'"):
        Run(folder)
    db.close()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["n_var"], "many"), (["n_var"], -1), (["dtype"], "object"), (["dtype"], ",("), (["objectives"], []),
        (["objectives", 0, "bounds"], [0]), (["objectives", 0, "bounds"], ["a", None]),
        (["objectives", 1, "sense"], "up"), (["objectives", 1, "name"], 5),
        (["original"], [1.0]), (["original"], ["a", "b"]),
    ],
)  # fmt: skip
def test_facts_of_a_problem(path: list[Any], value: object, damaged: Callable[..., Path]) -> None:
    folder = damaged("UPDATE meta SET value = value")
    db = sqlite3.connect(folder / "run.sqlite")
    (stored,) = db.execute("SELECT value FROM meta WHERE key = 'problem'").fetchone()
    facts = json.loads(stored)
    place = facts
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    db.execute("UPDATE meta SET value = ? WHERE key = 'problem'", (json.dumps(facts),))
    db.commit()
    db.close()
    with pytest.raises(SDCError, match="damaged: its 'problem'"):
        Run(folder)


def test_a_folder_that_is_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SDCError, match="there is no run folder"):
        Run(tmp_path / "loop")
