"""The store's read API, and folders from strangers."""

from __future__ import annotations

import io
import json
import os
import shutil
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdc_problems import SDCError
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.store.hypervolume import Box, nondominated
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.seal import seal_facts, seal_seed
from sdc_problems.studies.store.serializer import digest, pack, unpack
from sdc_problems.studies.store.writer import BEGINNING, STORED, RunWriter, stored_generation

Opened = Callable[[Path], Run]


class Bomb:
    """Whoever unpickles this runs code."""

    def __reduce__(self) -> Any:
        return (os.mkdir, ("/tmp/sdc-was-here",))


@pytest.fixture
def folder(workshop: Any) -> Path:
    """Two seeds, twelve generations each."""
    path: Path = workshop.create("run", seeds=(4, 2))
    for seed in (4, 2):
        workshop.work(path, seed=seed)
    return path


# -- arrays ------------------------------------------------------------------------------------------------------


@given(hnp.arrays(st.sampled_from([np.int8, np.int16, np.uint32, np.int64, np.float32, np.float64, np.bool_]),
                  hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)))  # fmt: skip
def test_arrays_come_back_as_they_were(array: np.ndarray[Any, Any]) -> None:
    back = unpack(pack({"a": array, "b": array.T}))
    for name, original in (("a", array), ("b", array.T)):
        assert back[name].dtype == original.dtype
        assert back[name].shape == original.shape
        assert back[name].tobytes() == original.tobytes()
    assert digest(back) == digest({"a": array, "b": array.T})


def test_packing_is_the_same_every_time() -> None:
    arrays = {"X": np.arange(12, dtype=np.int16).reshape(3, 4), "F": np.linspace(0, 1, 3)}
    assert pack(arrays) == pack({name: array.copy() for name, array in arrays.items()})
    swapped = arrays["X"].astype(arrays["X"].dtype.newbyteorder())
    assert pack({"X": swapped}) == pack({"X": arrays["X"]})
    assert digest({"X": swapped}) == digest({"X": arrays["X"]})


def hostile_npz(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    return buffer.getvalue()


def npy(array: Any, *, allow_pickle: bool = False) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=allow_pickle)
    return buffer.getvalue()


def test_hostile_arrays_are_refused() -> None:
    objects = npy(np.array([Bomb()], dtype=object), allow_pickle=True)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
    huge = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header % b"99999999999").ljust(117) + b"\n"
    negative = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + (header % b"-1").ljust(117) + b"\n"
    for blob in (
        hostile_npz(a=objects), hostile_npz(a=huge), hostile_npz(a=negative), hostile_npz(a=b"junk"),
        hostile_npz(a=npy(np.array(["text"]))), hostile_npz(a=npy(np.zeros(9))[:-1]), b"", b"PK", b"\x80\x04junk",
        pack({"a": np.zeros(9)})[:-30],
    ):  # fmt: skip
        with pytest.raises(SDCError):
            unpack(blob)
    with pytest.raises(SDCError, match="unfold"):
        unpack(hostile_npz(a=bytes(2_000_000)), largest=1_000_000)
    assert not Path("/tmp/sdc-was-here").exists()


# -- quality -----------------------------------------------------------------------------------------------------


@given(hnp.arrays(np.int8, st.tuples(st.integers(0, 30), st.integers(1, 4)), elements=st.integers(0, 5)))
def test_nondominated_is_its_definition(values: np.ndarray[Any, Any]) -> None:
    F = values.astype(float)
    kept = nondominated(F)
    for i, row in enumerate(F):
        dominated = any((other <= row).all() and (other < row).any() for other in F)
        earlier = any((other == row).all() for other in F[:i])
        assert kept[i] == (not dominated and not earlier)


