"""``sdc protect`` as a person meets it: every method, the promise kept in the file, clear refusals, all or nothing."""

from __future__ import annotations

import gzip
import hashlib
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.methods.registry import Method, built_in
from sdc_problems.studies.cli import cli, main
from sdc_problems.studies.commands.files.protect._method_options import as_typed
from sdc_problems.studies.release import _protect as module
from sdc_problems.studies.release.row_order import read_rows
from sdc_problems.studies.report import picture_types

N = 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "name": [f"person {i}" for i in range(N)],
        "age": rng.integers(18, 80, N),
        "wage": rng.normal(30, 5, N).round(1),
        "town": rng.choice(["Olot", "Reus"], N),
        "ill": rng.choice(["yes", "no"], N),
        "same": 1,
    })  # fmt: skip
    frame.to_csv(tmp_path / "in.csv", index=False)
    frame[:12].to_csv(tmp_path / "few.csv", index=False)
    return tmp_path


def protect(folder: Path, *more: str, file: str = "in.csv", k: str | None = "3", columns: str = "age,wage") -> Result:
    where = [str(folder / file), "--out", str(folder / "out.csv"), "--columns", columns, *more]
    where += [] if k is None else ["--k", k]
    where += [] if "--method" in more else ["--method", "mdav"]
    header = (folder / file).read_text().partition("\n")[0].split(",") if (folder / file).exists() else []
    where += ["--identifiers", "name"] if "name" in header else []
    others = [name for name in header if name not in ("name", *columns.split(","))]
    where += ["--keep", ",".join(others)] if "wage" in others or "age" in others else []
    return CliRunner().invoke(cli, ["protect", *where])


METHODS = built_in()
SHORT = {"moves": "2000", "epochs": "50"}  # searches end soon


def trial(method: Method) -> tuple[str, list[str]]:
    """Columns that a method can be tried on, and words of the command line for it."""
    words = as_typed(method.example)
    words += [word for name, value in SHORT.items() if method.takes(name) for word in (f"--{name}", value)]
    if method.takes("hierarchies"):
        return "age", [*words, "--hierarchy", "age={intervals = [10, 20]}"]
    named = [column for value in method.example.values() if isinstance(value, dict) for column in value]
    columns = ["town"] if "numeric" not in method.kinds else ["age"] if method.one_column else ["age", "wage"]
    return ",".join(named or columns), words


@pytest.mark.parametrize("name", METHODS)
def test_every_method_protects_a_file(folder: Path, name: str, in_order: Any) -> None:
    method = METHODS[name]
    columns, words = trial(method)
    file = "few.csv"  # no method is for fewer records than these twelve
    k = "3" if method.takes_k else None
    seed = ["--seed", "987654321"] if method.secret_seed else []  # a draw may change no cell of so few: refused
    result = protect(folder, "--method", name, *words, *seed, "--json", file=file, columns=columns, k=k)
    assert result.exit_code == 0, (result.output, result.exception)
    payload = json.loads(result.stdout)
    assert payload["method"] == name
    assert payload["verdict"]["schema"] == "sdc.verdict/2"
    before, after = pd.read_csv(folder / file, dtype=str), in_order(folder / "out.csv", dtype=str)
    names = columns.split(",")
    assert list(after.columns) == [column for column in before.columns if column != "name"]
    counted = {g["name"]: g["found"] for g in payload["guarantees_checked_in_the_file"]}
    smallest = after.groupby(names).size().min()
    if method.guarantee == "k":
        assert counted["k"] == smallest >= 3
        assert "k − 1 others" in payload["promise"]
    elif method.guarantee == "k_wildcard":
        assert counted["k_wildcard"] >= 3
        assert "a star matches every value" in payload["promise"]
    else:
        assert "k" not in counted
        assert payload["promise"] == "promises no k"
        assert not after[names].equals(before[names])
    for column in {"age", "wage", "town", "ill", "same"} - set(names):
        assert len(after) < len(before) or after[column].equals(before[column])
    if method.form == "partition":
        np.testing.assert_allclose(after["age"].astype(float).mean(), before["age"].astype(float).mean())
        assert payload["groups"] == len(after[names].drop_duplicates())
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert certificate["output"]["sha256"] == hashlib.sha256((folder / "out.csv").read_bytes()).hexdigest()
    assert certificate["input"]["sha256"] == hashlib.sha256((folder / file).read_bytes()).hexdigest()
    assert certificate["promise"] == payload["promise"]
    assert set(certificate["leaf_counts"]) == ({"age"} if "--hierarchy" in words else set())
    mapping = pd.read_csv(folder / "out.csv.mapping.csv", dtype=str, keep_default_na=False)
    assert (mapping["column"] == "(rows seed)").sum() == 1
    kept = mapping[mapping["column"] == "(seed)"]
    assert len(kept) == method.secret_seed
    if method.secret_seed:
        assert kept["released"].iloc[0] not in json.dumps(certificate)
    changed = set(mapping["column"]) - {"(seed)", "(rows seed)"}
    assert changed <= set(names)
    for column in changed:
        part = mapping[mapping["column"] == column]
        assert part["records"].astype(int).sum() == len(before)
    assert stat.S_IMODE((folder / "out.csv.mapping.csv").stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in METHODS if name != "exhaustive"])
