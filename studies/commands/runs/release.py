"""``sdc release``: the protected file of a solution."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sdc_problems.studies.commands._interruption import all_or_nothing
from sdc_problems.studies.commands._options import json_option, names, row_options, warnings_as_notes


@click.command(name="release")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--solution",
    required=True,
    metavar="ID",
    help="Solution to release, by its id in `sdc status` or front.csv, such as 1-17. In a lattice also node:1,0,2.",
)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Protected file to write: CSV, .graphml or .gml."
)
@click.option("--seed", type=click.IntRange(min=0), help="Secret seed of a random protection. Default: drawn.")
@click.option("--new-draw", is_flag=True, help="Draw again for a random protection that was already released.")
@click.option(
    "--suppressed",
    type=click.Choice(["drop", "star"]),
    default="drop",
    show_default=True,
    help="Leave out suppressed records, or keep them with stars.",
)
@click.option(
    "--form",
    type=click.Choice(["nodes", "supernodes"]),
    help="For a social graph: every node with all links, or one row per cluster. Default: nodes.",
)
@click.option("--keep", help="Columns without a role to publish unchanged. Default: as the study says.")
@row_options
@click.option(
    "--override",
    metavar="REASON",
    help="Release a solution that breaks the study's [require] or has k = 1. The certificate contains REASON.",
)
@click.option("--data", type=click.Path(path_type=Path), help="CSV file of the run, if it was moved.")
@click.option("--formula-guard", is_flag=True, help="Put an apostrophe before text that a spreadsheet could execute.")
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@json_option
@all_or_nothing
def command(
    folder: Path,
    solution: str,
    out: Path,
    seed: int | None,
    new_draw: bool,
    suppressed: Literal["drop", "star"],
    form: Literal["nodes", "supernodes"] | None,
    keep: str | None,
    keep_order: bool,
    no_rows: bool,
    rows_seed: int | None,
    override: str | None,
    data: Path | None,
    formula_guard: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write the protected file of a solution of the run in FOLDER.

    The rows are shuffled. The file is read back, and each guarantee is counted in it; if one does not hold, nothing is
    written. OUT.certificate.json may be published with OUT. Keep OUT.mapping.csv (what became of each value) and
    OUT.rows.csv (which record each row is, for `sdc evaluate`) private. For a social graph, OUT.edges.csv contains the
    links; if OUT is a .graphml or .gml file, it contains the links itself.
    """
    from sdc_problems.studies.release import release
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.report.text import number

    with warnings_as_notes():
        done = release(
            folder,
            solution,
            out,
            seed=seed,
            new_draw=new_draw,
            suppressed=suppressed,
            graph_form=form,
            keep=None if keep is None else names(keep),
            keep_order=keep_order,
            rows=not no_rows,
            rows_seed=rows_seed,
            override=override,
            data=data,
            formula_guard=formula_guard,
            overwrite=overwrite,
        )
    if as_json:
        click.echo(to_json(done.content))
        return
    out_console = console()
    for sentence in done.content["what_was_done"]:
        out_console.print(plain(sentence, 1000))
    for promise in done.content["guarantees_checked_in_the_file"]:
        columns = f" ({plain(', '.join(promise['columns']), 200)})" if promise["columns"] else ""
        found, promised = number(promise["found"]), number(promise["promised"])
        out_console.print(f"checked in the file: {promise['name']} {found} (promised {promised}){columns}")
    out_console.print(f"guarantee: {done.content['promise']}")
    if done.content["override"]:
        for requirement in done.content["override"]["broken"]:
            out_console.print(f"requirement that does not hold (see --override): {plain(requirement, 500)}")
    out_console.print(f"released: {plain(str(done.file), 500)}")
    if done.edges not in (None, done.file):
        out_console.print(f"links: {plain(str(done.edges), 500)}")
    out_console.print(f"certificate: {plain(str(done.certificate), 500)}")
    if done.decision is not None:
        out_console.print(f"decision record: {plain(str(done.decision), 500)}")
    out_console.print(f"value mapping (keep it private): {plain(str(done.mapping), 500)}")
    if done.rows is not None:
        out_console.print(f"rows file (keep it private): {plain(str(done.rows), 500)}")
