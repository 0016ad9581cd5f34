"""Decision record: what it says comes from the run, and a release takes it along or refuses."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sdc_problems import SDCError
from sdc_problems.studies.release import NeedsReason, release
from sdc_problems.studies.report.decision import FILE, decision, decision_page, read_decision, to_text
from sdc_problems.studies.run.runner import work
from sdc_problems.studies.run.start import start
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.study.schema import Study

STUDY = """
title = "Who <b>decides</b>"
[data]
name = "people"
records = 200
keep = ["hours"]
[problem]
task = "pbg"
objectives = ["k", "glm"]
[require]
k = {min = 2}
[algorithm]
name = "NSGA2"
pop_size = 6
start = "baselines"
[termination]
generations = 3
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decision")
    study = Study.from_text(STUDY, folder=folder)
    work(folder / "run", built=(study, start(study, STUDY, folder / "run")))
    return folder / "run"


@pytest.fixture
def run(made: Path) -> Any:
    (made / FILE).unlink(missing_ok=True)
    with Run(made) as opened:
        yield opened


def two(run: Run) -> tuple[str, str]:
    """The safest solution of the front, and the next."""
    front = run.front()
    order = front.values[:, 0].argsort()[::-1]
    return front.ids[order[0]], front.ids[order[1]]


def keep(run: Run, ident: str, **said: Any) -> dict[str, Any]:
    record = decision(run, ident, **{"why": "k is large enough", **said})
    (run.path / FILE).write_text(to_text(record))
    return record


def test_the_record_says_what_the_run_does(run: Run) -> None:
    chosen, other = two(run)
    record = keep(run, chosen, rejected={other: "k < 20"}, notes="board\n<script>", by="A. Steward")
    values = dict(zip(("k", "glm"), run.solution(chosen).values[0], strict=True))
    assert record["measures"] == values
    assert record["requirements"] == [{"requirement": "k >= 2", "value": values["k"], "met": values["k"] >= 2}]
    assert read_decision(run) == record
    page = decision_page(record, run)
    for text in ("Who &lt;b&gt;decides", "k is large enough", "k &lt; 20", "&lt;script&gt;", "A. Steward", ">met<"):
        assert text in page
    assert "<script" not in page


def test_a_release_takes_the_record_along(run: Run, tmp_path: Path) -> None:
    chosen, other = two(run)
    keep(run, chosen, rejected={other: "too little"})
    done = release(run.path, chosen, tmp_path / "out.csv")
    assert done.decision is not None
    entry = json.loads(done.certificate.read_text())["decision"]
    assert entry["sha256"] == hashlib.sha256(done.decision.read_bytes()).hexdigest()
    assert (entry["why"], entry["rejected"]) == ("k is large enough", [other])

    with pytest.raises(NeedsReason, match=f"decision record of the run is for solution {chosen}, not {other}"):
        release(run.path, other, tmp_path / "out.csv", overwrite=True)
    done = release(run.path, other, tmp_path / "out.csv", overwrite=True, override="they changed their mind")
    assert "decision" not in done.content
    assert "decision record" in done.content["override"]["broken"][0]
    assert not (tmp_path / "out.csv.decision.html").exists()  # the page of what was replaced goes


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"measures": {"k": 99.0, "glm": 0.0}}, "contradicts the run"),
        ({"run_fingerprint": "0" * 64}, "contradicts the run"),
        ({"solution": "1-99999"}, "is not valid"),
        ({"why": " "}, "needs the reason"),
        ({"why": 3}, "cannot be read"),
        ({"rejected": [{}]}, "cannot be read"),
    ],
)
def test_a_record_that_does_not_fit_is_refused(run: Run, tmp_path: Path, change: dict[str, Any], error: str) -> None:
    chosen, _ = two(run)
    (run.path / FILE).write_text(json.dumps({**keep(run, chosen), **change}))
    with pytest.raises(SDCError, match=error):
        release(run.path, chosen, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_record_needs_a_reason_and_short_texts(run: Run) -> None:
    chosen, other = two(run)
    for said in ({"why": ""}, {"notes": "x" * 5001}, {"rejected": {chosen: ""}}, {"rejected": {other: "x" * 2001}}):
        with pytest.raises(SDCError, match=re.compile("decision record|both chosen")):
            keep(run, chosen, **said)
