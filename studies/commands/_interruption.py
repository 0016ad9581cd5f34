"""Message of a command that is interrupted by Ctrl-C: whether its files had been written."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from sdc_problems.studies.cli import EXIT_INTERRUPTED

F = TypeVar("F", bound=Callable[..., Any])


def all_or_nothing(function: F) -> F:
    """Say, after Ctrl-C, whether the command had written OUT and the files beside it; all of them, or none."""

    @wraps(function)
    def told(*args: Any, out: Path, **options: Any) -> Any:
        before = _state(out)
        try:
            return function(*args, out=out, **options)
        except KeyboardInterrupt:
            from sdc_problems.studies.report.terminal import console, plain

            said = "interrupted: nothing was written"
            if _state(out) != before:
                said = f"interrupted after writing {plain(str(out), 500)} and the files beside it: all are complete"
            console(stderr=True).print(said, soft_wrap=True)
            click.get_current_context().exit(EXIT_INTERRUPTED)

    return told  # type: ignore[return-value]


def _state(path: Path) -> tuple[int, int, int] | None:
    """Identity of a file, which changes when it is replaced; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
