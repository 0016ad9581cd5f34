"""Demand of the start page: protect a file at once, like `sdc protect`, or search, like `sdc run`."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdc_problems._signature import REQUIRED, parameters
from sdc_problems._tables.toml_text import toml_key, toml_value
from sdc_problems.errors import SDCError
from sdc_problems.microdata import Microdata, Role
from sdc_problems.studies.study.data import HierarchySection, load_hierarchy
from sdc_problems.studies.study.validation import validated
from sdc_problems.studies.tasks import available_tasks, find_task
from sdc_problems.studies.web.start._tables import Given, naming_fields

if TYPE_CHECKING:
    from sdc_problems.studies.tasks import Task
    from sdc_problems.studies.web.start._work import Work

Made = tuple[dict[str, Any], dict[str, Path]]
_MINUTES = (0.05, 24 * 60)


@dataclass(frozen=True)
class Demand:
    """Demand on a file: its roles and hierarchies by column, and the protection wanted.

    Attributes
    ----------
    given
        The file, and how to read it.
    roles
        Role of each column, by name.
    hierarchies
        Given hierarchies, by column.
    k, max_suppression
        Number of look-alikes, and share of records that may be left out.
    """

    given: Given
    roles: dict[str, Role]
    k: int
    max_suppression: float
    hierarchies: dict[str, HierarchySection] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Demand:
        """Check the data of a request."""
        needed, more = {"path", "roles", "k", "max_suppression"}, {"reading", "kinds", "hierarchies"}
        if not isinstance(given, dict) or not needed <= set(given) <= needed | more:
            raise SDCError("a protection takes a path, roles, k and how many records may be left out")
        file, roles, k, most = Given.of(given), given["roles"], given["k"], given["max_suppression"]
        if not isinstance(roles, dict):
            raise SDCError("a protection takes a role for each column")
        if isinstance(k, bool) or not isinstance(k, int) or k < 2:
            raise SDCError("k is a whole number from 2: how many records look alike")
        if isinstance(most, bool) or not isinstance(most, (int, float)) or not 0 <= most < 100:
            raise SDCError("records that may be left out are a percentage, from 0 to below 100")
        try:
            named = {str(name): Role(role) for name, role in roles.items()}
        except ValueError:
            raise SDCError(f"a role is one of {', '.join(role.value for role in Role)}") from None
        if Role.QUASI_IDENTIFIER not in named.values():
            raise SDCError("no column is a quasi-identifier: say which columns others may know of a person")
        how = given.get("hierarchies", {})
        if not isinstance(how, dict):
            raise SDCError("hierarchies are given by column")
        sections = {str(name): validated(HierarchySection, one, f"hierarchy of {name}") for name, one in how.items()}
        return cls(file, named, k, most / 100, sections)

    def named(self, role: Role) -> list[str]:
        """Columns with a role."""
        return [name for name, has in self.roles.items() if has is role]

    def read(self) -> tuple[Microdata, dict[str, Any]]:
        """Read the table; return it with the encoding and delimiter that were detected."""
        return self.given.table(
            quasi_identifiers=self.named(Role.QUASI_IDENTIFIER),
            sensitive=self.named(Role.SENSITIVE),
            identifiers=self.named(Role.IDENTIFIER),
        )

    @property
    def hierarchy_files(self) -> list[Path]:
        """Files of hierarchies that are read."""
        return [self._here(one.file) for one in self.hierarchies.values() if one.file is not None]

    def _here(self, file: str) -> Path:
        """Path of a hierarchy's file; a relative path starts at the table's folder."""
        return self.given.path.parent / Path(file).expanduser()


@dataclass(frozen=True)
class Search:
    """Search that is wanted: its task, its time limit, and its run folder."""

    task: Task
    minutes: float
    folder: Path

    @classmethod
    def of(cls, given: Any) -> Search:
        """Check the data of a request."""
        if not isinstance(given, dict) or set(given) != {"task", "minutes", "folder"}:
            raise SDCError("a search takes a task, minutes and a run folder")
        minutes, folder = given["minutes"], given["folder"]
        if isinstance(minutes, bool) or not isinstance(minutes, (int, float)):
            raise SDCError("minutes are a number")
        if not _MINUTES[0] <= minutes <= _MINUTES[1]:
            raise SDCError(f"a search takes {_MINUTES[0]:g} to {_MINUTES[1]:,} minutes")
        if not isinstance(folder, str) or not folder.strip():
            raise SDCError("name a run folder: the record of the search goes there")
        task = find_task(str(given["task"]))
        return cls(task, float(minutes), Path(folder.strip()[:4_000]).expanduser().absolute())


def searches() -> list[dict[str, Any]]:
    """Tasks that a table without links can be searched for, and whether each takes k."""
    return [
        {"name": name, "title": task.title, "k": bool(_of_k(task))}
        for name, task in available_tasks().items()
        if task.clusters is None
    ]


def _of_k(task: Task) -> str:
    """Section of a study in which a task takes k; empty if it takes none."""
    options = task.options.model_fields
    if "k" in options:
        return "problem"
    return "require" if "k" in (options["objectives"].default or ()) else ""


def protected(demand: Demand, private: Path, work: Work) -> Made:
    """Protect a file by the function behind ``sdc protect``, into the private folder."""
    from sdc_problems.studies.release import protect
    from sdc_problems.studies.release.csv_text import Form
    from sdc_problems.studies.report.file_page import file_page

    work.say("reading the file")
    data, read = demand.read()
    path = demand.given.path
    folder = Path(tempfile.mkdtemp(prefix="made-", dir=private))
    out = folder / f"{path.stem.split('.')[0]}-protected.csv"
    with naming_fields():
        hierarchies = {
            name: load_hierarchy(how, data, data.attribute(name).name, path.parent)
            for name, how in demand.hierarchies.items()
        }
    done = protect(
        data,
        out,
        k=demand.k,
        max_suppression=demand.max_suppression,
        keep=demand.named(Role.OTHER),
        hierarchies=hierarchies,
        source=path,
        inputs=demand.hierarchy_files,
        form=Form.between(path, out, decimal=demand.given.reading.decimal, **read),
        say=lambda method: work.say(f"trying {method}"),
    )
    assert done.places is not None
    report = folder / "report.html"
    report.write_text(file_page(data, done), encoding="utf-8")
    files = {"table": out, "certificate": done.places.certificate, "mapping": done.places.mapping, "page": report}
    if done.rows is not None:
        files["rows"] = done.rows
    result = {
        "sentences": list(done.what_was_done),
        "promises": [f"{g.name} {g.found:g} (promised {g.promised:g})" for g in done.guarantees],
        "promise": done.promise,
        "risk": "" if done.verdict is None else done.verdict.risk,
        "utility": "" if done.verdict is None else done.verdict.utility,
        "files": [{"kind": kind, "name": path.name} for kind, path in files.items()],
    }
    return result, files


def searched(demand: Demand, search: Search, work: Work) -> Made:
    """Search by the functions behind ``sdc run``; the run folder is there as soon as the search begins."""
    from sdc_problems.studies.release._columns import columns_that_leave, protected_columns
    from sdc_problems.studies.report.summary import write_results
    from sdc_problems.studies.report.terminal import glance
    from sdc_problems.studies.run.runner import start
    from sdc_problems.studies.run.runner import work as carry_out
    from sdc_problems.studies.run.start import removed_unless_begun
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.studies.study.schema import Study

    folder = search.folder
    if folder.exists():
        raise SDCError(f"{str(folder)!r} already exists: name another run folder")
    work.say("reading the file")
    with _nothing_left_if_refused(search, work):
        text = study_text(demand, search)
        study = Study.from_text(text, folder=demand.given.path.parent.absolute(), name="the study")
        with naming_fields():
            built = start(study, text, folder)
        with removed_unless_begun(folder):
            records = len(built.table.data)
            if _of_k(search.task) and demand.k > records:
                raise SDCError(f"k is {demand.k:,}, and the table has {records:,} records: ask for a smaller k")
            columns_that_leave(built.table.data, protected_columns(built.problem), study.sections.data.keep)
            work.say("looking for solutions to begin with")
            limits = built.plan.limits

            def look() -> tuple[float, str]:
                with Run(folder) as run:
                    return glance(run, limits)

            work.run, work.look = folder, look
            outcome = carry_out(folder, built=(study, built), tell=lambda line: None, stopped=work.stopped)
            work.look = None
    if not outcome.interrupted:
        with Run(folder) as run:
            write_results(run)
    return {"interrupted": outcome.interrupted}, {}


@contextmanager
def _nothing_left_if_refused(search: Search, work: Work) -> Iterator[None]:
    """Remove what a refused search has made next to its run folder, because a corrected one may have the same name."""
    made = _suggested(search)
    try:
        yield
    except Exception:
        if not search.folder.exists():
            work.run = None
            shutil.rmtree(made, ignore_errors=True)
        raise


def _suggested(search: Search) -> Path:
    """Folder next to the run's for suggested hierarchies; an existing folder is not changed."""
    names = (f"{search.folder.name}-hierarchies{f'-{n}' if n > 1 else ''}" for n in itertools.count(1))
    return next(place for place in map(search.folder.with_name, names) if not place.exists())


