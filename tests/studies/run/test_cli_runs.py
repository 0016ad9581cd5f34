"""Runs as a person meets them: killed, interrupted, on a full disk, twice at once, with changed files."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.errors import SDCFailure
from sdc_problems.parallel._process import ENDING
from sdc_problems.studies.cli import main
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.seal import seal_facts
from sdc_problems.studies.tasks import available_tasks

EXAMPLES = [task.example for task in available_tasks().values()]
Content = Callable[[Path], dict[str, Any]]
Sdc = Callable[..., Any]

STUDY = """
title = "matrices"
[data]
name = "people"
records = 300
[problem]
task = "pram"
columns = ["sex", "marital_status"]
objectives = ["il_categorical", "dr_categorical"]
evaluation = "expected"
[algorithm]
name = "NSGA2"
pop_size = 8
[termination]
generations = 40
[run]
seeds = [3, 1]
"""


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sdc_problems", *map(str, arguments)]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The uninterrupted run of STUDY."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "study.toml").write_text(STUDY)
    arguments = command("run", folder / "study.toml", "--out", folder / "run", "--no-pictures")
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "run"


def stored(folder: Path) -> int:
    """Generations in a run's database; 0 while there is none."""
    if not (folder / "run.sqlite").exists():
        return 0
    with Run(folder) as run:
        return sum(state.generations for state in run.progress())


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait for something that a process does."""
    while not condition():
        assert process.poll() is None, f"it ended too soon: {process.communicate()}"
        time.sleep(0.005)


def test_results_on_stdout_as_json(finished: Path, sdc: Sdc) -> None:
    status = json.loads(sdc("status", finished, "--json").out)
    assert status["schema"] == "sdc.run/1"
    assert status["status"] == "finished"
    assert [s["seed"] for s in status["seeds"]] == [3, 1]
    assert all(s["generations"] == 40 for s in status["seeds"])
    assert {"id", "il_categorical", "dr_categorical", "feasible"} == set(status["front"][0])
    text = sdc("status", finished).out
    assert status["front"][0]["id"] in text
    lines = (finished / "front.csv").read_text().splitlines()
    assert lines[0] == "id,seed,il_categorical,dr_categorical,meets_requirements"
    assert len(lines) == len(status["front"]) + 1


def test_killed_and_resumed_is_uninterrupted(
    study: Path, finished: Path, tmp_path: Path, content: Content, sdc: Sdc
) -> None:
    folder = tmp_path / "killed"
    arguments: tuple[object, ...] = ("run", study, "--out", folder, "--no-pictures")
    for least in (1, 45):
        with subprocess.Popen(command(*arguments), text=True, stdout=-1, stderr=-1) as process:
            until(lambda: stored(folder) >= least, process)  # noqa: B023 -- called before the loop goes on
            process.kill()
        assert stored(folder) < 80
        arguments = ("resume", folder, "--no-pictures")
    sdc(*arguments, "--workers", 2)
    assert content(folder) == content(finished)
    assert (folder / "front.csv").read_bytes() == (finished / "front.csv").read_bytes()


# 2: each seed in a process of its own; 4: two more processes for the candidates of each
@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_any_number_of_workers_gives_the_same_bytes(
    workers: int, study: Path, finished: Path, tmp_path: Path, content: Content, sdc: Sdc
) -> None:
    folder = tmp_path / "run"
    sdc("run", study, "--out", folder, "--workers", workers, "--no-pictures")
    assert content(folder) == content(finished)


@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_ctrl_c_stores_and_says_how_to_go_on(
    workers: int, number: int, study: Path, finished: Path, tmp_path: Path, content: Content, sdc: Sdc
) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen(
        command("run", study, "--out", folder, "--workers", workers), text=True, stdout=-1, stderr=-1
    ) as process:
        until(lambda: stored(folder) >= 2, process)
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"sdc resume {folder}" in messages
    assert "Traceback" not in messages
    sdc("resume", folder, "--no-pictures")
    assert content(folder) == content(finished)


def test_ctrl_c_before_there_is_a_run_says_so(
    study: Path, tmp_path: Path, sdc: Sdc, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sdc_problems.studies.run.runner.start", pressed)
    folder = tmp_path / "run"
    assert "before anything was stored" in sdc("run", study, "--out", folder, code=130).err
    assert not folder.exists()


@pytest.mark.parametrize("begun", [False, True])
def test_a_run_that_fails_leaves_no_empty_folder_in_the_way(
    begun: bool, study: Path, tmp_path: Path, sdc: Sdc, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdc_problems.studies.run import runner

    def failing(folder: Path, **options: Any) -> None:
        if begun:
            runner_work(folder, **options)
        raise SDCFailure("no such scheduler")

    runner_work = runner.work
    study.write_text(STUDY.replace("generations = 40", "generations = 2"))
    monkeypatch.setattr(runner, "work", failing)
    folder = tmp_path / "run"
    assert "no such scheduler" in sdc("run", study, "--out", folder, "--no-pictures", code=1).err
    assert folder.exists() == begun


def test_ctrl_c_twice_says_how_to_go_on(
    finished: Path, tmp_path: Path, sdc: Sdc, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    monkeypatch.setattr("sdc_problems.studies.run.runner.work", pressed)
    assert f"sdc resume {folder}" in sdc("resume", folder, code=130).err


def test_seed_processes_end_with_a_killed_run(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    text = STUDY.replace("generations = 40", "generations = 100000")
    study.write_text(text)
    with subprocess.Popen(
        command("run", study, "--out", folder, "--workers", 2), text=True, stdout=-1, stderr=-1
    ) as process:
        until(lambda: stored(folder) >= 2, process)
        process.kill()
        process.communicate(timeout=60)  # the seed processes hold these pipes: they end when the last of them has
    before = stored(folder)
    assert stored(folder) == before


def test_a_second_process_is_refused_and_the_first_goes_on(study: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    study.write_text(STUDY.replace("generations = 40", "generations = 100000"))
    with subprocess.Popen(command("run", study, "--out", folder), text=True, stdout=-1, stderr=-1) as process:
        until(lambda: stored(folder) >= 1, process)
        refused = sdc("resume", folder, code=1)
        assert f"another process (process {process.pid}) is working on" in refused.err
        now = stored(folder)
        until(lambda: stored(folder) > now, process)
        assert json.loads(sdc("status", folder, "--json").out)["status"] == "working"
        process.kill()
        process.wait()
        status = json.loads(sdc("status", folder, "--json").out)
        assert status["status"] == "unfinished"
        assert [seed["status"] for seed in status["seeds"]] == ["stopped", "waiting"]


def test_an_existing_folder_is_not_touched(study: Path, finished: Path, content: Content, sdc: Sdc) -> None:
    before = content(finished)
    done = sdc("run", study, "--out", finished, code=2)
    assert "already exists" in done.err
    assert content(finished) == before


def test_a_changed_study_is_refused(finished: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "study.toml").write_text(STUDY.replace("pop_size = 8", "pop_size = 9"))
    done = sdc("resume", folder, code=2)
    assert "study.toml" in done.err
    assert "algorithm.pop_size was 8, is 9" in done.err
    (folder / "study.toml").write_text("# workers are free to change\n" + STUDY + "workers = 2\n")
    sdc("resume", folder, "--no-pictures")


def test_a_finished_run_goes_on_with_new_limits_and_seeds(
    finished: Path, tmp_path: Path, content: Content, sdc: Sdc
) -> None:
    longer = STUDY.replace("generations = 40", "generations = 55").replace("[3, 1]", "[3, 1, 8]")
    (tmp_path / "study.toml").write_text(longer)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "longer", "--no-pictures")
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / "study.toml").write_text(longer + "[require]\nil_categorical = {max = 50.0}\n")
    sdc("resume", folder, "--no-pictures")
    assert content(folder) == content(tmp_path / "longer")
    with Run(folder) as run:
        assert run.study["require"] == {"il_categorical": {"max": 50.0}}
        assert run.study["termination"] == {"generations": 55}
    (folder / "study.toml").write_text(STUDY)
    assert "no longer has seed 8" in sdc("resume", folder, code=2).err
    (folder / "study.toml").write_text(longer.replace("55", "50"))
    assert "now ends seed 3 after generation 50, but more generations are stored" in sdc("resume", folder, code=2).err
    (folder / "study.toml").write_text(longer)
    sdc("resume", folder, "--no-pictures")
    assert content(folder) == content(tmp_path / "longer")


def test_a_study_file_as_large_as_none_is_refused(finished: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    os.truncate(folder / "study.toml", 17 << 30)  # a hole: it takes no room
    assert "more than 10,000,000 bytes" in sdc("resume", folder, code=2).err


def test_changed_data_is_refused(tmp_path: Path, sdc: Sdc) -> None:
    rows = [f"{20 + i % 40},{1000 + 37 * i % 900},{i % 3}" for i in range(60)]
    (tmp_path / "mine.csv").write_text("age,income,ill\n" + "\n".join(rows) + "\n")
    (tmp_path / "study.toml").write_text(
        '[data]\nfile = "mine.csv"\nquasi_identifiers = ["age", "income"]\n[problem]\ntask = "gomm"\nk = 3\n'
        '[algorithm]\nname = "NSGA2"\npop_size = 4\n[termination]\ngenerations = 3\n'
    )
    folder = tmp_path / "run"
    sdc("run", tmp_path / "study.toml", "--out", folder, "--no-pictures")
    (tmp_path / "mine.csv").rename(tmp_path / "moved.csv")
    assert "mine.csv" in sdc("resume", folder, code=2).err
    sdc("resume", folder, "--data", tmp_path / "moved.csv", "--no-pictures")
    changed = (tmp_path / "moved.csv").read_text().replace("20,", "21,", 1)
    (tmp_path / "mine.csv").write_text(changed)
    done = sdc("resume", folder, code=2)
    assert "the data of" in done.err
    assert "changed after the run began" in done.err
    assert "60 records then, 60 now" in done.err


def test_a_newer_major_version_is_refused(finished: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute("UPDATE meta SET value = '[2, 0]' WHERE key = 'format'")
    db.commit()
    db.close()
    for arguments in (("resume", folder), ("status", folder), ("plot", folder)):
        assert "newer version of sdc-problems" in sdc(*arguments, code=2).err


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("UPDATE generations SET arrays = (SELECT arrays FROM generations WHERE seed = 3 AND generation = 9)"
         " WHERE seed = 3", "seed 3, generation 1: the stored values do not have the digest"),
        ("UPDATE generations SET chain = replace(chain, '0', '1') WHERE seed = 1 AND generation = 40",
         "seed 1, generation 40: the stored values do not have the digest"),
        ("DELETE FROM generations WHERE seed = 3 AND generation > 30",
         "seed 3: its last generation, state or ending differs from what was stored"),
        ("UPDATE baselines SET arrays = (SELECT arrays FROM baselines LIMIT 1)", "the baselines differ from"),
        ("UPDATE meta SET value = json_set(value, '$.objectives[0].sense', 'max') WHERE key = 'problem'",
         "its data, study, objectives, versions or sessions differ from what was stored"),
        ("UPDATE meta SET value = json_set(value, '$.records', 6000) WHERE key = 'data'", "its data, study"),
        ("UPDATE meta SET value = '[1, 0]' WHERE key = 'format'", "it has format 1.0, but contains parts"),
    ],
)  # fmt: skip
def test_an_edited_run_is_refused(statement: str, where: str, finished: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder, out = tmp_path / "run", tmp_path / "released.csv"
    shutil.copytree(finished, folder)
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute(statement)
    db.commit()
    db.close()
    released = ("release", folder, "--solution", "3-0", "--out", out)
    for arguments in (("status", folder), ("status", folder, "--json"), ("resume", folder), released):
        said = sdc(*arguments, code=2)
        assert where in said.err
        assert not said.out
    assert not out.exists()


@pytest.mark.parametrize(
    ("place", "value", "what"),
    [("problem", "$.objectives[0].sense", "objective 1 was"), ("data", "$.records", "records was 30000, is 300")],
)
def test_made_up_facts_with_seals_made_anew_are_found_out(
    place: str, value: str, what: str, finished: Path, tmp_path: Path, sdc: Sdc
) -> None:
    folder, out = tmp_path / "run", tmp_path / "released.csv"
    shutil.copytree(finished, folder)
    before = json.loads(sdc("status", folder, "--json").out)["fingerprint"]
    assert f"fingerprint {before}" in sdc("status", folder, "--fingerprint", before[:16]).out
    db = sqlite3.connect(folder / "run.sqlite")
    (said,) = db.execute("SELECT json_extract(value, ?) FROM meta WHERE key = ?", (value, place)).fetchone()
    other = 30_000 if place == "data" else {"min": "max", "max": "min"}[said]
    db.execute("UPDATE meta SET value = json_set(value, ?, ?) WHERE key = ?", (value, other, place))
    seal_facts(db)
    db.commit()
    db.close()
    assert before not in sdc("status", folder).out  # by itself it cannot tell
    assert (
        "this is another run, or the run was continued or edited since"
        in sdc("status", folder, "--fingerprint", before, code=2).err
    )
    page = tmp_path / "page.html"
    release = ("release", folder, "--solution", "3-0", "--out", out)
    for arguments in (("resume", folder), release, ("report", folder, "--out", page), ("explore", folder)):
        assert what in sdc(*arguments, code=2).err
    assert not out.exists()
    assert not page.exists()
    assert "takes 8 to 64" in sdc("status", folder, "--fingerprint", "mine", code=2).err


def test_other_versions_are_said(finished: Path, tmp_path: Path, sdc: Sdc) -> None:
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    db = sqlite3.connect(folder / "run.sqlite")
    db.execute("UPDATE meta SET value = json_set(value, '$.pymoo', '0.6.0') WHERE key = 'versions'")
    seal_facts(db)
    db.commit()
    db.close()
    assert "pymoo 0.6.0, now" in sdc("resume", folder, "--no-pictures").err


def test_nothing_feasible_is_exit_code_3(study: Path, tmp_path: Path, sdc: Sdc) -> None:
    study.write_text(
        STUDY.replace("generations = 40", "generations = 2") + "[require]\ndr_categorical = {max = -1.0}\n"
    )
    done = sdc("run", study, "--out", tmp_path / "run", "--no-pictures", code=3)
    assert "nothing feasible" in done.err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pop_size", "popsize", "no key 'popsize'; did you mean 'pop_size'?"),
        ('"NSGA2"', '"NSGAIII"', "algorithm.name 'NSGAIII' is unknown; did you mean 'NSGA"),
        ('"pram"', '"prma"', "did you mean 'pram'?"),
        ('"pram"', "{a = 1}", "task {'a': 1} is unknown"),
        ('"pram"', "[1]", "task [1] is unknown"),
        ('"expected"', '"exact"', "problem.evaluation: input should be 'sampled' or 'expected'"),
        ('["sex", ', '["sexe", ', "did you mean 'sex'?"),
        ('["sex", ', '["age", ', "'age' is numeric"),
        ("generations", "generation", "did you mean 'generations'?"),
        ("[run]", "[runs]", "no key 'runs'; did you mean 'run'?"),
        ("title =", "title", "is not TOML"),
    ],
)
def test_an_invalid_study_is_exit_code_2(old: str, new: str, says: str, study: Path, tmp_path: Path, sdc: Sdc) -> None:
    study.write_text(STUDY.replace(old, new))
    assert says in sdc("run", study, "--out", tmp_path / "run", code=2).err
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_said_to_be_finished(finished: Path, sdc: Sdc) -> None:
    assert "every seed is finished" in sdc("resume", finished, "--no-pictures").err


def test_a_mistyped_command_or_folder_is_told_the_nearest(finished: Path, sdc: Sdc) -> None:
    assert "did you mean 'run'?" in sdc("status", finished.with_name("runn"), code=2).err
    assert "no command 'rum'; did you mean 'run'?" in sdc("rum", code=2).err


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are POSIX's")
def test_a_folder_that_cannot_be_written(
    finished: Path, tmp_path: Path, nobody: Callable[[Path], AbstractContextManager[None]]
) -> None:
    from sdc_problems.studies.run.runner import work
    from sdc_problems.studies.store.folder import create_folder

    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    work(folder)  # imports everything, so that it can be done as a user who may not read this interpreter
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with nobody(tmp_path):
        with pytest.raises(SDCFailure, match="needs a folder that it can write to"):
            work(folder)
        with Run(folder) as run:
            assert run.finished
            assert len(run.front())
        with pytest.raises(SDCFailure, match="cannot make a run folder"):
            create_folder(folder / "new", STUDY, {}, [1])


@pytest.fixture(scope="module")
def begin() -> Callable[..., BaseProcess]:
    """``begin("resume", folder)``: a command in a fork of a process that has imported all it needs."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["sdc_problems.studies.run.runner", "numba", "pandas", "pymoo.optimize", "scipy.stats"]
    )

    def started(*arguments: object) -> BaseProcess:
        process = context.Process(target=main)
        with pytest.MonkeyPatch.context() as patch:  # the child takes over sys.argv as it is now
            patch.setattr(sys, "argv", ["sdc", *map(str, arguments), "--no-pictures"])
            process.start()
        return process

    return started


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_thirty_kills_at_random_moments(
    example: Path, tmp_path: Path, content: Content, begin: Callable[..., BaseProcess]
) -> None:
    """Each task, killed thirty times: while it starts, replays, measures or writes."""

    def ended(process: BaseProcess, limit: float) -> bool:
        process.join(limit)
        assert process.exitcode in (None, 0, 3)
        return process.exitcode is not None

    study = tmp_path / "study.toml"
    text = re.sub(r"\[termination\][^\[]*", "[termination]\ngenerations = 60\n\n", example.read_text())
    study.write_text(re.sub(r"seeds = \d+", "seeds = [5, 2]", text))
    since = time.perf_counter()
    assert ended(begin("run", study, "--out", tmp_path / "whole"), 600)
    longest = time.perf_counter() - since
    moments = random.Random(7)
    folder = tmp_path / "killed"
    kills = 0
    while kills < 30:
        before = stored(folder)
        process = begin("resume", folder) if folder.exists() else begin("run", study, "--out", folder)
        if moments.random() < 0.8:  # most kills come after new generations, the others at any moment
            while process.is_alive() and stored(folder) == before:
                time.sleep(0.002)
            delay = moments.uniform(0, longest / 30)
        else:
            delay = moments.uniform(0, longest / 2)
        if ended(process, delay):
            shutil.rmtree(folder)  # it came to its end before the kill: once more from the beginning
        else:
            process.kill()
            process.join()
            kills += 1
    assert ended(begin("resume", folder) if folder.exists() else begin("run", study, "--out", folder), 600)
    assert content(folder) == content(tmp_path / "whole")
    assert (folder / "front.csv").read_bytes() == (tmp_path / "whole" / "front.csv").read_bytes()
