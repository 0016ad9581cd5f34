"""A task of another package: found by its entry point, and as good as ours in every command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.study.schema import json_schema
from sdc_problems.studies.tasks import available_tasks, find_task
from sdc_problems.studies.tasks._registry import BUILT_IN

EXAMPLES = Path(__file__).parents[3] / "examples"

BLANKING = '''
"""A task: which quasi-identifiers to blank out."""
import dataclasses
from pathlib import Path

from sdc_problems.studies.release.guarantees import all_records, at_least, smallest_class
from sdc_problems.studies.report.picture_types import Bars, Block, Blocks, Line, Lines
from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.studies.tasks import Task


def guarantees(problem, x, frame):
    columns = list(problem.data.quasi_identifiers)
    k = problem.figures(x)["k"]
    found = smallest_class(frame, columns)
    return [all_records(problem, frame), at_least("k", columns, k, found, "as many look alike")]


def pictures(problem, x):
    blanked = problem.decode(x)
    kept = tuple(name for name in problem.data.quasi_identifiers if name not in blanked)
    sides = (Block(kept, 0.0), Block(blanked, 100.0))
    steps = (Line("blanked", (0.0, float(len(blanked)))),)
    counts = (len(kept), len(blanked))
    return [
        Blocks(title="Columns", blocks=sides, items="together", value="blanked", unit="%"),
        Bars(title="How many", labels=("kept", "blanked"), values=counts, across="columns", up="number"),
        Lines(title="Steps", places=(0.0, 1.0), lines=steps, across="step", up="n"),
    ]


TASK = Task(
    name="blank-columns",
    title="Which columns to blank out",
    problem="column_suppression:ColumnSuppressionProblem",
    operators=("column_suppression",),
    example=Path(__file__).with_name("blanking.toml"),
    guarantees=guarantees,
    pictures=pictures,
    original=lambda problem: {"blanked": 0.0},
    searches=(
        Search(
            "BlankingGA", "NSGA-II under another name", "pymoo.algorithms.moo.nsga2:NSGA2", ("pop_size",),
            arguments={"pop_size": Argument(int, "Size of the population.")},
        ),
    ),
)
WRONG = 3
BARE = dataclasses.replace(TASK, name="bare", problem="nowhere:Problem", searches=())
'''

STUDY = """
[data]
name = "people"
records = 300
[problem]
task = "blank-columns"
[algorithm]
name = "NSGA2"
pop_size = 12
[termination]
generations = 3
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copy(EXAMPLES / "column_suppression.py", folder)
    (folder / "blanking.py").write_text(BLANKING)
    (folder / "blanking.toml").write_text(STUDY)
    info = folder / "blanking-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blanking\nVersion: 1.0\n")
    entries = [
        "blank-columns = blanking:TASK",
        "broken = nowhere:TASK",
        "odd = blanking:WRONG",
        "bare = blanking:BARE",
        "pbg = blanking:TASK",
    ]
    (info / "entry_points.txt").write_text("\n".join(["[sdc_problems.tasks]", *entries, ""]))
    return folder


def sdc(plugin: Path, folder: Path, *arguments: str) -> str:
    """Run a command in a process of its own that has the package on its path."""
    environment = {**os.environ, "PYTHONPATH": str(plugin), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-m", "sdc_problems", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_another_package_adds_a_task(plugin: Path, tmp_path: Path) -> None:
    schema = json.loads(sdc(plugin, tmp_path, "schema"))
    assert schema["$defs"]["problem-blank-columns"]["properties"]["objectives"]["default"] == ["k", "blanked"]
    assert "algorithm-BlankingGA" in schema["$defs"]

    (tmp_path / "study.toml").write_text(sdc(plugin, tmp_path, "schema", "--example", "blank-columns"))
    sdc(plugin, tmp_path, "run", "study.toml", "--out", "run", "--no-pictures")
    front = pd.read_csv(tmp_path / "run" / "front.csv")
    best = str(front.sort_values("k").iloc[-1, 0])

    keep = ("--keep", "hours,wage,savings")
    said = sdc(plugin, tmp_path, "release", "run", "--solution", best, "--out", "out.csv", "--json", *keep)
    promises = {p["name"]: p for p in json.loads(said)["guarantees_checked_in_the_file"]}
    assert promises["k"]["holds"]
    released = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert released.groupby(promises["k"]["columns"]).size().min() == promises["k"]["found"] == front["k"].max()

    (picture,) = [line for line in sdc(plugin, tmp_path, "plot", "run", "--solution", best, "--format", "svg").split()
                  if f"solution-{best}" in line]  # fmt: skip
    drawn = Path(picture).read_text()
    assert all(word in drawn for word in ("Columns", "blanked", "How many", "Steps"))

    sdc(plugin, tmp_path, "report", "run", "--out", "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(f'"type":"{kind}"' in page for kind in ("blocks", "bars", "lines"))


def test_its_own_search_is_for_it_alone(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace('"NSGA2"', '"BlankingGA"'))
    sdc(plugin, tmp_path, "run", "study.toml", "--out", "run", "--no-pictures")
    wrong = STUDY.replace('"NSGA2"', '"BlankingGA"').replace('"blank-columns"', '"pbg"')
    (tmp_path / "wrong.toml").write_text(wrong)
    with pytest.raises(AssertionError, match="algorithm BlankingGA is for the task blank-columns, not for pbg"):
        sdc(plugin, tmp_path, "run", "wrong.toml", "--out", "wrong", "--no-pictures")


def test_a_broken_package_is_named_in_one_sentence(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(plugin))
    for module in ("blanking", "column_suppression"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    assert find_task("blank-columns").title == "Which columns to blank out"
    assert find_task("pbg").problem_class.__name__ == "PBGProblem", "a built-in name is not taken over"
    with pytest.raises(SDCError, match=r"^task 'broken' of blanking cannot be loaded: No module named 'nowhere'$"):
        find_task("broken")
    with pytest.raises(SDCError, match=r"^entry point 'odd' of blanking must lead to a Task of that name, not to 3$"):
        find_task("odd")
    with pytest.warns(UserWarning, match="cannot be loaded|must lead"):
        names = list(available_tasks())
    assert names == [*BUILT_IN, "bare", "blank-columns"]


@pytest.mark.filterwarnings("ignore:task 'broken'", "ignore:entry point 'odd'")
def test_the_schema_leaves_out_what_cannot_be_loaded(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(plugin))
    with pytest.warns(UserWarning, match="the problem of task 'bare' cannot be imported: No module named 'nowhere'"):
        schema = json_schema()
    assert "problem-bare" not in schema["$defs"]
    assert "problem-blank-columns" in schema["$defs"]
