"""What is released: checked in the written file, whole or not at all, harmless whatever the names in it."""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, PRAMProblem, SDCError, load
from sdc_problems.errors import SDCFailure
from sdc_problems.studies.release import release
from sdc_problems.studies.release.csv_text import as_written, read_text, to_csv
from sdc_problems.studies.release.guarantees import smallest_class
from sdc_problems.studies.run.nodes import WALKED, measured_nodes, node_id, node_keys
from sdc_problems.studies.run.start import reopen
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.study.schema import Study
from sdc_problems.studies.tasks import available_tasks, find_task

Sdc = Callable[..., Any]

LONG = "n" * 10_000
HOSTILE = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "../../x", LONG, "\u202egnp.exe", "a\nb", "a,b;c\"d'"]

STUDY = """
[data]
file = "mine.csv"
quasi_identifiers = ["age", "town"]
sensitive = ["ill"]
identifiers = ["name"]
[data.hierarchies]
age = {intervals = [5, 10, 20]}
town = {suppression = true}
[problem]
task = "pbg"
max_suppression = 5
[algorithm]
name = "NSGA2"
pop_size = 6
start = "baselines"
[termination]
generations = 4
"""


@pytest.fixture
def run(tmp_path: Path, sdc: Sdc) -> Path:
    """A finished run on a table of two hundred people, made by hand."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(200)],
            "age": rng.integers(20, 60, 200),
            "town": rng.choice(["Olot", "Reus", "=1+1"], 200),
            "ill": rng.choice(["yes", "no"], 200),
        }
    )
    frame.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "study.toml").write_text(STUDY)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    return tmp_path / "run"


def best(run: Path, least: float) -> str:
    """A solution with at least that k."""
    with Run(run) as opened:
        front = opened.front()
    return front.ids[int(np.flatnonzero(front.values[:, 0] >= least)[0])]


def test_the_file_its_mapping_and_its_certificate(run: Path, tmp_path: Path, sdc: Sdc) -> None:
    said = sdc("release", run, "--solution", best(run, 5), "--out", tmp_path / "out.csv")
    assert "checked in the file: k" in said.out
    released = pd.read_csv(tmp_path / "out.csv", dtype=str)
    original = pd.read_csv(tmp_path / "mine.csv", dtype=str)
    assert list(released.columns) == ["age", "town", "ill"], "the direct identifier must not be in it"
    assert smallest_class(released, ["age", "town"]) >= 5
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["schema"] == "sdc.certificate/1"
    assert certificate["output"]["records"] == len(released)
    assert certificate["output"]["identifiers_left_out"] == ["name"]
    assert certificate["input"]["records"] == 200
    checked = {g["name"]: g for g in certificate["guarantees_checked_in_the_file"]}
    assert checked["k"]["found"] == smallest_class(released, ["age", "town"])
    assert checked["suppressed"]["found"] == 200 - len(released)
    assert checked["l"]["holds"]
    mapping = pd.read_csv(tmp_path / "out.csv.mapping.csv", dtype=str)
    mapping = mapping[mapping["column"] != "(rows seed)"]
    assert set(mapping["column"]) <= {"age", "town"}
    for column in set(mapping["column"]):
        part = mapping[mapping["column"] == column]
        assert part["records"].astype(int).sum() == 200
        counts = part.groupby("original")["records"].apply(lambda r: r.astype(int).sum())
        assert counts.to_dict() == original[column].value_counts().to_dict()
    lost = mapping[(mapping["column"] == mapping["column"].iloc[0]) & (mapping["released"] == "(suppressed)")]
    assert lost["records"].astype(int).sum() == 200 - len(released)
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "out.csv.mapping.csv").stat().st_mode) == 0o600


def test_a_file_goes_out_as_it_came_in(tmp_path: Path, sdc: Sdc) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "Größe": rng.integers(20, 60, 60) / 4,
            "Ort": rng.choice(["Köln", "Jülich"], 60),
            "wage": rng.integers(1, 9, 60) / 2,
        }
    )
    frame.to_csv(tmp_path / "mine.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    study = STUDY.replace('"age", "town"', '"Größe", "Ort"').replace("age =", '"Größe" =').replace("town =", "Ort =")
    study = study.replace('sensitive = ["ill"]', 'delimiter = ";"').replace('identifiers = ["name"]', 'decimal = ","')
    (tmp_path / "study.toml").write_text(study)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    with Run(tmp_path / "run") as opened:
        front = opened.front()
    kept = np.where(front.values[:, 0] >= 2, front.values[:, 1], np.inf)
    sdc("release", tmp_path / "run", "--solution", front.ids[int(kept.argmin())], "--out", tmp_path / "out.csv",
        "--suppressed", "star")  # fmt: skip
    pair = [tmp_path / "mine.csv", tmp_path / "out.csv", "--quasi-identifiers", "Größe,Ort", "--decimal", ","]
    assert "Measured: Größe (numeric, generalized)" in " ".join(sdc("evaluate", *pair).out.split())
    assert (tmp_path / "out.csv").read_bytes().startswith("\ufeffGröße;Ort;wage\n".encode())
    after = pd.read_csv(tmp_path / "out.csv", sep=";", decimal=",")
    assert after["wage"].isin(frame["wage"]).all()
    assert after["wage"].dtype == float
    assert set(after["Größe"]) - {"*"} <= {"[5,0; 10,0)", "[10,0; 15,0)", "[0,0; 10,0)", "[10,0; 20,0)", "[0,0; 20,0)"}
    assert after["Größe"].str.startswith("[").any()


def test_a_hierarchy_with_a_wrong_border_is_noted_by_all(tmp_path: Path, sdc: Sdc) -> None:
    """Ages shown as 0-19 that are 20: run says so, and release and evaluate measure the file."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(18, 60, 200), "town": rng.choice(["Olot", "Reus"], 200)})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    band = [f"{(age - 1) // 20 * 20}-{(age - 1) // 20 * 20 + 19}" for age in range(18, 60)]
    lines = [f"{age};{text};*" for age, text in zip(range(18, 60), band, strict=True)]
    (tmp_path / "age.csv").write_text("\n".join(lines))
    study = STUDY.replace("age = {intervals = [5, 10, 20]}", 'age = {file = "age.csv"}')
    study = study.replace('sensitive = ["ill"]\n', "").replace('identifiers = ["name"]\n', "")
    (tmp_path / "study.toml").write_text(study)
    said = sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    assert "note: the hierarchy 'age' shows '20' as '0-19', which does not hold it" in said.err
    with Run(tmp_path / "run") as opened:
        front = opened.front()
        levels = [opened.solution(name).X[0][0] for name in front.ids]
    chosen = next(i for i, level in enumerate(levels) if level == 1 and front.values[i, 0] >= 2)
    sdc(
        "release",
        tmp_path / "run",
        "--solution",
        front.ids[chosen],
        "--out",
        tmp_path / "out.csv",
        "--suppressed",
        "star",
    )
    measured = json.loads((tmp_path / "out.csv.certificate.json").read_text())["measured_in_the_file"]
    assert any("do not hold all their values" in note for note in measured["notes"])
    pair = [tmp_path / "mine.csv", tmp_path / "out.csv", "--quasi-identifiers", "age,town"]
    assert "do not hold all their values" in " ".join(sdc("evaluate", *pair).out.split())


def test_glm_is_the_same_in_release_and_evaluate(tmp_path: Path, sdc: Sdc) -> None:
    """Of a hierarchy with more leaves than values occur; the certificate carries what evaluate has to count."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 200), "town": rng.choice(["Olot", "Reus", "Vic"], 200)})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "hierarchies").mkdir()
    Hierarchy.intervals(range(120), [5, 10, 20, 60]).to_csv(tmp_path / "hierarchies" / "age.csv")
    changed = STUDY.replace("{intervals = [5, 10, 20]}", '{file = "hierarchies/age.csv"}')
    changed = changed.replace('sensitive = ["ill"]', "").replace('identifiers = ["name"]', "")
    changed = changed.replace('task = "pbg"', 'task = "pbg"\nobjectives = ["k", "glm", "glm_percent"]')
    (tmp_path / "study.toml").write_text(changed)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    with Run(tmp_path / "run") as opened:
        front = opened.front()
    k, _, percent = front.values.T
    middle = front.ids[int(np.flatnonzero((k > 1) & (percent > 5) & (percent < 90))[0])]
    out = tmp_path / "out.csv"
    sdc("release", tmp_path / "run", "--solution", middle, "--out", out, "--suppressed", "star")
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["leaf_counts"]["age"]["leaves"] == 120
    assert set(certificate["leaf_counts"]["age"]["labels"]) <= set(read_text(out)["age"])
    command = ("evaluate", tmp_path / "mine.csv", out, "--quasi-identifiers", "age,town", "--json")
    copy = tmp_path / "copy.csv"
    copy.write_bytes(out.read_bytes())
    for found in (
        certificate["measured_in_the_file"],
        json.loads(sdc(*command).out),
        json.loads(sdc(*command[:2], copy, *command[3:], "--hierarchies", tmp_path / "hierarchies").out),
    ):
        values = {m["name"]: m["value"] for m in found["measures"]}
        assert values["glm"] == pytest.approx(certificate["measures"]["glm"]["value"])
        assert values["glm_percent"] == pytest.approx(certificate["measures"]["glm_percent"]["value"])
    values = {m["name"]: m["value"] for m in json.loads(sdc(*command[:2], copy, *command[3:]).out)["measures"]}
    assert "glm" not in values
    assert values["glm_occurring_percent"] != pytest.approx(certificate["measures"]["glm_percent"]["value"], rel=1e-3)


def test_a_release_is_reproduced_byte_for_byte(run: Path, tmp_path: Path, sdc: Sdc) -> None:
    ident = best(run, 2)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        sdc("release", run, "--solution", ident, "--out", tmp_path / name / "out.csv", "--rows-seed", 7)
    for ending in ("", ".certificate.json", ".mapping.csv", ".rows.csv"):
        a, b = ((tmp_path / name / f"out.csv{ending}").read_bytes() for name in ("a", "b"))
        assert a == b


def test_a_broken_promise_releases_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.problems.generalization import PBGProblem

    honest = PBGProblem.coded_release

    def sloppy(self: Any, x: Any, **options: Any) -> pd.DataFrame:
        frame = honest(self, x, **options).astype({"age": object})
        frame.loc[0, "age"] = "33"
        return frame

    monkeypatch.setattr(PBGProblem, "coded_release", sloppy)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SDCFailure, match=r"does not keep its guarantees \(k: 1 where"):
        release(run, best(run, 5), tmp_path / "out.csv")
    assert sorted(tmp_path.iterdir()) == before


def test_a_release_measures_writes_and_reads_once(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one node of a lattice: the six measurements, three readings and four writings of old are one each."""
    from sdc_problems.evaluators.lattice import LatticeEngine
    from sdc_problems.problems.generalization import PBGProblem
    from sdc_problems.studies.release import _transaction, csv_text

    ident = "baseline-Datafly, k = 5"  # suppresses records, so that the file has fewer than the original
    counted: list[str] = []

    def count(owner: Any, name: str, what: str) -> None:
        honest = getattr(owner, name)

        def counting(*args: Any, **kwargs: Any) -> Any:
            counted.append(what)
            return honest(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    count(LatticeEngine, "figures", "measured")
    count(LatticeEngine, "evaluate", "measured")
    count(LatticeEngine, "every_step", "measured")
    count(PBGProblem, "baselines", "searched")
    count(PBGProblem, "coded_release", "made")
    count(csv_text, "_cells", "read")
    count(_transaction, "write_bytes", "written")
    for seed in ("drop", "star"):
        counted.clear()
        release(run, ident, tmp_path / f"{seed}.csv", suppressed=seed)
        assert sorted(counted) == ["made", "measured", "read", "written"]


def test_suppressed_records_stay_with_stars(run: Path, tmp_path: Path, sdc: Sdc, in_order: Any) -> None:
    with Run(run) as opened:
        baselines = opened.baselines()
    ident = "baseline-Datafly, k = 5"
    assert ident in baselines.ids
    seed = ("--rows-seed", 3)
    sdc("release", run, "--solution", ident, "--out", tmp_path / "drop.csv", *seed)
    sdc("release", run, "--solution", ident, "--out", tmp_path / "star.csv", "--suppressed", "star", *seed)
    dropped, starred = (in_order(tmp_path / f"{name}.csv", dtype=str) for name in ("drop", "star"))
    lost = (starred[["age", "town"]] == "*").all(axis=1)
    assert 0 < lost.sum() == 200 - len(dropped)
    assert starred[~lost].reset_index(drop=True).equals(dropped)
    assert (tmp_path / "drop.csv.mapping.csv").read_text() == (tmp_path / "star.csv.mapping.csv").read_text()
    columns = ("--quasi-identifiers", "age,town", "--sensitive", "ill", "--identifiers", "name")
    certificate = json.loads((tmp_path / "drop.csv.certificate.json").read_text())
    for name in ("star", "drop"):  # records that were left out are paired by the rows file
        said = sdc("evaluate", tmp_path / "mine.csv", tmp_path / f"{name}.csv", *columns, "--json")
        assert json.loads(said.out)["measures"] == certificate["measured_in_the_file"]["measures"]


def test_nothing_is_replaced_unasked(run: Path, tmp_path: Path, sdc: Sdc) -> None:
    ident = best(run, 2)
    (tmp_path / "out.csv").write_text("precious")
    assert "already exists" in sdc("release", run, "--solution", ident, "--out", tmp_path / "out.csv", code=2).err
    assert (tmp_path / "out.csv").read_text() == "precious"
    sdc("release", run, "--solution", ident, "--out", tmp_path / "out.csv", "--overwrite")
    assert (tmp_path / "out.csv").read_text() != "precious"
    assert "the original file" in sdc(
        "release", run, "--solution", ident, "--out", tmp_path / "mine.csv", "--overwrite", code=2
    ).err  # fmt: skip
    assert "no folder" in sdc("release", run, "--solution", ident, "--out", tmp_path / "no" / "out.csv", code=2).err


@pytest.mark.parametrize(
    ("ident", "says"),
    [("1-99999", "solutions so far"), ("7-1", "the seeds are 1"), ("x", "is like 1-17"), ("1-", "is like 1-17"),
     ("baseline-nothing", "did you mean 'baseline-nothing generalised'"), ("1-1; rm -rf /", "is like 1-17"),
     ("1-١", "is like 1-17"), ("1-" + "9" * 5000, "solutions so far"), ("9" * 5000 + "-1", "the seeds are 1")],
)  # fmt: skip
def test_an_unknown_solution_is_a_sentence(ident: str, says: str, run: Path, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match=says):
        release(run, ident, tmp_path / "out.csv")


def test_changed_data_cannot_be_released(run: Path, tmp_path: Path, sdc: Sdc) -> None:
    text = (tmp_path / "mine.csv").read_text()
    (tmp_path / "mine.csv").write_text(text.replace("Olot", "Vic", 1))
    said = sdc("release", run, "--solution", "1-0", "--out", tmp_path / "out.csv", code=2)
    assert "changed after the run began" in said.err or "cannot be built again" in said.err
    assert not (tmp_path / "out.csv").exists()


def test_the_formula_guard_is_optional_and_leaves_numbers_alone() -> None:
    frame = pd.DataFrame({"=x": ["=1+1", "+2", "-3", "@a", "\tb", "\rc", "fine"], "n": [-1.5, 2, 3, 4, 5, 6, 7]})
    plain = list(csv.reader(to_csv(frame).decode().splitlines()))
    assert plain[0] == ["=x", "n"]
    guarded = pd.read_csv(__import__("io").BytesIO(to_csv(frame, formula_guard=True)), dtype=str, keep_default_na=False)
    assert list(guarded.columns) == ["'=x", "n"]
    assert [v for v in guarded["'=x"] if not v.startswith("'")] == ["fine"]
    assert guarded["n"].tolist()[0] == "-1.5"
    assert list(frame.columns) == ["=x", "n"], "the caller's table is left alone"


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: [*HOSTILE, ""] for name in HOSTILE})
    path = tmp_path / "t.csv"
    path.write_bytes(to_csv(frame))
    pd.testing.assert_frame_equal(read_text(path).astype(object), frame.astype(object), check_dtype=False)


