"""The document that the page reads: what the run says, and nothing that a run folder should keep."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from sdc_problems import PBGProblem
from sdc_problems.errors import SDCError
from sdc_problems.studies.cli import cli
from sdc_problems.studies.report import picture_types
from sdc_problems.studies.report.small_counts import LEAST
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import (
    BASELINE,
    FRONT,
    ORIGINAL,
    SHORTLIST,
    Source,
    check_shortlist,
    overview,
    read_shortlist,
)
from sdc_problems.studies.web.report import escaped_json, policy, render, report, spread_evenly
from tests.studies.web.test_repeated import put_back

NUMBERED = """
[data]
file = "numbered.csv"
quasi_identifiers = ["age"]
[data.hierarchies.age]
suppression = true
[problem]
task = "pbg"
[algorithm]
name = "NSGA2"
pop_size = 4
[termination]
generations = 2
"""


@pytest.fixture(scope="module")
def source(pbg: Path) -> Source:
    return Source.open(pbg)


def embedded(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, flags=re.DOTALL)
    assert found is not None
    document = json.loads(found[1])
    if "parts" in document:
        document["details"] = put_back(document["details"], document.pop("parts"))
    return document


def test_points_are_those_of_the_run(source: Source) -> None:
    points = overview([source])["points"]
    lengths = {len(column) for column in points.values()}
    assert len(lengths) == 1
    by_id = dict(zip(points["id"], range(lengths.pop()), strict=True))
    everything = source.run.solutions()
    for ident, values in zip(everything.ids, everything.values, strict=True):
        np.testing.assert_allclose(points["values"][by_id[ident]], values, rtol=1e-8)
    front = [i for i, kind in zip(points["id"], points["kind"], strict=True) if kind == FRONT]
    assert sorted(front) == sorted(source.run.front().ids)
    assert points["kind"].count(BASELINE) == len(source.run.baselines())
    assert points["kind"].count(ORIGINAL) == 1


def test_dominated_points_are_thinned_evenly_and_the_front_never(source: Source) -> None:
    few = overview([source], points=10)["points"]
    assert few["kind"].count(0) == 10
    assert few["kind"].count(FRONT) == len(source.run.front())
    assert overview([source], points=0)["points"]["kind"].count(0) == 0


def test_histories_and_bands_are_those_of_the_run(source: Source) -> None:
    run = overview([source])["runs"][0]
    history = source.run.history(1)
    assert run["history"][0]["evaluated"] == history.evaluated.tolist()
    np.testing.assert_allclose(run["history"][0]["hypervolume"], history.hypervolume, atol=1e-12)
    assert run["band"]["seeds"] == 2
    assert [state["seed"] for state in run["states"]] == [1, 2]


def counts_in(value: Any) -> list[int]:
    """Every count of a distribution, wherever it is."""
    if isinstance(value, dict):
        own = [c for c in value.get("counts", []) if c is not None] + ([value["rest"]] if "rest" in value else [])
        return own + [c for key, part in value.items() if key != "counts" for c in counts_in(part)]
    return [c for part in value for c in counts_in(part)] if isinstance(value, list) else []


def test_every_bar_stands_for_at_least_five_records(pbg: Path, gomm: Path) -> None:
    for folder in (pbg, gomm):
        document = embedded(report([Source.open(folder)]))
        counts = counts_in(document["runs"]) + counts_in(document["details"])
        assert len(counts) > 50
        assert all(c == 0 or c >= LEAST for c in counts)


def test_no_record_no_genome_and_no_path_is_in_the_document(gomm: Path, workbench: Any) -> None:
    html = report([Source.open(gomm)])
    document = embedded(html)
    lines = (workbench.root / "numbers.csv").read_text().splitlines()[1:]
    incomes = {line.split(",")[2] for line in lines}
    numbers = {str(number) for number in re.findall(r"[\d.]+", json.dumps(document["runs"][0]["attributes"]))}
    assert len(incomes & numbers) <= 3  # a round edge may happen to be a value
    assert str(workbench.root) not in html
    assert "X" not in json.dumps(sorted(document["points"]))
    assert set(document["points"]) == {"id", "run", "seed", "generation", "kind", "feasible", "found", "values"}


def test_what_leaves_as_it_was_is_said_before_a_release(source: Source) -> None:
    problem = source.problem
    assert isinstance(problem, PBGProblem)
    said = overview([source])["runs"][0]["leaving"]
    assert said[0] == "Unchanged: hours."
    ident = "baseline-everything generalised"
    released = problem.release(source.run.solution(ident).X[0])  # type: ignore[index]
    hours = released["hours"].value_counts()
    together = released.value_counts([*problem.data.quasi_identifiers, "hours"])
    alone, both = int((hours == 1).sum()), int((together == 1).sum())
    assert 0 < alone <= both

    def many(count: int) -> str:
        return "fewer than 5" if 0 < count < LEAST else f"{count:,}"

    line = source.detail(ident)["leaving"][0]
    assert f"In these columns, {many(alone)} of {len(released)} records are unique;" in line
    assert line.endswith(f", {many(both)} are.")
    fine = source.detail("baseline-nothing generalised")["leaving"][0]
    untouched = problem.release(source.run.solution("baseline-nothing generalised").X[0])  # type: ignore[index]
    counts = untouched.value_counts([*problem.data.quasi_identifiers, "hours"])
    assert fine.endswith(f", {int((counts == 1).sum())} are.")
    assert int((counts == 1).sum()) > 100


def test_a_column_that_would_be_refused_is_said_on_the_page(workbench: Any) -> None:
    table = workbench.root / "numbered.csv"
    table.write_text("patient,age\n" + "".join(f"P{i},{20 + i % 4}\n" for i in range(200)))
    folder = workbench.run("numbered", NUMBERED)
    with_number = Source.open(folder)
    (line,) = overview([with_number])["runs"][0]["leaving"]
    assert line.startswith("This would not be released: column 'patient' has no role")
    assert with_number.detail(with_number.run.front().ids[0])["leaving"] == [line]


def test_a_solution_is_described_as_the_problem_describes_it(source: Source) -> None:
    ident = source.run.front().ids[1]
    detail = source.detail(ident)
    solution = source.run.solution(ident)
    assert source.problem is not None
    assert solution.X is not None
    assert detail["sentences"] == list(source.problem.describe(solution.X[0]))
    (picture,) = detail["pictures"]
    levels = [attribute["level"] for attribute in picture["attributes"]]
    assert levels == solution.X[0, : len(levels)].tolist()
    suppressed = source.problem.figures(solution.X[0])["suppressed"]
    assert ("are suppressed" in picture["caption"]) == (suppressed > 0)
    for neighbour in picture["neighbours"]:
        x = solution.X[0].copy()
        x[neighbour["attribute"]] += neighbour["step"]
        expected = source.problem.natural(source.problem.evaluate(x))
        np.testing.assert_allclose(neighbour["values"], expected, rtol=1e-8)
    facts = {fact["label"]: fact["value"] for fact in detail["facts"]}
    released = source.problem.release(solution.X[0])
    assert facts["Records released"] == len(released)
    sizes = released.groupby(list(source.problem.data.quasi_identifiers), observed=True).size()
    assert facts["Smallest group"] == sizes.min()


def test_groups_are_pictured_with_their_losses(gomm: Path) -> None:
    source = Source.open(gomm)
    ident = source.run.front().ids[0]
    (picture,) = source.detail(ident)["pictures"]
    solution = source.run.solution(ident)
    assert source.problem is not None
    assert solution.X is not None
    grouping = source.problem.decode(solution.X[0])
    assert [tuple(block["items"]) for block in picture["blocks"]] == list(grouping.groups)
    losses = source.problem.group_losses(solution.X[0])  # type: ignore[attr-defined]
    np.testing.assert_allclose([block["value"] for block in picture["blocks"]], losses, rtol=1e-5)


def test_runs_with_other_objectives_do_not_fit_into_one_map(source: Source, gomm: Path) -> None:
    with pytest.raises(SDCError, match="only runs with the same objectives"):
        overview([source, Source.open(gomm)])
    with pytest.raises(SDCError, match="no run"):
        overview([])


def test_a_run_that_has_not_begun_can_be_shown(workbench: Any, pbg_text: Callable[..., str]) -> None:
    folder = workbench.begin("not-begun", pbg_text())
    document = embedded(report([Source.open(folder)]))
    assert document["points"]["kind"] == [ORIGINAL]
    assert document["runs"][0]["history"] == []


def test_text_cannot_leave_the_data_block() -> None:
    nasty = "</script><!--<script>\u2028\u2029\ud800&"
    html = render({"schema": "sdc-explorer/1", "x": nasty})
    assert embedded(html)["x"] == nasty.replace("\ud800", "?")
    assert html.count("</script>") == 2
    assert "<!--<" not in escaped_json(nasty)


def test_the_policy_names_exactly_the_page_s_own_script_and_style() -> None:
    html = render({})
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert found is not None
    assert found[1] == policy(html)
    assert "default-src 'none'" in found[1]
    assert "unsafe" not in found[1]
    for tag in ("script", "style"):
        block = re.search(rf"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
        assert block is not None
        digest = base64.b64encode(hashlib.sha256(block[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in found[1]
    assert re.search(r"\s(src|href)=", html.split("<style>")[0]) is None


def test_the_page_is_small() -> None:
    assert len(render({}).encode()) < 500_000


def test_details_are_spread_along_the_front(source: Source) -> None:
    front = source.run.front()
    picked = spread_evenly(front, 4)
    assert len(set(picked.tolist())) == 4
    for column in front.F.T:
        assert column.argmin() in picked or column[picked].min() == column.min()
    assert spread_evenly(front, 10_000).tolist() == list(range(len(front)))


def test_asked_and_shortlisted_solutions_are_included(pbg: Path) -> None:
    source = Source.open(pbg)
    asked, listed = source.run.solutions().ids[3], source.run.solutions().ids[5]
    (pbg / SHORTLIST).write_text(json.dumps([{"id": listed, "note": "n"}, {"id": "9-9", "note": ""}]))
    try:
        document = embedded(report([Source.open(pbg)], details=0, solutions=[asked]))
    finally:
        (pbg / SHORTLIST).unlink()
    assert {f"0:{asked}", f"0:{listed}"} <= set(document["details"])
    assert document["runs"][0]["shortlist"][0] == {"id": listed, "note": "n"}
    with pytest.raises(SDCError, match="none of the solutions"):
        report([source], details=0, solutions=["77-1"])


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "[1]",
        '[{"id": 1, "note": ""}]',
        '[{"id": "1-1"}]',
        '[{"id": "1-1", "note": "", "x": 1}]',
        "nonsense",
        "\udc80",
    ],
)
def test_a_shortlist_from_a_stranger_is_checked(pbg: Path, content: str) -> None:
    (pbg / SHORTLIST).write_bytes(content.encode("utf-8", "surrogateescape"))
    try:
        with Run(pbg) as run:
            assert read_shortlist(run) == []
    finally:
        (pbg / SHORTLIST).unlink()


def test_a_shortlist_that_is_a_link_is_not_followed(pbg: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text('[{"id": "1-1", "note": "secret"}]')
    (pbg / SHORTLIST).symlink_to(tmp_path / "elsewhere.json")
    try:
        with Run(pbg) as run:
            assert read_shortlist(run) == []
    finally:
        (pbg / SHORTLIST).unlink()


def test_shortlists_are_bounded() -> None:
    with pytest.raises(SDCError, match="200 entries"):
        check_shortlist([{"id": "1-1", "note": ""}] * 201)
    with pytest.raises(SDCError, match=r"2,000 characters"):
        check_shortlist([{"id": "1-1", "note": "x" * 2001}])


def test_solutions_of_a_large_table_are_not_drawn(pbg: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_types, "MOST_RECORDS", 10)
    source = Source.open(pbg)
    assert source.problem is None
    assert "solutions are drawn of up to 10: write one by sdc release" in source.closed
    assert overview([source])["runs"]
    found = CliRunner().invoke(cli, ["plot", str(pbg), "--solution", source.run.solutions().ids[0]])
    assert isinstance(found.exception, SDCError)
    assert "no solution is drawn, because the table has" in str(found.exception)