def test_every_method_protects_thousands_of_records(tmp_path: Path, name: str) -> None:
    """With more different values than all linkages are computed for."""
    rng, n = np.random.default_rng(0), 6_000
    frame = pd.DataFrame({
        "age": rng.integers(18, 80, n), "wage": rng.lognormal(3, 1, n).round(4),
        "town": rng.choice(["Olot", "Reus", "Vic", "Salt"], n), "ill": rng.choice(["yes", "no"], n),
    })  # fmt: skip
    frame.to_csv(tmp_path / "in.csv", index=False)
    method = METHODS[name]
    columns, words = trial(method)
    result = protect(tmp_path, "--method", name, *words, columns=columns, k="3" if method.takes_k else None)
    assert result.exit_code == 0, (result.output, result.exception)
    if method.guarantee == "k":
        assert pd.read_csv(tmp_path / "out.csv", dtype=str).groupby(columns.split(",")).size().min() >= 3


def test_options_of_methods_are_none_of_the_commands_own() -> None:
    own = {parameter.name for parameter in cli.get_command(click.Context(cli), "protect").params}
    for method in METHODS.values():
        assert not own & {option.name for option in method.options}, method.name


@pytest.mark.parametrize("name", METHODS)
def test_help_of_a_method_says_what_the_registry_knows(name: str) -> None:
    method = METHODS[name]
    said = "".join(CliRunner().invoke(cli, ["protect", "--method", name, "--help"]).stdout.split())
    parts = [f"{name}: {method.title}.", f"Guarantee: {method.promise}."]
    parts += [part for option in method.options for part in ("--" + option.name.replace("_", "-"), option.help)]
    parts += as_typed(method.example)
    for part in parts:
        assert part.replace(" ", "") in said
    assert ("Drawsnorandomnumbers" in said) != method.random


def test_help_is_short_and_methods_are_listed() -> None:
    said = CliRunner().invoke(cli, ["protect", "--help"]).stdout
    assert len(said.splitlines()) < 60
    assert "--gamma" not in said
    table = CliRunner().invoke(cli, ["protect", "--methods"]).stdout
    assert all(f"\n{name} " in table and method.title in table for name, method in METHODS.items())


def test_help_loads_no_compiler() -> None:
    code = """
import sys
from click.testing import CliRunner
from sdc_problems.studies.cli import cli
for more in ([], ["--methods"]):
    assert CliRunner().invoke(cli, ["protect", *more, "--help"]).exit_code == 0
print({"numba", "pymoo", "pandas", "scipy", "pydantic"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "set()", done.stdout + done.stderr


def test_a_small_table_is_protected_without_what_takes_long_to_load(folder: Path) -> None:
    code = """
