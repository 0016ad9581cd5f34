"""``sdc protect``: microaggregate a file and say what that did."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._session import json_option
from sdc_problems.studies.commands.evaluate import _kinds, _names, show


@click.command(name="protect")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--method",
    default="mdav",
    show_default=True,
    help="mdav, v-mdav, mhm, mhm-nearest, univariate, memetic, hybrid, hybrid-one-step, ga or exhaustive.",
)
@click.option("--k", required=True, type=int, help="Smallest group: every record looks like at least k − 1 others.")
@click.option("--columns", required=True, help="Columns to protect, separated by commas.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The protected CSV file to write.")
@click.option("--sensitive", default="", help="Columns whose values must stay secret; they are not changed.")
@click.option("--identifiers", default="", help="Columns that are left out.")
@click.option("--kinds", default="", help="Kinds that are not as they look, as in age=numeric,zip=nominal.")
@click.option("--delimiter", default=",", show_default=True, help="Delimiter of FILE.")
@click.option("--gamma", type=float, default=0.2, show_default=True, help="v-mdav: how readily a group grows.")
@click.option("--macrogroup", type=int, default=18, show_default=True, help="hybrid: records of a macrogroup.")
@click.option("--epochs", type=int, default=10_000, show_default=True, help="hybrid, ga: epochs of the search.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="memetic, hybrid, ga: random numbers."
)
@click.option("--moves", type=click.IntRange(min=1), help="memetic: limit of moves; 20,000 per record if not given.")
@click.option("--seconds", type=click.FloatRange(min=0), help="memetic: limit of time.")
@click.option("--formula-guard", is_flag=True, help="Put an apostrophe before text that a spreadsheet would execute.")
@click.option("--overwrite", is_flag=True, help="Replace a file that exists already.")
@json_option
def command(
    file: Path,
    method: str,
    k: int,
    columns: str,
    out: Path,
    sensitive: str,
    identifiers: str,
    kinds: str,
    delimiter: str,
    gamma: float,
    macrogroup: int,
    epochs: int,
    seed: int,
    moves: int | None,
    seconds: float | None,
    formula_guard: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Microaggregate columns of FILE: similar records form groups of at least k and get their group's centroid.

    The centroid is the mean of numbers, the median of ordered categories and the most frequent of other ones. The
    written file is read back and k is counted in it again; then follows the verdict of `sdc evaluate`.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.microdata import Microdata
    from sdc_problems.studies.release import Settings, protect
    from sdc_problems.studies.report.summary import as_json as to_json
    from sdc_problems.studies.report.terminal import console, plain

    if out.exists() and file.exists() and out.samefile(file):
        raise SDCError("--out is the original file itself: nothing is written")
    data = Microdata.from_csv(
        file,
        quasi_identifiers=_names(columns),
        sensitive=_names(sensitive),
        identifiers=_names(identifiers),
        kinds=_kinds(kinds),
        delimiter=delimiter,
    )
    done = protect(
        data,
        out,
        method=method,
        k=k,
        settings=Settings(gamma=gamma, K=macrogroup, epochs=epochs, seed=seed, moves=moves, seconds=seconds),
        formula_guard=formula_guard,
        overwrite=overwrite,
    )
    if as_json:
        click.echo(to_json(done.payload()))
        return
    screen = console()
    for sentence in done.what_was_done:
        screen.print(plain(sentence, 1000))
    for promise in done.guarantees:
        screen.print(f"checked in the file: {promise.name} {promise.found:g} (promised {promise.promised:g})")
    screen.print(f"written: {plain(str(done.file), 500)}\n")
    show(done.verdict)
