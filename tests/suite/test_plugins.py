"""Instances and searches of another package: found by their entry points, and as good as ours in every command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sdc_problems import SDCError
from sdc_problems.datasets import people
from sdc_problems.studies.cli import cli
from sdc_problems.studies.searches.catalogue import available_searches, find_search
from sdc_problems.suite import Instance, freeze, instance, instances, suites
from sdc_problems.suite._catalogue import forget, known_ids
from sdc_problems.testing import InstanceContract

EXAMPLES = Path(__file__).parents[2] / "examples"

PACKAGE = '''
"""An instance folder and a search of another package."""
from pathlib import Path

from sdc_problems.studies.searches.search import Search
from sdc_problems.studies.study.options import Argument
from sdc_problems.suite import InstanceFolder

INSTANCES = InstanceFolder("blanking", Path(__file__).parent / "instances")
SEARCH = Search(
    "OtherNSGA2", "NSGA-II of another package", "pymoo.algorithms.moo.nsga2:NSGA2", ("pop_size",),
    arguments={"pop_size": Argument(int, "Size of the population.")}, defaults={"pop_size": 10},
)
'''

INSTANCE = """
id = "blank-people@1"
suite = "blanking"
task = "blank-columns"
title = "Columns to blank out"
what_is_hard = "Nothing: there are 16 solutions."
problem = "column_suppression:ColumnSuppressionProblem"

[table]
file = "people.csv"
quasi_identifiers = ["sex", "income", "marital_status", "workclass"]

[options]
objectives = ["k", "blanked"]

[budgets]
short = 10
long = 20