def test_hostile_names_are_harmless_everywhere(tmp_path: Path, sdc: Sdc) -> None:
    """Column names and categories that mean something to HTML, spreadsheets, shells, terminals and file systems."""
    rng = np.random.default_rng(1)
    names = HOSTILE[:5]
    values = np.array(
        ["<img src=x onerror=alert(1)>", "=1+1", "../../etc/passwd", "v" * 10_000, "\u202eabc", "\x1b[31mred"]
    )
    frame = pd.DataFrame({name: rng.choice(values, 60) for name in names})
    work = tmp_path / "work"
    work.mkdir()
    frame.to_csv(work / "mine.csv", index=False)
    quoted = ", ".join(json.dumps(name) for name in names)
    hierarchies = "\n".join(f"{json.dumps(name)} = {{suppression = true}}" for name in names[:4])
    (work / "study.toml").write_text(
        f'title = "$x^$ <b>=1</b> \\u202e {"t" * 150}"\n[data]\nfile = "mine.csv"\nquasi_identifiers = [{quoted}]\n'
        f"[data.hierarchies]\n{hierarchies}\n{json.dumps(names[4])} = {{suppression = true}}\n"
        '[problem]\ntask = "pbg"\n[algorithm]\nname = "NSGA2"\npop_size = 6\n[termination]\ngenerations = 2\n'
    )
    before = {p for p in tmp_path.rglob("*") if work not in p.parents}
    outputs = [sdc("run", work / "study.toml", "--out", work / "run")]
    ident = "baseline-everything generalised"
    outputs.append(sdc("status", work / "run"))
    outputs.append(sdc("plot", work / "run", "--solution", ident))
    outputs.append(sdc("release", work / "run", "--solution", ident, "--out", work / "out.csv", "--formula-guard"))
    for said in outputs:
        for text in (said.out, said.err):
            assert "\u202e" not in text
            assert "\x1b" not in text
            assert LONG not in text
    assert {p for p in tmp_path.rglob("*") if work not in p.parents} == before, "something was written outside"
    assert all(len(p.name) < 100 for p in work.rglob("*"))
    header = next(csv.reader((work / "out.csv").open(newline="")))
    assert header[1] == "'" + names[1]
    svg = (work / "run" / "pictures" / "ru-map.svg").read_text()
    assert "<script>" not in svg
    assert "<b>" not in svg


