"""Release of a solution: its protected file, counted and certified, in one transaction.

The certificate may be published with the file; the value mapping, the rows file and the seeds may not: with them the
original values come back.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.coded import coded_frame, without_lost
from sdc_problems.errors import SDCError
from sdc_problems.objective import by_name
from sdc_problems.requirement import read_requirements
from sdc_problems.studies.release import _columns
from sdc_problems.studies.release._certificate import certificate
from sdc_problems.studies.release._columns import (
    Columns,
    columns_that_leave,
    protected_columns,
    singled_out,
    warn_of_unasked,
)
from sdc_problems.studies.release._transaction import Places, Written, reserve, write
from sdc_problems.studies.release.csv_text import PLAIN, Form, as_written
from sdc_problems.studies.release.guarantees import Guarantee
from sdc_problems.studies.release.row_order import KEPT_SENTENCE, SHUFFLED_SENTENCE, RowOrder
from sdc_problems.studies.release.value_mapping import ROWS_SEED, SEED, kept_seed, record_by_record, value_mapping
from sdc_problems.studies.report.decision import decision_page, read_decision
from sdc_problems.studies.report.kept_records import kept_of, left_out, with_records_kept
from sdc_problems.studies.report.repeat import repeat_release, repeat_run
from sdc_problems.studies.run.nodes import NODE, WALKED, solution_of
from sdc_problems.studies.run.runner import reopen
from sdc_problems.studies.store.folder import STUDY, check_folder, inside
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.tables import Solutions
from sdc_problems.studies.store.versions import file_digest, versions
from sdc_problems.studies.study.data import written_as
from sdc_problems.studies.tasks import find_task
from sdc_problems.studies.verdict.leaves import Leaves, leaf_counts

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.problem import SDCProblem
    from sdc_problems.studies.release._links import GraphForm, LinkedRelease
    from sdc_problems.studies.study.schema import Study
    from sdc_problems.studies.tasks import Task

NO_K = "promises no k"
ALONE = "k is 1: at least one record is unique"
DRAWN = "releases.json"
"""File of a run folder that says which of its random solutions were drawn; it holds no seed and no record."""
_REPRODUCED = (
    "in the folder that holds the run folder; the rows come in another order unless --rows-seed gives the number that"
    " the value mapping keeps, as it keeps the SEED of a random protection"
)
_DECIDED_OTHERWISE = "the decision record of the run is for solution {}, not {}"
_DRAWN_BEFORE = (
    "solution {} was released before. For the same draw give --seed, which is in its mapping file. For another draw,"
    " which together with the first one discloses more, give --new-draw"
)


class NeedsReason(SDCError):
    """Refusal of a release that a reason overrides."""


@dataclass(frozen=True)
class Released:
    """The files of a release.

    Attributes
    ----------
    file, certificate, mapping
        Where they are.
    rows
        The file that says which record of the original each row is; None if it was not written.
    content
        The certificate.
    edges
        Where the links are, if the records have any.
    decision
        Where the page of the decision record is, if one was kept in the run folder.
    """

    file: Path
    certificate: Path
    mapping: Path
    rows: Path | None
    content: dict[str, Any]
    edges: Path | None = None
    decision: Path | None = None


def release(
    folder: Path,
    solution: str,
    out: Path,
    *,
    seed: int | None = None,
    new_draw: bool = False,
    suppressed: Literal["drop", "star"] = "drop",
    graph_form: GraphForm | None = None,
    keep: Sequence[str] | None = None,
    keep_order: bool = False,
    rows: bool = True,
    rows_seed: int | None = None,
    override: str | None = None,
    data: Path | None = None,
    formula_guard: bool = False,
    overwrite: bool = False,
) -> Released:
    """Write the protected file of a solution, its rows shuffled, its value mapping, rows file and certificate.

    Parameters
    ----------
    folder, solution
        The run folder and the solution's id; of a lattice also a node by its row, such as ``node:1,0,2``.
    out
        The protected CSV file. Beside it come ``<out>.certificate.json``, ``<out>.mapping.csv`` and ``<out>.rows.csv``
        (both private) and, of a social graph, ``<out>.edges.csv``; a name that ends in .graphml or .gml makes one
        file of nodes and links.
    seed
        For a protection that draws random numbers, and for the random order of nodes. If not given, that of the mapping
        of the same solution that is overwritten; else it is drawn, once for each solution, and kept in the mapping.
    new_draw
        Whether a solution that was drawn before may be drawn anew.
    suppressed
        Whether suppressed records are left out, or stay with stars for their quasi-identifiers.
    graph_form
        Of a social graph: "nodes" (the default), or "supernodes", one row per cluster.
    keep
        All columns without a role that may leave as they are; as the study says if not given.
    keep_order
        Whether the rows stay in the order of the original. Then every record is linkable by its row number, as the
        certificate says.
    rows
        Whether ``<out>.rows.csv`` is written, which pairs the file with the original (for `sdc evaluate`).
    rows_seed
        Secret seed of the order of the rows. If not given, `seed`; else that of the mapping of the same solution that
        is overwritten; else it is drawn. It is kept in the mapping.
    override
        Reason to release although the study's ``[require]`` is broken or k is 1; the certificate says it.
    data
        Where the original CSV file is now, if it was moved.
    formula_guard
        Put an apostrophe before text that a spreadsheet would take for a formula (it changes such values).
    overwrite
        Whether files that exist already may be replaced.
    """
    folder = check_folder(folder)
    if override is not None and not override.strip():
        raise SDCError("an override needs a reason, which the certificate contains: give one")
    if keep_order and rows_seed is not None:
        raise SDCError("--rows-seed is the seed of shuffled rows, and --keep-order shuffles none: omit one of them")
    places = reserve(Path(out), overwrite=overwrite, inputs=[data], edges=True)
    study, built, meta = reopen(folder, data=data, search=False)
    task = find_task(study.task)
    problem: Any = built.problem
    if graph_form is not None and task.clusters is None:
        raise SDCError(f"the task {study.task} releases a table without links: omit --form")
    read = [built.table.file, built.table.edges, *_hierarchy_files(study)]
    places = reserve(places.file, overwrite=overwrite, inputs=read, edges=task.clusters is not None)
    with Run(folder) as run:
        found = solution_of(run, task, problem, solution)
        solution = found.ids[0]
        fingerprint = run.fingerprint()
        decided = read_decision(run)
        record = b"" if decided is None else decision_page(decided, run).encode()
    assert found.X is not None
    x = problem.genome(found.X[0])
    walked = solution.startswith(NODE)
    if not walked:
        _same_measures(problem, x, found.F[0], solution)
    values = {o.name: float(v) for o, v in zip(problem.objectives, problem.natural(found.F[0]), strict=True)}
    broken = _broken_requirements(study, problem, values)
    if decided is not None and decided["solution"] != solution:
        broken.append(_DECIDED_OTHERWISE.format(decided["solution"], solution))
        decided = None
    if broken and override is None:
        raise _not_released(broken)
    protected = protected_columns(problem)
    kept = study.sections.data.keep if keep is None else keep
    columns = columns_that_leave(problem.data, protected, kept)
    graph = task.clusters is not None
    again = [
        *(["--form", graph_form] if graph_form is not None else []),
        *(["--seed", "SEED"] if task.seeded else []),
        *(["--formula-guard"] if formula_guard else []),
    ]
    again += ["--keep-order"] if keep_order and not graph else []
    again += ["--suppressed", "star"] if suppressed == "star" else []
    again += [] if keep is None else ["--keep", ",".join(keep)]
    again += [] if override is None else ["--override", override]
    notes: dict[Path, str] = {}
    same = _same_solution(places, solution, fingerprint)
    if graph and (keep_order or rows_seed is not None):
        raise SDCError("nodes of a graph are always shuffled, by --seed: omit --keep-order and --rows-seed")
    if not graph and not keep_order and rows_seed is None:
        rows_seed = seed
        if rows_seed is None and same and not new_draw:
            rows_seed = kept_seed(places.mapping, ROWS_SEED)
    if task.random:
        seed, notes = _draw(folder, solution, places, same, seed=seed, new_draw=new_draw)
    elif task.seeded:  # only the order is drawn: another one tells nothing more
        if seed is None and same and not new_draw:
            seed = kept_seed(places.mapping, SEED)
        seed = secrets.randbits(63) if seed is None else seed
    elif seed is not None or new_draw:
        raise SDCError(f"the task {study.task} draws no random numbers: omit --seed and --new-draw")
    if suppressed == "star" and not task.suppresses:
        raise SDCError(f"the task {study.task} suppresses no records: omit --suppressed")
    if not graph and not keep_order and rows_seed is None:
        rows_seed = secrets.randbits(63) if seed is None else seed
    frame, lost = _protected(task, problem, x, seed)
    frame = columns.leaving(frame)
    records = problem.data.rows
    if suppressed == "drop" and lost.any():
        frame = without_lost(frame, lost)
        records = records[~lost]
    original = as_written(coded_frame(problem.data))
    promised: list[str] = []
    linked = _linked(task, problem, x, frame, columns, graph_form, seed)
    columns = columns if linked is None else linked.columns

    def promises(text: pd.DataFrame, edges: pd.DataFrame | None = None) -> list[Guarantee]:
        counted: list[Guarantee] = []
        if linked is not None and edges is not None:
            counted = linked.promises(text, edges)
            text = linked.expanded(text)
        counted += task.guarantees(problem, x, text)
        if not all(g.holds for g in counted):
            return counted
        ks = [g.found for g in counted if g.name == "k" and set(g.columns) == set(protected)]
        promised.append(f"k = {min(ks):g} in the protected columns, counted in the written file" if ks else NO_K)
        if ks and min(ks) < 2:
            broken.append(ALONE)
            if override is None:
                raise _not_released(broken)
        if not ks and len(text) == len(original):
            same = [(original[name].to_numpy() == text[name].to_numpy()).all() for name in protected]
            if all(same):
                raise SDCError(
                    f"solution {solution} changes no cell of {', '.join(protected)}, so the file would be the original,"
                    f" and the task {study.task} {NO_K}: nothing is released"
                )
        return counted

    def papers(written: Written) -> tuple[dict[str, Any], bytes]:
        text = written.text if linked is None else linked.aligned(written.text)
        aligned = record_by_record(text, original, lost, protected)
        shown = {name: written.text[name].unique() for name in protected}
        leaves = leaf_counts(getattr(problem, "hierarchies", {}), shown)
        alone = singled_out(written.text if linked is None else linked.expanded(written.text), columns)
        told = problem.describe(x)
        if linked is not None:
            told = (*problem.describe(x, form=linked.form), *linked.sentences(written.text, exposure=False))
        counts = len(problem.data), problem.data.n_dropped
        told = (*told, WALKED) if walked else told
        done = [*left_out(*counts), *with_records_kept([*told, *_columns.sentences(columns, alone)], *counts)]
        if linked is None:
            done.append(KEPT_SENTENCE if keep_order else SHUFFLED_SENTENCE)
        content = certificate(
            {
                "title": study.title,
                "solution": solution,
                **({"walked": True} if walked else {}),
                "task": study.task,
                "what_was_done": done,
                "promise": promised[0],
                "measures": {
                    objective.name: {
                        "label": objective.label,
                        "unit": objective.unit,
                        "better": objective.sense,
                        "value": values[objective.name],
                        "measured_on": kept_of(*counts) or f"{counts[0]:,} records",
                        "meaning": objective.meaning,
                        "formula": objective.formula,
                        "source": objective.source,
                    }
                    for objective in problem.objectives
                },
                "require": {
                    name: wanted.model_dump(exclude_none=True) for name, wanted in study.sections.require.items()
                },
                "override": {"reason": override, "broken": broken} if broken else None,
                **({} if decided is None else _decision_entry(decided, record, places)),
                **({} if linked is None else linked.entry(written, places)),
            },
            {
                "run_fingerprint": fingerprint,
                "study_sha256": file_digest(folder / STUDY),
                "reproduce": [repeat_run(folder), repeat_release(folder, solution, places.file, again)],
                "reproduced": _REPRODUCED,
            },
            written=written,
            places=places,
            columns=columns,
            alone=alone,
            leaves=leaves,
            measured=_measured(problem, aligned, columns, leaves),
            data=problem.data,
            source=str(study.sections.data.name) if built.table.file is None else built.table.file.name,
            file=built.table.file,
            content_digest=built.table.digest,
            suppressed=suppressed,
            formula_guard=formula_guard,
            shuffled=not keep_order,
            secret_seed=task.seeded,
            seed=None,
            versions={"run": meta["versions"], "release": versions()},
        )
        seeds = {SEED: seed if task.seeded else None, ROWS_SEED: rows_seed}
        return content, value_mapping(original, aligned, lost, seeds)

    order = RowOrder(records, rows_seed, rows)
    if linked is not None:
        order = linked.order(records, rows)
    _, content = write(
        places,
        frame if linked is None else linked.published.nodes,
        rows=order,
        formula_guard=formula_guard,
        promises=promises,
        papers=papers,
        notes=notes,
        form=_form(study, built.table.file, places.file).marking(problem.data, _given_hierarchies(study, problem)),
        graph=None if linked is None else linked.published,
        decision=None if decided is None else record,
    )
    if kept is None:
        warn_of_unasked(content["columns"])
    written_rows = places.rows if order.private_file else None
    page = None if decided is None else places.decision
    return Released(places.file, places.certificate, places.mapping, written_rows, content, places.file_of_links, page)


def _decision_entry(decided: Mapping[str, Any], page: bytes, places: Places) -> dict[str, Any]:
    """Entry of the certificate on the decision record: its page beside the file, and what that says in short."""
    return {
        "decision": {
            "file": places.decision.name,
            "sha256": hashlib.sha256(page).hexdigest(),
            "why": decided["why"],
            "rejected": [one["solution"] for one in decided["rejected"]],
            "written": decided["written"],
        }
    }


@dataclass(frozen=True)
class Objections:
    """Objections to a release of a solution, told before it is asked for.

    Attributes
    ----------
    refused
        Why it would be refused whatever reason is given; empty if it would not.
    broken
        What only a reason overrides.
    met
        What is fulfilled, in words.
    private
        Endings of the files beside it that are for the holder of the data only.
    """

    refused: str
    broken: tuple[str, ...]
    met: tuple[str, ...]
    private: tuple[str, ...]


def objections(
    study: Study, task: Task, problem: SDCProblem, found: Solutions, *, out: Path, folder: Path
) -> Objections:
    """Objections to releasing a solution, by the rules of `release`; nothing is written.

    Parameters
    ----------
    study, task, problem
        Of the run.
    found
        The solution, with its genome.
    out
        The file that a release would write.
    folder
        The run folder.
    """
    assert found.X is not None
    x = problem.genome(found.X[0])
    values = {o.name: float(v) for o, v in zip(problem.objectives, problem.natural(found.F[0]), strict=True)}
    broken = _broken_requirements(study, problem, values)
    with Run(folder) as run:
        decided = read_decision(run)
        fingerprint = run.fingerprint()
    if decided is not None and decided["solution"] != found.ids[0]:
        broken.append(_DECIDED_OTHERWISE.format(decided["solution"], found.ids[0]))
    required = [name for name in study.sections.require if name in values]
    met = (
        [f"{len(required)} of {len(required)} requirements of the study are met"]
        if required and not _broken_requirements(study, problem, values)
        else []
    )
    refused = ""
    try:
        protected = protected_columns(problem)
        columns_that_leave(problem.data, protected, study.sections.data.keep)
        if task.random:
            places = Places.of(out)
            same = _same_solution(places, found.ids[0], fingerprint)
            _draw(folder, found.ids[0], places, same, seed=None, new_draw=False)
            met.append("values are drawn at random once: a second release repeats the draw")
        else:
            frame, lost = _protected(task, problem, x, None)
            text = as_written(frame[~lost].reset_index(drop=True))
            counted = task.guarantees(problem, x, text)
            ks = [g.found for g in counted if g.name == "k" and set(g.columns) == set(protected)]
            if ks and min(ks) < 2:
                broken.append(ALONE)
            elif ks:
                met.append(f"k = {min(ks):g} in the protected columns; a release counts it again in the written file")
    except SDCError as error:
        refused = str(error)
    private = (".mapping.csv",) if task.clusters is not None else (".mapping.csv", ".rows.csv")
    return Objections(refused, tuple(broken), tuple(met), private)


def _linked(
    task: Task,
    problem: Any,
    x: NDArray[Any],
    frame: pd.DataFrame,
    columns: Columns,
    form: GraphForm | None,
    seed: int | None,
) -> LinkedRelease | None:
    """Put the nodes of a graph in random order, with their links."""
    clusters = task.clusters
    if clusters is None or seed is None:
        return None
    from sdc_problems.studies.release._links import LinkedRelease

    smallest = problem.decode(x).k
    return LinkedRelease.of(
        problem.graph,
        frame,
        columns,
        k=smallest,
        form=form or "nodes",
        clusters=lambda: clusters(problem, x),
        seed=seed,
    )


def _form(study: Study, file: Path | None, out: Path) -> Form:
    """Form of the released file: that of the original, if it was CSV."""
    how = study.sections.data
    if file is None:
        return PLAIN
    return Form.between(file, out, **written_as(how, file), decimal=how.decimal)


def _given_hierarchies(study: Study, problem: Any) -> dict[str, Any]:
    """Hierarchies of a problem whose labels the study took from files."""
    from_files = {name for name, how in study.sections.data.hierarchies.items() if how.file is not None}
    made: Mapping[str, Any] = getattr(problem, "hierarchies", {})
    return {name: hierarchy for name, hierarchy in made.items() if name in from_files}


def _hierarchy_files(study: Study) -> list[Path]:
    """Files of hierarchies, which a release reads."""
    named = [how.file for how in study.sections.data.hierarchies.values()]
    return [study.folder / file for file in named if file is not None]


def _same_measures(problem: SDCProblem, x: NDArray[Any], before: NDArray[np.float64], solution: str) -> None:
    """Refuse a solution that is measured differently now than when it was found."""
    figures = problem.figures(x)  # all that is said of the solution below comes from this measurement
    names = [objective.name for objective in problem.objectives]
    if all(name in figures for name in names):
        again = np.asarray(problem.minimized(np.array([[figures[name] for name in names]])), dtype=np.float64)[0]
        if again.tobytes() == before.tobytes():
            return
    if problem.evaluate(x[None, :], return_values_of=["F"])[0].tobytes() != before.tobytes():
        raise SDCError(
            f"solution {solution} now has other measures than when it was found, so nothing is written: use"
            " the versions of the run"
        )


def _broken_requirements(study: Study, problem: SDCProblem, values: Mapping[str, float]) -> list[str]:
    """Bounds of the study that a solution does not keep, each in words."""
    wanted = {name: bounds.model_dump() for name, bounds in study.sections.require.items()}
    required = read_requirements(wanted, by_name(*problem.objectives), what="[require]")
    return [
        f"the study requires {requirement}, and it is {values[requirement.objective.name]:.6g}"
        for requirement in required
        if not requirement.meets(values[requirement.objective.name])
    ]


def _not_released(broken: Sequence[str]) -> NeedsReason:
    return NeedsReason(
        f"nothing is released: {'; '.join(broken)}. Choose another solution, or override this by --override REASON; the"
        " certificate contains the reason"
    )


def _draw(
    folder: Path, solution: str, places: Places, same: bool, *, seed: int | None, new_draw: bool
) -> tuple[int, dict[Path, str]]:
    """Seed of a random release, and the note in the run folder that it was drawn.

    Files that are drawn independently from the same records give more away together than each alone: a solution is
    drawn once, and again only when that is asked for.
    """
    if seed is not None and new_draw:
        raise SDCError("--seed repeats a draw and --new-draw makes another one: omit one of them")
    path = inside(folder, DRAWN)
    try:
        drawn = json.loads(path.read_text(encoding="utf-8")) if path.is_file() and not path.is_symlink() else []
        before = [str(name) for name in drawn]
    except (OSError, ValueError, TypeError):
        raise SDCError(
            f"{DRAWN} in {str(folder)!r} cannot be read, so earlier releases are unknown: restore it, or"
            " release from a new run"
        ) from None
    if seed is None and not new_draw:
        seed = kept_seed(places.mapping, SEED) if same else None
        if seed is None and solution in before:
            raise SDCError(_DRAWN_BEFORE.format(solution))
    text = json.dumps([*before, *([] if solution in before else [solution])], indent=1) + "\n"
    return secrets.randbits(63) if seed is None else seed, {} if solution in before else {path: text}


def _same_solution(places: Places, solution: str, fingerprint: str) -> bool:
    """Whether the release that is overwritten is of the same solution: then its seeds are used again."""
    try:
        content = json.loads(places.certificate.read_text(encoding="utf-8"))
        return bool(content["solution"] == solution and content["run_fingerprint"] == fingerprint)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _protected(
    task: Task, problem: SDCProblem, x: NDArray[Any], seed: int | None
) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    """The protected table with all records, and which of them are suppressed."""
    frame = task.release(problem, x, seed=seed, suppressed="star", coded=True)
    lost = np.zeros(len(frame), dtype=np.bool_)
    return frame, lost if task.suppressed_rows is None else task.suppressed_rows(problem, x, frame)


def _measured(
    problem: SDCProblem, aligned: pd.DataFrame, columns: Columns, leaves: Mapping[str, Leaves]
) -> dict[str, Any]:
    """Measures of the released records, or why there are none."""
    try:
        return _columns.measured(problem.data, aligned, columns, leaf_counts=leaves).payload()
    except SDCError as error:
        return {"not_measured": str(error)}
