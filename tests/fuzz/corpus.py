"""The good inputs that cases start from: a table, hierarchies, a protected copy, studies and runs."""

from __future__ import annotations

from pathlib import Path

TOWNS = ("Zqalder", "Zqbirch", "Zqcedar", "Zqdrift")
SECRETS = (*TOWNS, "Zqname", "9135", "9173")
"""Beginnings of values of the original that no message may hold."""

ROWS = [
    (f"Zqname{i:02d}",
    20 + i * 7 % 41, TOWNS[i * i % 4], 91350 + i * 37 % 11 if i % 2 else 91730 + i % 5, "yn"[i % 3 > 1])
    for i in range(36)
]  # fmt: skip
HEADER = "name,age,town,wage,ill"
TABLE = "\n".join([HEADER, *(",".join(map(str, row)) for row in ROWS)]) + "\n"
PROTECTED = "\n".join(
    ["age,town,wage,ill", *(f"{10 * (age // 10)}-{10 * (age // 10) + 9},*,91500,{ill}" for _, age, _, _, ill in ROWS)]
)
MATES = "released,original\n" + "".join(f"{i},{i}\n" for i in range(1, len(ROWS) + 1))
TREE = "".join(f"{town};{'north' if i < 2 else 'south'};*\n" for i, town in enumerate(TOWNS))

DATA = """data.file = "table.csv"
data.quasi_identifiers = ["age", "wage"]
data.sensitive = ["ill"]
data.identifiers = ["name"]
data.keep = ["town"]
"""
SEARCH = """algorithm.name = "NSGA2"
algorithm.pop_size = 4
termination.generations = 2
run.seeds = [1, 5]
"""
TOWN = DATA.replace('["town"]', '["age", "wage"]')
STUDIES = {
    "pbg": DATA.replace('"wage"]', '"town"]').replace('keep = ["town"]', 'keep = ["wage"]')
    + 'data.hierarchies.age.intervals = [10, 20]\ndata.hierarchies.town.file = "town.csv"\nproblem.task = "pbg"\n'
    'problem.objectives = ["k", "glm"]\nproblem.max_suppression = 0.2\nrequire.k.min = 1\n' + SEARCH,
    "microaggregation": DATA + 'problem.task = "microaggregation"\nproblem.k = 3\n' + SEARCH.replace("NSGA2", "GA"),
    "gomm": DATA + 'problem.task = "gomm"\nproblem.k = 3\nrequire.il_sse.max = 90.0\n' + SEARCH,
    "pram": TOWN.replace('identifiers = ["age", "wage"]', 'identifiers = ["town"]')
    + 'problem.task = "pram"\nproblem.objectives = ["il_categorical", "dr_categorical"]\n'
    'problem.evaluation = "expected"\n' + SEARCH,
}
RUNS = ("gomm", "pbg")
METHODS = ("mdav", "mondrian")


def fill(folder: Path) -> None:
    """Write the good inputs into a folder."""
    (folder / "table.csv").write_text(TABLE)
    (folder / "protected.csv").write_text(PROTECTED + "\n")
    (folder / "town.csv").write_text(TREE)
    (folder / "rows.csv").write_text(MATES)
    for name, text in STUDIES.items():
        (folder / f"{name}.toml").write_text(text)


def rehearsal() -> list[list[str]]:
    """Commands that load and compile what the cases need, and make the runs that they damage."""
    columns = ["--columns", "age,wage", "--identifiers", "name", "--sensitive", "ill", "--keep", "town"]
    runs = [
        ["run", f"{name}.toml", "--out", name, *(["--no-pictures"] if name not in RUNS else [])] for name in STUDIES
    ]
    return [
        *runs,
        *(["protect", "table.csv", *columns, "--k=3", f"--method={m}", "--out", f"{m}.csv"] for m in METHODS),
        ["evaluate", "table.csv", "protected.csv", "--quasi-identifiers", "age,town,wage", "--sensitive", "ill",
         "--identifiers", "name", "--json"],
        ["release", "gomm", "--solution", "1-0", "--out", "released.csv"],
        ["plot", "pbg", "--format", "svg"], ["report", "gomm", "--out", "gomm.html"], ["compare", "gomm", "gomm"],
        ["status", "gomm"], ["demo", "--out", "../demo"],
        ["resume", "gomm", "--no-pictures"], ["schema"], ["data", "list"],
    ]  # fmt: skip
