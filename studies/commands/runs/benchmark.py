"""``sdc benchmark``: run algorithms on the instances of a suite, and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from sdc_problems.studies.cli import EXIT_FAILURE, EXIT_INTERRUPTED
from sdc_problems.studies.commands._options import json_option

if TYPE_CHECKING:
    from sdc_problems.suite import Instance

SCHEMA = "sdc.benchmark/1"
suite_option = click.option("--suite", default="core", show_default=True, help="Suite of instances.")


def _known(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of the instances that are named, of which those of one's own are known from now on."""
    from sdc_problems._plugins import import_from_here
    from sdc_problems.suite._catalogue import known_ids, own_files

    found = tuple(dict.fromkeys(known for name in value for known in known_ids(name)))
    if own_files():  # their problems may be in a module of the current folder, as for `freeze`
        import_from_here()
    return found


def _one_known(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Id of the one instance that is named."""
    from sdc_problems.errors import SDCError

    found = _known(ctx, param, (value,))
    if len(found) > 1:
        raise SDCError(f"the folder {value!r} has {len(found)} instances: name one file ({', '.join(found)})")
    return found[0]


instance_option = click.option(
    "--instance", "names", multiple=True, metavar="ID", callback=_known,
    help="This instance only, by its id or its file, or those of a folder; may be repeated.",
)  # fmt: skip
own_option = click.option(
    "--instance", "own", multiple=True, metavar="FILE", callback=_known, expose_value=False,
    help="File or folder of instances of your own that the records are of; may be repeated.",
)  # fmt: skip
one_argument = click.argument("name", metavar="ID", callback=_one_known)
folders_argument = click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
budget_option = click.option(
    "--budget",
    default="long",
    show_default=True,
    help="Evaluations after which runs are compared: short, long or a number.",
)
indicator_option = click.option(
    "--indicator",
    type=click.Choice(["gap", "area", "epsilon", "igd_plus"]),
    default="gap",
    show_default=True,
    help="Indicator that the tests compare.",
)


@click.group(name="benchmark", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Run and compare algorithms on the instances of a suite, whose fronts are known.

    \b
    sdc benchmark list
    sdc benchmark run --algorithm NSGA2 --algorithm random --seeds 5 --out DIR
    sdc benchmark table DIR
    sdc benchmark plot DIR
    """


@command.command(name="list")
@suite_option
@click.option("--algorithms", is_flag=True, help="List the algorithms that `run` knows by name.")
@json_option
def list_command(suite: str, algorithms: bool, as_json: bool) -> None:
    """List the instances of a suite: size, front, and how the front is known."""
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.studies.report.text import as_json as to_json

    if algorithms:
        from sdc_problems.studies.benchmark.algorithms import named

        found = named()
        if as_json:
            click.echo(to_json({"schema": SCHEMA, "algorithms": found}))
            return
        for one in found:
            tasks = f", for {' and '.join(one['tasks'])}" if one["tasks"] else ""
            console().print(f"{one['name']:<16}  {one['title']}{tasks}", soft_wrap=True)
        return
    rows = [_said(found) for found in _instances(suite, ())]
    if as_json:
        click.echo(to_json({"schema": SCHEMA, "suite": suite, "instances": rows}))
        return
    from sdc_problems.studies.benchmark.show import beside, columns

    heads = ("instance", "solutions", "front", "known", *rows[0]["budgets"])
    cells = [
        (row["id"], row["space_in_words"].removeprefix("about "), str(row["points"]), row["known"],
         *(f"{n:,}" for n in row["budgets"].values()))
        for row in rows
    ]  # fmt: skip
    notes = [", ".join(row["objectives"]) + ("" if row["available"] else " (its table is not here)") for row in rows]
    width = console().width if console().is_terminal else None
    for line in beside(columns([heads, *cells]), ["objectives", *notes], width):
        console().print(line, soft_wrap=True)


@command.command(name="show")
@one_argument
@json_option
def show_command(name: str, as_json: bool) -> None:
    """Describe an instance: its task, why it is hard, and how its front is known.

    ID may also be the file of a frozen instance of your own.
    """
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.report.text import number
    from sdc_problems.suite import instance

    found = instance(name)
    said = _said(found)
    said |= {
        "digest": found.digest, "proof": found.proof, "what_is_hard": found.what_is_hard, "options": found.parameters,
        "ideal": found.natural(found.ideal).tolist(), "nadir": found.natural(found.nadir).tolist(),
    }  # fmt: skip
    if as_json:
        click.echo(to_json({"schema": SCHEMA, **said}))
        return
    out = console()
    out.print(f"{found.id}: {found.title}")
    out.print(f"  task        {found.task}, {found.space_in_words} different solutions")
    for objective, best, worst in zip(found.objectives, said["ideal"], said["nadir"], strict=True):
        out.print(f"  objective   {objective}, from {number(best)} (best) to {number(worst)} on the front")
    out.print(f"  front       {len(found.front)} points, {found.known}: {found.proof}", soft_wrap=True)
    out.print(f"  hard        {found.what_is_hard}", soft_wrap=True)
    out.print("  budgets     " + ", ".join(f"{key} {n:,}" for key, n in found.budgets.items()) + " evaluations")
    out.print(f"  digest      {found.digest}")


@command.command(name="run")
@suite_option
@instance_option
@click.option(
    "--algorithm", "algorithms", multiple=True, metavar="NAME",
    help="One of `list --algorithms`, or module:function of (problem, budget, rng); may be repeated.",
)  # fmt: skip
@click.option("--seeds", type=click.IntRange(min=1), help="Number of runs with seeds 1, 2, … Default: 5.")
@click.option("--budget", help="Evaluations of a run: short, long or a number. Default: long.")
@click.option("--shipped", is_flag=True, help="Repeat the runs of the shipped results, with their seeds and budgets.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the records.")
@click.option("--workers", type=click.IntRange(min=1), help="Number of processes. Default: one per processor.")
def run_command(
    suite: str,
    names: tuple[str, ...],
    algorithms: tuple[str, ...],
    seeds: int | None,
    budget: str | None,
    shipped: bool,
    out: Path,
    workers: int | None,
) -> None:
    """Run algorithms on instances. Each complete run is written to its own file in the folder.

    After a kill or Ctrl-C, the same command continues. You can add seeds, algorithms or instances later: existing runs
    are not repeated. With `--shipped`, `--algorithm` and `--instance` select some of the shipped runs.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.parallel._process import processors
    from sdc_problems.studies.benchmark.runs import jobs, run_all
    from sdc_problems.studies.benchmark.shipped import planned
    from sdc_problems.studies.report.terminal import console, plain

    err = console(stderr=True)

    def tell(line: str) -> None:
        err.print(line)

    if shipped:
        if seeds is not None or budget is not None:
            raise SDCError("--shipped has its own seeds and budgets: omit --seeds and --budget")
        wanted = planned(_instances(suite, names), algorithms, tell=tell)
    elif not algorithms:
        raise SDCError("no algorithm: name one of `sdc benchmark list --algorithms` by --algorithm, or give --shipped")
    else:
        evaluations = _budget(budget or "long")
        wanted = jobs(_instances(suite, names), algorithms, seeds=seeds or 5, budget=evaluations, tell=tell)
    done = run_all(wanted, out, workers=workers or processors(), tell=tell)
    if done.left:
        err.print(f"interrupted; {done.left} runs are left. The same command continues")
        click.get_current_context().exit(EXIT_INTERRUPTED)
    if done.failed:
        err.print(f"{done.failed} runs failed with an error of their algorithm and have no record")
        click.get_current_context().exit(EXIT_FAILURE)
    console().print(f"{done.made + done.there} runs in {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="serve")
@one_argument
@click.option("--algorithm", required=True, metavar="NAME", help="Name of the program's algorithm, for the record.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the operators.")
@click.option("--budget", default="long", show_default=True, help="Evaluations of the run: short, long or a number.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the record.")
def serve_command(name: str, algorithm: str, seed: int, budget: str, out: Path) -> None:
    """Measure an instance's solutions for a program in any language: numbers on stdin, objectives on stdout.

    The answer to a line of numbers is a line of objectives, all minimized, as in the external problems of the MOEA
    Framework. The program can also ask for `names`, `objectives`, `lower`, `upper`, `sample N`, `canonical x…`,
    `mutate x…` and `cross x… y…`. The command ends at an empty line, at the end of the input, or when the budget is
    spent.
    """
    import numpy as np

    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.runs import Job
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.suite import Recorder, instance
    from sdc_problems.suite.adapters.lines import serve

    found = instance(name)
    recorder = Recorder(found, _budget(budget), seed=seed, algorithm=algorithm)
    path = Job(algorithm, found.id, seed, recorder.budget).path(out)
    if path.exists():
        raise SDCError(f"{str(path)!r} already exists: choose another --seed, --algorithm or --out")
    try:
        serve(recorder, np.random.default_rng(seed))
    finally:
        path.parent.mkdir(parents=True, exist_ok=True)
        recorder.record().save(path)
    console(stderr=True).print(f"{recorder.evaluations} evaluations in {plain(str(path), 500)}", soft_wrap=True)


@command.command(name="table")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@instance_option
@budget_option
@indicator_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, with all columns.")
@click.option("--pairs", is_flag=True, help="Also print the test of each pair on each instance.")
@click.option("--shipped", "beside", is_flag=True, help="Also compare with the shipped results.")
@json_option
def table_command(
    folders: tuple[Path, ...],
    names: tuple[str, ...],
    budget: str,
    indicator: str,
    as_csv: bool,
    pairs: bool,
    beside: bool,
    as_json: bool,
) -> None:
    """Compare the algorithms whose records are in FOLDERS: indicators, expected runtimes, tests.

    Everything is computed from the archive of each run after BUDGET evaluations, not from the final population. With
    --csv, `--budget every` gives every named budget. Without FOLDERS, the table has the shipped results, which come
    with the suite; `--shipped` adds them to yours, on your instances. The shipped results have the gap of each seed
    only, and no other indicator.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.shipped import samples_of, shipped, with_shipped
    from sdc_problems.studies.benchmark.show import payload_of, print_table, table_payload
    from sdc_problems.studies.benchmark.tables import every_budget, read_entries, summary, written
    from sdc_problems.studies.report.text import as_json as to_json

    after = _budget(budget)
    if budget == "every" and not as_csv:
        raise SDCError("--budget every needs --csv, because tests use one budget: add --csv, or name a budget")
    if not folders:
        table = shipped(names, None if budget == "every" else after)
        if not as_csv:
            payload = payload_of(table, samples_of(table, indicator), after, indicator)
    else:
        entries = read_entries(folders, names)
        if as_csv or beside:
            table = every_budget(entries) if budget == "every" else summary(entries, after)
            table = with_shipped(table) if beside else table
            payload = {} if as_csv else payload_of(table, samples_of(table, indicator), after, indicator)
        else:
            payload = table_payload(entries, after, indicator)
    if as_csv:
        click.echo(written(table), nl=False)
    elif as_json:
        click.echo(to_json({"schema": SCHEMA, **payload}))
    else:
        print_table(payload, pairs=pairs)


@command.command(name="plot")
@folders_argument
@instance_option
@budget_option
@indicator_option
@click.option("--between", metavar="A,B", help="Two algorithms whose attainment is compared. Default: the first two.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the pictures. Default: pictures in the first of FOLDERS.",
)
@click.option(
    "--format", "kind", type=click.Choice(["png", "svg"]), default="png", show_default=True, help="File format."
)
def plot_command(
    folders: tuple[Path, ...],
    names: tuple[str, ...],
    budget: str,
    indicator: str,
    between: str | None,
    out: Path | None,
    kind: Literal["png", "svg"],
) -> None:
    """Draw the gap over the run, the targets reached, attainment surfaces and their differences, and ranks.

    The pictures of attainment also show the front. Instances on which some algorithm has no run have pictures of their
    own, but do not count in the common ones.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.pictures import draw
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.studies.commands._options import names as listed
    from sdc_problems.studies.report.plots import rendered
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.store.folder import inside, write_atomically

    chosen = listed(between or "")
    if between is not None and len(chosen) != 2:
        raise SDCError(f"--between takes two algorithms, as in NSGA2,random, not {between!r}")
    entries = read_entries(folders, names)
    place = out or folders[0] / "pictures"
    place.mkdir(parents=True, exist_ok=True)
    pictures = draw(
        entries, budget=_budget(budget), indicator=indicator, between=(chosen[0], chosen[1]) if chosen else None
    )
    for name, figure in pictures:
        path = inside(place, f"{name}.{kind}")
        write_atomically(path, rendered(figure, kind))
        console().print(plain(str(place / path.name), 500), soft_wrap=True)


@command.command(name="check")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@own_option
@json_option
def check_command(folder: Path | None, as_json: bool) -> None:
    """Check a submission: submission.toml, digests and budgets, and each F against its X, measured again.

    A table.csv in the folder must agree with the records. Nothing in the folder is executed or unpickled. Without
    FOLDER, the command checks that the shipped results belong to the installed instances. The exit code is 1 if
    something is wrong.
    """
    from sdc_problems.studies.benchmark.check import check, check_shipped
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.report.text import as_json as to_json

    err = console(stderr=True)
    report = check_shipped() if folder is None else check(folder, tell=lambda line: err.print(plain(line, 500)))
    if as_json:
        said = None if report.submission is None else report.submission.model_dump()
        click.echo(to_json({"schema": SCHEMA, **vars(report), "submission": said}))
    else:
        out = console()
        measured = f", {report.solutions:,} solutions measured again" if folder is not None else " behind the table"
        out.print(f"{report.records:,} records{measured}")
        for line in (*report.problems, *(f"note: {note}" for note in report.notes)):
            out.print(plain(line, 1000), soft_wrap=True)
        out.print("no problems found" if not report.problems else f"{len(report.problems)} problems")
    if report.problems:
        click.get_current_context().exit(EXIT_FAILURE)


@command.command(name="export")
@folders_argument
@instance_option
@click.option(
    "--format",
    "kind",
    type=click.Choice(["ioh", "moocore", "paretobench"]),
    required=True,
    help="Format of the files.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="Folder for the files.")
def export_command(folders: tuple[Path, ...], names: tuple[str, ...], kind: str, out: Path) -> None:
    """Write records for other tools: gaps over the run, or archives.

    ioh writes gaps for IOHanalyzer. moocore writes final archives for moocore and R's eaf. paretobench writes archives
    at 20 moments of each run as HDF5, which needs h5py.
    """
    from sdc_problems.studies.benchmark.export import export
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.studies.report.terminal import console, plain

    written = export(read_entries(folders, names), kind, out)
    console().print(f"{len(written)} files in {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="page")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@budget_option
@click.option("--shipped", "beside", is_flag=True, help="Also include the shipped results.")
@click.option("--verify", is_flag=True, help="First check each submission, and measure all its solutions again.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("leaderboard.html"),
    show_default=True, help="HTML file to write.",
)  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace a file that exists.")
@own_option
def page_command(
    folders: tuple[Path, ...], budget: str, beside: bool, verify: bool, out: Path, overwrite: bool
) -> None:
    """Write the leaderboard of FOLDERS as one HTML file that loads nothing and can be sorted.

    Submissions that were not verified, or were tuned on the suite, are marked. Without FOLDERS, the leaderboard has the
    shipped results.
    """
    from sdc_problems.errors import SDCError
    from sdc_problems.studies.benchmark.page import leaderboard
    from sdc_problems.studies.report.terminal import console, plain
    from sdc_problems.studies.store.folder import write_atomically

    if out.exists() and not overwrite:
        raise SDCError(f"{str(out)!r} already exists: choose another --out, or add --overwrite")
    write_atomically(out, leaderboard(folders, budget=_budget(budget), verify=verify, beside=beside))
    console().print(f"leaderboard: {plain(str(out), 500)}", soft_wrap=True)


@command.command(name="freeze")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
def freeze_command(files: tuple[Path, ...]) -> None:
    """Freeze your own instances: find their fronts, measure rows, and write both beside the TOML FILES.

    The problem may be in a module of the current folder. The index.json of the folder of FILES then lists them. Name
    them by file or folder: `sdc benchmark run --instance FILE`. Do not freeze a published instance again: if any value
    changes, give it the next version.
    """
    from sdc_problems._plugins import import_from_here
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.suite import freeze

    import_from_here()
    for file in files:
        found = freeze(file)
        console().print(f"{found.id}: {len(found.front)} points, {found.known}", soft_wrap=True)


@command.command(name="prove")
@suite_option
@instance_option
def prove_command(suite: str, names: tuple[str, ...]) -> None:
    """Prove the fronts of a suite again, and compare them with the stored ones. Nothing is written.

    A front that takes more than a few seconds is proven only if --instance names it. The exit code is 1 if a front
    differs.
    """
    import time

    from sdc_problems.errors import SDCError
    from sdc_problems.studies.report.terminal import console
    from sdc_problems.suite import prove

    out, wrong = console(), 0
    for found in _instances(suite, names):
        if not found.available or (found.stored and not names):
            why = "stored: name it by --instance" if found.available else "its table is not here"
            out.print(f"{found.id}: {why}", soft_wrap=True)
            continue
        began, said = time.process_time(), "the same"
        try:
            prove(found)
        except SDCError as error:
            wrong, said = wrong + 1, str(error)
        seconds = time.process_time() - began
        out.print(f"{found.id}: {len(found.front)} points, {found.known}, {said} ({seconds:.1f} s)", soft_wrap=True)
    if wrong:
        click.get_current_context().exit(EXIT_FAILURE)


@command.command(name="cite")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@suite_option
@instance_option
def cite_command(folders: tuple[Path, ...], suite: str, names: tuple[str, ...]) -> None:
    """Print BibTeX entries of the suite version, the tables and the papers, and a sentence to cite them with.

    The entries are for the instances of the records in FOLDERS, those of --instance, or all of the suite.
    """
    from sdc_problems.studies.benchmark.tables import read_entries
    from sdc_problems.suite._citation import citation

    ran_on = {entry.instance.id: entry.instance for entry in read_entries(folders, names)} if folders else {}
    click.echo(citation(list(ran_on.values()) or _instances(suite, names)))


def _budget(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _instances(suite: str, names: tuple[str, ...]) -> list[Instance]:
    from sdc_problems.errors import SDCError
    from sdc_problems.suite import instance, instances

    if names:
        return [instance(name) for name in dict.fromkeys(names)]
    found = instances(suite)
    if not found:
        known = ", ".join(dict.fromkeys(other.suite for other in instances()))
        raise SDCError(f"there is no suite {suite[:60]!r} (known: {known})")
    return found


def _said(found: Instance) -> dict[str, Any]:
    return {
        "id": found.id, "suite": found.suite, "task": found.task, "title": found.title,
        "objectives": list(found.objectives), "space_in_words": found.space_in_words, "points": len(found.front),
        "space": found.space if found.space < 1e300 else None,
        "known": found.known, "budgets": found.budgets, "available": found.available,
    }  # fmt: skip