EXAMPLES = [task.example for task in available_tasks().values()]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_task_is_released_and_checked(example: Path, tmp_path: Path, sdc: Sdc) -> None:
    text = re.sub(r"\[termination\][^\[]*", "[termination]\ngenerations = 2\n\n", example.read_text())
    text = re.sub(r"\[require\][^\[]*", "", re.sub(r"seeds = \d+", "seeds = 1", text))
    (tmp_path / "study.toml").write_text(text)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "run", "--no-pictures")
    with Run(tmp_path / "run") as run:
        front = run.front()
        ks = [axis.name for axis in run.axes].index("k") if "k" in [axis.name for axis in run.axes] else None
        ident = front.ids[-1 if ks is None else int(np.argmax(front.values[:, ks]))]
    done = release(tmp_path / "run", ident, tmp_path / "out.csv")
    checked = done.content["guarantees_checked_in_the_file"]
    assert checked
    assert all(g["holds"] for g in checked)
    assert done.content["measured_in_the_file"]["schema"] == "sdc.verdict/2"
    assert done.content["what_was_done"]
    mapping = pd.read_csv(done.mapping, dtype=str, keep_default_na=False)
    random = mapping[mapping["column"] == "(seed)"]
    study, _ = Study.from_file(tmp_path / "study.toml")
    assert len(random) == find_task(study.task).seeded
    if len(random):
        seed = random["released"].iloc[0]
        assert seed not in done.certificate.read_text(), "the seed undoes the protection"
        again = release(tmp_path / "run", ident, tmp_path / "again.csv", seed=int(seed))
        other = release(tmp_path / "run", ident, tmp_path / "other.csv", new_draw=True)
        assert again.file.read_bytes() == done.file.read_bytes()
        assert other.file.read_bytes() != done.file.read_bytes()
        assert "--seed SEED" in done.content["reproduce"][1]


