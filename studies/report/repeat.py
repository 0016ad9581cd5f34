"""Commands that repeat a run and a release, to be run in the folder that contains the run folder."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path


def repeat_run(folder: Path) -> str:
    """Command that repeats a run in a new folder next to it.

    Parameters
    ----------
    folder
        The run folder.

    Examples
    --------
    >>> repeat_run(Path("runs/people"))
    'sdc run people --out people-again'
    """
    return shlex.join(["sdc", "run", _plain(folder.name), "--out", _plain(f"{folder.name}-again")])


def repeat_release(folder: Path, solution: str, file: Path, options: Sequence[str] = ()) -> str:
    """Command that releases a solution of the repeated run, next to the file that was released.

    Parameters
    ----------
    folder
        The run folder.
    solution
        Id of the solution.
    file
        The released file.
    options
        Options of the release.

    Examples
    --------
    >>> repeat_release(Path("runs/people"), "1-3", Path("out.csv"), ["--keep-order"])
    'sdc release people-again --solution 1-3 --out out-again.csv --keep-order'
    """
    again = _plain(f"{folder.name}-again"), _plain(f"{file.stem}-again{file.suffix}")
    return shlex.join(["sdc", "release", again[0], "--solution", solution, "--out", again[1], *options])


def _plain(name: str) -> str:
    """A name that cannot be taken for an option."""
    return f"./{name}" if name.startswith("-") else name
