"""Numbers that a release does not change leave as they were read, and the pair is measured as before."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEADER = "age;town;wage;code;rate;gap\n"
RATES = ("1,5", "1,50", "1e3", "+2", "-0,0")
READ = ("--decimal", ",", "--thousands", ".", "--kinds", "code=numeric")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{20 + i % 5};{('Olot', 'Reus')[i % 2]};{1 + i % 9}.{i % 3}00,00;{i % 8:03d};{RATES[i % 5]};"
        f"{'' if i % 7 == 0 else f'{i % 4},10'}\n"
        for i in range(60)
    ]
    path = tmp_path / "a.csv"
    path.write_text(HEADER + "".join(rows))
    return path


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream, delimiter=";"))


def in_place(out: Path) -> list[list[str]]:
    """Cells of a released file in the order of the original, without its header."""
    rows = cells(out)[1:]
    lines = out.with_name(f"{out.name}.rows.csv").read_text().splitlines()[2:]
    pairs = [tuple(map(int, line.split(","))) for line in lines]
    return [rows[released - 1] for released, _ in sorted(pairs, key=lambda pair: pair[1])]


@pytest.mark.parametrize("options", [(), ("--formula-guard",), ("--suppressed", "star")], ids=str)
def test_columns_that_stay_are_written_as_they_were_read(
    sdc: Callable[..., Any], source: Path, options: tuple[str, ...]
) -> None:
    roles = ("--quasi-identifiers", "age,town", "--sensitive", "wage,gap")
    method = ("--method", "mondrian", "--k", "3") if "star" not in options else ("--method", "lattice", "--k", "3")
    sdc("protect", source, *READ, *roles, *method, "--out", "p.csv", "--rows-seed", "4", *options)
    assert [row[2:] for row in in_place(Path("p.csv"))] == [row[2:] for row in cells(source)[1:]]
    first = Path("p.csv").read_bytes()
    sdc("protect", source, *READ, *roles, *method, "--out", "q.csv", "--rows-seed", "4", *options)
    assert Path("q.csv").read_bytes() == first
    if "--formula-guard" not in options:
        found = json.loads(sdc("evaluate", source, "p.csv", *READ, *roles, "--json").out)
        certificate = json.loads(Path("p.csv.certificate.json").read_text())
        for entry in ("utility", "columns", "weakest_records"):
            assert found[entry] == certificate["measured_in_the_file"][entry]
        counted = {g["name"]: g["found"] for g in certificate["guarantees_checked_in_the_file"]}
        assert counted["changed elsewhere"] == 0


def test_cells_that_were_not_starred_stay_and_changed_numbers_keep_their_decimals(
    sdc: Callable[..., Any], source: Path
) -> None:
    original = cells(source)[1:]
    quasi = ("--quasi-identifiers", "town,wage,code", "--keep", "age,rate,gap")
    sdc("protect", source, *READ, *quasi, "--method", "suppress-cells", "--k", "3", "--out", "s.csv")
    pairs = [
        (a, b)
        for old, new in zip(original, in_place(Path("s.csv")), strict=True)
        for a, b in zip(old, new, strict=True)
    ]
    assert all(a == b or b == "*" for a, b in pairs)
    assert any(b == "*" for _, b in pairs)
    sdc("evaluate", source, "s.csv", *READ, *quasi[:2])

    quasi = ("--quasi-identifiers", "wage,code", "--keep", "age,rate,gap,town")
    sdc("protect", source, *READ, *quasi, "--method", "rank-swap", "--percent", "30", "--out", "w.csv", "--seed", "1")
    new = in_place(Path("w.csv"))
    for j in (2, 3):
        assert sorted(row[j] for row in new) == sorted(row[j] for row in original)
        assert [row[j] for row in new] != [row[j] for row in original]
    sdc("evaluate", source, "w.csv", *READ, *quasi[:2])


def test_a_study_releases_them_so_too(sdc: Callable[..., Any], source: Path) -> None:
    Path("s.toml").write_text(
        'title = "Numbers"\n[data]\nfile = "a.csv"\ndecimal = ","\nthousands = "."\nmissing = "category"\n'
        'kinds = { code = "numeric", gap = "nominal" }\nquasi_identifiers = ["age", "town"]\nsensitive = ["wage"]\n'
        'keep = ["code", "rate", "gap"]\n'
        "[data.hierarchies]\nage = { intervals = [5] }\ntown = { suppression = true }\n"
        '[problem]\ntask = "pbg"\nobjectives = ["k", "glm"]\n[algorithm]\nname = "NSGA2"\npop_size = 8\n'
        "[termination]\ngenerations = 3\n[run]\nseeds = 1\n"
    )
    sdc("run", "s.toml", "--out", "run")
    sdc("release", "run", "--solution", "node:1,1,1", "--out", "r.csv", "--suppressed", "star")
    assert [row[2:] for row in in_place(Path("r.csv"))] == [row[2:] for row in cells(source)[1:]]


def test_a_file_without_separators_is_not_taken_for_one_with_them(sdc: Callable[..., Any], source: Path) -> None:
    plain = [[*row[:2], row[2].replace(".", "").replace(",", "."), *row[3:]] for row in cells(source)]
    Path("plain.csv").write_text("".join(";".join(row) + "\n" for row in plain))
    said = sdc("evaluate", source, "plain.csv", *READ, "--quasi-identifiers", "age,wage", "--json", "--same-rows").out
    assert [column["fate"] for column in json.loads(said)["columns"]] == ["unchanged", "unchanged"]
