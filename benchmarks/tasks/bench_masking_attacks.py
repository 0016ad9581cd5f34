"""Masked files of every data set, released and attacked: what a search's score does not hold.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_masking_attacks.py [--files census eia …] [--moves 20000000]

One file each: found by `sdc run` (`CellSearch`, two islands, seed 1, guarded; the sum of Census kept), written by `sdc
release`, and measured by `sdc evaluate` as anybody would who has both files. Each line is a row of the table of the
guide to masking, in percent; `[ ]` holds what was part of the objective or of the guard.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sdc_problems.studies.reproductions.evolution.cases import CASES, Case

SUMS = {"census": "PTOTVAL = POTHVAL + PEARNVAL"}
SHOWN = {
    True: ("[dbrl]", "[prl]", "rsrl", "[copies]", "record_change", "regression_change", "sums_broken",
           "score_classical"),
    False: ("[dbrl]", "[prl]", "[guess]", "unchanged_cells", "certain_links"),
}  # fmt: skip


def sdc(*arguments: object) -> str:
    """Output of a command: what it prints to stdout."""
    command = [sys.executable, "-W", "ignore", "-m", "sdc_problems", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def written(case: Case, path: Path) -> list[str]:
    """Write the original as CSV, ordinal categories numbered so that their order is that of the alphabet."""
    data = case.data()
    names = list(data.quasi_identifiers)
    frame = data.frame()[names].copy()
    for name in names:
        if data.attribute(name).kind.value == "ordinal":
            order = {label: f"{code:02d} {label}" for code, label in enumerate(data.attribute(name).labels)}
            frame[name] = [order[str(cell)] for cell in frame[name]]
    frame.to_csv(path, index=False)
    return names


def row(case: Case, moves: int, folder: Path) -> dict[str, Any]:
    """Measures of the released file by name, as `sdc evaluate` prints them."""
    names = written(case, folder / "original.csv")
    kinds = {name: case.data().attribute(name).kind.value for name in names}
    edits = f'edits = ["{SUMS[case.name]}"]\n' if case.name in SUMS else ""
    (folder / "study.toml").write_text(
        f'title = "{case.title}"\n[data]\nfile = "original.csv"\nquasi_identifiers = {json.dumps(names)}\n'
        + "[data.kinds]\n" + "".join(f'"{name}" = "{kind}"\n' for name, kind in kinds.items())
        + f'[problem]\ntask = "masking"\nobjectives = ["{case.score}"]\n{edits}'
        + f'[algorithm]\nname = "CellSearch"\nmove_limit = {moves}\nislands = 2\n[run]\nseeds = [1]\n',
        encoding="utf-8",
    )  # fmt: skip
    found = json.loads(sdc("run", folder / "study.toml", "--out", folder / "run", "--json", "--no-pictures"))
    best = min(found["front"], key=lambda entry: entry[case.score])
    sdc("release", folder / "run", "--solution", best["id"], "--out", folder / "protected.csv")
    spelled = ",".join(f"{name}={kind}" for name, kind in kinds.items())
    told = json.loads(
        sdc("evaluate", folder / "original.csv", folder / "protected.csv", "--quasi-identifiers", ",".join(names),
            "--kinds", spelled, "--linkage-limit", 5000, "--json")
    )  # fmt: skip
    return {"score": best[case.score], **{m["name"]: m["value"] for m in told["measures"]}}


def main() -> None:
    """Release and attack what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--moves", type=int, default=20_000_000)
    asked = parser.parse_args()
    for name in asked.files:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            measured = row(case, asked.moves, Path(folder))
        shown = "  ".join(
            f"{what} {measured[what.strip('[]')]:.2f}" for what in SHOWN[case.numeric] if what.strip("[]") in measured
        )
        print(f"{case.title:<22} {case.score} {measured['score']:.2f}   {shown}", flush=True)


if __name__ == "__main__":
    main()
