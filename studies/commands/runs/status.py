"""``sdc status``: progress of a run."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option


@click.command(name="status")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--fingerprint",
    help="Fingerprint of the run from a certificate or an earlier status (8 digits or more). A run with another"
    " fingerprint is refused.",
)
@json_option
def command(folder: Path, fingerprint: str | None, as_json: bool) -> None:
    """Show the progress and the front of the run in FOLDER, even while it works.

    All values are checked against the digests that were stored with them. Whoever can write to the folder can also
    change the digests: compare the fingerprint with one that you noted elsewhere.
    """
    from sdc_problems.studies.report.summary import account
    from sdc_problems.studies.report.terminal import (
        console,
        plain,
        print_fingerprint,
        print_front,
        print_records,
        print_seeds,
    )
    from sdc_problems.studies.report.text import as_json as to_json
    from sdc_problems.studies.store.reader import Run

    with Run(folder) as run:
        run.verify()
        payload = account(run)
        if fingerprint is not None:
            _same(payload["fingerprint"], fingerprint)
        if as_json:
            click.echo(to_json(payload))
            return
        out = console()
        out.print(f"{plain(payload['title'])}: {plain(payload['task'])} by {plain(payload['algorithm'])}")
        source = payload["data"]["file"] or run.study.get("data", {}).get("name", "")
        out.print(f"{payload['data']['records']:,} records of {plain(str(source), 300)}")
        print_records(payload["data"])
        out.print("made with " + ", ".join(f"{plain(k)} {plain(v)}" for k, v in payload["versions"].items()))
        if payload["status"] == "unfinished":
            out.print(f"unfinished, and no process works on it. To continue: sdc resume {plain(str(folder), 500)}")
        else:
            out.print("finished" if payload["status"] == "finished" else "a process is working on it")
        print_seeds(payload)
        print_front(run)
        print_fingerprint(run)


def _same(now: str, before: str) -> None:
    """Refuse a run whose fingerprint differs from the given one."""
    from sdc_problems.errors import SDCError

    given = before.strip().lower()
    if not (8 <= len(given) <= 64 and set(given) <= set("0123456789abcdef")):
        raise SDCError("--fingerprint takes 8 to 64 digits (0-9 and a-f), as status and certificates show them")
    if not now.startswith(given):
        raise SDCError(
            f"the fingerprint of the run is {now[: len(given)]}, not {given}: this is another run, or the run was"
            " continued or edited since"
        )