def test_the_box_counts_what_is_dominated() -> None:
    box = Box(np.array([0.0, 0.0]), np.array([4.0, 2.0]))
    F = np.array([[1.0, 1.0], [3.0, 0.5], [9.0, 9.0], [4.0, 0.0]])
    grid = (np.stack(np.meshgrid(np.arange(4000) / 1000 + 5e-4, np.arange(400) / 200 + 25e-4), -1)).reshape(-1, 2)
    counted = (F[:, None] <= grid[None]).all(axis=2).any(axis=0).mean()
    assert box.share(F) == pytest.approx(counted)
    assert box.share(np.zeros((0, 2))) == 0
    assert Box(np.array([0.0, 1.0]), np.array([4.0, 1.0])).share(np.array([[1.0, 1.0]])) == pytest.approx(0.75)


# -- reading -----------------------------------------------------------------------------------------------------


def test_everything_that_was_measured_can_be_read(folder: Path, opened: Opened, knapsack: Any) -> None:
    run = opened(folder)
    assert run.seeds == (4, 2)
    assert run.finished
    everything = run.solutions(genomes=True)
    assert everything.X is not None
    assert everything.X.dtype == np.int16
    problem = knapsack()
    np.testing.assert_array_equal(problem.evaluate(everything.X), everything.F)
    np.testing.assert_array_equal(problem.natural(everything.F), everything.values)
    assert everything.ids[0] == "4-0"
    assert len(set(everything.ids)) == len(everything)
    for i in (0, 37, len(everything) - 1):
        one = run.solution(everything.ids[i])
        assert one.X is not None
        np.testing.assert_array_equal(one.X[0], everything.X[i])
        np.testing.assert_array_equal(one.F[0], everything.F[i])
        assert one.generations[0] == everything.generations[i]


def test_populations_and_archives_of_any_generation(folder: Path, opened: Opened) -> None:
    run = opened(folder)
    first, last = run.population(4, 1, genomes=True), run.population(4, genomes=True)
    assert len(first) == len(last) == 10
    assert sorted(first.ids) == [f"4-{i}" for i in range(10)]
    assert (first.generations == 1).all()
    assert set(run.archive(4).ids) == set(run.front(4).ids)
    with pytest.raises(SDCError, match="no generation 99"):
        run.population(4, 99)
    with pytest.raises(SDCError, match="no seed 5"):
        run.population(5)


def test_histories_only_rise_and_bands_enclose_them(folder: Path, opened: Opened) -> None:
    run = opened(folder)
    for seed in run.seeds:
        history = run.history(seed)
        assert history.generation.tolist() == list(range(1, 13))
        assert (np.diff(history.hypervolume) >= 0).all()
        assert (np.diff(history.solutions) >= 0).all()
        assert history.hypervolume[-1] == pytest.approx(run.box().share(run.front(seed).F))  # type: ignore[union-attr]
    bands = run.aggregates()
    assert bands.seeds == 2
    assert (np.diff(bands.quantiles, axis=0) >= -1e-12).all()
    assert (np.diff(bands.quantiles, axis=1) >= -1e-12).all()


def test_a_reader_sees_a_run_grow(workshop: Any, opened: Opened) -> None:
    folder = workshop.create("run")
    run = opened(folder)
    assert len(run.front()) == 0
    assert run.box() is None
    assert len(run.aggregates().evaluated) == 0
    assert run.progress()[0].status == "waiting"
    seen = []
    for _ in range(3):
        workshop.work(folder, stop_after=2)
        seen.append((len(run.solutions()), run.progress()[0].generations, len(run.history(1).generation)))
    assert [s[1:] for s in seen] == [(2, 2), (4, 4), (6, 6)]
    assert seen[0][0] < seen[1][0] < seen[2][0]


def test_an_id_is_checked(folder: Path, opened: Opened) -> None:
    run = opened(folder)
    for ident in ("", "4", "4-", "-1", "4--1", "4-1.0", "４-1", "1e3-1", "4-99999999999999999999999", "../4-1"):
        with pytest.raises(SDCError):
            run.solution(ident)


# -- strangers ---------------------------------------------------------------------------------------------------


