"""Plan of the shipped results: what is run, in which order, and what may be chosen of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sdc_problems import SDCError
from sdc_problems.studies.benchmark.algorithms import OWN, find_algorithm, named
from sdc_problems.studies.benchmark.shipped import planned
from sdc_problems.studies.cli import cli
from sdc_problems.suite import instance, instances

PBG, LARGE = "pbg-people-k-glm@1", "micro-people5000-il-k@1"


def test_plan_has_the_algorithms_and_seeds_that_it_promises() -> None:
    seeds: dict[str, set[int]] = {}
    found = planned(instances("core"))
    assert len(set(found)) == len(found)
    for job in found:
        assert job.budget == instance(job.instance).budgets["long"]
        seeds.setdefault(job.algorithm, set()).add(job.seed)
    many = {"NSGA2", "NSGA2-integer", "random", "SMSEMOA", "MOEAD", "PBGEA", "PBGSearch", "GOMM"}
    few = {"NSGA3", "SPEA2", "AGEMOEA"} | {name for name in OWN if name not in ("random", "NSGA2-integer")}
    assert {name: len(numbers) for name, numbers in seeds.items()} == dict.fromkeys(many, 25) | dict.fromkeys(few, 5)
    instances_of = {name: {job.instance for job in found if job.algorithm == name} for name in many | few}
    assert len(instances_of["NSGA2"]) == len(instances_of["nevergrad-ES"]) == len(instances("core"))
    assert len(instances_of["Optuna-NSGA2"]) == len(instances("core")) - 2
    assert {job.algorithm for job in found if job.instance == LARGE} == (many | few) - {
        "PBGEA", "PBGSearch", "GOMM", "Optuna-NSGA2",
    }  # fmt: skip


def test_what_is_interrupted_has_as_many_seeds_of_each() -> None:
    found = [job for job in planned([instance(PBG)]) if job.algorithm in ("NSGA2", "random", "PBGEA")]
    assert [job.seed for job in found] == sorted(job.seed for job in found)


def test_some_of_it_can_be_chosen() -> None:
    found = planned([instance(PBG)], ["SPEA2"])
    assert [(job.algorithm, job.instance, job.seed) for job in found] == [("SPEA2", PBG, seed) for seed in range(1, 6)]
    with pytest.raises(SDCError, match="no results of 'SPEA3' come with the suite; did you mean 'SPEA2'"):
        planned([instance(PBG)], ["SPEA3"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--shipped", "--seeds", "3"], "--shipped has its own seeds and budgets"),
        (["--shipped", "--budget", "short"], "--shipped has its own seeds and budgets"),
        ([], "name one of `sdc benchmark list --algorithms` by --algorithm"),
    ],
)
def test_command_says_what_does_not_go_together(tmp_path: Path, options: list[str], says: str) -> None:
    run = CliRunner().invoke(cli, ["benchmark", "run", *options, "--out", str(tmp_path)])
    assert run.exit_code != 0
    assert says in str(run.exception) + run.output


def test_algorithms_with_a_name_are_listed_and_found() -> None:
    printed = CliRunner().invoke(cli, ["benchmark", "list", "--algorithms"], catch_exceptions=False).stdout
    for row in named():
        assert row["name"] in printed
        if row["name"] not in OWN:
            assert find_algorithm(row["name"])
    names = [line.split()[0] for line in printed.splitlines()]
    assert not {"GA", "SteadyStateGP", "RNSGA2"} & set(names)  # one objective; points of a person's own
