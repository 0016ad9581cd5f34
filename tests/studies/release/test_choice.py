"""Choice of a method for a demand: each candidate meets it, the one that loses least is written, a line repeats it."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sdc_problems import Hierarchy, Microdata, PBGProblem, SDCError, protect
from sdc_problems.methods import Recoded
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release import _choice as module
from sdc_problems.studies.release._choice import COMPARED, TRUE_VALUES, choose
from sdc_problems.studies.release._demand import Demand
from sdc_problems.studies.release._hierarchies import completed
from sdc_problems.studies.release._losses import glm_percent_of

N = 120


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame({
        "age": rng.integers(20, 60, N),
        "zip": [f"{x:05d}" for x in rng.choice([8001, 8002, 8010, 8100, 9000], N)],
        "sex": rng.choice(["f", "m"], N),
        "ill": rng.choice(["flu", "cold", "none"], N),
        "paid": rng.choice(["yes", "no"], N),
    })  # fmt: skip


@pytest.fixture
def data(frame: pd.DataFrame) -> Microdata:
    return Microdata.from_frame(frame, quasi_identifiers=["age", "zip", "sex"], sensitive=["ill"])


@pytest.fixture
def file(tmp_path: Path, frame: pd.DataFrame) -> Path:
    frame.insert(0, "patient_no", np.arange(1000, 1000 + N))
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def cells(data: Microdata, done: Recoded) -> pd.DataFrame:
    found = data.frame().astype(str)
    for name, column in done.columns.items():
        found[name] = np.asarray(column).astype(str)
    return found if done.suppressed is None else found[~done.suppressed]


@pytest.mark.parametrize(
    "asked", [{"k": 4}, {"k": 3, "l": 2}, {"k": 2, "l": 3, "t": 0.4}, {"k": 3, "entropy_l": 1.9}, {"k": 60}], ids=str
)
def test_every_candidate_meets_the_demand(data: Microdata, asked: dict[str, Any]) -> None:
    trees = completed(data, None).hierarchies
    found = choose(data, Demand(**asked), trees, max_suppression=0.05)
    assert [c.method for c in found.candidates if c.done is not None and c.note.startswith("left out")] == []
    assert {c.method for c in found.candidates} == set(COMPARED)
    shares = data.frame()["ill"].value_counts(normalize=True)
    for candidate in found.candidates:
        assert candidate.done is not None, candidate.note
        classes = cells(data, candidate.done).groupby(list(data.quasi_identifiers))["ill"]
        assert candidate.k == classes.size().min() >= asked["k"]
        assert classes.nunique().min() >= asked.get("l", 1)
        for _, own in classes:
            share = own.value_counts(normalize=True).reindex(shares.index, fill_value=0)
            assert (share - shares).abs().sum() / 2 <= asked.get("t", 1) + 1e-9
            assert np.exp(-sum(p * np.log(p) for p in share if p)) >= asked.get("entropy_l", 1) - 1e-9
        assert 0 <= candidate.glm_percent <= 100
        assert (
            candidate.suppressed == (0 if candidate.done.suppressed is None else candidate.done.suppressed.sum()) <= 6
        )
    losses = [c.glm_percent for c in found.candidates]
    assert losses == sorted(losses)
    assert found.chosen.method in TRUE_VALUES
    assert found.chosen.glm_percent == min(c.glm_percent for c in found.candidates if c.true_values)


def test_the_lattice_is_its_exact_optimum(data: Microdata) -> None:
    from sdc_problems import PBGProblem

    trees = completed(data, None).hierarchies
    found = choose(data, Demand(4), trees, max_suppression=3)
    problem = PBGProblem(data, trees, objectives=["glm_percent"], require={"k": 4}, max_suppression=3)
    lattice = next(c for c in found.candidates if c.method == "lattice")
    assert lattice.glm_percent == pytest.approx(problem.natural(problem.enumerate_front().F).min())


def test_several_sensitive_columns_are_protected_at_once(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "sex"], sensitive=["ill", "paid"])
    found = choose(data, Demand(2, l=2, t=0.45), completed(data, None).hierarchies, max_suppression=0.05)
    for candidate in found.candidates:
        assert candidate.done is not None, candidate.note
        classes = cells(data, candidate.done).groupby(["age", "sex"])
        for name in ("ill", "paid"):
            shares = data.frame()[name].value_counts(normalize=True)
            assert classes[name].nunique().min() >= 2
            for _, own in classes[name]:
                share = own.value_counts(normalize=True).reindex(shares.index, fill_value=0)
                assert (share - shares).abs().sum() / 2 <= 0.45 + 1e-9


@pytest.mark.parametrize("method", [None, "lattice", "local-recoding", "mondrian", "mdav"])
def test_the_demand_holds_within_each_stratum(file: Path, method: str | None) -> None:
    out = file.parent / "out.csv"
    where = [
        "--quasi-identifiers",
        "age,zip",
        "--sensitive",
        "ill",
        "--identifiers",
        "patient_no",
        "--keep",
        "paid,sex",
    ]
    asked = ["--k", "6", "--within", "sex,paid", "--max-suppression", "5%" if method in (None, "lattice") else ""]
    asked = asked if asked[-1] else asked[:-2]
    named = [] if method is None else ["--method", method]
    result = CliRunner().invoke(cli, ["protect", str(file), *asked, *named, *where, "--out", str(out), "--json"])
    assert result.exit_code == 0, result.exception
    after = pd.read_csv(out, dtype=str)
    smallest = after.groupby(["sex", "paid", "age", "zip"]).size().min()
    said = json.loads(result.stdout)
    counted = {g["name"]: g for g in said["guarantees_checked_in_the_file"]}
    assert counted["k"]["found"] == smallest >= 6
    assert counted["k"]["columns"] == ["sex", "paid", "age", "zip"]
    assert "within each of the 4 strata of sex, paid" in " ".join(said["what_was_done"])
    assert len(after) >= 0.95 * N
    if method is None:
        line = shlex.split(said["repeat"])
        assert line[line.index("--within") + 1] == "sex,paid"
        values = after.sort_values(list(after.columns)).reset_index(drop=True)
        assert CliRunner().invoke(cli, [*line[1:], "--overwrite"]).exit_code == 0
        again = pd.read_csv(out, dtype=str)
        pd.testing.assert_frame_equal(again.sort_values(list(again.columns)).reset_index(drop=True), values)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--within", "regio"], "within names 'regio', which is not a column"),
        (["--within", "age"], "a quasi-identifier"),
        (["--within", "sex"], "which is not released: name it in keep"),
        (["--within", "ill", "--k", "50"], "strata of ill have fewer than k = 50 records"),
    ],
)
def test_strata_that_cannot_be_are_one_sentence(file: Path, more: list[str], message: str) -> None:
    where = ["--quasi-identifiers", "age,zip", "--sensitive", "ill", "--identifiers", "patient_no", "--keep", "paid"]
    out = ["--out", str(file.parent / "out.csv")]
    result = CliRunner().invoke(cli, ["protect", str(file), "--k", "3", *where, *out, *more])
    assert isinstance(result.exception, SDCError), result.output
    assert message in str(result.exception)


@pytest.mark.parametrize("method", [None, "lattice", "local-recoding", "suppress-cells", "mondrian"])
def test_t_compares_with_the_shares_of_the_stratum(frame: pd.DataFrame, method: str | None) -> None:
    frame.loc[frame["paid"] == "yes", "ill"] = frame["ill"].replace("flu", "none")  # the strata differ by more than t
    frame.loc[:5, "ill"] = "flu"
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "zip"], sensitive=["ill"])
    done = protect(data, k=3, t=0.25, within=["paid"], method=method)
    farthest = 0.0
    for _, stratum in frame.groupby("paid"):
        own = stratum["ill"].value_counts(normalize=True)
        part = done.frame[done.frame["paid"] == stratum["paid"].iloc[0]]
        for _, members in part.groupby(["age", "zip"]):
            assert len(members) >= 3
            shares = members["ill"].value_counts(normalize=True).reindex(own.index, fill_value=0)
            farthest = max(farthest, float((shares - own).abs().sum()) / 2)
    counted = next(g for g in done.guarantees if g.name == "t")
    assert counted.found == pytest.approx(farthest)
    assert farthest <= 0.25 + 1e-9
    assert counted.as_dict()["promised"] == 0.25
    assert "of its stratum" in str(counted.as_dict())


def test_microaggregation_has_one_k_that_is_enough_in_every_stratum(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["ill"])
    done = protect(data, k=3, t=0.3, within=["paid"], allow_perturbed=True)
    assert done.choice is not None
    mdav = next(c for c in done.choice.candidates if c.method == "mdav")
    assert mdav.done is not None, mdav.note
    again = protect(data, method="mdav", k=mdav.demand.k, within=["paid"]).frame
    for _, stratum in again.groupby("paid"):
        own = stratum["ill"].value_counts(normalize=True)
        for _, members in stratum.groupby("age"):
            shares = members["ill"].value_counts(normalize=True).reindex(own.index, fill_value=0)
            assert float((shares - own).abs().sum()) / 2 <= 0.3 + 1e-9


def test_loss_of_labels_stars_and_ranges() -> None:
    frame = pd.DataFrame({"age": [20, 21, 25, 30], "town": ["a", "b", "a", "c"]})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    trees = {"age": Hierarchy.intervals(range(20, 31), [5]), "town": Hierarchy.suppression(["a", "b", "c", "d"])}
    labels = Recoded({"age": np.array(["20-24", "20-24", "25", "*"], dtype=object)})
    assert glm_percent_of(data, trees, labels) == pytest.approx(100 * (0.4 + 0.4 + 0 + 1) / 8)
    lost = Recoded({}, (), np.array([True, False, False, False]))
    assert glm_percent_of(data, trees, lost) == pytest.approx(100 * 2 / 8)
    means = Recoded({"age": np.array([20.5, 20.5, 27.5, 27.5]), "town": np.array(["a", "a", "a", "a"])})
    groups = np.array([0, 0, 1, 1])
    assert glm_percent_of(data, trees, means, groups) == pytest.approx(100 * (0.1 * 2 + 0.5 * 2 + 4 / 3) / 8)


def test_values_that_nobody_has_are_written_only_if_allowed(data: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = module._measured

    def free(candidate: Any, *given: Any) -> Any:
        found = measured(candidate, *given)
        return module.replace(found, glm_percent=0.0, cost=0.0) if found.method == "mdav" else found

    monkeypatch.setattr(module, "_measured", free)
    trees = completed(data, None).hierarchies
    found = choose(data, Demand(4), trees)
    assert found.candidates[0].method == "mdav"
    assert found.chosen.method != "mdav"
    assert "--allow-perturbed" in " ".join(found.why())
    assert choose(data, Demand(4), trees, allow_perturbed=True).chosen.method == "mdav"
    done = protect(data, k=4, allow_perturbed=True)
    assert done.method == "mdav"
    assert done.frame.groupby(["age", "zip", "sex"]).size().min() >= 4


def test_a_lattice_too_large_is_searched_and_the_line_repeats_it(
    data: Microdata, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPARED", ("lattice",))
    trees = completed(data, None).hierarchies
    monkeypatch.setattr(PBGProblem, "seconds_to_enumerate", lambda self: None)  # as where it is not known
    found = choose(data, Demand(3), trees, seconds=0.2)
    assert "of" in found.chosen.note
    assert found.chosen.options["evaluations"] >= 2
    again = protect(data, method="lattice", k=3, **found.chosen.options)
    pd.testing.assert_frame_equal(
        again.frame.astype(str), cells(data, found.chosen.done).reset_index(drop=True), check_dtype=False
    )


def test_a_large_file_is_compared_by_two_methods(data: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module.find
    fewer = {name: replace(real(name), most_records=N - 1) for name in module.COMPARED if real(name).most_records}
    monkeypatch.setattr(module, "find", lambda name: fewer.get(name) or real(name))
    found = choose(data, Demand(3), completed(data, None).hierarchies)
    left_out = {c.method: c.note for c in found.candidates if c.done is None}
    assert set(left_out) == {"local-recoding", "suppress-cells", "mdav"}
    assert all(note.startswith("left out: more than 119 records") for note in left_out.values())


def test_what_cannot_win_or_takes_minutes_is_left_out(data: Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    trees, importance = completed(data, None).hierarchies, {"zip": 1.25}
    every = {c.method: c for c in choose(data, Demand(3), trees, importance=importance).candidates}
    monkeypatch.setattr(module, "LARGE", N - 1)
    monkeypatch.setattr(module, "MDAV_STEPS", N**2 * 3 / 3 - 1)
    left = {c.method: c for c in choose(data, Demand(3), trees, importance=importance).candidates}
    assert left["mdav"].note == "left out: takes many minutes (--method mdav)"
    alike = np.unique(data.codes(), axis=0, return_counts=True)[1]
    bound = 100 * alike[alike < 3].sum() / N / 3.25  # each rare record has a star at least
    assert left["suppress-cells"].note == f"left out: loses at least {bound:.3g} %"
    assert every["lattice"].cost < bound <= every["suppress-cells"].cost
    monkeypatch.setattr(module, "MDAV_STEPS", N**2 * 3 / 60)
    dear = choose(data, Demand(60), trees).candidates  # star for star it could still win
    assert all(c.done is not None for c in dear)


def test_the_next_k_is_dearer_and_explained(data: Microdata) -> None:
    found = choose(data, Demand(3), completed(data, None).hierarchies, explain=True)
    assert found.next_k is not None
    assert found.next_k.k > found.chosen.k
    assert found.next_k.glm_percent >= found.chosen.glm_percent
    assert f"next larger k, {found.next_k.k}," in found.why()[-1]
    assert found.why()[0].startswith(found.chosen.method)


def test_python_and_command_do_the_same(file: Path, frame: pd.DataFrame) -> None:
    out = file.parent / "out.csv"
    where = [
        "--quasi-identifiers",
        "age,zip,sex",
        "--sensitive",
        "ill",
        "--identifiers",
        "patient_no",
        "--keep",
        "paid",
    ]
    asked = ["--k", "4", "--l", "2", "--max-suppression", "3 records"]
    result = CliRunner().invoke(
        cli, ["protect", str(file), *asked, *where, "--out", str(out), "--keep-order", "--json"]
    )
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    roles = {"quasi_identifiers": ["age", "zip", "sex"], "sensitive": ["ill"], "identifiers": ["patient_no"]}
    data = Microdata.from_csv(file, **roles)
    done = protect(data, k=4, l=2, max_suppression=3, keep=["paid"])
    assert done.choice is not None
    assert said["compared"] == [json.loads(json.dumps(c.row())) for c in done.choice.candidates]
    assert said["method"] == done.method
    text = out.read_bytes()
    pd.testing.assert_frame_equal(pd.read_csv(out, dtype=str), done.frame.astype(str))
    counted = {g["name"]: g["found"] for g in said["guarantees_checked_in_the_file"]}
    assert counted["k"] >= 4
    assert counted["l"] >= 2
    certificate = json.loads((file.parent / "out.csv.certificate.json").read_text())
    assert certificate["compared"] == said["compared"]
    assert "Hierarchies made from the values" in certificate["what_was_done"][0]
    line = shlex.split(said["repeat"])
    assert line[:2] == ["sdc", "protect"]
    assert line[line.index("--method") + 1] == said["method"]
    out.unlink()
    assert CliRunner().invoke(cli, [*line[1:], "--overwrite"]).exit_code == 0
    assert out.read_bytes() == text


def test_the_best_lattice_is_written_again_by_its_line(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPARED", ("lattice", "mdav"))
    out = file.parent / "out.csv"
    where = ["--quasi-identifiers", "age,zip,sex", "--identifiers", "patient_no", "--out", str(out), "--keep-order"]
    result = CliRunner().invoke(cli, ["protect", str(file), "--max-risk", "20", *where, "--max-suppression", "2%"])
    assert result.exit_code == 0, result.output
    text = out.read_bytes()
    line = next(row for row in result.stdout.splitlines() if row.startswith("to repeat: "))
    words = shlex.split(line.removeprefix("to repeat: "))
    counted = json.loads((file.parent / "out.csv.certificate.json").read_text())["guarantees_checked_in_the_file"]
    assert counted[0]["name"] == "suppressed"
    assert counted[0]["found"] == N - len(pd.read_csv(out)) <= counted[0]["promised"] == 2
    assert words[words.index("--max-suppression") + 1] == "2%"
    assert words[words.index("--k") + 1] == "5"
    assert CliRunner().invoke(cli, [*words[1:], "--overwrite"]).exit_code == 0
    assert out.read_bytes() == text


def test_a_person_reads_what_each_method_costs(file: Path) -> None:
    out = ["--out", str(file.parent / "out.csv")]
    where = ["--quasi-identifiers", "age,zip,sex", "--identifiers", "patient_no", *out, "--explain"]
    result = CliRunner().invoke(cli, ["protect", str(file), "--k", "3", *where])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    rows = {word: row for row in lines for word in row.split()[:2] if word in COMPARED and "%" not in row}
    assert set(rows) == set(COMPARED)
    assert sum("→" in row for row in rows.values()) == 1
    assert "publishes" in rows["mdav"]
    assert "loses least of the allowed methods" in result.stdout
    assert "next larger k" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "there is no demand"),
        (["--k", "500"], "k = 500 is more than the 120 records of the table"),
        (["--k", "3", "--quasi-identifiers", "patient_no,age"], "'patient_no'"),
        (["--k", "3", "--quasi-identifiers", "nothing"], "--quasi-identifiers names a column 'nothing'"),
        (["--max-risk", "90"], "above 0 and at most 50"),
        (["--k", "3", "--l", "2"], "l concerns sensitive values"),
        (["--k", "3", "--seed", "1"], "draws no random numbers"),
        (["--k", "3", "--method", "mdav", "--explain"], "--explain is for a comparison of methods"),
        (["--k", "3", "--method", "mdav", "--max-suppression", "1%", "--keep", ""], "leaves out no records"),
        (["--k", "3", "--method", "mdav", "--seconds", "1", "--keep", ""], "has no time limit"),
        (["--k", "3", "--gamma", "1"], "no option '--gamma'; it belongs to v-mdav"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(file: Path, more: list[str], message: str) -> None:
    out = file.parent / "out.csv"
    where = ["protect", str(file), "--quasi-identifiers", "age,zip,sex", "--out", str(out)]
    result = CliRunner().invoke(cli, [*where, *more])
    assert isinstance(result.exception, SDCError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "1 could mean 1% or '1 records'"),
        ("0.01", "0.01 could mean 0.01% or 1% (a share)"),
        ("100%", "would leave no record"),
        ("some", "neither a percentage"),
    ],
)
def test_an_amount_without_its_unit_is_refused(file: Path, text: str, message: str) -> None:
    out = file.parent / "out.csv"
    where = ["protect", str(file), "--quasi-identifiers", "age", "--k", "3", "--out", str(out)]
    result = CliRunner().invoke(cli, [*where, "--max-suppression", text])
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_all_records_equal_are_refused(tmp_path: Path) -> None:
    pd.DataFrame({"age": [30] * 9, "sex": ["f"] * 9}).to_csv(tmp_path / "in.csv", index=False)
    where = ["protect", str(tmp_path / "in.csv"), "--quasi-identifiers", "age,sex", "--k", "3"]
    result = CliRunner().invoke(cli, [*where, "--out", str(tmp_path / "out.csv")])
    assert isinstance(result.exception, SDCError)
    assert "tells no records apart" in str(result.exception)


@pytest.mark.parametrize("order", ["--keep-order", "--rows-seed=7"])
def test_identifiers_leave_as_random_numbers(tmp_path: Path, frame: pd.DataFrame, order: str) -> None:
    people = np.random.default_rng(1).integers(1000, 1080, N)  # some stand in several records
    frame.insert(0, "person", people)
    frame.to_csv(tmp_path / "in.csv", index=False)
    out = tmp_path / "out.csv"
    where = ["--quasi-identifiers", "age,zip", "--identifiers", "person", "--keep", "ill,paid,sex", "--out", str(out)]
    asked = ["protect", str(tmp_path / "in.csv"), "--k", "4", *where, "--pseudonym", "person", order]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.exception
    after = pd.read_csv(out, dtype=str)
    assert not set(after["person"]) & set(map(str, people))
    assert sorted(after["person"].value_counts()) == sorted(pd.Series(people).value_counts())
    mapping = pd.read_csv(tmp_path / "out.csv.mapping.csv", dtype=str)
    listed = mapping[mapping["column"] == "person"].set_index("original")["released"]
    assert listed.is_unique
    if order == "--keep-order":
        assert after["person"].tolist() == listed[list(map(str, people))].tolist()
    certificate = (tmp_path / "out.csv.certificate.json").read_text()
    assert not any(f'"{number}"' in certificate for number in listed)
    assert "replaced by random numbers: person" in " ".join(json.loads(certificate)["what_was_done"])
    counted = {g["name"]: g for g in json.loads(certificate)["guarantees_checked_in_the_file"]}
    assert counted["identifiers shown"]["found"] == 0
    wrong = CliRunner().invoke(cli, [*asked, "--overwrite", "--pseudonym", "age"])
    assert "'age', which is not an identifier" in str(wrong.exception)


WHERE = ["--quasi-identifiers", "age,zip,sex", "--identifiers", "patient_no", "--keep", "ill,paid"]


def test_importance_weighs_every_method_and_the_comparison(data: Microdata) -> None:
    trees, importance = completed(data, None).hierarchies, {"age": 20.0, "sex": 0.5}
    found = choose(data, Demand(4), trees, max_suppression=3, importance=importance)
    plain = {c.method: c for c in choose(data, Demand(4), trees, max_suppression=3).candidates}
    for candidate in found.candidates:
        method, done = candidate.method, candidate.done
        assert done is not None
        assert candidate.cost == candidate.glm_percent
        even = plain[method].done
        assert even is not None
        if method in ("lattice", "local-recoding", "suppress-cells"):
            before = glm_percent_of(data, trees, even, importance=importance)
            assert candidate.glm_percent == pytest.approx(glm_percent_of(data, trees, done, importance=importance))
            assert candidate.glm_percent < before
    costs = [c.cost for c in found.candidates]
    assert costs == sorted(costs)


def test_loss_is_the_weighted_mean_of_the_columns() -> None:
    frame = pd.DataFrame({"age": [20, 21, 25, 30], "town": ["a", "b", "a", "c"]})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"])
    trees = {"age": Hierarchy.intervals(range(20, 31), [5]), "town": Hierarchy.suppression(["a", "b", "c", "d"])}
    labels = Recoded({"age": np.array(["20-24", "20-24", "25", "*"], dtype=object)})
    assert glm_percent_of(data, trees, labels, importance={"age": 3}) == pytest.approx(100 * 3 * (0.4 + 0.4 + 1) / 16)
    lost = Recoded({}, (), np.array([True, False, False, False]))
    assert glm_percent_of(data, trees, lost, importance={"age": 3}) == pytest.approx(25)
    groups = np.array([0, 0, 1, 1])
    means = Recoded({"age": np.array([20.5, 20.5, 27.5, 27.5]), "town": np.array(["a", "a", "a", "a"])})
    expected = 100 * (3 * (0.1 * 2 + 0.5 * 2) + 4 / 3) / 16
    assert glm_percent_of(data, trees, means, groups, importance={"age": 3}) == pytest.approx(expected)


@pytest.mark.parametrize("compared", [("lattice",), ("local-recoding",), ("mondrian",), ("mdav",)], ids=str)
def test_importance_is_in_the_certificate_and_the_line(
    file: Path, compared: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMPARED", compared)
    out = file.parent / "out.csv"
    asked = ["--k", "4", "--importance", "zip=20,sex=0.5", "--suppression-price", "2.5", "--allow-perturbed"]
    asked += ["--keep-order", "--json"]
    result = CliRunner().invoke(cli, ["protect", str(file), *asked, *WHERE, "--out", str(out)])
    assert result.exit_code == 0, result.exception
    certificate = json.loads((file.parent / "out.csv.certificate.json").read_text())
    assert certificate["importance"] == {"zip": 20.0, "sex": 0.5}
    assert certificate["suppression_price"] == 2.5
    said = " ".join(certificate["what_was_done"])
    assert "Importance of the columns in the loss: zip 20, sex 0.5; 1 for all others." in said
    assert "A record that is left out counts 2.5 times as much as one that loses everything." in said
    text = out.read_bytes()
    line = shlex.split(json.loads(result.stdout)["repeat"])
    assert line[line.index("--importance") + 1] == "zip=20,sex=0.5"
    assert ("--suppression-price" in line) == (compared == ("lattice",))
    out.unlink()
    again = CliRunner().invoke(cli, [*line[1:], "--overwrite"])
    assert again.exit_code == 0, again.exception
    assert out.read_bytes() == text


def test_a_price_is_counted_and_printed(file: Path, data: Microdata) -> None:
    trees = completed(data, None).hierarchies
    losses = {}
    for price in (0.1, 1.0, 100.0):
        found = choose(data, Demand(6), trees, suppression_price=price)
        for c in found.candidates:
            assert c.cost == pytest.approx(c.glm_percent + 100 * (price - 1) * c.suppressed / N)
        assert [c.cost for c in found.candidates] == sorted(c.cost for c in found.candidates)
        losses[price] = next(c.suppressed for c in found.candidates if c.method == "lattice")
    assert losses[0.1] > losses[1.0] >= losses[100.0]
    assert losses[0.1] > 0.01 * N
    limited = choose(data, Demand(6), trees, suppression_price=0.1, max_suppression=2)
    assert all(c.suppressed <= 2 for c in limited.candidates)
    within = choose(data, Demand(3), trees, suppression_price=0.1, within=["paid"])
    assert max(c.suppressed for c in within.candidates) > 0.01 * N
    asked = ["protect", str(file), "--k", "6", "--suppression-price", "0.1", "--explain", *WHERE]
    result = CliRunner().invoke(cli, [*asked, "--out", str(file.parent / "out.csv")])
    assert result.exit_code == 0, result.exception
    assert "with price %" in result.stdout
    assert "with the price of suppressed records" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--importance", "zpi=3"], "importance names 'zpi', which is not one of the columns to protect; did you mean"),
        (["--importance", "ill=3"], "importance names 'ill'"),
        (["--importance", "zip=much"], "'much' is not a number"),
        (["--importance", "zip=0"], "importance of 'zip' must be a number above 0, not 0.0"),
        (["--importance", "zip=-2"], "above 0, not -2.0"),
        (["--importance", "zip"], "--importance 'zip' is not NAME=VALUE"),
        (["--importance", "zip=2", "--method", "suppress-cells-wildcard"], "wildcard does not weigh columns"),
        (["--suppression-price", "2", "--method", "mondrian"], "mondrian leaves out no records"),
        (["--suppression-price", "inf"], "suppression_price must be"),
    ],
)
def test_weights_and_prices_that_cannot_be_are_one_sentence(file: Path, more: list[str], message: str) -> None:
    out = file.parent / "out.csv"
    result = CliRunner().invoke(cli, ["protect", str(file), "--k", "3", *WHERE, "--out", str(out), *more])
    assert isinstance(result.exception, SDCError), result.output
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not out.exists()


def test_of_a_large_table_only_the_best_method_keeps_its_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"age": np.arange(40) % 13, "zip": np.arange(40) % 7})
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "zip"])
    hierarchies = completed(data, {})[0] or {}
    small = choose(data, Demand(k=4), hierarchies)
    monkeypatch.setattr(module, "LARGE", 10)
    large = choose(data, Demand(k=4), hierarchies)
    assert [c.row() for c in large.candidates if c.method != "suppress-cells"] == [
        c.row() for c in small.candidates if c.method != "suppress-cells"
    ]
    for candidate in large.candidates:
        held = candidate.done is not None and bool(candidate.done.columns)
        assert held == (candidate is large.chosen)
    assert not any(c.done.columns for c in large.without_cells().candidates if c.done is not None)


def test_numbers_too_many_for_mdav_are_grouped_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(N, 3)), columns=["a", "b", "c"])
    data = Microdata.from_frame(frame, quasi_identifiers=["a", "b", "c"])
    monkeypatch.setattr(module, "MDAV_STEPS", N**2 * 3 / 4 - 1)
    monkeypatch.setattr(module, "TREE_COLUMNS", 2)
    found = protect(data, k=4, allow_perturbed=True)
    assert found.method == "memetic-blocks"
    assert any(sentence.startswith("Grouped in blocks: MDAV in 1 part") for sentence in found.what_was_done)
    again = protect(data, method="memetic-blocks", k=4)
    pd.testing.assert_frame_equal(again.frame, found.frame)
    weighted = choose(data, Demand(4), completed(data, None).hierarchies, importance={"a": 2.0})
    assert {c.method: c.note for c in weighted.candidates}["mdav"].startswith("left out: takes many minutes")