import sys
from click.testing import CliRunner
from sdc_problems.studies.cli import cli
arguments = "in.csv --method mdav --k 3 --columns age,wage --identifiers name --out out.csv".split()
result = CliRunner().invoke(cli, ["protect", *arguments])
assert result.exit_code == 0, result.output
print({"numba", "pymoo", "scipy", "pydantic", "sdc_problems.graph"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout.strip() == "set()", done.stdout + done.stderr


def test_a_person_reads_what_was_done_and_the_verdict(folder: Path) -> None:
    result = protect(folder, columns="age,wage,town")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "30 records form 10 groups of 3 similar records" in text
    assert "checked in the file: k 3 (promised 3)" in text
    assert "Risk: an intruder who knows the quasi-identifiers" in text
    assert "k (smallest group)" in text


def test_a_person_reads_that_the_file_was_drawn_at_random(folder: Path) -> None:
    drawn = protect(folder, "--method", "rank-swap", "--percent", "20", k=None)
    assert "drawn at random" in drawn.stdout
    for method in ("mdav", "ga"):  # the random numbers of a search change no cell by themselves
        other = protect(folder, "--method", method, *(["--epochs", "30"] if method == "ga" else []), "--overwrite")
        assert other.exit_code == 0
        assert "drawn at random" not in other.stdout


def test_the_same_seed_writes_the_same_bytes(folder: Path) -> None:
    written = []
    for seed in ("5", "5", "6"):
        options = ["--method", "ga", "--epochs", "30", "--seed", seed, "--overwrite"]
        assert protect(folder, *options).exit_code == 0
        written.append((folder / "out.csv").read_bytes())
    assert written[0] == written[1] != written[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": "1"}, "k must be a whole number ≥ 2"),
        ({"k": "16"}, "at most 15 gives two groups"),
        ({"columns": "wages"}, "did you mean 'wage'"),
        ({"columns": "same"}, "same"),
        ({"columns": ""}, "no columns to protect"),
        ({"columns": "age,town", "more": ["--method", "mhm"]}, "'town' is nominal: use mdav"),
        ({"k": None}, "method mdav needs k"),
        ({"more": ["--method", "rank-swap", "--percent", "5"]}, "promises no k: omit k"),
        ({"k": None, "more": ["--method", "rank-swap"]}, "give exactly one of percent, window"),
        ({"k": None, "more": ["--method", "add-noise"]}, "needs amplitude"),
        ({"k": None, "more": ["--method", "add-noise", "--amplitude", "0"]}, "changed no cell of age, wage"),
        ({"k": None, "more": ["--method", "top-code", "--threshold", "x"]}, "a number or values by column"),
        ({"more": ["--gama", "1"]}, "method mdav has no option '--gama'"),
        ({"more": ["--method", "v-mdav", "--gama", "1"]}, "did you mean '--gamma'"),
        ({"more": ["--gamma", "1"]}, "'--gamma'; it belongs to v-mdav (its options: --standardize)"),
        ({"more": ["--seed", "1"]}, "draws no random numbers"),
        ({"k": "1", "more": ["--method", "mondrian"]}, "k must be a whole number ≥ 2"),
        ({"more": ["--method", "lattice", "--hierarchy", "age"]}, "'age' is not NAME=VALUE"),
        ({"more": ["--method", "lattice", "--hierarchy", "age={x}"]}, "is not a TOML table as in a study file"),
        (
            {"more": ["--method", "lattice", "--hierarchy", "age={widths = [2]}"]},
            "has no key 'widths'",
        ),
        ({"columns": "town", "more": ["--kinds", "town=numeric"]}, "town"),
        ({"more": ["--method", "mdva"]}, "did you mean 'mdav'"),
        ({"more": ["--method", "univariate"]}, "for one column, not for 2"),
        ({"more": ["--method", "exhaustive"]}, "up to 12 records"),
        ({"more": ["--method", "v-mdav", "--gamma", "-1"]}, "gamma"),
        ({"more": ["--method", "hybrid", "--macrogroup", "2"]}, "macrogroup must be a whole number ≥ 4"),
        ({"file": "missing.csv"}, "missing.csv"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(folder: Path, options: dict, message: str) -> None:
    more = options.pop("more", [])
    result = protect(folder, *more, **options)
    if result.exit_code == 2:
        assert message in result.output
    else:
        assert isinstance(result.exception, SDCError), result.output
        assert message in str(result.exception)
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("more", [["--method", "mdav"], []])
def test_a_seed_without_use_is_refused_before_the_table_is_read(
    folder: Path, more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdc_problems.studies.commands.files._reading.Reading.table", None)
    command = ["protect", str(folder / "in.csv"), "--columns", "age", "--k", "3", "--seed", "1", "--out", "out.csv"]
    result = CliRunner().invoke(cli, [*command, *more])
    assert "draws no random numbers: omit the seed" in str(result.exception)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("age,wage\n", [], "no records"),
        ("age,wage\n1,2\n3,\n5,6\n7,8\n", ["--missing", "error"], "missing"),
        ("age,wage\n1,2\n3,4\n5,6\n", [], "too few"),
    ],
)
def test_files_that_cannot_be_protected(folder: Path, text: str, more: list[str], message: str) -> None:
    (folder / "odd.csv").write_text(text)
    result = protect(folder, *more, file="odd.csv", k="2")
    assert isinstance(result.exception, SDCError)
    assert message in str(result.exception)


HOSPITAL = (
    "Alter;Größe;Gewicht;Ort;Zimmer\r\n21;1,6;70;Köln ;3\r\n24;1,63;;Köln;\r\n35;1,85;61;Jülich;1\r\n38;1,9;90,5;;2\r\n"
)


def hospital(folder: Path, text: str, encoding: str, *more: str, columns: str = "Alter,Größe") -> Result:
    """Protect the hospital's export, and read its pair with the original again."""
    (folder / "in.csv").write_bytes(text.encode(encoding))
    told = [] if encoding.startswith("utf") else ["--encoding", encoding]
    options = ["--decimal", ",", *told, *more]
    method = ["--method", "mdav", "--k", "2"]
    kept = [name for name in ("Alter", "Größe", "Gewicht", "Ort", "Zimmer") if name not in columns.split(",")]
    where = ["protect", str(folder / "in.csv"), "--columns", columns, "--keep", ",".join(kept)]
    done = CliRunner().invoke(cli, [*where, "--out", str(folder / "out.csv"), *method, *options, "--json"])
    if done.exit_code:
        return done
    pair = [str(folder / "in.csv"), str(folder / "out.csv")]
    return CliRunner().invoke(cli, ["evaluate", *pair, "--quasi-identifiers", columns, *options, "--json"])


@pytest.mark.parametrize("given", [False, True])
def test_labels_of_numbers_have_the_decimal_mark_of_the_file(folder: Path, given: bool) -> None:
    """Evaluate reads them as numbers again; a hierarchy that somebody gave keeps its labels."""
    heights = [f"1.{51 + 4 * i}" for i in range(12)]
    (folder / "h.csv").write_text("".join(f"{h};{'<1.7' if h < '1.7' else '>=1.7'};*\n" for h in heights))
    hierarchy = ["--hierarchy", f"Größe={folder / 'h.csv'}"] if given else []
    bands, told = {}, {}
    for mark in (",", "."):
        lines = ["Größe;Art", *(f"{height.replace('.', mark)};1.5-1.8" for height in heights)]
        (folder / "in.csv").write_text("\n".join(lines))
        pair, options = [str(folder / "in.csv"), str(folder / "out.csv")], ["--decimal", mark]
        method = ["--method", "local-recoding", "--k", "3", "--columns", "Größe", "--keep", "Art"]
        more = ["--keep-order", "--overwrite", *options, *hierarchy]
        done = CliRunner().invoke(cli, ["protect", pair[0], "--out", pair[1], *method, *more])
        assert done.exit_code == 0, done.exception
        table = pd.read_csv(pair[1], sep=";")
        assert set(table["Art"]) == {"1.5-1.8"}, "a text of the original stays"
        bands[mark] = table["Größe"].tolist()
        done = CliRunner().invoke(cli, ["evaluate", *pair, "--quasi-identifiers", "Größe", *options, "--json"])
        assert done.exit_code == 0, done.exception
        told[mark] = json.loads(done.stdout)
    assert told[","] == told["."]
    if given:
        assert bands[","] == bands["."] == ["<1.7"] * 5 + [">=1.7"] * 7
    else:
        assert bands[","] == [label.replace(",", ";").replace(".", ",") for label in bands["."]]
        assert any(label.startswith("[1,5; ") for label in bands[","])


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_an_export_goes_out_as_it_came_in(folder: Path, encoding: str) -> None:
    """Semicolons, decimal commas, blanks, gaps in columns without a role; byte order mark and encoding are kept."""
    pair = hospital(folder, HOSPITAL, encoding)
    assert pair.exit_code == 0, pair.exception
    out = (folder / "out.csv").read_bytes()
    assert out.startswith("Alter".encode(encoding))
    head, *lines = out.decode(encoding).splitlines()
    order = np.argsort(read_rows(folder / "out.csv.rows.csv", folder / "out.csv"))
    assert head == "Alter;Größe;Gewicht;Ort;Zimmer"
    assert [lines[row] for row in order] == [
        "22,5;1,615;70;Köln;3",
        "22,5;1,615;;Köln;",
        "36,5;1,875;61;Jülich;1",
        "36,5;1,875;90,5;;2",
    ]
    assert json.loads(pair.stdout)["records"] == 4
    assert "note: missing cells of Ort count as a category of their own (see --missing)" in pair.stderr


def test_a_line_of_excel_and_a_packed_file(folder: Path) -> None:
    assert hospital(folder, "sep=;\r\n" + HOSPITAL, "utf-8").exit_code == 0
    plain = (folder / "out.csv").read_bytes()
    assert plain.startswith(b"Alter;")
    (folder / "in.csv.gz").write_bytes(gzip.compress(HOSPITAL.encode()))
    where = ["protect", str(folder / "in.csv.gz"), "--columns", "Alter,Größe", "--keep", "Gewicht,Ort,Zimmer"]
    done = CliRunner().invoke(
        cli, [*where, "--out", str(folder / "out.csv"), "--method", "mdav", "--k", "2", "--decimal", ",", "--overwrite"]
    )
    assert done.exit_code == 0, done.exception
    assert (folder / "out.csv").read_bytes() == plain


@pytest.mark.parametrize("missing", ["category", "star", "drop", "error"])
def test_missing_values_of_a_protected_column(folder: Path, missing: str) -> None:
    pair = hospital(folder, HOSPITAL, "utf-8", "--missing", missing, columns="Alter,Ort")
    if missing == "error":
        assert "first in row 2: --missing 'drop' leaves such records out" in str(pair.exception)
        assert not (folder / "out.csv").exists()
    elif missing == "drop":
        assert "3 record(s) are too few" in str(pair.exception)
    else:
        assert pair.exit_code == 0, pair.exception


def test_dates_have_intervals(folder: Path) -> None:
    days = ["1990-01-02", "1990-02-03", "1990-11-01", "1991-05-05", "1991-06-06", "1991-12-31"]
    pd.DataFrame({"born": days, "ill": list("ynynyn")}).to_csv(folder / "in.csv", index=False)
    how = ["--method", "lattice", "--hierarchy", 'born={intervals = ["month", "quarter", "year"]}']
    done = protect(folder, *how, columns="born")
    assert done.exit_code == 0, done.exception
    assert set(pd.read_csv(folder / "out.csv", dtype=str)["born"]) == {"1990", "1991"}
    pair = [str(folder / "in.csv"), str(folder / "out.csv"), "--quasi-identifiers", "born"]
    assert CliRunner().invoke(cli, ["evaluate", *pair]).exit_code == 0


def test_labels_that_the_encoding_lacks(folder: Path) -> None:
    (folder / "Ort.csv").write_text("Köln;≥\nJülich;≥\n?;≥\n")
    hierarchy = ["--hierarchy", f"Ort={folder / 'Ort.csv'}", "--method", "recode-level", "--level", "1"]
    (folder / "in.csv").write_bytes(HOSPITAL.encode("cp1252"))
    where = ["protect", str(folder / "in.csv"), "--columns", "Ort", "--keep", "Alter,Größe,Gewicht,Zimmer"]
    done = CliRunner().invoke(
        cli, [*where, "--out", str(folder / "out.csv"), "--decimal", ",", "--encoding", "cp1252", *hierarchy]
    )
    assert "characters that cp1252 lacks" in str(done.exception)
    assert sorted(path.name for path in folder.glob("*out.csv*")) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--columns", "agee"], "--quasi-identifiers names a column 'agee' that is not there; did you mean 'age'"),
        (["--columns", "same"], "it tells no records apart; remove it from --quasi-identifiers"),
        (["--sensitive", "ii"], "--sensitive names a column 'ii'"),
        (["--identifiers", "nam"], "--identifiers names a column 'nam'"),
        (["--kinds", "agee=numeric"], "--kinds names a column 'agee'"),
        (["--kinds", "age=number"], "--kinds must be one of 'numeric', 'ordinal', 'nominal', not 'number'"),
        (["--order", "town=Olot,Vic"], "the value is not in --order (1 such categories)"),
        (["--order", "twn=Olot,Vic"], "--order names a column 'twn'"),
    ],
)
def test_roles_and_kinds_are_named_by_their_options(folder: Path, options: list[str], says: str) -> None:
    where = ["protect", str(folder / "in.csv"), "--out", str(folder / "out.csv"), "--k", "3", "--columns", "age"]
    error = CliRunner().invoke(cli, [*where, *options]).exception
    assert isinstance(error, SDCError)
    assert says in str(error)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("age,wage\n1,\xff\n2,b\n", "try --encoding 'cp1252' or --encoding 'latin-1'"),
        ('age,wage\n"1,021",2\n24,3\n35,4\n', "give --thousands or --decimal"),
        ("age,wage\n1,2\n-,3\n4,5\n", "in --na-values, or declare --kinds 'age=nominal'"),
    ],
)
def test_errors_name_options_of_the_command(folder: Path, text: str, says: str) -> None:
    (folder / "odd.csv").write_text(text, encoding="latin-1")
    done = CliRunner().invoke(
        cli, ["protect", str(folder / "odd.csv"), "--columns", "age", "--out", str(folder / "out.csv"), "--k", "2"]
    )
    assert isinstance(done.exception, SDCError)
    assert says in str(done.exception)