def study_text(demand: Demand, search: Search) -> str:
    """Study file of a demand, as `sdc run` takes it, which can be run again and edited.

    A hierarchy that a task needs and that was not given is suggested, and written next to the run folder.
    """
    reading, task = demand.given.reading, search.task
    example = tomllib.loads(task.example.read_text(encoding="utf-8"))
    options = task.options.model_fields
    problem: dict[str, Any] = {"task": task.name}
    if "max_suppression" in options:
        problem["max_suppression"] = demand.max_suppression
    section = _of_k(task)
    if section == "problem":
        problem["k"] = demand.k
    data: dict[str, Any] = {
        "file": str(demand.given.path.absolute()),
        "quasi_identifiers": demand.named(Role.QUASI_IDENTIFIER),
        "sensitive": demand.named(Role.SENSITIVE),
        "identifiers": demand.named(Role.IDENTIFIER),
        "keep": demand.named(Role.OTHER),
        "missing": reading.missing,
    }
    if demand.given.plain:
        said = {"encoding": reading.encoding, "delimiter": reading.delimiter, "thousands": reading.thousands}
        data |= {name: value for name, value in said.items() if value is not None}
        data["decimal"] = reading.decimal
    if reading.na_values is not None:
        data["na_values"] = list(reading.marks["na_values"])
    parts: dict[str, Mapping[str, Any]] = {
        "data": data,
        "data.kinds": demand.given.kinds,
        "data.hierarchies": _hierarchies(demand, search),
        "problem": problem,
        "algorithm": example["algorithm"],
        "termination": {**example.get("termination", {}), "time": f"{60 * search.minutes:g} s"},
        "require": {"k": {"min": demand.k}} if section == "require" else {},
    }
    lines = [f"title = {toml_value(f'{demand.given.path.stem[:80]}: {task.title}')}"]
    for name, values in parts.items():
        if values:
            lines += ["", f"[{name}]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _hierarchies(demand: Demand, search: Search) -> dict[str, Any]:
    """Hierarchies of the study, by column."""
    known = parameters(search.task.problem_class)
    if "hierarchies" not in known:
        return {}
    found = {
        name: {
            **one.model_dump(exclude_defaults=True),
            **({} if one.file is None else {"file": str(demand._here(one.file))}),
        }
        for name, one in demand.hierarchies.items()
    }
    missing = [name for name in demand.named(Role.QUASI_IDENTIFIER) if name not in found]
    if known["hierarchies"].default is REQUIRED and missing:
        from sdc_problems.hierarchy import suggest

        folder = _suggested(search)
        folder.mkdir(mode=0o700, parents=True)
        data, _ = demand.read()
        for i, name in enumerate(missing, 1):
            place = (
                folder / f"{i}.csv" if "/" in name or "\\" in name or name.startswith(".") else folder / f"{name}.csv"
            )
            suggest(data, name).hierarchy.to_csv(place)
            found[name] = {"file": str(place)}
    return found