[proof]
how = "every solution is measured"
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Package on the path of this process, with an instance that is frozen."""
    folder = tmp_path_factory.mktemp("blanking")
    shutil.copy(EXAMPLES / "column_suppression.py", folder)
    (folder / "blanking.py").write_text(PACKAGE)
    (folder / "instances").mkdir()
    people(200).data.frame()[["sex", "income", "marital_status", "workclass"]].to_csv(
        folder / "instances" / "people.csv", index=False
    )
    (folder / "instances" / "blank-people@1.toml").write_text(INSTANCE)
    info = folder / "blanking-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: blanking\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[sdc_problems.instances]\nblanking = blanking:INSTANCES\nbroken = nowhere:INSTANCES\n"
        "[sdc_problems.searches]\nOtherNSGA2 = blanking:SEARCH\nNSGA2 = blanking:SEARCH\nodd = blanking:INSTANCES\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        for module in ("blanking", "column_suppression"):
            patch.delitem(sys.modules, module, raising=False)
        freeze(folder / "instances" / "blank-people@1.toml")
        yield folder
    for module in ("blanking", "column_suppression"):
        sys.modules.pop(module, None)
    forget()


@pytest.mark.filterwarnings("ignore:instancefolder 'broken'")
class TestInstanceOfAnotherPackage(InstanceContract):
    @pytest.fixture
    def instance(self, package: Path) -> Instance:  # type: ignore[override]
        forget()
        return instance("blank-people@1")


def test_another_package_adds_instances(package: Path) -> None:
    forget()
    with pytest.warns(UserWarning, match=r"^instancefolder 'broken' of blanking cannot be loaded: No module named"):
        found = instance("blank-people")
    assert found.id == "blank-people@1"
    assert instances("blanking") == [found]
    assert "blanking" in suites()
    assert found not in instances("core")
    assert found.space == 16
    assert found.known == "exact"


def test_another_package_adds_searches(package: Path) -> None:
    with pytest.warns(UserWarning, match="entry point 'odd' of blanking must lead to a Search of that name"):
        known = available_searches()
    assert known["OtherNSGA2"].tasks is None
    assert known["NSGA2"].title != known["OtherNSGA2"].title, "a name of ours is not taken over"
    with pytest.warns(UserWarning, match="'odd'"):
        assert find_search("OtherNSGA2").load().__name__ == "NSGA2"


def test_an_instance_file_that_lacks_something(package: Path, tmp_path: Path) -> None:
    path = tmp_path / "blank-people@1.toml"
    shutil.copy(package / "instances" / "people.csv", tmp_path)
    for text, message in (
        (INSTANCE.replace("[proof]", "[proof]\nby = 'faith'"), "proof.by must be one of"),
        (INSTANCE.replace("column_suppression:Column", "column_suppression:Colum"), "cannot be imported"),
        (INSTANCE.replace("column_suppression:ColumnSuppressionProblem", "json:loads"), "is not a problem"),
        (INSTANCE.replace("[options]", "[options]\ndepth = 3"), "options of the problem: .*depth"),
        (
            INSTANCE.replace("[options]", "[hierarchies.sex]\nlevels = 3\n[options]"),
            "hierarchy of 'sex' must be one of",
        ),
        ("id = ", "is not a TOML file"),
    ):
        path.write_text(text)
        with pytest.raises(SDCError, match=message):
            freeze(path)
    path.write_text(INSTANCE.partition("title")[0])
    with pytest.raises(SDCError, match="lacks title, what_is_hard, problem"):
        Instance(path)


@pytest.fixture
def own(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Folder of an instance of which no package knows, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))  # the commands add the current folder
    shutil.copytree(package / "instances", tmp_path / "own")
    text = INSTANCE.replace('suite = "blanking"', 'suite = "mine"').replace("blank-people@1", "my-blanking@1")
    for path in (tmp_path / "own").glob("blank-people*"):
        path.unlink()
    (tmp_path / "own" / "index.json").unlink()
    (tmp_path / "own" / "my-blanking@1.toml").write_text(text)
    yield tmp_path / "own"
    forget()


def benchmark(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["benchmark", *map(str, arguments)], catch_exceptions=False)


@pytest.mark.filterwarnings("ignore:instancefolder 'broken'")
def test_commands_take_the_file_or_the_folder_of_ones_own(own: Path) -> None:
    file = "own/my-blanking@1.toml"
    run = ("run", "--algorithm", "random", "--budget", "short", "--out", "runs")
    with pytest.raises(SDCError, match="lacks frozen: `sdc benchmark freeze`"):
        benchmark("show", file)
    with pytest.raises(
        SDCError, match=r"the folder 'own' has no frozen instance .*sdc benchmark freeze 'own/<id>.toml'"
    ):
        benchmark(*run, "--instance", "own")
    with pytest.raises(SDCError, match=r"there is no file 'own/my-blankin@1.toml'; did you mean 'my-blanking@1.toml'"):
        benchmark("prove", "--instance", "own/my-blankin@1.toml")
    benchmark("freeze", file)
    forget()
    assert "16 different solutions" in benchmark("show", file).stdout
    assert "the same" in benchmark("prove", "--instance", "own").stdout
    assert benchmark(*run, "--instance", "own", "--seeds", 3, "--workers", 1).exit_code == 0
    forget()
    with pytest.raises(SDCError, match=r"unknown instance 'my-blanking@1'.*by its file.*--instance"):
        benchmark("table", "runs", "--budget", "short")
    assert "my-blanking@1 (exact)" in benchmark("table", "runs", "--budget", "short", "--instance", file).stdout
    assert benchmark("plot", "runs", "--budget", "short", "--instance", "own").exit_code == 0
    forget()
    assert "unknown instance" in benchmark("check", "runs").stdout
    assert "unknown instance" not in benchmark("check", "runs", "--instance", file).stdout
    assert benchmark("page", "runs", "--budget", "short", "--instance", "own").exit_code == 0
    (own / "my-blanking@1.toml").write_text((own / "my-blanking@1.toml").read_text() + "# one line more\n")
    with pytest.raises(SDCError, match="was changed after it was frozen: freeze it again"):
        benchmark("show", file)


def test_an_id_that_is_taken_is_refused(own: Path) -> None:
    theirs = instance("pbg-people10-k-glm@1").path
    for path in theirs.parent.glob(f"{theirs.stem}*"):
        shutil.copy(path, own)
    assert known_ids(f"own/{theirs.name}") == [theirs.stem]
    (own / theirs.name).write_text((own / theirs.name).read_text() + "# one line more\n")
    with pytest.raises(SDCError, match="another instance has the id 'pbg-people10-k-glm@1'; choose another id"):
        known_ids(f"own/{theirs.name}")


@pytest.mark.slow
def test_processes_know_instances_of_ones_own(own: Path) -> None:
    benchmark("freeze", "own/my-blanking@1.toml")
    done = benchmark("run", "--instance", "own", "--algorithm", "random", "--out", "runs", "--seeds", 3, "--workers", 2)
    assert done.exit_code == 0, done.output
    assert len(list(Path("runs").rglob("*.npz"))) == 3


@pytest.mark.slow
def test_commands_know_them(package: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONWARNINGS": "ignore"}

    def sdc(*arguments: str) -> str:
        command = [sys.executable, "-m", "sdc_problems", "benchmark", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    (listed,) = json.loads(sdc("list", "--suite", "blanking", "--json"))["instances"]
    assert listed["id"] == "blank-people@1"
    sdc("run", "--suite", "blanking", "--algorithm", "OtherNSGA2", "--seeds", "2", "--budget", "long", "--out", "runs")
    assert "OtherNSGA2" in sdc("table", "runs", "--budget", "long")