def test_an_existing_file_and_the_original_are_safe(folder: Path) -> None:
    (folder / "out.csv").write_text("mine")
    assert "already exists" in str(protect(folder).exception)
    assert (folder / "out.csv").read_text() == "mine"
    original = (folder / "in.csv").read_bytes()
    again = CliRunner().invoke(
        cli, ["protect", str(folder / "in.csv"), "--k", "3", "--columns", "age", "--out", str(folder / "in.csv"),
              "--overwrite", "--identifiers", "name"],
    )  # fmt: skip
    assert "the original file itself" in str(again.exception)
    assert (folder / "in.csv").read_bytes() == original
    assert isinstance(protect(folder, "--overwrite").exception, type(None))


def test_a_hierarchy_file_is_an_input_too(folder: Path) -> None:
    (folder / "out.csv").write_text("Olot;Catalonia\nReus;Catalonia\n")
    more = ["--method", "recode-level", "--level", "1", "--hierarchy", f"town={folder / 'out.csv'}", "--overwrite"]
    result = protect(folder, *more, columns="town", k=None)
    assert "or another input: nothing is written" in str(result.exception)
    assert (folder / "out.csv").read_text().startswith("Olot")


def test_a_broken_promise_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = module.recoded

    def sloppy(*args: object) -> object:
        done = honest(*args)
        return done._replace(columns={**done.columns, "age": np.arange(N)})

    monkeypatch.setattr(module, "recoded", sloppy)
    result = protect(folder)
    assert isinstance(result.exception, SDCFailure)
    assert "does not keep its guarantees" in str(result.exception)
    assert sorted(p.name for p in folder.iterdir()) == ["few.csv", "in.csv"]


