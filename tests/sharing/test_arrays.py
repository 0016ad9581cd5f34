"""Arrays shared between processes: small pickles, one file, gone with their owner, refused when tampered with."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from sdc_problems._sharing import folders
from sdc_problems._sharing.arrays import SharedArrays, _attach, digest_of, pack_strings, sweep, unpack_strings
from sdc_problems.errors import SDCError

posix = pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture
def shared(rng: np.random.Generator) -> SharedArrays:
    return SharedArrays({"codes": rng.integers(0, 9, (1000, 3), dtype=np.int32), "values": rng.normal(size=500)})


def written(shared: SharedArrays, folder: Path) -> Path:
    """The folder that a pickle names, written where the test wants it."""
    folder.mkdir(mode=0o700, parents=True)
    folders.write(shared, shared.digest, folder)
    return folder


def opened(folder: Path, digest: str | None = None) -> SharedArrays:
    """Shared arrays as unpickling gets them."""
    return _attach(str(folder), folders.read_manifest(folder)["digest"] if digest is None else digest)


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


# Functions for workers: spawned processes find them by importing this file, so they are plain and at its top level.
TOTAL = (
    "import pickle, sys\n"
    "shared = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
    "print(int(shared['codes'].sum()), shared['codes'].flags.writeable, type(shared['codes'].base).__name__)"
)


def test_arrays_are_read_only_and_do_not_follow_the_callers(rng: np.random.Generator) -> None:
    mine = rng.normal(size=5)
    shared = SharedArrays({"a": mine})
    mine[0] = 99.0
    assert shared["a"][0] != 99.0
    assert mine.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        shared["a"][0] = 1.0


def test_given_up_arrays_are_not_copied() -> None:
    mine = np.arange(4)
    shared = SharedArrays({"a": mine}, copy=False)
    assert np.shares_memory(shared["a"], mine)
    assert mine.flags.writeable


def test_no_file_until_pickled(shared: SharedArrays) -> None:
    assert shared.folder is None
    assert copy.deepcopy(shared) is shared
    assert copy.copy(shared) is shared
    assert shared.digest == digest_of(dict(shared))
    assert shared.folder is None


def test_pickle_is_a_path_and_a_digest(rng: np.random.Generator) -> None:
    big = SharedArrays({"codes": rng.integers(0, 9, (100_000, 10), dtype=np.int32)})
    first = pickle.dumps(big)
    assert len(first) < 500
    written = sorted(p.stat().st_mtime_ns for p in big.folder.iterdir())
    assert pickle.dumps(big) == first
    assert sorted(p.stat().st_mtime_ns for p in big.folder.iterdir()) == written
    assert pickle.loads(first) is big


@posix
def test_files_are_private(shared: SharedArrays) -> None:
    pickle.dumps(shared)
    for folder in (shared.folder, shared.folder.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in shared.folder.iterdir()} == {0o600}
    assert shared.folder.parent.name.startswith(f"sdc-problems-{os.getpid()}-")


def test_files_go_with_the_last_owner(rng: np.random.Generator) -> None:
    shared = SharedArrays({"a": rng.normal(size=10)})
    pickle.dumps(shared)
    folder = shared.folder
    view = shared["a"]
    assert folder.is_dir()
    del shared
    assert not folder.exists()
    assert view.shape == (10,)


def test_files_go_with_the_process() -> None:
    code = (
        "import pickle, numpy as np\n"
        "from sdc_problems._sharing.arrays import SharedArrays\n"
        "shared = SharedArrays({'a': np.arange(9)})\n"
        "pickle.dumps(shared)\n"
        "print(shared.folder)"
    )
    done = run(code)
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.strip())
    assert not folder.exists()
    assert not folder.parent.exists()


def test_another_process_maps_the_same_files(shared: SharedArrays) -> None:
    done = run(TOTAL, pickle.dumps(shared).hex())
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == [str(int(shared["codes"].sum())), "False"]


@pytest.mark.parametrize("method", [m for m in ("spawn", "fork") if m in multiprocessing.get_all_start_methods()])
def test_pools_of_both_kinds(shared: SharedArrays, method: str) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        names = list(pool.map(SharedArrays.__getitem__, [shared] * 4, ["codes", "values"] * 2))
        back = pool.submit(copy.copy, shared).result(timeout=60)
    np.testing.assert_array_equal(names[0], shared["codes"])
    np.testing.assert_array_equal(names[3], shared["values"])
    assert back is shared
    assert shared.folder.is_dir()


@fork
def test_a_forked_child_removes_nothing_of_its_parent(shared: SharedArrays) -> None:
    pickle.dumps(shared)
    child = multiprocessing.get_context("fork").Process(target=folders.remove_own, args=(shared.folder, os.getpid()))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert (shared.folder / "manifest.json").is_file()


def share_in_child(queue: multiprocessing.Queue[str], shared: SharedArrays) -> None:
    pickle.dumps(shared)
    queue.put(str(shared.folder))


@fork
def test_a_forked_child_writes_to_a_folder_of_its_own_and_cleans_up(shared: SharedArrays) -> None:
    pickle.dumps(SharedArrays({"other": np.arange(3)}))  # the parent has a folder already
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=share_in_child, args=(queue, shared))
    child.start()
    folder = Path(queue.get(timeout=60))
    child.join(60)
    assert f"-{child.pid}-" in str(folder)
    assert not folder.parent.exists()
    assert shared.folder is None


def test_a_worker_that_outlives_the_files_can_still_share(tmp_path: Path, rng: np.random.Generator) -> None:
    folder = written(SharedArrays({"codes": rng.integers(0, 9, 20)}), tmp_path / "data")
    shared = opened(folder)
    expected = int(shared["codes"].sum())
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    done = run(TOTAL, pickle.dumps(shared).hex())
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) == expected


def test_an_opened_folder_holds_the_same(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    again = opened(folder)
    assert opened(folder) is again
    assert again == shared
    assert hash(again) == hash(shared)
    assert list(again) == list(shared)
    for name in shared:
        np.testing.assert_array_equal(again[name], shared[name])
        assert not again[name].flags.writeable
    digest = shared.digest
    del shared, again
    assert opened(folder, digest).digest == digest  # only its owner removes a folder
    assert str(folder).encode() in pickle.dumps(opened(folder))


def test_an_unfinished_folder_is_refused(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    (folder / "manifest.json").rename(folder / "manifest.json.part")
    with pytest.raises(SDCError, match="did not finish"):
        opened(folder, shared.digest)


def test_threads_write_once(shared: SharedArrays) -> None:
    pickles: list[bytes] = []
    threads = [threading.Thread(target=lambda: pickles.append(pickle.dumps(shared))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(set(pickles)) == 1


# --------------------------------------------------------------------------- refused


def test_a_changed_file_is_refused(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    file = folder / "1.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(SDCError, match="SHA-256 differs"):
        opened(folder)


def test_the_wrong_content_is_refused(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    with pytest.raises(SDCError, match="SHA-256 differs"):
        opened(folder, "0" * 64)


def test_missing_folder_and_file(shared: SharedArrays, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match=r"is gone.*keep the data object alive"):
        opened(tmp_path / "nowhere")
    folder = written(shared, tmp_path / "data")
    (folder / "0.npy").unlink()
    with pytest.raises(SDCError, match="is gone"):
        opened(folder)


def test_unpickling_after_the_owner_is_gone() -> None:
    shared = SharedArrays({"a": np.arange(3)})
    pickled = pickle.dumps(shared)
    del shared
    again = pickle.loads(pickled)
    assert not again.at_hand
    assert repr(again) == "SharedArrays(not here)"
    with pytest.raises(SDCError, match="its process has ended or dropped the data object"):
        again["a"]
    assert pickle.dumps(again) == pickled
    other = SharedArrays({"a": np.arange(4)})
    assert not again.at_hand
    same = SharedArrays({"a": np.arange(3)})
    assert again["a"] is same["a"]
    assert again == same != other


@posix
def test_folders_open_to_others_are_refused(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    folder.chmod(0o755)
    with pytest.raises(SDCError, match="chmod 700"):
        opened(folder)


@posix
def test_folders_of_others_and_links_are_refused(
    shared: SharedArrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(shared, tmp_path / "data")
    link = tmp_path / "link"
    link.symlink_to(folder)
    with pytest.raises(SDCError, match="not a folder"):
        opened(link)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(SDCError, match="belongs to another user"):
        opened(folder)


@pytest.mark.parametrize(
    "manifest",
    ["", "[]", "{}", '{"format": 1, "digest": "x", "files": {"a": "../0.npy"}}', '{"format": 2}', "\xff"],
)
def test_a_broken_manifest_is_refused(shared: SharedArrays, tmp_path: Path, manifest: str) -> None:
    folder = written(shared, tmp_path / "data")
    (folder / "manifest.json").write_bytes(manifest.encode("latin-1"))
    with pytest.raises(SDCError, match=r"manifest\.json"):
        opened(folder)


def test_a_pickle_in_place_of_an_array_is_not_loaded(shared: SharedArrays, tmp_path: Path) -> None:
    folder = written(shared, tmp_path / "data")
    with (folder / "0.npy").open("wb") as stream:
        np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(SDCError, match="cannot be read"):
        opened(folder)
    (folder / "0.npy").write_bytes(pickle.dumps([1]))
    with pytest.raises(SDCError, match="cannot be read"):
        opened(folder)


def test_only_plain_arrays_are_shared() -> None:
    with pytest.raises(SDCError, match="'a' has type object"):
        SharedArrays({"a": np.array(["x", None], dtype=object)})
    with pytest.raises(SDCError, match="'a' must be a numpy array, not list"):
        SharedArrays({"a": [1, 2]})  # type: ignore[dict-item]
    with pytest.raises(SDCError, match="named by text"):
        SharedArrays({1: np.arange(2)})  # type: ignore[dict-item]
    with pytest.raises(KeyError, match="did you mean 'codes'"):
        SharedArrays({"codes": np.arange(2)})["code"]


def test_no_room_is_an_error_and_leaves_nothing(
    shared: SharedArrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(SDCError, match=r"No space left.*TMPDIR"):
        written(shared, tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []


# --------------------------------------------------------------------------- what a crash leaves behind

CRASH = (
    "import os, pickle, numpy as np\n"
    "from sdc_problems._sharing.arrays import SharedArrays\n"
    "shared = SharedArrays({'a': np.arange(9)})\n"
    "pickle.dumps(shared)\n"
    "print(shared.folder.parent, flush=True)\n"
)


def test_folders_of_crashed_processes_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    crashed = Path(run(CRASH + "os._exit(1)", TMPDIR=str(tmp_path)).stdout.strip())
    assert (crashed / "0" / "manifest.json").is_file()
    (tmp_path / "sdc-problems-notes-of-mine").mkdir()
    (tmp_path / "sdc-problems-1-2-file").write_text("not a folder")
    assert sweep() == 1
    assert not crashed.exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_next_process_sweeps(tmp_path: Path) -> None:
    crashed = Path(run(CRASH + "os._exit(1)", TMPDIR=str(tmp_path)).stdout.strip())
    assert crashed.is_dir()
    assert run(CRASH, TMPDIR=str(tmp_path)).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_folders_of_living_processes_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", CRASH + "input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as living:
        folder = Path(living.stdout.readline().strip())
        assert sweep() == 0
        # Seen from where its number means nothing (another container), its lock still tells.
        monkeypatch.setattr(folders, "_runs", lambda pid, token: False)
        if os.name == "posix":
            assert sweep() == 0
        assert folder.is_dir()
        living.communicate("\n", timeout=60)
    assert not folder.exists()


@posix
def test_a_number_used_again_is_not_the_same_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"sdc-problems-{os.getpid()}-123-abc").mkdir()
    assert sweep() == 1


def test_an_emptied_temporary_folder_is_made_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders.STATE, "root", None)
    first = SharedArrays({"a": np.arange(3)})
    pickle.dumps(first)
    folders.remove_own(first.folder.parent, os.getpid())
    second = SharedArrays({"a": np.arange(4)})
    assert pickle.loads(pickle.dumps(second)) is second
    assert pickle.loads(pickle.dumps(first)) is first
    assert first.folder.is_dir()


# --------------------------------------------------------------------------- digests, text, inline


@given(arrays_of.arrays(arrays_of.scalar_dtypes(), arrays_of.array_shapes(min_dims=0, min_side=0, max_side=4)))
def test_round_trip_of_every_plain_type(array: np.ndarray) -> None:
    shared = SharedArrays({"a": array})
    with tempfile.TemporaryDirectory() as folder:
        back = opened(written(SharedArrays({"a": array}), Path(folder) / "x"))
        assert back["a"].shape == array.shape
        assert back["a"].dtype == array.dtype
        assert back["a"].tobytes() == np.ascontiguousarray(array).tobytes()
        assert back == shared


def test_the_digest_sees_names_types_shapes_and_bytes() -> None:
    a = np.arange(6, dtype=np.int32)
    variants = [{"a": a}, {"b": a}, {"a": a.reshape(2, 3)}, {"a": a.view(np.uint32)}, {"a": a + 1}, {"a": a, "b": a}]
    assert len({digest_of(v) for v in variants}) == len(variants)
    assert digest_of({"a": a.astype(">i4")}) == digest_of({"a": a})
    assert digest_of({"x": a, "y": a + 1}) == digest_of({"y": a + 1, "x": a})
    assert digest_of({"a": np.asfortranarray(a.reshape(2, 3))}) == digest_of({"a": a.reshape(2, 3)})
    assert SharedArrays({"a": a}) != "a"


@given(st.lists(st.text(st.characters())))
def test_strings_are_packed_as_bytes(strings: list[str]) -> None:
    data, offsets = pack_strings(strings)
    assert data.dtype == np.uint8
    assert unpack_strings(data, offsets) == strings


def test_small_aggregates_travel_inside_the_pickle() -> None:
    shared = SharedArrays({"a": np.arange(3)}, inline_up_to=1000)
    back = pickle.loads(pickle.dumps(shared))
    assert shared.folder is None
    assert back == shared
    assert not back["a"].flags.writeable
    assert pickle.loads(pickle.dumps(back)) == shared
    assert back.folder is None


def test_what_is_printed_holds_no_values() -> None:
    assert repr(SharedArrays({"a": np.array([123456, 7])})) == "SharedArrays(1 arrays, 16 bytes)"


def test_handles_need_neither_pandas_nor_pymoo() -> None:
    heavy = "('pandas', 'pymoo', 'scipy', 'numba')"
    code = f"import sys, sdc_problems._sharing.arrays\nprint([m for m in {heavy} if m in sys.modules])"
    assert run(code).stdout.strip() == "[]"
