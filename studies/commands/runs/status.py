"""``sdc status``: progress of a run."""

from __future__ import annotations

from pathlib import Path

import click

from sdc_problems.studies.commands._options import json_option


@click.command(name="status")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def command(folder: Path, as_json: bool) -> None:
    """Show how far the run in FOLDER is and what it has found, also while it works."""
    from sdc_problems.studies.report.summary import account
    from sdc_problems.studies.report.summary import as_json as to_json
    from sdc_problems.studies.report.terminal import console, plain, print_front, print_records, print_seeds
    from sdc_problems.studies.store.reader import Run

    with Run(folder) as run:
        payload = account(run)
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
            out.print(f"unfinished, and no process works on it; go on with: sdc resume {plain(str(folder), 500)}")
        else:
            out.print("finished" if payload["status"] == "finished" else "a process is working on it")
        print_seeds(payload)
        print_front(run)
        out.print(f"fingerprint {payload['fingerprint'][:16]}")