def edited(folder: Path, *statements: str) -> None:
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute("PRAGMA writable_schema=OFF")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON generations BEGIN DELETE FROM seeds; END",
        "CREATE VIEW v AS SELECT * FROM meta",
        "CREATE TABLE more (x)",
        "DROP TABLE baselines",
        "ALTER TABLE seeds ADD COLUMN x",
        "CREATE INDEX i ON generations (chain)",
        "DROP TABLE meta",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'not json'",
        "UPDATE meta SET value = '[1]' WHERE key = 'format'",
        "UPDATE meta SET value = '{}' WHERE key = 'problem'",
        "UPDATE meta SET value = json_set(value, '$.objectives[0].sense', 'up') WHERE key = 'problem'",
    ],
)
def test_a_database_with_anything_else_in_it_is_not_opened(statement: str, folder: Path, workshop: Any) -> None:
    edited(folder, statement)
    with pytest.raises(SDCError):
        Run(folder)
    if "'problem'" not in statement:  # of which the database knows nothing
        with pytest.raises(SDCError):
            workshop.work(folder)


@pytest.mark.parametrize("name", ["run.sqlite", "study.toml", "run.lock", "run.sqlite-wal", "run.sqlite-journal"])
def test_a_link_in_the_folder_is_not_followed(name: str, folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("precious")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(target)
    with pytest.raises(SDCError, match="is a link"):
        Run(folder)
    assert target.read_text() == "precious"


def test_a_rollback_journal_is_not_played_back(folder: Path, tmp_path: Path) -> None:
    """SQLite would delete a file that a journal names as its leader."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / "run.sqlite-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504) + str(victim).encode())
    with pytest.raises(SDCError, match="never writes"):
        Run(folder)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "value"),
    [("front", np.array([10**6])), ("front", np.array([-1])), ("front", np.array([0.5])), ("F", np.zeros((1, 2))),
     ("F", np.zeros((0, 0)))],
)  # fmt: skip
def test_numbers_that_do_not_fit_are_refused(name: str, value: Any, folder: Path) -> None:
    db = sqlite3.connect(folder / "run.sqlite")
    (blob,) = db.execute("SELECT arrays FROM generations WHERE seed = 4 AND generation = 3").fetchone()
    changed = pack({**unpack(blob), name: value})
    db.execute("UPDATE generations SET arrays = ? WHERE seed = 4 AND generation = 3", (changed,))
    chain = BEGINNING  # with digests made anew, as a stranger would
    for row in db.execute(f"{STORED} WHERE seed = 4 ORDER BY generation").fetchall():
        chain = stored_generation(4, row).chain(chain)
        db.execute("UPDATE generations SET chain = ? WHERE seed = 4 AND generation = ?", (chain, row[0]))
    db.commit()
    db.close()
    with Run(folder) as run, pytest.raises(SDCError, match="the run's database is damaged: generation 3"):
        run.front()


@pytest.mark.parametrize(
    ("statement", "generation"),
    [
        ("UPDATE generations SET arrays = (SELECT arrays FROM generations WHERE seed = 4 AND generation = 12)"
         " WHERE seed = 4", 1),
        ("UPDATE generations SET chain = replace(chain, '0', '1') WHERE seed = 4 AND generation = 12", 12),
        ("UPDATE generations SET evaluated = evaluated + 1 WHERE seed = 4 AND generation = 7", 7),
        ("UPDATE generations SET rng = '{}' WHERE seed = 4 AND generation = 5", 5),
        ("DELETE FROM generations WHERE seed = 4 AND generation = 6", 7),
    ],
)  # fmt: skip
def test_an_edited_generation_is_named(statement: str, generation: int, folder: Path) -> None:
    edited(folder, statement)
    with Run(folder) as run:
        for look in (run.verify, run.front, run.box, lambda: run.solution("4-0")):
            with pytest.raises(SDCError, match=f"seed 4, generation {generation}: the stored values do not have"):
                look()
        run.front(2)  # of another seed


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM generations WHERE seed = 4 AND generation > 9", "seed 4: its last generation"),
        ("DELETE FROM generations WHERE seed = 4", "seed 4: its last generation"),
        ("UPDATE seeds SET reason = 'done' WHERE seed = 4", "seed 4: its last generation, state or ending"),
        ("DELETE FROM meta WHERE key = 'seal-seed-4'", "the seeds differ"),
        ("DELETE FROM seeds WHERE seed = 4", "the seeds differ"),
        ("INSERT INTO baselines SELECT 'best', arrays FROM generations WHERE generation = 1 AND seed = 4", "baselines"),
        ("DELETE FROM meta WHERE key = 'seal-baselines'", "the baselines differ from"),
        ("UPDATE seeds SET position = 9 WHERE seed = 4", "seed 4: its last generation"),
        ("INSERT INTO states VALUES (4, 12, X'00', '')", "seed 4: its last generation, state"),
        (
            "UPDATE meta SET value = json_set(value, '$.objectives[1].sense', 'max') WHERE key = 'problem'",
            "its data, study",
        ),
        ("UPDATE meta SET value = json_set(value, '$.records', 9000) WHERE key = 'data'", "its data, study"),
        ("UPDATE meta SET value = json_set(value, '$.dropped', 0) WHERE key = 'data'", "its data, study"),
        ("UPDATE meta SET value = json_set(value, '$.title', 'x') WHERE key = 'study'", "its data, study"),
        ("UPDATE meta SET value = '\"\"' WHERE key = 'created'", "its data, study"),
        ("UPDATE sessions SET workers = '9'", "its data, study"),
        ("INSERT INTO meta VALUES ('more', '1')", "its data, study"),
        ("DELETE FROM meta WHERE key = 'seal-facts'", "its data, study"),
        ("UPDATE meta SET value = '[1, 3]' WHERE key = 'format'", "its data, study"),
        (
            "UPDATE meta SET value = '[1, 1]' WHERE key = 'format'",
            "it has format 1.1, but contains parts that this format does not have",
        ),
        (
            "UPDATE meta SET value = '[1, 0]' WHERE key = 'format'",
            "it has format 1.0, but contains parts that this format does not have",
        ),
    ],
)
def test_what_was_cut_off_or_put_in_is_noticed(statement: str, what: str, folder: Path) -> None:
    edited(folder, statement)
    with pytest.raises(SDCError, match=what), Run(folder) as run:
        run.verify()


@pytest.mark.parametrize(
    ("key", "statement"),
    [
        ("facts", "UPDATE meta SET value = json_set(value, '$.objectives[1].sense', 'max') WHERE key = 'problem'"),
        ("facts", "UPDATE meta SET value = json_set(value, '$.dropped', 7) WHERE key = 'data'"),
        ("facts", "UPDATE meta SET value = json_set(value, '$.require', json_object()) WHERE key = 'study'"),
        ("seed", "UPDATE seeds SET status = 'waiting' WHERE seed = 4"),
        ("seed", "DELETE FROM generations WHERE seed = 4 AND generation > 9"),
    ],
)  # fmt: skip
def test_who_makes_seals_anew_changes_the_fingerprint(key: str, statement: str, folder: Path) -> None:
    with Run(folder) as run:
        before = run.fingerprint()
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute(statement)
    if key == "facts":
        seal_facts(db)
    else:
        seal_seed(db, 4)
    db.commit()
    db.close()
    with Run(folder) as run:
        run.verify()
        assert run.fingerprint() != before


@pytest.mark.parametrize("made_by", ["0.2.0", "0.1.0"])
def test_a_run_without_seals_is_of_a_version_without_them(made_by: str, folder: Path) -> None:
    edited(
        folder,
        "DELETE FROM meta WHERE key LIKE 'seal-%'",
        "UPDATE meta SET value = '[1, 0]' WHERE key = 'format'",
        f"UPDATE meta SET value = json_set(value, '$.sdc-problems', '{made_by}') WHERE key = 'versions'",
    )
    if made_by == "0.2.0":
        with pytest.raises(SDCError, match=r"it has format 1\.0, but contains parts that this format does not have"):
            Run(folder)
    else:
        with Run(folder) as run:
            assert not run.sealed  # which `status` says
            run.verify()


@pytest.mark.parametrize("of", ["empty", "full"])
def test_baselines_that_were_edited_are_noticed(of: str, workshop: Any) -> None:
    folder = workshop.create("run")
    some = {name: {"X": np.full((1, 12), i), "F": np.array([[-i, i]])} for i, name in enumerate(("empty", "full"))}
    with RunLock(folder) as lock, RunWriter.take(folder, lock, versions={}, workers="1") as writer:
        writer.add_baselines(some)
    with Run(folder) as run:
        assert run.solution("baseline-full").values.tolist() == [[1, 1]]
    edited(folder, f"UPDATE baselines SET arrays = (SELECT arrays FROM baselines WHERE name = '{of}')")
    with Run(folder) as run:
        for look in (run.verify, run.box, run.baselines, lambda: run.solution("baseline-full")):
            with pytest.raises(SDCError, match="the baselines differ from what was stored"):
                look()


def test_a_run_that_grows_is_verified_as_it_grows(workshop: Any, opened: Opened) -> None:
    folder = workshop.create("run")
    workshop.work(folder, stop_after=2)
    run = opened(folder)
    run.verify()
    workshop.work(folder, stop_after=3)
    edited(folder, "UPDATE generations SET evaluated = 1 WHERE generation = 3")
    with pytest.raises(SDCError, match="generation 3: the stored values"):
        run.verify()


def read_all(folder: Path) -> None:
    with Run(folder) as run:
        run.solutions(genomes=True)
        run.front()


def test_a_damaged_database_is_a_sentence(folder: Path) -> None:
    data = bytearray((folder / "run.sqlite").read_bytes())
    for name in ("run.sqlite-wal", "run.sqlite-shm"):
        (folder / name).unlink(missing_ok=True)
    for start, count in ((0, 100), (100, 4000), (len(data) // 2, len(data) // 3)):
        broken = data.copy()
        broken[start : start + count] = bytes(255 for _ in range(count))
        (folder / "run.sqlite").write_bytes(broken)
        with pytest.raises(SDCError):
            read_all(folder)


def test_a_crashed_run_can_be_read_where_nothing_can_be_written(
    workshop: Any,
    folder: Path,
    tmp_path: Path,
    opened: Opened,
    nobody: Callable[[Path], AbstractContextManager[None]],
) -> None:
    """The log of a crash holds the last generations, and a reader may be unable to put them into the file."""
    copy = tmp_path / "copy"
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute("UPDATE seeds SET reason = 'crashed' WHERE seed = 4")
    db.commit()  # stands in the log as long as this connection is open
    assert (folder / "run.sqlite-wal").stat().st_size
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*-shm"))
    db.close()
    for path in (*copy.iterdir(), copy):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with nobody(tmp_path):
        assert opened(copy).progress()[0].reason == "crashed"


# -- writing into a folder ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "a\0b"])
def test_only_plain_names_are_written_inside(name: str, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match="not a plain file name"):
        inside(tmp_path, name)


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "front.csv").symlink_to(target)
    write_atomically(inside(tmp_path / "run", "front.csv"), "new")
    assert target.read_text() == "precious"
    assert (tmp_path / "run" / "front.csv").read_text() == "new"
    assert not (tmp_path / "run" / "front.csv").is_symlink()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    write_atomically(path, "old")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SDCFailure, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_pictures_are_not_drawn_through_a_link(folder: Path, tmp_path: Path, opened: Opened) -> None:
    from sdc_problems.studies.report.plots import draw_run

    (tmp_path / "elsewhere").mkdir()
    (folder / "pictures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SDCError, match="not an ordinary folder"):
        draw_run(opened(folder))
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_search_that_ends_at_once(workshop: Any, opened: Opened) -> None:
    folder = workshop.create("run")
    workshop.work(folder, limits=Limits(generations=1))
    run = opened(folder)
    assert run.progress()[0].generations == 1
    assert json.loads(json.dumps(run.meta["study"]))


@pytest.mark.parametrize("name", ["run.sqlite", "study.toml", "run.lock", "run.sqlite-wal"])
def test_no_file_of_a_run_is_written_over(folder: Path, name: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SDCError, match="is a file of the run itself"):
        write_atomically(folder / name, "other")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    write_atomically(folder.parent / name, "elsewhere it is a name like any other")