def test_exit_code_of_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    argv = ["sdc", "protect", str(folder / "in.csv"), "--k", "1", "--columns", "age", "--out", str(folder / "o.csv")]
    monkeypatch.setattr("sys.argv", argv)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("error: k must be a whole number ≥ 2")


PLUGIN = '''
from sdc_problems.methods import Method

METHOD = Method("pair-up", "neighbors in the file", "pairing_up:pair", "partition", guarantee="k")

def pair(X, k, *, shift: int = 0, careless: bool = False):
    """Pairs.

    Parameters
    ----------
    shift
        Where the first one begins.
    careless
        Whether one record stays alone.
    """
    labels = [(i - shift) // k for i in range(len(X))]
    return [99, *labels[1:]] if careless else labels
'''


def test_a_method_of_another_package_has_its_options_and_its_promise_is_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pairing_up.py").write_text(PLUGIN)
    info = folder / "pairing_up-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pairing-up\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[sdc_problems.methods]\npair-up = pairing_up:METHOD\n")
    monkeypatch.syspath_prepend(str(folder))
    said = CliRunner().invoke(cli, ["protect", "--method", "pair-up", "--help"]).stdout
    assert "--shift INTEGER" in said
    assert "Where the first one begins." in said
    assert "pair-up " in CliRunner().invoke(cli, ["protect", "--methods"]).stdout
    assert protect(folder, "--method", "pair-up", "--shift", "3").exit_code == 0
    assert pd.read_csv(folder / "out.csv").groupby(["age", "wage"]).size().min() == 3
    broken = protect(folder, "--method", "pair-up", "--careless", "--overwrite").exception
    assert isinstance(broken, SDCFailure)
    assert "k: 1 where 3 was promised" in str(broken)


