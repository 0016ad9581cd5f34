"""Baselines cost a share of the search's budget at most, and what is left out is said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sdc_problems import PBGProblem, load
from sdc_problems.evaluators.lattice import LatticeEngine
from sdc_problems.studies.run.baselines import affordable, baselines_of
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.study.schema import Study

STUDY = """
[data]
name = "people"
[problem]
task = "pbg"
[algorithm]
name = "NSGA2"
pop_size = 10
[termination]
generations = 2
"""


@pytest.mark.parametrize(
    ("limits", "own", "expected"),
    [
        ({"evaluations": 1000}, {}, True),
        ({"evaluations": 999}, {}, False),
        ({"generations": 10}, {"pop_size": 100}, True),
        ({"generations": 9}, {"pop_size": 100}, False),
        ({"generations": 10, "evaluations": 500}, {"pop_size": 100}, False),
        ({"seconds": 20.0}, {}, True),
        ({"seconds": 19.0}, {}, False),
        ({"seconds": 19.0, "evaluations": 10**6}, {}, False),
        ({"seconds": 10**6, "evaluations": 999}, {}, False),
        ({"stalled": 5}, {"pop_size": 100}, False),
        ({"stalled": 5}, {"max_evaluations": 1000}, True),
    ],
)
def test_a_tenth_of_whatever_limits_the_search(limits: dict[str, Any], own: dict[str, Any], expected: bool) -> None:
    assert affordable(Limits(**limits), SimpleNamespace(**own), 100, 2.0) == expected


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the enumerations that are begun."""
    begun: list[str] = []
    for name in ("evaluate_all", "every_step"):
        inner = getattr(LatticeEngine, name)

        def watched(self: Any, progress: Any = None, *, name: str = name, inner: Any = inner) -> Any:
            begun.append(name)
            return inner(self, progress)

        monkeypatch.setattr(LatticeEngine, name, watched)
    return begun


def test_a_short_search_is_not_preceded_by_an_enumeration(walks: list[str], sdc: Any, tmp_path: Any) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    said = sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures").err
    assert walks == []
    words = " ".join(said.split())
    assert "the best solution for each objective is not among the baselines" in words
    assert "17,920 candidates" in words
    assert "--exact-baselines" in words
    assert "ExactFront" in words
    assert names(tmp_path / "run") == NEEDING_NO_SEARCH


def test_they_are_found_whatever_it_costs_if_asked_for(walks: list[str], sdc: Any, tmp_path: Any) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    study = tmp_path / "study.toml"
    said = sdc("run", study, "--out", tmp_path / "run", "--no-pictures", "--exact-baselines").err
    assert walks == ["every_step"]
    assert "not among the baselines" not in " ".join(said.split())
    assert names(tmp_path / "run") == [*NEEDING_NO_SEARCH, "best k", "best glm"]


def test_a_search_that_takes_longer_than_enumeration_says_so(
    sdc: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    for seconds, said in ((1.0, True), (100.0, False)):
        monkeypatch.setattr(LatticeEngine, "estimated_seconds", lambda self, seconds=seconds: seconds)
        out = sdc("run", tmp_path / "study.toml", "--out", tmp_path / f"run{said}", "--no-pictures").err
        assert ("solutions takes about 1 s, no longer than this search" in " ".join(out.split())) == said
    exact = STUDY[: STUDY.index("[algorithm]")] + '[algorithm]\nname = "ExactFront"\n'
    (tmp_path / "exact.toml").write_text(exact)
    monkeypatch.setattr(LatticeEngine, "estimated_seconds", lambda self: 1.0)
    out = sdc("run", tmp_path / "exact.toml", "--out", tmp_path / "exact", "--no-pictures").err
    assert "no longer than" not in " ".join(out.split())


NEEDING_NO_SEARCH = [
    "nothing generalised", "everything generalised", *(f"Datafly, k = {k}" for k in (2, 5, 10, 50)),
]  # fmt: skip


def names(folder: Any) -> list[str]:
    """Names of a run's baselines."""
    from sdc_problems.studies.store.reader import Run

    with Run(folder) as run:
        return [ident.removeprefix("baseline-") for ident in run.baselines().ids]


def test_a_long_search_has_the_exact_ones(walks: list[str], tmp_path: Any) -> None:
    plan = Study.from_text(STUDY.replace("generations = 2", "generations = 20_000"), folder=tmp_path).build().plan
    found, note = baselines_of(plan)
    assert walks == ["every_step"]
    assert note == ""
    assert [*found][-2:] == ["best k", "best glm"]
    assert [*baselines_of(plan, exact=False)[0]] == NEEDING_NO_SEARCH


def test_a_first_population_of_baselines_enumerates_nothing(walks: list[str], tmp_path: Any) -> None:
    Study.from_text(STUDY.replace("pop_size", 'start = "baselines"\npop_size'), folder=tmp_path).build()
    people = load("people")
    assert [*PBGProblem(people.data, people.hierarchies).baselines()] == NEEDING_NO_SEARCH
    assert walks == []
