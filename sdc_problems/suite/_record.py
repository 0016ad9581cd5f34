"""Record of one run on an instance: every solution that entered its archive, and when; a file without pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._files import input_file
from sdc_problems.errors import SDCError, SDCFailure

SCHEMA = "sdc.record/1"
LARGEST = 2**30
"""Most bytes that a record's arrays may have when unpacked."""

_ARRAYS = ("at", "at_different", "F", "X")


@dataclass(frozen=True)
class Record:
    """Record of one run: the solutions that entered its unbounded archive, with time and cost.

    A solution enters the archive if nothing measured before is as good in every objective. So the archive at any
    time of the run, and every indicator of it, can be computed afterwards.

    Attributes
    ----------
    instance, digest
        Name and digest of the instance; empty for a problem that belongs to no suite.
    algorithm, seed, budget
        Name given to the algorithm, its seed, and its number of evaluations.
    objectives
        Names of the columns of ``F``.
    evaluations, different
        Number of solutions that the algorithm requested, and number of different ones among them.
    seconds_measuring, seconds_algorithm
        CPU seconds of measuring, and of everything else except recording.
    versions
        Versions on which the result may depend.
    at, at_different
        Number of the evaluation that measured each solution, from 1, among all and among the different ones.
    F, X
        Objectives, minimized, and the solutions.
    """

    instance: str
    digest: str
    algorithm: str
    seed: int | None
    budget: int
    objectives: tuple[str, ...]
    evaluations: int
    different: int
    seconds_measuring: float
    seconds_algorithm: float
    versions: dict[str, str]
    at: NDArray[np.int64]
    at_different: NDArray[np.int64]
    F: NDArray[np.float64]
    X: NDArray[Any]

    def __len__(self) -> int:
        """Return the number of solutions that entered the archive."""
        return len(self.at)

    def front(self, evaluations: int | None = None) -> NDArray[np.bool_]:
        """Mask of the solutions that are in the archive after a number of evaluations.

        Parameters
        ----------
        evaluations
            Number of evaluations; by default the whole run.
        """
        import moocore

        there = self.at <= (self.budget if evaluations is None else evaluations)
        if there.any():
            there[there] = moocore.is_nondominated(self.F[there], keep_weakly=False)
        return there

    @property
    def head(self) -> dict[str, Any]:
        """Head of the record: everything but its arrays, as plain values."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _ARRAYS}
        return {"schema": SCHEMA, **values, "objectives": list(self.objectives)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record: a zip archive of NumPy arrays, whose ``head`` is a JSON text in UTF-8.

        Parameters
        ----------
        path
            File to write; an old one is replaced only when the new one is complete.
        """
        head = np.frombuffer(json.dumps(self.head).encode(), dtype=np.uint8)
        content = BytesIO()
        np.savez_compressed(content, head=head, **{name: getattr(self, name) for name in _ARRAYS})
        target = Path(path)
        try:
            descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".sdc-")
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content.getvalue())
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
            Path(temporary).replace(target)
        except OSError as error:
            raise SDCFailure(f"cannot write {str(target)!r}: {error.strerror}") from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Record:
        """Read a record; nothing in the file is executed, and an invalid file is refused.

        Parameters
        ----------
        path
            The file.
        """
        name = str(path)
        try:
            with zipfile.ZipFile(input_file(path, largest=LARGEST)) as archive:
                if sum(member.file_size for member in archive.infolist()) > LARGEST:
                    raise SDCError(f"{name}: unpacked it has more than {LARGEST:,} bytes")
            with np.load(path, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in _ARRAYS}
                head = json.loads(stored["head"].tobytes())
        except SDCError:
            raise
        except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile, RecursionError) as error:
            raise SDCError(f"{name} is not a record: {error}") from None
        return _checked(head, arrays, name)


_TEXT = ("instance", "digest", "algorithm")
_COUNTS = ("budget", "evaluations", "different")
_SECONDS = ("seconds_measuring", "seconds_algorithm")


def _checked(head: Any, arrays: dict[str, NDArray[Any]], name: str) -> Record:
    """Make a record of a file's content, if it is valid."""

    def need(condition: bool, problem: str) -> None:
        if not condition:
            raise SDCError(f"{name} is not a record: {problem}")

    need(isinstance(head, dict) and head.get("schema") == SCHEMA, f"its schema is not {SCHEMA}")
    known = {f.name for f in fields(Record)} - set(_ARRAYS)
    need(set(head) == known | {"schema"}, "its head has other entries")
    for key in _TEXT:
        need(isinstance(head[key], str) and len(head[key]) <= 200 and head[key].isprintable(), f"{key} is no name")
    for key in _COUNTS:
        need(type(head[key]) is int and head[key] >= 0, f"{key} is no count")
    for key in _SECONDS:
        need(isinstance(head[key], int | float) and head[key] >= 0, f"{key} is not a number of seconds")
    need(head["seed"] is None or type(head["seed"]) is int, "seed is no whole number")
    need(isinstance(head["objectives"], list) and isinstance(head["versions"], dict), "objectives or versions are none")
    texts = [*head["objectives"], *head["versions"], *head["versions"].values()]
    need(all(isinstance(text, str) and len(text) <= 200 for text in texts), "objectives or versions are no texts")
    at, at_different, F, X = (arrays[key] for key in _ARRAYS)
    n = len(at)
    need(at.ndim == at_different.ndim == 1 and at.dtype.kind == at_different.dtype.kind == "i", "at is no count")
    need(F.ndim == X.ndim == 2 and len(F) == len(X) == len(at_different) == n, "its arrays differ in length")
    need(F.dtype == np.float64 and F.shape[1] == len(head["objectives"]), "F has another form")
    need(bool(np.isfinite(F).all()), "F is not finite")
    need(X.dtype.kind in "iuf", f"X holds {X.dtype}")
    need(head["different"] <= head["evaluations"] <= head["budget"], "it has more evaluations than its budget")
    for numbers, last in ((at, head["evaluations"]), (at_different, head["different"])):
        ordered = n == 0 or bool((np.diff(numbers) > 0).all() and numbers[0] >= 1 and numbers[-1] <= last)
        need(ordered, "its solutions do not come in the order of the run")
    values = {**{k: v for k, v in head.items() if k != "schema"}, "objectives": tuple(head["objectives"])}
    return Record(**values, at=at, at_different=at_different, F=F, X=X)