@pytest.mark.parametrize("method", ["local-recoding", "suppress-cells"])
def test_sensitive_values_are_counted_among_alike_records_of_the_file(folder: Path, method: str) -> None:
    more = ["--method", method, "--sensitive", "ill", "--l", "2", "--t", "0.4", "--entropy-l", "1.2", "--json"]
    more += ["--hierarchy", "age={intervals = [10, 20]}"] if method == "local-recoding" else []
    where = ["protect", str(folder / "in.csv"), "--out", str(folder / "out.csv"), "--columns", "age", "--k", "3"]
    where += ["--identifiers", "name", "--keep", "town,same"]
    result = CliRunner().invoke(cli, [*where, *more])
    assert result.exit_code == 0, result.output
    counted = {g["name"]: g for g in json.loads(result.stdout)["guarantees_checked_in_the_file"]}
    after = pd.read_csv(folder / "out.csv", dtype=str)
    classes = after.groupby("age")["ill"]
    shares = after["ill"].value_counts(normalize=True)
    apart = classes.apply(
        lambda own: (own.value_counts(normalize=True).reindex(shares.index, fill_value=0) - shares).abs().sum() / 2
    )
    mixed = classes.apply(lambda own: float(np.exp(-sum(p * np.log(p) for p in own.value_counts(normalize=True)))))
    assert counted["k"]["found"] == classes.size().min() >= 3
    assert counted["l"]["found"] == classes.nunique().min() == 2
    assert counted["t"]["found"] == pytest.approx(apart.max())
    assert counted["entropy_l"]["found"] == pytest.approx(mixed.min())
    assert apart.max() <= 0.4
    assert mixed.min() >= 1.2 - 1e-6
    assert json.loads((folder / "out.csv.certificate.json").read_text())["l"] == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--l", "2"], "method mdav cannot promise l: use mondrian, local-recoding, suppress-cells, lattice"),
        (["--method", "suppress-cells", "--l", "3"], "'ill' has 2 values: l = 3 cannot be reached"),
        (["--method", "suppress-cells", "--l", "1"], "l must be a whole number ≥ 2"),
        (["--method", "suppress-cells", "--t", "1.5"], "t must be in [0, 1]"),
        (["--method", "suppress-cells", "--entropy-l", "2.1"], "entropy_l = 2.1 cannot be reached"),
        (["--method", "suppress-cells", "--k", "31"], "k = 31 is more than the 30 records of the table"),
    ],
)
def test_demands_that_cannot_be_met_are_a_sentence(folder: Path, more: list[str], message: str) -> None:
    where = ["protect", str(folder / "in.csv"), "--out", str(folder / "out.csv"), "--columns", "age", "--k", "3"]
    where += [] if "--method" in more else ["--method", "mdav"]
    result = CliRunner().invoke(cli, [*where, "--sensitive", "ill", "--identifiers", "name", "--keep", "", *more])
    assert isinstance(result.exception, SDCError)
    assert message in str(result.exception)
    assert not (folder / "out.csv").exists()


def test_a_page_of_too_many_records_is_refused_before_the_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_types, "MOST_RECORDS", N - 1)
    refused = protect(folder, "--report", str(folder / "page.html")).exception
    assert isinstance(refused, SDCError)
    assert f"up to {N - 1} records, and the table has {N}: leave it out" in str(refused)
    assert not (folder / "out.csv").exists()


def test_a_person_reads_what_is_promised_of_which_columns(folder: Path) -> None:
    where = ["protect", str(folder / "in.csv"), "--out", str(folder / "out.csv"), "--columns", "age", "--k", "3"]
    where += ["--method", "mondrian", "--keep", "", "--identifiers", "name"]
    assert "(--sensitive)" in str(CliRunner().invoke(cli, [*where, "--l", "2"]).exception)
    text = " ".join(CliRunner().invoke(cli, [*where, "--l", "2", "--sensitive", "ill"]).stdout.split())
    assert "(promised 3) (age)" in text
    assert "(promised 2) (age, ill)" in text
    assert "counted in the written file; of the sensitive columns l = 2" in text
    assert "the generalized columns lost" in text
    assert "of their information (entropy)" in text