def test_a_value_that_moved_where_it_may_not_is_found() -> None:
    people = load("people")
    problem = PRAMProblem(people.data, columns=["sex", "income"])
    x = problem.encode({"sex": [[1, 0], [0.5, 0.5]], "income": [[1, 0], [0, 1]]})
    honest = as_written(problem.release(x, seed=1))
    assert all(g.holds for g in find_task("pram").guarantees(problem, x, honest))
    original = as_written(people.data.frame())
    for column, value, name in (
        ("sex", "male", "impossible moves"),  # from female, whose row keeps them
        ("income", "over 50k", "impossible moves"),
        ("income", "a fortune", "impossible moves"),
        ("age", "17", "changed elsewhere"),
    ):
        row = int(np.flatnonzero((original["sex"] == "female") & (original["income"] == "up to 50k"))[0])
        forged = honest.astype(object)
        forged.loc[row, column] = value
        assert [g.name for g in find_task("pram").guarantees(problem, x, forged) if not g.holds] == [name]
    assert [g.name for g in find_task("pram").guarantees(problem, x, honest.iloc[1:]) if not g.holds] == ["records"]


FRAMES = {
    "numbers": pd.DataFrame({"i": [1, -2, 3], "f": [0.1, float("nan"), 1e16], "g": np.float32([0.1, 2, 3e-9])}),
    "flags": pd.DataFrame({"b": [True, False, True], "n": pd.array([True, None, False], dtype="boolean")}),
    "nullable": pd.DataFrame({"i": pd.array([1, None, 3], dtype="Int64"),
                              "s": pd.array(["a", None, ""], dtype="string")}),
    "equal": pd.DataFrame({"e": pd.Series([1, True, 1.0, "1", None, False, 0, 1], dtype=object)}),
    "text": pd.DataFrame({"t": ["a,b", 'c"d', "e\nf"], "m": ["x", None, 3.0], "r": ["\r", "'", ""]}),
    "categories": pd.DataFrame({"c": pd.Categorical(["b", None, "a"], ["a", "b"]),
                                "d": pd.Categorical([1.0, 2.5, 1.0])}),
    "dates": pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2020-02-02", None]),
                           "t": pd.to_datetime(["2020-01-01 10:00", "2020-02-02 00:00", None])}),
    "spans": pd.DataFrame({"s": pd.to_timedelta([1, 2, 3], unit="h")}),
}  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_text_of_cells_is_what_the_file_holds(frame: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(to_csv(frame))
    pd.testing.assert_frame_equal(as_written(frame), read_text(tmp_path / "t.csv"))


REQUIRING = STUDY + "[require]\nk = {min = 3}\nglm = {max = 1000000}\n"


def test_a_broken_requirement_is_released_only_with_a_reason(tmp_path: Path, run: Path, sdc: Sdc) -> None:
    (tmp_path / "study.toml").write_text(REQUIRING)
    sdc("run", tmp_path / "study.toml", "--out", tmp_path / "strict", "--no-pictures")
    with Run(tmp_path / "strict") as opened:
        everything = opened.solutions()
    two = everything.ids[int(np.flatnonzero(everything.values[:, 0] < 3)[0])]
    k = everything.values[everything.ids.index(two), 0]
    out = tmp_path / "out.csv"
    before = sorted(tmp_path.iterdir())
    said = sdc("release", tmp_path / "strict", "--solution", two, "--out", out, code=2).err
    assert f"the study requires k >= 3, and it is {k:g}" in said
    with pytest.raises(SDCError, match="the study requires k >= 3"):
        release(tmp_path / "strict", two, out)
    assert sorted(tmp_path.iterdir()) == before
    said = sdc("release", tmp_path / "strict", "--solution", two, "--out", out, "--override", "the board agreed").out
    assert "requirement that does not hold (see --override): the study requires k" in said
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["override"]["reason"] == "the board agreed"
    assert certificate["override"]["broken"][0].startswith("the study requires k >= 3")
    assert certificate["require"] == {"k": {"min": 3.0}, "glm": {"max": 1e6}}
    assert "--override 'the board agreed'" in certificate["reproduce"][1]
    kept = release(tmp_path / "strict", best(tmp_path / "strict", 3), tmp_path / "kept.csv", override="not needed")
    assert kept.content["override"] is None


def test_what_the_certificate_says_runs_when_pasted(
    run: Path, tmp_path: Path, sdc: Sdc, monkeypatch: pytest.MonkeyPatch
) -> None:
    sdc("release", run, "--solution", best(run, 5), "--out", tmp_path / "out.csv")
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    monkeypatch.chdir(tmp_path)
    for line in certificate["reproduce"]:
        sdc(*shlex.split(line)[1:])
    rows = [sorted((tmp_path / name).read_text().splitlines()) for name in ("out.csv", "out-again.csv")]
    assert rows[0] == rows[1]


def test_k_of_one_is_no_protection(tmp_path: Path, run: Path, sdc: Sdc) -> None:
    ident = "baseline-nothing generalised"
    said = sdc("release", run, "--solution", ident, "--out", tmp_path / "out.csv", code=2).err
    assert "k is 1" in said
    assert not list(tmp_path.glob("out.csv*"))
    done = release(run, ident, tmp_path / "out.csv", override="a public register")
    assert done.content["override"]["broken"] == ["k is 1: at least one record is unique"]
    assert done.content["promise"] == "k = 1 in the protected columns, counted in the written file"


def nodes_of(run: Path) -> tuple[list[str], dict[str, str], dict[str, float]]:
    """Nodes that the run has not measured; those that it has, with the first solution there; and the k of each."""
    _, built, _ = reopen(run, search=False)
    problem: Any = built.problem
    levels = (range(int(low), int(high) + 1) for low, high in zip(problem.xl, problem.xu, strict=True))
    rows = np.array(list(itertools.product(*levels)))
    rows = np.unique(problem.effective(rows), axis=0)
    ks = problem.natural(problem.evaluate(rows, return_values_of=["F"]))[:, 0]
    with Run(run) as opened:
        known = measured_nodes(opened, problem)
    names = [node_id(row) for row in rows]
    found = dict(zip(names, (known.get(key, "") for key in node_keys(problem, rows)), strict=True))
    k = dict(zip(names, map(float, ks), strict=True))
    return [n for n in names if not found[n]], {n: i for n, i in found.items() if i}, k


def test_a_node_that_the_search_has_not_measured_is_released_by_the_same_rules(
    run: Path, tmp_path: Path, sdc: Sdc
) -> None:
    text = STUDY.replace("generations = 4", "generations = 1").replace('start = "baselines"', "")
    (tmp_path / "study.toml").write_text(text.replace("20]", "20, 40]") + "[require]\nk = {min = 5}\n")
    run = tmp_path / "short"
    sdc("run", tmp_path / "study.toml", "--out", run, "--no-pictures")
    new, known, k = nodes_of(run)
    good = next(node for node in new if k[node] >= 5)
    sdc("release", run, "--solution", good, "--out", tmp_path / "out.csv")
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert (certificate["solution"], certificate["walked"]) == (good, True)
    assert WALKED in certificate["what_was_done"]
    assert certificate["measures"]["k"]["value"] == k[good]
    assert smallest_class(pd.read_csv(tmp_path / "out.csv", dtype=str), ["age", "town"]) == k[good]
    assert f"--solution {good}" in certificate["reproduce"][1]
    node, ident = next((node, ident) for node, ident in known.items() if k[node] >= 5)
    same = release(run, node, tmp_path / "same.csv").content
    assert same["solution"] == ident  # the run has measured it: no walk was needed
    assert "walked" not in same
    bad = next(node for node in new if k[node] < 5)
    with pytest.raises(SDCError, match="the study requires k >= 5"):
        release(run, bad, tmp_path / "bad.csv")


@pytest.mark.parametrize(
    ("node", "says"),
    [("node:", "a row of 3 levels"), ("node:1", "3 columns"), ("node:1,0,x", "a row of"),
     ("node:99,0,0", "between 0 and"), ("node:-1,0,0", "a row of")],
)  # fmt: skip
def test_what_is_no_node_is_not_released(node: str, says: str, run: Path, tmp_path: Path) -> None:
    with pytest.raises(SDCError, match=says):
        release(run, node, tmp_path / "out.csv")


RANDOM = """
[data]
name = "people"
records = 400
keep = []
[problem]
task = "pram"
columns = ["sex", "income"]
replicates = 1
[algorithm]
name = "NSGA2"
pop_size = 6
[termination]
generations = 1
"""


@pytest.fixture
def random_run(tmp_path: Path, sdc: Sdc) -> Path:
    (tmp_path / "random.toml").write_text(RANDOM)
    sdc("run", tmp_path / "random.toml", "--out", tmp_path / "random", "--no-pictures")
    return tmp_path / "random"


def test_a_solution_is_drawn_once_unless_another_draw_is_asked_for(tmp_path: Path, random_run: Path, sdc: Sdc) -> None:
    given = ["release", random_run, "--solution", "1-1"]
    assert "guarantee: promises no k" in sdc(*given, "--out", tmp_path / "a.csv").out
    said = sdc(*given, "--out", tmp_path / "b.csv", code=2).err
    assert "was released before" in said
    assert not (tmp_path / "b.csv").exists()
    first = (tmp_path / "a.csv").read_bytes()
    sdc(*given, "--out", tmp_path / "a.csv", "--overwrite")
    assert (tmp_path / "a.csv").read_bytes() == first, "replacing a file is the same draw"
    seed = pd.read_csv(tmp_path / "a.csv.mapping.csv", dtype=str)["released"].iloc[0]
    sdc(*given, "--out", tmp_path / "b.csv", "--seed", seed)
    assert (tmp_path / "b.csv").read_bytes() == first
    sdc(*given, "--out", tmp_path / "c.csv", "--new-draw")
    assert (tmp_path / "c.csv").read_bytes() != first
    assert "omit one of them" in sdc(*given, "--out", tmp_path / "d.csv", "--new-draw", "--seed", 1, code=2).err
    noted = (random_run / "releases.json").read_text()
    assert json.loads(noted) == ["1-1"]
    assert not [file.name for file in random_run.iterdir() if seed.encode() in file.read_bytes()]
    sdc("release", random_run, "--solution", "1-2", "--out", tmp_path / "other.csv")
    assert json.loads((random_run / "releases.json").read_text()) == ["1-1", "1-2"]
    (random_run / "releases.json").write_text("[")
    assert "earlier releases are unknown" in sdc(
        "release", random_run, "--solution", "1-3", "--out", tmp_path / "e.csv", code=2
    ).err  # fmt: skip


def test_a_refused_release_notes_no_draw(tmp_path: Path, random_run: Path) -> None:
    with pytest.raises(SDCError, match="so the file would be the original, and the task pram promises no k"):
        release(random_run, "baseline-identity", tmp_path / "out.csv")
    assert not (random_run / "releases.json").exists()
    assert not list(tmp_path.glob("out.csv*"))


def test_a_task_without_a_lattice_has_no_nodes(tmp_path: Path, random_run: Path) -> None:
    with pytest.raises(SDCError, match="not nodes of a lattice"):
        release(random_run, "node:1,0", tmp_path / "out.csv")


def test_a_task_without_chance_takes_no_seed(tmp_path: Path, run: Path) -> None:
    for options in ({"seed": 1}, {"new_draw": True}):
        with pytest.raises(SDCError, match="draws no random numbers"):
            release(run, best(run, 5), tmp_path / "out.csv", **options)


def test_a_release_never_destroys_the_run_or_an_input(tmp_path: Path, run: Path, sdc: Sdc) -> None:
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    original = (tmp_path / "mine.csv").read_bytes()
    for out in (run / "run.sqlite", run / "study.toml", run / "out.csv", tmp_path / "mine.csv"):
        said = sdc("release", run, "--solution", best(run, 5), "--out", out, "--overwrite", code=2).err
        assert "run folder" in said or "original file" in said
    assert {name: (run / name).read_bytes() for name in before if name in ("study.toml", "run.sqlite")} == {
        name: before[name] for name in ("study.toml", "run.sqlite")
    }
    assert (tmp_path / "mine.csv").read_bytes() == original
    assert not list(run.glob("out.csv*"))


def test_the_guard_goes_with_suppressed_and_with_randomised_records(tmp_path: Path, run: Path, sdc: Sdc) -> None:
    """What was counted in a guarded file was its text with apostrophes, and the release was refused."""
    ident = "baseline-Datafly, k = 5"
    guarded = release(run, ident, tmp_path / "guarded.csv", formula_guard=True, rows_seed=1)
    plain = release(run, ident, tmp_path / "plain.csv", rows_seed=1)
    for key in ("guarantees_checked_in_the_file", "measured_in_the_file", "columns"):
        assert guarded.content[key] == plain.content[key]
    assert guarded.content["output"]["records"] < 200
    assert guarded.mapping.read_bytes() == plain.mapping.read_bytes()
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"way": rng.choice(["+1", "-x", "@a"], 80), "town": rng.choice(["=b", "c"], 80)})
    frame.to_csv(tmp_path / "signs.csv", index=False)
    text = RANDOM.replace('name = "people"\nrecords = 400\nkeep = []', 'file = "signs.csv"\nsensitive = ["town"]')
    (tmp_path / "signs.toml").write_text(text.replace('"sex", "income"', '"way"'))
    sdc("run", tmp_path / "signs.toml", "--out", tmp_path / "signs", "--no-pictures")
    done = release(tmp_path / "signs", "1-1", tmp_path / "signs-out.csv", formula_guard=True)
    assert {g["name"] for g in done.content["guarantees_checked_in_the_file"]} >= {"impossible moves"}
    assert set(pd.read_csv(done.file, dtype=str)["town"]) == {"'=b", "c"}
