"""Every instance keeps its contract, and the catalogue finds them by name."""

from __future__ import annotations

import copy
import json
import pickle
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.suite import Instance, freeze, instance, instances, prove, suites
from sdc_problems.suite._catalogue import FOLDER, read_index
from sdc_problems.testing import InstanceContract

QUICK = 6  # instances that the fast suite measures; the slow one measures all


def ids() -> list[str]:
    return [Path(path).name.removesuffix(".toml") for path in read_index(FOLDER)]


def sampled() -> list[object]:
    """Name the instances; all but every few of them are slow."""
    names, step = ids(), max(1, len(ids()) // QUICK)
    return [pytest.param(name, marks=[] if i % step == 0 else [pytest.mark.slow]) for i, name in enumerate(names)]


@pytest.mark.parametrize("name", sampled())
class TestInstances(InstanceContract):
    @pytest.fixture
    def instance(self, name: str) -> Instance:  # type: ignore[override]
        found = instance(name)
        if not found.available:
            pytest.skip(f"{found.id} needs the file of {found.table['name']}")
        return found


def test_the_index_lists_every_file_there_is() -> None:
    listed = set(read_index(FOLDER))
    assert listed == {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.toml")}  # not the results' plan
    beside = {path.name for path in FOLDER.rglob("*.csv")} - {"table.csv"}
    assert beside == {f"{name}{end}" for name in ids() for end in (".csv", ".rows.csv")}


def test_instances_are_found_by_name() -> None:
    found = instance("pbg-people-k-glm")
    assert found == instance("pbg-people-k-glm@1")
    assert found.id == "pbg-people-k-glm@1"
    assert found in instances("core")
    assert found in instances()
    assert set(suites()) >= {"core"}
    with pytest.raises(SDCError, match=r"unknown instance 'pbg-peple-k-glm@1'; did you mean 'pbg-people-k-glm@1'"):
        instance("pbg-peple-k-glm@1")
    with pytest.raises(SDCError, match="unknown suite 'cor'; did you mean 'core'"):
        instances("cor")


def test_core_needs_no_download() -> None:
    assert all(found.available for found in instances("core"))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Files of one instance in a folder of their own."""
    for path in (FOLDER / "core").glob("pbg-people-k-glm@1.*"):
        shutil.copy(path, tmp_path)
    return tmp_path / "pbg-people-k-glm@1.toml"


def test_freezing_again_gives_the_same_files(copied: Path) -> None:
    before = {path.name: path.read_bytes() for path in copied.parent.iterdir()}
    found = freeze(copied)
    after = {path.name: path.read_bytes() for path in copied.parent.iterdir()}
    index = json.loads(after.pop("index.json"))
    assert after == before
    assert index["instances"] == {copied.name: found.digest}


def test_a_front_is_proven_again(copied: Path) -> None:
    prove(Instance(copied))
    copied.write_text(copied.read_text().replace('"budget"', '"free"'))
    with pytest.raises(SDCError, match="the front that was found now differs"):
        prove(Instance(copied))


@pytest.mark.slow
@pytest.mark.parametrize("name", ids())
def test_fronts_of_the_core_are_proven_again(name: str) -> None:
    found = instance(name)
    if found.available and found.known == "exact" and not found.stored:
        prove(found)


def test_spaces_are_said_as_people_read_them() -> None:
    small, large = instance("pbg-people-k-glm"), instance("micro-people5000-il-k")
    assert (small.space, small.space_in_words) == (17_920, "17,920")
    assert large.space == np.inf
    assert re.fullmatch(r"about 10\^12,\d{3}", large.space_in_words)
    middle = instance("micro-firms66-il-k")
    assert middle.space == 10.0 ** int(middle.space_in_words.removeprefix("about 10^"))


def test_a_problem_with_other_objectives_has_no_known_front() -> None:
    problem = instance("pbg-people-k-glm").problem(threads=1)
    assert problem.threads == 1
    assert problem.pareto_front() is not None
    assert problem.with_objectives(["k", "suppressed"]).pareto_front() is None
    again = pickle.loads(pickle.dumps(problem))
    assert (again.pareto_front() == problem.pareto_front()).all()
    assert (copy.deepcopy(problem).pareto_front() == problem.pareto_front()).all()


def test_what_was_changed_is_refused(copied: Path) -> None:
    front = copied.with_name("pbg-people-k-glm@1.csv")
    front.write_text(front.read_text().replace("40000", "39999"))
    with pytest.raises(SDCError, match=re.escape("pbg-people-k-glm@1.csv is not the file that its instance was")):
        _ = Instance(copied).front
    front.unlink()
    with pytest.raises(SDCError, match="is missing beside"):
        _ = Instance(copied).front
    text = copied.read_text()
    copied.write_text(text.replace('table = "', 'table = "0'))
    with pytest.raises(SDCError, match="the table is not the one that the instance was frozen with"):
        Instance(copied).problem()
    copied.write_text(text.partition("[frozen]")[0])
    with pytest.raises(
        SDCError, match=r"lacks frozen: `sdc benchmark freeze` \(in Python sdc_problems\.suite\.freeze\) writes it"
    ):
        Instance(copied)
    other = copied.with_name("another@1.toml")
    other.write_text(text)
    with pytest.raises(SDCError, match=r"must stand in a file pbg-people-k-glm@1\.toml"):
        Instance(other)


def test_the_first_example_of_the_guide_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "suite.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
    assert names["found"].n_points == len(names["found"].front) == len(names["problem"].pareto_front())
